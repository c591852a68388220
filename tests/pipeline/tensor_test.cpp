#include <weir/tensor.hpp>

#include <new>

#include <gtest/gtest.h>

#include <weir/error.hpp>

namespace weir {
namespace {

TEST(Shape, TellsItsElementsRowAndText) {
  const Shape shape{3, 224, 112};
  EXPECT_EQ(shape.elements(), 3 * 224 * 112);
  EXPECT_EQ(shape.row(), (Shape{224, 112}));
  EXPECT_EQ(shape.with_leading(32), (Shape{32, 3, 224, 112}));
  EXPECT_EQ(shape.text(), "[3, 224, 112]");
  EXPECT_EQ(Shape{}.elements(), 1);
  EXPECT_EQ(Shape{}.text(), "[]");
  EXPECT_FALSE(shape == (Shape{3, 224}));
}

TEST(Shape, RefusesWhatIsNoShape) {
  EXPECT_THROW((Shape{1, 1, 1, 1, 1, 1, 1}), Error);
  EXPECT_THROW((Shape{2, -1}), Error);
  EXPECT_THROW((void)(Shape{1, 2, 3, 4, 5, 6}.with_leading(2)), Error);
}

TEST(Tensor, RowsAndViewsShareTheMemory) {
  const Tensor batch({4, 2, 3}, DType::f32);
  for (int i = 0; i < 24; ++i) batch.data<float>()[i] = static_cast<float>(i);
  const Tensor row = batch.row(2);
  EXPECT_EQ(row.shape(), (Shape{2, 3}));
  EXPECT_EQ(row.data<float>()[0], 12.0F);
  row.data<float>()[0] = -1.0F;
  EXPECT_EQ(batch.data<float>()[12], -1.0F);
  EXPECT_EQ(batch.first(3).shape(), (Shape{3, 2, 3}));
  EXPECT_EQ(batch.reshaped({24}).data<float>()[12], -1.0F);
  EXPECT_EQ(batch.buffer().holders(), 2U);
}

TEST(Tensor, CloneCopiesTheElements) {
  const Tensor original({2}, DType::i64);
  original.data<std::int64_t>()[1] = 5;
  const Tensor copy = original.row(1).clone();
  original.data<std::int64_t>()[1] = 6;
  EXPECT_EQ(*copy.data<std::int64_t>(), 5);
}

TEST(Tensor, NamesBothTypesWhenTheElementTypeIsWrong) {
  const Tensor tensor({2}, DType::u8);
  try {
    (void)tensor.data<float>();
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the tensor holds u8, not f32");
  }
  EXPECT_THROW((void)tensor.reshaped({3}), Error);
}

TEST(Tensor, RefusesSizesBeyondTheAddressSpace) {
  EXPECT_THROW(Tensor({1LL << 40, 1LL << 40}, DType::u8), std::bad_alloc);
  EXPECT_THROW(Tensor({1LL << 62}, DType::f64), std::bad_alloc);
}

}  // namespace
}  // namespace weir
