#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/error.hpp>

#include "tests/images/operator_call.hpp"
#include "tests/images/pictures.hpp"
#include "tests/images/pil_figures.hpp"

namespace weir::test {
namespace {

using testing::HasSubstr;

Tensor changed(const std::string& op, const Written& written, const Tensor& image) {
  return apply_to_image(make_operator(op, written), image);
}

/// The picture of the figures with less contrast: its values lie between 40 and 125.
Tensor dim_picture() {
  Tensor image = formula_picture();
  std::uint8_t* values = image.data<std::uint8_t>();
  for (std::int64_t i = 0; i < image.shape().elements(); ++i)
    values[i] = static_cast<std::uint8_t>(values[i] / 3 + 40);
  return image;
}

/// The same values as f32 from 0 to 1.
Tensor as_floats(const Tensor& image) { return changed("to_float", {}, image); }

std::uint8_t at(const Tensor& image, std::int64_t i) { return image.data<std::uint8_t>()[i]; }

/// How far single values are apart at most, in steps of a byte.
double most_apart(const Tensor& bytes, const Tensor& floats) {
  double most = 0;
  for (std::int64_t i = 0; i < bytes.shape().elements(); ++i)
    most = std::max(most, std::abs(at(bytes, i) - 255.0 * floats.data<float>()[i]));
  return most;
}

// Made with Pillow 13.0.0, im being the picture of pil_figures.hpp and dim that of dim_picture():
//   ImageOps.invert(im); ImageOps.solarize(im, 100); ImageOps.posterize(im, 4);
//   ImageOps.equalize(dim); ImageOps.autocontrast(dim), with cutoff=5
TEST(Tone, GivesTheBytesOfPil) {
  const Tensor image = formula_picture();
  const Tensor dim = dim_picture();
  EXPECT_EQ(sums_of(changed("invert", {}, image)), (Sums{856192, 805553}));
  EXPECT_EQ(sums_of(changed("solarize", {{"threshold", whole(100)}}, image)),
            (Sums{448384, 434084}));
  EXPECT_EQ(sums_of(changed("solarize", {}, image)), (Sums{426653, 186327}));
  EXPECT_EQ(sums_of(changed("posterize", {{"bits", whole(4)}}, image)), (Sums{806832, 195551}));
  EXPECT_EQ(sums_of(changed("posterize", {{"bits", whole(1)}}, image)), (Sums{429952, 161288}));
  EXPECT_EQ(sums_of(changed("equalize", {}, dim)), (Sums{923150, 801884}));
  EXPECT_EQ(sums_of(changed("autocontrast", {}, dim)), (Sums{850701, 386086}));
  EXPECT_EQ(sums_of(changed("autocontrast", {{"cutoff", text("5%")}}, dim)),
            (Sums{861216, 926298}));
}

// ImageEnhance.Sharpness(im).enhance(factor) of Pillow 13.0.0 gives these.
TEST(Sharpness, GivesTheBytesOfPil) {
  const Tensor image = formula_picture();
  const auto sharpened = [&](double factor) {
    return sums_of(changed("adjust_sharpness", {{"factor", number(factor)}}, image));
  };
  EXPECT_EQ(sharpened(0), (Sums{856795, 421782}));
  EXPECT_EQ(sharpened(0.5), (Sums{855514, 212690}));
  EXPECT_EQ(sharpened(1), (Sums{857408, 729976}));
  EXPECT_EQ(sharpened(2), (Sums{858224, 758277}));
}

TEST(Tone, OfFloatsIsThatOfBytes) {
  const Tensor image = dim_picture();
  const Tensor floats = as_floats(image);
  const std::vector<std::pair<std::string, Written>> changes{
      {"invert", {}},
      {"solarize", {{"threshold", whole(80)}}},
      {"autocontrast", {}},
      {"adjust_sharpness", {{"factor", number(1.7)}}},
      {"adjust_brightness", {{"factor", number(1.2)}}},
      {"adjust_contrast", {{"factor", number(1.4)}}},
      {"adjust_saturation", {{"factor", number(0.3)}}},
      {"adjust_hue", {{"turn", number(0.2)}}},
      {"random_grayscale", {{"probability", whole(1)}}}};
  for (const auto& [op, written] : changes)
    EXPECT_LE(most_apart(changed(op, written, image), changed(op, written, floats)), 3.0) << op;
}

TEST(Tone, LeavesMasksAndTheFourthChannelAlone) {
  const Tensor image = picture(12, 10, 4);
  const Tensor mask = picture(12, 10, 1);
  const std::vector<std::pair<std::string, Written>> changes{
      {"invert", {}},
      {"solarize", {}},
      {"posterize", {{"bits", whole(2)}}},
      {"autocontrast", {}},
      {"equalize", {}},
      {"adjust_sharpness", {{"factor", number(3)}}},
      {"adjust_brightness", {{"factor", number(0.2)}}},
      {"random_grayscale", {{"probability", whole(1)}}}};
  for (const auto& [op, written] : changes) {
    Sample sample = sample_of(image.clone());
    sample.set("mask", mask.clone());
    const Sample result = apply(make_operator(op, written, {"image", "mask"}), std::move(sample));
    for (std::int64_t i = 0; i < 120; ++i) {
      ASSERT_EQ(at(result["mask"], i), at(mask, i)) << op;
      ASSERT_EQ(at(result["image"], 4 * i + 3), at(image, 4 * i + 3)) << op;
    }
  }
}

TEST(Tone, OfAnEvenPictureChangesNothingThatCannotBeStretched) {
  Tensor even({20, 20, 3}, DType::u8);
  std::fill_n(even.data<std::uint8_t>(), 1200, std::uint8_t{77});
  for (const char* op : {"autocontrast", "equalize"})
    EXPECT_EQ(sums_of(changed(op, {}, even)), sums_of(even)) << op;
  EXPECT_EQ(sums_of(changed("adjust_sharpness", {{"factor", number(2)}}, even)), sums_of(even));
}

TEST(Adjust, IsWhatColorJitterDoes) {
  const Tensor image = picture(20, 30);
  const std::vector<std::pair<std::string, std::string>> pairs{{"brightness", "adjust_brightness"},
                                                               {"contrast", "adjust_contrast"},
                                                               {"saturation", "adjust_saturation"}};
  for (const auto& [key, op] : pairs)
    EXPECT_EQ(sums_of(changed(op, {{"factor", number(1.3)}}, image)),
              sums_of(changed("color_jitter", {{key, list({1.3, 1.3})}}, image)))
        << op;
  EXPECT_EQ(sums_of(changed("adjust_hue", {{"turn", number(0.1)}}, image)),
            sums_of(changed("color_jitter", {{"hue", list({0.1, 0.1})}}, image)));
}

TEST(Grayscale, ComesAsOftenAsToldAndKeepsThreeChannels) {
  const Tensor image = picture(8, 8);
  const SampleMap op = make_operator("random_grayscale", {{"probability", number(0.3)}});
  int grey = 0;
  constexpr int kItems = 2000;
  for (std::uint64_t id = 0; id < kItems; ++id) {
    const Tensor result = apply_to_image(op, image, {.sample_id = id});
    ASSERT_EQ(result.shape(), image.shape());
    bool same = true;
    for (std::int64_t i = 0; i < 64; ++i)
      same = same && at(result, 3 * i) == at(result, 3 * i + 1) &&
             at(result, 3 * i) == at(result, 3 * i + 2);
    grey += same ? 1 : 0;
  }
  // Five standard deviations of a binomial; the draws are fixed.
  EXPECT_NEAR(grey, 0.3 * kItems, 5.0 * std::sqrt(kItems * 0.3 * 0.7));
}

TEST(ImageChange, LeavesMemoryAloneThatOthersSee) {
  const Tensor image = picture(8, 8);
  const Sums before = sums_of(image);
  const Sample result = apply(make_operator("invert"), sample_of(image.share()));
  EXPECT_EQ(sums_of(image), before);
  EXPECT_NE(sums_of(result["image"]), before);
}

TEST(ImageChange, RefusesWhatItCannotChange) {
  const Tensor floats = as_floats(picture(8, 8));
  EXPECT_THAT(failure_of([&] { (void)changed("equalize", {}, floats); }),
              HasSubstr("column 'image' holds f32, needed is u8"));
  EXPECT_THAT(failure_of([&] {
                (void)changed("posterize", {{"bits", whole(3)}}, floats);
              }),
              HasSubstr("needed is u8"));
  EXPECT_THAT(failure_of([&] {
                (void)changed("autocontrast", {{"cutoff", text("1%")}}, floats);
              }),
              HasSubstr("needed is u8"));
  EXPECT_THAT(failure_of([&] {
                (void)changed("invert", {}, Tensor({8, 8, 3}, DType::u16));
              }),
              HasSubstr("needed are u8, or f32 from 0 to 1"));
  EXPECT_THAT(failure_of([&] { (void)changed("invert", {}, Tensor({8}, DType::u8)); }),
              HasSubstr("needed are rows x columns x 1 to 4 channels"));
}

TEST(ImageChange, NamesThePlaceOfAWrongParameter) {
  EXPECT_THAT(failure_of([] {
                (void)make_operator("posterize", {{"bits", whole(9)}});
              }),
              HasSubstr("posterize: 'bits' is 9, must be a whole number from 0 to 8"));
  EXPECT_THAT(failure_of([] {
                (void)make_operator("adjust_hue", {{"turn", number(0.7)}});
              }),
              HasSubstr("must be a number from -0.5 to 0.5"));
  EXPECT_THAT(failure_of([] { (void)make_operator("adjust_contrast"); }),
              HasSubstr("'factor' is missing"));
}

}  // namespace
}  // namespace weir::test
