#include <cmath>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/error.hpp>

#include "tests/images/operator_call.hpp"
#include "tests/images/pictures.hpp"

namespace weir::test {
namespace {

using testing::HasSubstr;

/// The definition, in double precision and two dimensions at once.
std::vector<double> blurred(const Tensor& image, int rows, int columns, double sigma) {
  const int height = static_cast<int>(image.shape()[0]);
  const int width = static_cast<int>(image.shape()[1]);
  const int channels = static_cast<int>(image.shape()[2]);
  const auto share = [sigma](int from_middle) {
    return std::exp(-from_middle * from_middle / (2.0 * sigma * sigma));
  };
  const auto mirrored = [](int place, int size) {
    const int period = size == 1 ? 1 : 2 * (size - 1);
    place = ((place % period) + period) % period;
    return place < size ? place : period - place;
  };
  std::vector<double> result;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c) {
        double sum = 0;
        double whole = 0;
        for (int j = -rows / 2; j <= rows / 2; ++j)
          for (int i = -columns / 2; i <= columns / 2; ++i) {
            const int from = (mirrored(y + j, height) * width + mirrored(x + i, width)) * channels;
            const double value = image.dtype() == DType::u8 ? image.data<std::uint8_t>()[from + c]
                                                            : image.data<float>()[from + c];
            sum += share(i) * share(j) * value;
            whole += share(i) * share(j);
          }
        result.push_back(sum / whole);
      }
  return result;
}

Written kernel(int rows, int columns, double sigma) {
  return {{"kernel_size", list({static_cast<double>(rows), static_cast<double>(columns)})},
          {"sigma", number(sigma)}};
}

TEST(GaussianBlur, IsItsDefinition) {
  struct Case {
    int height, width, rows, columns;
    double sigma;
  };
  for (const Case& one : {Case{30, 40, 5, 5, 1.1}, Case{30, 40, 3, 9, 2.0}, Case{7, 9, 23, 23, 6.0},
                          Case{1, 12, 5, 3, 0.3}, Case{20, 20, 1, 1, 1.0}}) {
    const SampleMap op = make_operator("gaussian_blur", kernel(one.rows, one.columns, one.sigma));
    const Tensor image = picture(one.height, one.width);
    const std::vector<double> wanted = blurred(image, one.rows, one.columns, one.sigma);
    const Tensor bytes = apply_to_image(op, image);
    const Tensor floats =
        apply_to_image(make_operator("to_float", {{"scale", text("none")}}), image);
    const Tensor smooth = apply_to_image(op, floats);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      // Half a step of rounding, and the rounding of 16-bit weights.
      ASSERT_NEAR(bytes.data<std::uint8_t>()[i], wanted[i], 0.52) << i;
      ASSERT_NEAR(smooth.data<float>()[i], wanted[i], 0.02) << i;
    }
  }
}

TEST(GaussianBlur, KeepsAnEvenPicture) {
  Tensor even({16, 16, 3}, DType::u8);
  std::fill_n(even.data<std::uint8_t>(), 768, std::uint8_t{255});
  for (const double sigma : {0.01, 0.7, 3.3, 100.0}) {
    const Tensor result =
        apply_to_image(make_operator("gaussian_blur", kernel(21, 21, sigma)), even);
    for (std::int64_t i = 0; i < 768; ++i) ASSERT_EQ(result.data<std::uint8_t>()[i], 255);
  }
}

TEST(GaussianBlur, DrawsItsWidthBetweenTheBounds) {
  // A single bright pixel keeps the share that the middle weight has.
  Tensor point({15, 15, 1}, DType::f32);
  std::fill_n(point.data<float>(), 225, 0.0F);
  point.data<float>()[112] = 1.0F;
  const SampleMap op =
      make_operator("gaussian_blur", {{"kernel_size", whole(9)}, {"sigma", list({0.5, 1.5})}});
  float least = 1;
  float most = 0;
  for (std::uint64_t id = 0; id < 300; ++id) {
    const float middle = apply_to_image(op, point, {.sample_id = id}).data<float>()[112];
    least = std::min(least, middle);
    most = std::max(most, middle);
  }
  const auto middle_share = [](double sigma) {
    double sum = 0;
    for (int i = -4; i <= 4; ++i) sum += std::exp(-i * i / (2 * sigma * sigma));
    return 1 / (sum * sum);
  };
  EXPECT_NEAR(most, middle_share(0.5), 0.03);
  EXPECT_NEAR(least, middle_share(1.5), 0.003);
  EXPECT_GE(least, middle_share(1.5) - 1e-4);
}

TEST(GaussianBlur, RefusesAKernelWithoutAMiddleAndAWrongRange) {
  EXPECT_THAT(failure_of([] {
                (void)make_operator("gaussian_blur", {{"kernel_size", whole(4)}});
              }),
              HasSubstr("its sides are odd"));
  EXPECT_THAT(
      failure_of([] {
        (void)make_operator("gaussian_blur", {{"kernel_size", whole(3)}, {"sigma", list({2, 1})}});
      }),
      HasSubstr("give one number or [low, high]"));
}

}  // namespace
}  // namespace weir::test
