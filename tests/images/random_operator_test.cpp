#include <array>
#include <cmath>
#include <cstring>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/error.hpp>

#include "tests/images/operator_call.hpp"
#include "tests/images/pictures.hpp"

namespace weir::test {
namespace {

using testing::HasSubstr;

/// A picture whose pixels say where they lie: channel 0 the row, channel 1 the column.
Tensor coordinates(std::int64_t height, std::int64_t width) {
  Tensor image({height, width, 3}, DType::u8);
  std::uint8_t* out = image.data<std::uint8_t>();
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x, out += 3) {
      out[0] = static_cast<std::uint8_t>(y);
      out[1] = static_cast<std::uint8_t>(x);
      out[2] = 0;
    }
  }
  return image;
}

std::vector<std::uint8_t> values(const Tensor& tensor) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(tensor.bytes());
  return {begin, begin + tensor.size_bytes()};
}

const std::map<std::string, Written>& random_operators() {
  static const std::map<std::string, Written> all{{"random_crop", {{"size", whole(20)}}},
                                                  {"random_resized_crop", {{"size", whole(20)}}},
                                                  {"random_horizontal_flip", {}},
                                                  {"random_vertical_flip", {}},
                                                  {"color_jitter",
                                                   {{"brightness", number(0.4)},
                                                    {"contrast", number(0.4)},
                                                    {"saturation", number(0.4)},
                                                    {"hue", number(0.1)}}}};
  return all;
}

TEST(RandomOperators, DrawTheSameForTheSameItemOnAnyWorker) {
  const Tensor image = picture(40, 50);
  for (const auto& [name, written] : random_operators()) {
    const SampleMap op = make_operator(name, written);
    int differs = 0;
    for (std::uint64_t id = 0; id < 30; ++id) {
      const Tensor first = apply_to_image(op, image, {.sample_id = id, .worker = 0});
      const Tensor again = apply_to_image(op, image, {.sample_id = id, .worker = 7});
      EXPECT_EQ(values(first), values(again)) << name;
      const Tensor other_epoch = apply_to_image(op, image, {.sample_id = id, .epoch = 1});
      differs += values(first) != values(other_epoch) ? 1 : 0;
    }
    EXPECT_GT(differs, 5) << name << " does not draw anew in another epoch";
  }
}

TEST(RandomOperators, DependOnSeedAndOperator) {
  const Tensor image = picture(40, 50);
  for (const auto& [name, written] : random_operators()) {
    const SampleMap op = make_operator(name, written);
    int by_seed = 0;
    int by_operator = 0;
    for (std::uint64_t id = 0; id < 30; ++id) {
      const auto base = values(apply_to_image(op, image, {.sample_id = id}));
      by_seed += base != values(apply_to_image(op, image, {.seed = 2, .sample_id = id})) ? 1 : 0;
      by_operator +=
          base != values(apply_to_image(op, image, {.operator_index = 3, .sample_id = id})) ? 1 : 0;
    }
    EXPECT_GT(by_seed, 5) << name;
    EXPECT_GT(by_operator, 5) << name;
  }
}

TEST(RandomOperators, ShareOneDrawBetweenColumns) {
  for (const auto& [name, written] : random_operators()) {
    if (name == "color_jitter") continue;
    Sample sample;
    sample.set("image", coordinates(40, 50));
    sample.set("mask", coordinates(40, 50));
    const SampleMap op =
        name == "random_resized_crop"
            ? make_operator(name, {{"size", whole(20)}, {"interpolation", text("nearest")}},
                            {"image", "mask"})
            : make_operator(name, written, {"image", "mask"});
    for (std::uint64_t id = 0; id < 10; ++id) {
      const Sample result = apply(op, sample.clone(), {.sample_id = id});
      EXPECT_EQ(values(result["image"]), values(result["mask"])) << name;
    }
  }
}

