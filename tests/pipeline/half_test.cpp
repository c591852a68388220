#include <weir/half.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include <weir/tensor.hpp>

namespace weir {
namespace {

constexpr std::uint16_t kInfinity = 0x7c00;

/// By the definition of the format, for finite ones.
double value_of(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

std::uint16_t rounded(double value) { return half_of(static_cast<float>(value)).bits; }

TEST(Half, EveryOneComesBackFromTheFloatThatItMeans) {
  for (unsigned sign : {0U, 0x8000U})
    for (unsigned magnitude = 0; magnitude < kInfinity; ++magnitude) {
      const auto bits = static_cast<std::uint16_t>(sign | magnitude);
      const float value = float_of({bits});
      ASSERT_EQ(static_cast<double>(value), value_of(bits)) << bits;
      ASSERT_EQ(std::signbit(value), sign != 0) << bits;
      ASSERT_EQ(half_of(value).bits, bits);
    }
}

/// Between every two neighbours: the middle goes to the even one, what is beside it to the nearer.
TEST(Half, RoundsToTheNearestAndThenToTheEven) {
  constexpr float kAway = std::numeric_limits<float>::infinity();
  for (unsigned low = 0; low < kInfinity; ++low) {
    const unsigned high = low + 1;
    // Behind the largest one stands what the next would be.
    const double above = high == kInfinity ? 65536.0 : value_of(static_cast<std::uint16_t>(high));
    const auto middle = static_cast<float>((value_of(static_cast<std::uint16_t>(low)) + above) / 2);
    const unsigned even = low % 2 == 0 ? low : high;
    ASSERT_EQ(half_of(middle).bits, even) << low;
    ASSERT_EQ(half_of(std::nextafter(middle, 0.0F)).bits, low);
    ASSERT_EQ(half_of(std::nextafter(middle, kAway)).bits, high);
    ASSERT_EQ(half_of(-middle).bits, 0x8000U | even) << low;
  }
}

TEST(Half, KeepsWhatIsNoNumberAndWhatIsTooLarge) {
  EXPECT_EQ(rounded(65519.99), 0x7bff);
  EXPECT_EQ(rounded(65520), kInfinity);
  EXPECT_EQ(rounded(-1e30), 0x8000 | kInfinity);
  EXPECT_EQ(half_of(std::numeric_limits<float>::infinity()).bits, kInfinity);
  EXPECT_EQ(half_of(std::numeric_limits<float>::denorm_min()).bits, 0);
  EXPECT_EQ(half_of(std::numeric_limits<float>::quiet_NaN()).bits, 0x7e00);
  EXPECT_TRUE(std::isnan(float_of({0x7e01})));
  EXPECT_EQ(float_of({0xfc00}), -std::numeric_limits<float>::infinity());
}

TEST(Half, IsAnElementType) {
  const Tensor tensor({2, 3}, DType::f16);
  EXPECT_EQ(size_of(DType::f16), 2U);
  EXPECT_STREQ(name_of(DType::f16), "f16");
  EXPECT_EQ(tensor.size_bytes(), 12U);
  tensor.data<Half>()[5] = half_of(1.5F);
  EXPECT_EQ(tensor.row(1).data<Half>()[2], half_of(1.5F));
}

}  // namespace
}  // namespace weir
