#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <opencv2/imgproc.hpp>

#include <weir/error.hpp>

#include "tests/images/operator_call.hpp"
#include "tests/images/pictures.hpp"

namespace weir::test {
namespace {

using testing::HasSubstr;

/// The value at (y, x, c), or `outside` beyond the picture.
std::uint8_t at(const Tensor& image, std::int64_t y, std::int64_t x, std::int64_t c,
                std::uint8_t outside = 0) {
  const Shape& shape = image.shape();
  if (y < 0 || y >= shape[0] || x < 0 || x >= shape[1]) return outside;
  return image.data<std::uint8_t>()[(y * shape[1] + x) * shape[2] + c];
}

/// Expects `result` to be the part of `image` that begins at (top, left), `outside` around it.
void expect_part(const Tensor& result, const Tensor& image, std::int64_t top, std::int64_t left,
                 std::uint8_t outside = 0) {
  for (std::int64_t y = 0; y < result.shape()[0]; ++y) {
    for (std::int64_t x = 0; x < result.shape()[1]; ++x) {
      for (std::int64_t c = 0; c < result.shape()[2]; ++c) {
        ASSERT_EQ(at(result, y, x, c), at(image, y + top, x + left, c, outside))
            << "y " << y << " x " << x;
      }
    }
  }
}

TEST(Resize, TakesTheShorterSideAsItsSize) {
  const SampleMap resize = make_operator("resize", {{"size", whole(32)}});
  EXPECT_EQ(apply_to_image(resize, picture(64, 100)).shape(), (Shape{32, 50, 3}));
  EXPECT_EQ(apply_to_image(resize, picture(101, 64)).shape(), (Shape{50, 32, 3}));
  EXPECT_EQ(apply_to_image(resize, picture(5, 5, 1)).shape(), (Shape{32, 32, 1}));
  EXPECT_EQ(
      apply_to_image(make_operator("resize", {{"size", list({20, 30})}}), picture(64, 100)).shape(),
      (Shape{20, 30, 3}));
}

TEST(Resize, AgreesWithOpenCvInEveryInterpolation) {
  const Tensor image = picture(60, 80);
  const cv::Mat mat(60, 80, CV_8UC3, image.bytes());
  const std::vector<std::pair<std::string, int>> interpolations{{"nearest", cv::INTER_NEAREST},
                                                                {"linear", cv::INTER_LINEAR},
                                                                {"area", cv::INTER_AREA},
                                                                {"cubic", cv::INTER_CUBIC}};
  for (const auto& [name, flag] : interpolations) {
    const Tensor result = apply_to_image(
        make_operator("resize", {{"size", list({33, 47})}, {"interpolation", text(name)}}), image);
    cv::Mat expected;
    cv::resize(mat, expected, cv::Size(47, 33), 0, 0, flag);
    EXPECT_EQ(std::memcmp(result.bytes(), expected.data, result.size_bytes()), 0) << name;
  }
}

TEST(Resize, LinearIsTheWeightedMeanOfItsNeighbours) {
  const Tensor image = picture(40, 50);
  const Tensor result = apply_to_image(make_operator("resize", {{"size", list({64, 90})}}), image);
  for (std::int64_t y = 0; y < 64; ++y) {
    for (std::int64_t x = 0; x < 90; ++x) {
      const double from_y = std::clamp((y + 0.5) * 40.0 / 64.0 - 0.5, 0.0, 39.0);
      const double from_x = std::clamp((x + 0.5) * 50.0 / 90.0 - 0.5, 0.0, 49.0);
      const auto y0 = static_cast<std::int64_t>(from_y);
      const auto x0 = static_cast<std::int64_t>(from_x);
      const std::int64_t y1 = std::min<std::int64_t>(y0 + 1, 39);
      const std::int64_t x1 = std::min<std::int64_t>(x0 + 1, 49);
      const double v = from_y - static_cast<double>(y0);
      const double u = from_x - static_cast<double>(x0);
      const double expected =
          (1 - v) * ((1 - u) * at(image, y0, x0, 1) + u * at(image, y0, x1, 1)) +
          v * ((1 - u) * at(image, y1, x0, 1) + u * at(image, y1, x1, 1));
      ASSERT_NEAR(at(result, y, x, 1), expected, 1.0);
    }
  }
}

TEST(Resize, TakesFloats) {
  Tensor image({4, 4, 3}, DType::f32);
  std::fill_n(image.data<float>(), 48, 0.25F);
  const Tensor result = apply_to_image(make_operator("resize", {{"size", whole(9)}}), image);
  ASSERT_EQ(result.dtype(), DType::f32);
  EXPECT_FLOAT_EQ(result.data<float>()[100], 0.25F);
}

TEST(Masks, KeepTheirClassNumbers) {
  // Classes 0 and 200 side by side: any mixing would make others.
  Sample sample;
  sample.set("image", picture(40, 40));
  Tensor mask({40, 40, 1}, DType::u8);
  for (int i = 0; i < 1600; ++i) mask.data<std::uint8_t>()[i] = i % 40 < 17 ? 0 : 200;
  sample.set("mask", std::move(mask));
  for (const char* name : {"resize", "random_resized_crop"}) {
    const Sample result =
        apply(make_operator(name, {{"size", list({23, 29})}}, {"image", "mask"}), sample.clone());
    ASSERT_EQ(result["mask"].shape(), (Shape{23, 29, 1}));
    ASSERT_EQ(result["image"].shape(), (Shape{23, 29, 3}));
    for (int i = 0; i < 23 * 29; ++i) {
      const std::uint8_t value = result["mask"].data<std::uint8_t>()[i];
      ASSERT_TRUE(value == 0 || value == 200) << name << " made class " << int{value};
    }
  }
}

TEST(CenterCrop, CutsTheMiddle) {
  const Tensor image = picture(50, 61);
  expect_part(apply_to_image(make_operator("center_crop", {{"size", list({20, 30})}}), image),
              image, 15, 16);  // (61 - 30) / 2 = 15.5, a tie to the even number
  expect_part(apply_to_image(make_operator("center_crop", {{"size", whole(50)}}), image), image, 0,
              6);  // 5.5 becomes 6
  expect_part(apply_to_image(make_operator("center_crop", {{"size", list({50, 61})}}), image),
              image, 0, 0);
}

TEST(CenterCrop, SurroundsASmallerPictureByZeros) {
  const Tensor image = picture(10, 41);
  expect_part(apply_to_image(make_operator("center_crop", {{"size", list({15, 21})}}), image),
              image, -2, 10);
}

TEST(Pad, AddsOnEachSide) {
  const Tensor image = picture(8, 9);
  expect_part(apply_to_image(make_operator("pad", {{"padding", whole(2)}}), image), image, -2, -2);
  const Tensor four = apply_to_image(
      make_operator("pad", {{"padding", list({1, 2, 3, 4})}, {"fill", number(7)}}), image);
  ASSERT_EQ(four.shape(), (Shape{14, 13, 3}));
  expect_part(four, image, -2, -1, 7);
  const Tensor two = apply_to_image(make_operator("pad", {{"padding", list({1, 2})}}), image);
  ASSERT_EQ(two.shape(), (Shape{12, 11, 3}));
  expect_part(two, image, -2, -1);
}

TEST(Pad, TakesAColourAndLeavesMasksAtZero) {
  Sample sample;
  sample.set("image", picture(4, 4));
  sample.set("mask", picture(4, 4, 1));
  const Sample result =
      apply(make_operator("pad", {{"padding", whole(1)}, {"fill", list({10, 20, 30})}},
                          {"image", "mask"}),
            std::move(sample));
  EXPECT_EQ(at(result["image"], 0, 0, 0), 10);
  EXPECT_EQ(at(result["image"], 0, 0, 2), 30);
  EXPECT_EQ(at(result["mask"], 0, 0, 0), 0);
}

TEST(Pad, MirrorsAndRepeats) {
  const Tensor image = picture(5, 6);
  const auto padded = [&](const char* mode) {
    return apply_to_image(make_operator("pad", {{"padding", whole(2)}, {"mode", text(mode)}}),
                          image);
  };
  EXPECT_EQ(at(padded("edge"), 2, 0, 1), at(image, 0, 0, 1));
  EXPECT_EQ(at(padded("reflect"), 2, 0, 1), at(image, 0, 2, 1));
  EXPECT_EQ(at(padded("symmetric"), 2, 0, 1), at(image, 0, 1, 1));
  EXPECT_EQ(at(padded("symmetric"), 8, 9, 1), at(image, 3, 4, 1));
}

TEST(PadToSize, AddsWhatIsMissing) {
  const Tensor image = picture(8, 9);
  const Tensor middle = apply_to_image(
      make_operator("pad_to_size", {{"size", list({11, 15})}, {"fill", whole(7)}}), image);
  ASSERT_EQ(middle.shape(), (Shape{11, 15, 3}));
  expect_part(middle, image, -1, -3, 7);
  const Tensor placed = apply_to_image(
      make_operator("pad_to_size", {{"size", whole(15)}, {"offset", list({0, 6})}}), image);
  ASSERT_EQ(placed.shape(), (Shape{15, 15, 3}));
  expect_part(placed, image, 0, -6);
}

TEST(PadToSize, SaysWhatDoesNotFit) {
  const Tensor image = picture(8, 9);
  EXPECT_EQ(failure_of([&] {
              (void)apply_to_image(make_operator("pad_to_size", {{"size", whole(8)}}), image);
            }),
            "the picture is 9x8, which does not fit into 8x8; resize or crop first");
  EXPECT_EQ(failure_of([&] {
              (void)apply_to_image(
                  make_operator("pad_to_size", {{"size", whole(12)}, {"offset", whole(4)}}), image);
            }),
            "the picture is 9x8, which does not fit into 12x12 at its offset; resize or crop "
            "first");
}

TEST(HwcToChw, MovesChannelsToTheFront) {
  for (const std::int64_t channels : {1, 3, 4}) {
    const Tensor image = picture(7, 11, channels);
    const Tensor result = apply_to_image(make_operator("hwc_to_chw"), image);
    ASSERT_EQ(result.shape(), (Shape{channels, 7, 11}));
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t i = 0; i < 77; ++i) {
        ASSERT_EQ(result.data<std::uint8_t>()[c * 77 + i], at(image, i / 11, i % 11, c));
      }
    }
  }
}