TEST(RandomOperators, RefuseColumnsOfDifferentSizesForOneCrop) {
  for (const char* name : {"random_crop", "random_resized_crop"}) {
    Sample sample;
    sample.set("image", picture(40, 50));
    sample.set("mask", picture(40, 49, 1));
    EXPECT_EQ(
        failure_of([&] {
          (void)apply(make_operator(name, {{"size", whole(8)}}, {"image", "mask"}), sample.clone());
        }),
        "'mask' is 49x40 but 'image' is 50x40; columns that share a draw must agree in size");
  }
}

TEST(RandomFlip, MirrorsAsOftenAsToldAndExactly) {
  const Tensor image = picture(21, 30);
  for (const bool horizontal : {true, false}) {
    const std::string name = horizontal ? "random_horizontal_flip" : "random_vertical_flip";
    Tensor mirrored({21, 30, 3}, DType::u8);
    for (std::int64_t y = 0; y < 21; ++y) {
      for (std::int64_t x = 0; x < 30; ++x) {
        const std::int64_t from = horizontal ? y * 30 + 29 - x : (20 - y) * 30 + x;
        std::memcpy(mirrored.bytes() + (y * 30 + x) * 3, image.bytes() + from * 3, 3);
      }
    }
    const SampleMap op = make_operator(name, {{"probability", number(0.3)}});
    int flips = 0;
    constexpr int kItems = 3000;
    for (std::uint64_t id = 0; id < kItems; ++id) {
      const std::vector<std::uint8_t> result = values(apply_to_image(op, image, {.sample_id = id}));
      const bool flipped = result == values(mirrored);
      ASSERT_TRUE(flipped || result == values(image));
      flips += flipped ? 1 : 0;
    }
    // Five standard deviations of a binomial; the draws are fixed.
    EXPECT_NEAR(flips, 0.3 * kItems, 5.0 * std::sqrt(kItems * 0.3 * 0.7)) << name;
    EXPECT_EQ(values(apply_to_image(make_operator(name, {{"probability", whole(0)}}), image)),
              values(image));
    EXPECT_EQ(values(apply_to_image(make_operator(name, {{"probability", text("100%")}}), image)),
              values(mirrored));
  }
}

TEST(RandomFlip, LeavesMemoryAloneThatOthersSee) {
  const Tensor image = picture(8, 8);
  const std::vector<std::uint8_t> before = values(image);
  const Sample result = apply(make_operator("random_horizontal_flip", {{"probability", whole(1)}}),
                              sample_of(image.share()));
  EXPECT_EQ(values(image), before);
  EXPECT_NE(values(result["image"]), before);
}

TEST(RandomFlip, WorksInPlaceOnItsOwnMemory) {
  Tensor image = picture(8, 8);
  const std::byte* memory = image.bytes();
  const Sample result = apply(make_operator("random_horizontal_flip", {{"probability", whole(1)}}),
                              sample_of(std::move(image)));
  EXPECT_EQ(result["image"].bytes(), memory);
}

TEST(RandomCrop, ComesFromEveryPlaceEquallyOften) {
  const SampleMap op = make_operator("random_crop", {{"size", list({38, 47})}});
  std::map<std::pair<int, int>, int> places;
  constexpr int kItems = 6000;
  for (std::uint64_t id = 0; id < kItems; ++id) {
    const Tensor crop = apply_to_image(op, coordinates(40, 50), {.sample_id = id});
    ASSERT_EQ(crop.shape(), (Shape{38, 47, 3}));
    const std::uint8_t* first = crop.data<std::uint8_t>();
    // The last pixel tells that all of it is one part.
    ASSERT_EQ(first[(38 * 47 - 1) * 3], first[0] + 37);
    ASSERT_EQ(first[(38 * 47 - 1) * 3 + 1], first[1] + 46);
    ++places[{first[0], first[1]}];
  }
  ASSERT_EQ(places.size(), 3U * 4U);
  for (const auto& [place, count] : places) EXPECT_NEAR(count, kItems / 12.0, 110);
}

