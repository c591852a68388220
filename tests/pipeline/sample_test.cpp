#include <weir/sample.hpp>

#include <gtest/gtest.h>

#include <weir/error.hpp>

namespace weir {
namespace {

Tensor number(std::int64_t value) {
  Tensor tensor(Shape{}, DType::i64);
  *tensor.data<std::int64_t>() = value;
  return tensor;
}

TEST(Sample, KeepsColumnsInTheOrderOfTheirArrival) {
  Sample sample;
  sample.set("image", number(1));
  sample.set("mask", number(2));
  sample.set("label", number(3));
  sample.set("mask", number(4));
  ASSERT_EQ(sample.columns().size(), 3U);
  EXPECT_EQ(sample.columns()[1].name, "mask");
  EXPECT_EQ(*sample["mask"].data<std::int64_t>(), 4);
  sample.erase("image");
  sample.erase("absent");
  ASSERT_EQ(sample.columns().size(), 2U);
  EXPECT_EQ(sample.columns()[0].name, "mask");
  EXPECT_EQ(sample.find("image"), nullptr);
}

TEST(Sample, NamesItsColumnsWhenOneIsMissing) {
  Sample sample;
  sample.set("image", number(1));
  sample.set("label", number(2));
  try {
    (void)sample["imgae"];
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the sample has no column 'imgae'; its columns: image, label");
  }
}

TEST(Sample, TakesEightColumnsAndNoMore) {
  Sample sample;
  for (int i = 0; i < 8; ++i) sample.set("c" + std::to_string(i), number(i));
  sample.set("c7", number(70));
  EXPECT_THROW(sample.set("c8", number(8)), Error);
}

TEST(Sample, CountsAndClonesItsBytes) {
  Sample sample;
  sample.set("image", Tensor({4, 5, 3}, DType::u8));
  sample.set("label", number(9));
  EXPECT_EQ(bytes_of(sample), 4U * 5U * 3U + 8U);
  const Sample copy = sample.clone();
  *sample["label"].data<std::int64_t>() = 1;
  EXPECT_EQ(*copy["label"].data<std::int64_t>(), 9);
}

}  // namespace
}  // namespace weir
