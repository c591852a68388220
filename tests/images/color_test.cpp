#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/operators/color.hpp"
#include "tests/images/operator_call.hpp"
#include "tests/images/pictures.hpp"

namespace weir::test {
namespace {

using Colour = std::array<double, 3>;

// The definitions of torchvision, written down once more for one pixel in double precision.

double to_byte(double value) { return std::floor(std::clamp(value, 0.0, 255.0)); }

double grey(const Colour& c) { return std::floor(0.2989 * c[0] + 0.587 * c[1] + 0.114 * c[2]); }

Colour blend(const Colour& a, double b, double factor) {
  Colour result{};
  for (std::size_t i = 0; i < 3; ++i) result[i] = to_byte(factor * a[i] + (1.0 - factor) * b);
  return result;
}

/// Hue by the hexagon, through the textbook's cases.
Colour turned(const Colour& c, double turn) {
  const double most = std::max({c[0], c[1], c[2]}) / 255.0;
  const double least = std::min({c[0], c[1], c[2]}) / 255.0;
  const double span = most - least;
  const double r = c[0] / 255.0;
  const double g = c[1] / 255.0;
  const double b = c[2] / 255.0;
  double degrees = 0.0;
  if (span > 0.0) {
    if (most == r)
      degrees = 60.0 * std::fmod((g - b) / span + 6.0, 6.0);
    else if (most == g)
      degrees = 60.0 * ((b - r) / span + 2.0);
    else
      degrees = 60.0 * ((r - g) / span + 4.0);
  }
  degrees = std::fmod(degrees + turn * 360.0 + 720.0, 360.0);
  const double chroma = span;
  const double x = chroma * (1.0 - std::abs(std::fmod(degrees / 60.0, 2.0) - 1.0));
  Colour rgb{};
  const int sector = static_cast<int>(degrees / 60.0);
  if (sector == 0)
    rgb = {chroma, x, 0};
  else if (sector == 1)
    rgb = {x, chroma, 0};
  else if (sector == 2)
    rgb = {0, chroma, x};
  else if (sector == 3)
    rgb = {0, x, chroma};
  else if (sector == 4)
    rgb = {x, 0, chroma};
  else
    rgb = {chroma, 0, x};
  for (double& value : rgb) value = std::floor((value + least) * 255.999);
  return rgb;
}

Colour colour_at(const Tensor& image, std::int64_t i) {
  const std::uint8_t* p = image.data<std::uint8_t>() + i * image.shape()[2];
  return {static_cast<double>(p[0]), static_cast<double>(p[1]), static_cast<double>(p[2])};
}

detail::PixelRow<std::uint8_t> row_of(const Tensor& image) {
  return {image.data<std::uint8_t>(), static_cast<std::size_t>(image.shape()[0] * image.shape()[1]),
          static_cast<std::size_t>(image.shape()[2])};
}

template <class Expected>
void expect_each(const Tensor& result, const Tensor& image, Expected&& expected) {
  for (std::int64_t i = 0; i < image.shape()[0] * image.shape()[1]; ++i) {
    const Colour wanted = expected(colour_at(image, i));
    const Colour got = colour_at(result, i);
    // Single precision may fall on the other side of a whole number.
    for (std::size_t c = 0; c < 3; ++c) ASSERT_NEAR(got[c], wanted[c], 1.0) << i;
  }
}

TEST(Color, ChangesAsTorchvisionDefinesIt) {
  const Tensor image = picture(30, 40);
  for (const double factor : {0.0, 0.4, 1.0, 1.7}) {
    const auto f = static_cast<float>(factor);
    const Tensor brighter = image.clone();
    detail::adjust_brightness(row_of(brighter), f);
    expect_each(brighter, image, [&](const Colour& c) { return blend(c, 0.0, factor); });

    double mean = 0.0;
    for (std::int64_t i = 0; i < 1200; ++i) mean += grey(colour_at(image, i)) / 1200.0;
    const Tensor contrasted = image.clone();
    detail::adjust_contrast(row_of(contrasted), f);
    expect_each(contrasted, image, [&](const Colour& c) { return blend(c, mean, factor); });

    const Tensor saturated = image.clone();
    detail::adjust_saturation(row_of(saturated), f);
    expect_each(saturated, image, [&](const Colour& c) { return blend(c, grey(c), factor); });
  }
  for (const double turn : {-0.5, -0.1, 0.0, 0.25, 0.5}) {
    const Tensor hued = image.clone();
    detail::adjust_hue(row_of(hued), static_cast<float>(turn));
    expect_each(hued, image, [&](const Colour& c) { return turned(c, turn); });
  }
}

TEST(Color, LeavesTheFourthChannelAndGreyAlone) {
  const Tensor image = picture(10, 10, 4);
  const Tensor changed = image.clone();
  detail::adjust_brightness(row_of(changed), 0.5F);
  detail::adjust_contrast(row_of(changed), 0.5F);
  detail::adjust_saturation(row_of(changed), 0.5F);
  detail::adjust_hue(row_of(changed), 0.2F);
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(changed.data<std::uint8_t>()[i * 4 + 3], image.data<std::uint8_t>()[i * 4 + 3]);
  }
  const Tensor single = picture(10, 10, 1);
  const Tensor same = single.clone();
  detail::adjust_saturation(row_of(same), 0.5F);
  detail::adjust_hue(row_of(same), 0.2F);
  EXPECT_EQ(std::memcmp(same.bytes(), single.bytes(), 100), 0);
}

TEST(ColorJitter, StaysInItsRangesAndFillsThem) {
  // On a flat grey picture brightness alone shows its factor.
  Tensor flat({4, 4, 3}, DType::f32);
  std::fill_n(flat.data<float>(), 48, 0.5F);
  const SampleMap op = make_operator("color_jitter", {{"brightness", number(0.4)}});
  double lowest = 9.0;
  double highest = 0.0;
  double sum = 0.0;
  for (std::uint64_t id = 0; id < 2000; ++id) {
    const Tensor result = apply_to_image(op, flat, {.sample_id = id});
    const double factor = result.data<float>()[5] / 0.5;
    lowest = std::min(lowest, factor);
    highest = std::max(highest, factor);
    sum += factor;
  }
  EXPECT_GE(lowest, 0.6 - 1e-6);
  EXPECT_LT(lowest, 0.61);
  EXPECT_LE(highest, 1.4 + 1e-6);
  EXPECT_GT(highest, 1.39);
  EXPECT_NEAR(sum / 2000, 1.0, 0.02);
}

TEST(ColorJitter, ChangesInRandomOrder) {
  // Clamping makes the order of brightness and contrast visible.
  Tensor image({1, 2, 1}, DType::f32);
  const SampleMap op =
      make_operator("color_jitter", {{"brightness", list({3, 3})}, {"contrast", list({0.5, 0.5})}});
  int brightness_first = 0;
  for (std::uint64_t id = 0; id < 1000; ++id) {
    image.data<float>()[0] = 0.0F;
    image.data<float>()[1] = 1.0F;
    const Tensor result = apply_to_image(op, image, {.sample_id = id});
    // Brightness first: (0, 1), mean 0.5, then (0.25, 0.75). Contrast first: (0.25, 0.75), then
    // (0.75, 1).
    const float first = result.data<float>()[0];
    ASSERT_TRUE(std::abs(first - 0.25F) < 1e-6 || std::abs(first - 0.75F) < 1e-6);
    brightness_first += first < 0.5F ? 1 : 0;
  }
  EXPECT_NEAR(brightness_first, 500, 80);
}

TEST(ColorJitter, LeavesMasksAloneAndChecksItsRanges) {
  Sample sample;
  sample.set("image", picture(6, 6));
  sample.set("mask", picture(6, 6, 1));
  const Tensor mask = sample["mask"].clone();
  const Sample result =
      apply(make_operator("color_jitter", {{"brightness", list({0.5, 0.5})}}, {"image", "mask"}),
            std::move(sample));
  EXPECT_EQ(std::memcmp(result["mask"].bytes(), mask.bytes(), 36), 0);
  EXPECT_THAT(failure_of([] {
                (void)make_operator("color_jitter", {{"hue", number(0.6)}});
              }),
              testing::HasSubstr("from -0.5 to 0.5"));
  EXPECT_THAT(failure_of([] {
                (void)make_operator("color_jitter", {{"hue", number(-0.1)}});
              }),
              testing::HasSubstr("must not be negative"));
  EXPECT_THAT(failure_of([] {
                (void)make_operator("color_jitter", {{"contrast", list({2, 1})}});
              }),
              testing::HasSubstr("[low, high]"));
}

}  // namespace
}  // namespace weir::test