TEST(Geometry, SaysWhereAnOperatorStandsWrong) {
  for (const char* name : {"resize", "center_crop", "random_crop", "random_resized_crop"}) {
    const SampleMap op = make_operator(name, {{"size", whole(8)}});
    const std::string failure = failure_of([&] {
      (void)apply_to_image(op, Tensor({3, 224, 224}, DType::f32));
    });
    EXPECT_THAT(failure, testing::StartsWith(std::string(name) +
                                             ": column 'image' has shape [3, 224, 224]"));
    EXPECT_THAT(failure, HasSubstr("before `hwc_to_chw`"));
  }
  EXPECT_THAT(failure_of([] {
                (void)apply(make_operator("resize", {{"size", whole(8)}}, {"picture"}),
                            sample_of(picture(8, 8)));
              }),
              HasSubstr("no column 'picture'; its columns: image; name others with `columns:`"));
}

TEST(Geometry, RefusesSizesThatAreNone) {
  EXPECT_THAT(failure_of([] {
                (void)make_operator("resize", {{"size", whole(0)}});
              }),
              HasSubstr("pipeline.yaml:3:5: resize: 'size' is 0"));
  EXPECT_THAT(failure_of([] {
                (void)make_operator("resize", {{"size", number(1.5)}});
              }),
              HasSubstr("whole numbers"));
  EXPECT_THAT(failure_of([] {
                (void)make_operator("resize", {{"size", list({1, 2, 3})}});
              }),
              HasSubstr("at most 2 numbers"));
  EXPECT_THAT(failure_of([] {
                (void)make_operator("pad", {{"padding", list({1, 2, 3})}});
              }),
              HasSubstr("[left, top, right, bottom]"));
  EXPECT_THAT(failure_of([] { (void)make_operator("center_crop"); }),
              HasSubstr("'size' is missing"));
}

}  // namespace
}  // namespace weir::test
