#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/error.hpp>

#include "tests/images/operator_call.hpp"

namespace weir::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <class T>
Tensor column(const std::vector<T>& values) {
  Tensor tensor({static_cast<std::int64_t>(values.size())}, dtype_of<T>());
  std::copy(values.begin(), values.end(), tensor.data<T>());
  return tensor;
}

template <class To, class From>
std::vector<To> converted(const std::vector<From>& values, const std::string& scale = "unit") {
  const Tensor result = apply_to_image(
      make_operator("convert_dtype",
                    {{"dtype", text(name_of(dtype_of<To>()))}, {"scale", text(scale)}}),
      column(values));
  const To* first = result.data<To>();
  return {first, first + values.size()};
}

using Bytes8 = std::vector<std::uint8_t>;
using Words = std::vector<std::uint16_t>;
using Floats = std::vector<float>;

TEST(ConvertDType, TakesTheLargestValuesForTheSame) {
  EXPECT_THAT(converted<std::uint16_t>(Bytes8{0, 1, 128, 255}), ElementsAre(0, 257, 32896, 65535));
  EXPECT_THAT(converted<std::uint8_t>(Words{0, 128, 129, 32768, 65406, 65407, 65535}),
              ElementsAre(0, 0, 1, 128, 254, 255, 255));
  EXPECT_THAT(converted<float>(Words{0, 13107, 65535}), ElementsAre(0.0F, 0.2F, 1.0F));
  EXPECT_THAT(converted<float>(Bytes8{0, 51, 255}), ElementsAre(0.0F, 0.2F, 1.0F));
  EXPECT_THAT(converted<std::uint8_t>(Floats{-1, 0, 0.5F, 0.998F, 1, 7}),
              ElementsAre(0, 0, 128, 254, 255, 255));
  EXPECT_THAT(converted<std::uint16_t>(Floats{0, 0.5F, 1}), ElementsAre(0, 32768, 65535));
  EXPECT_THAT(converted<float>(std::vector<double>{0.25, 3}), ElementsAre(0.25F, 3.0F));
}

TEST(ConvertDType, ComesBackToEveryByte) {
  Bytes8 all(256);
  for (std::size_t v = 0; v < 256; ++v) all[v] = static_cast<std::uint8_t>(v);
  EXPECT_EQ(converted<std::uint8_t>(converted<std::uint16_t>(all)), all);
  EXPECT_EQ(converted<std::uint8_t>(converted<float>(all)), all);
  Words words(65536);
  for (std::size_t v = 0; v < words.size(); ++v) words[v] = static_cast<std::uint16_t>(v);
  EXPECT_EQ(converted<std::uint16_t>(converted<float>(words)), words);
}

TEST(ConvertDType, KeepsNumbersInsideOfTheTypeWithoutAScale) {
  EXPECT_THAT(converted<std::uint8_t>(std::vector<std::int64_t>{-5, 7, 300}, "none"),
              ElementsAre(0, 7, 255));
  EXPECT_THAT(converted<std::int32_t>(std::vector<std::int64_t>{-5, std::int64_t{1} << 40}, "none"),
              ElementsAre(-5, std::numeric_limits<std::int32_t>::max()));
  EXPECT_THAT(converted<std::int64_t>(Floats{2.5F, 3.5F, -1.2F}, "none"), ElementsAre(2, 4, -1));
  EXPECT_THAT(converted<std::uint8_t>(Floats{std::nanf("")}, "none"), ElementsAre(0));
  EXPECT_THAT(converted<float>(Bytes8{7, 255}, "none"), ElementsAre(7.0F, 255.0F));
  EXPECT_THAT(converted<std::uint16_t>(Bytes8{7, 255}, "none"), ElementsAre(7, 255));
}

TEST(ConvertDType, AgreesWithToFloat) {
  Bytes8 all(256);
  for (std::size_t v = 0; v < 256; ++v) all[v] = static_cast<std::uint8_t>(v);
  const Tensor other = apply_to_image(make_operator("to_float"), column(all));
  EXPECT_EQ(converted<float>(all), Floats(other.data<float>(), other.data<float>() + 256));
}

TEST(ConvertDType, NeverScalesMasks) {
  Sample sample;
  sample.set("mask", column(Bytes8{3, 200}));
  const Sample result =
      apply(make_operator("convert_dtype", {{"dtype", text("f32")}}, {"mask"}), std::move(sample));
  EXPECT_EQ(result["mask"].data<float>()[1], 200.0F);
}

TEST(ConvertDType, RefusesAScaleWhereThereIsNone) {
  EXPECT_THAT(failure_of([] {
                (void)make_operator("convert_dtype", {{"dtype", text("i64")}});
              }),
              HasSubstr("say `scale: none`"));
  EXPECT_THAT(failure_of([] { (void)converted<float>(std::vector<std::int64_t>{1}); }),
              HasSubstr("column 'image' holds i64, which has no largest value"));
}

}  // namespace
}  // namespace weir::test