TEST(RandomCrop, PadsFirst) {
  const Tensor image = coordinates(10, 10);
  const SampleMap op = make_operator(
      "random_crop", {{"size", list({14, 14})}, {"padding", whole(2)}, {"fill", number(99)}});
  const Tensor crop = apply_to_image(op, image);
  EXPECT_EQ(crop.data<std::uint8_t>()[0], 99);
  const std::uint8_t* inside = crop.data<std::uint8_t>() + (3 * 14 + 5) * 3;
  EXPECT_EQ(inside[0], 1);
  EXPECT_EQ(inside[1], 3);
  const SampleMap mirrored = make_operator(
      "random_crop", {{"size", list({14, 14})}, {"padding", whole(2)}, {"mode", text("reflect")}});
  EXPECT_EQ(apply_to_image(mirrored, image).data<std::uint8_t>()[0], 2);
}

TEST(RandomCrop, NamesAPictureThatIsTooSmall) {
  EXPECT_THAT(
      failure_of([] {
        (void)apply_to_image(make_operator("random_crop", {{"size", whole(32)}}), picture(20, 40));
      }),
      HasSubstr("the picture is 40x20, too small for a crop of 32x32"));
  const Tensor padded = apply_to_image(
      make_operator("random_crop", {{"size", whole(32)}, {"pad_if_needed", flag(true)}}),
      picture(20, 40));
  EXPECT_EQ(padded.shape(), (Shape{32, 32, 3}));
}

/// The region that a random_resized_crop took, from a picture of coordinates.
struct Taken {
  double area_share;
  double ratio;
};

TEST(RandomResizedCrop, DrawsAreaAndRatioAsTold) {
  // Nearest neighbours show the first and the last row and column that were taken.
  const SampleMap op = make_operator("random_resized_crop", {{"size", whole(250)},
                                                             {"scale", list({0.2, 0.6})},
                                                             {"ratio", list({0.8, 1.25})},
                                                             {"interpolation", text("nearest")}});
  std::vector<Taken> taken;
  constexpr int kItems = 2000;
  double sum_top = 0.0;
  for (std::uint64_t id = 0; id < kItems; ++id) {
    const Tensor crop = apply_to_image(op, coordinates(200, 200), {.sample_id = id});
    ASSERT_EQ(crop.shape(), (Shape{250, 250, 3}));
    const std::uint8_t* first = crop.data<std::uint8_t>();
    const std::uint8_t* last = first + (250 * 250 - 1) * 3;
    const double height = last[0] - first[0] + 1;
    const double width = last[1] - first[1] + 1;
    taken.push_back({height * width / 40000.0, width / height});
    sum_top += first[0] / (200.0 - height + 1e-9);
  }
  double sum_area = 0.0;
  double sum_log_ratio = 0.0;
  std::array<int, 4> quarters{};
  for (const Taken& t : taken) {
    ASSERT_GE(t.area_share, 0.19);
    ASSERT_LE(t.area_share, 0.61);
    ASSERT_GE(t.ratio, 0.79);
    ASSERT_LE(t.ratio, 1.27);
    sum_area += t.area_share;
    sum_log_ratio += std::log(t.ratio);
    ++quarters[static_cast<std::size_t>(std::clamp((t.area_share - 0.2) / 0.1, 0.0, 3.0))];
  }
  EXPECT_NEAR(sum_area / kItems, 0.4, 0.015);
  EXPECT_NEAR(sum_log_ratio / kItems, 0.0, 0.015);
  for (const int count : quarters) EXPECT_NEAR(count, kItems / 4.0, 120);
  EXPECT_NEAR(sum_top / kItems, 0.5, 0.04);
}

TEST(RandomResizedCrop, FallsBackToTheMiddleWhereNothingFits) {
  // A strip of 200 x 4: no ratio between 3/4 and 4/3 fits with half of its area.
  const SampleMap op = make_operator(
      "random_resized_crop",
      {{"size", list({4, 5})}, {"scale", list({0.9, 1.0})}, {"interpolation", text("nearest")}});
  const Tensor crop = apply_to_image(op, coordinates(4, 200));
  // The widest allowed part of 4 rows is 5 columns, in the middle.
  EXPECT_EQ(crop.data<std::uint8_t>()[1], 97);
  EXPECT_EQ(crop.data<std::uint8_t>()[4 * 3 + 1], 101);
}

}  // namespace
}  // namespace weir::test
