#include <weir/random.hpp>

#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "pipeline/philox.hpp"

namespace weir {
namespace {

using Words = std::array<std::uint32_t, 4>;

// The published known answers of Random123 (kat_vectors, philox4x32 with ten rounds).
TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_EQ(detail::philox4x32({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(detail::philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
                               {0xffffffff, 0xffffffff}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(detail::philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                               {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, DrawsTheWordsOfItsCounter) {
  Random random(0, 0);
  for (const std::uint32_t word : {0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U}) {
    EXPECT_EQ(random(), word);
  }
  const Words next = detail::philox4x32({0, 0, 1, 0}, {0, 0});
  EXPECT_EQ(random(), next[0]);
}

TEST(Random, SameKeySameDrawsOtherKeyOthers) {
  Random a(1, 2);
  Random b(1, 2);
  Random other_key(2, 2);
  Random other_position(1, 3);
  int same = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t bits = a.bits();
    EXPECT_EQ(bits, b.bits());
    same += bits == other_key.bits() ? 1 : 0;
    same += bits == other_position.bits() ? 1 : 0;
  }
  EXPECT_EQ(same, 0);
}

TEST(Random, UniformStaysInsideAndIsEven) {
  Random random(7, 0);
  constexpr int kDraws = 200000;
  std::array<int, 20> counts{};
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.uniform(-2.0, 3.0);
    ASSERT_GE(x, -2.0);
    ASSERT_LT(x, 3.0);
    ++counts[static_cast<std::size_t>((x + 2.0) * 4.0)];
  }
  double chi_square = 0.0;
  for (const int count : counts) {
    const double difference = count - kDraws / 20.0;
    chi_square += difference * difference / (kDraws / 20.0);
  }
  EXPECT_LT(chi_square, 43.8);  // 19 degrees of freedom, 1 in 1,000; the draws are fixed.
  EXPECT_EQ(random.uniform(1.5, 1.5), 1.5);
}

TEST(Random, BelowIsEvenAlsoForCountsThatDivideNothing) {
  Random random(8, 0);
  constexpr int kDraws = 140000;
  std::array<int, 7> counts{};
  for (int i = 0; i < kDraws; ++i) ++counts[random.below(7)];
  for (const int count : counts) EXPECT_NEAR(count, 20000, 600);
  EXPECT_EQ(random.below(1), 0U);
  // Two thirds of 2^64: without the rejection the lower half would come twice as often.
  const std::uint64_t large = 0xaaaaaaaaaaaaaaaaU;
  int low = 0;
  for (int i = 0; i < 30000; ++i) low += random.below(large) < large / 2 ? 1 : 0;
  EXPECT_NEAR(low, 15000, 400);
}

TEST(Random, NormalHasTheMomentsOfANormal) {
  Random random(9, 0);
  constexpr int kDraws = 200000;
  double sum = 0.0;
  double squares = 0.0;
  double fourths = 0.0;
  for (int i = 0; i < kDraws; ++i) {
    const double z = random.normal();
    ASSERT_TRUE(std::isfinite(z));
    sum += z;
    squares += z * z;
    fourths += z * z * z * z;
  }
  EXPECT_NEAR(sum / kDraws, 0.0, 0.01);
  EXPECT_NEAR(squares / kDraws, 1.0, 0.02);
  EXPECT_NEAR(fourths / kDraws, 3.0, 0.1);
}

TEST(Random, ChanceHoldsAtTheEnds) {
  Random random(10, 0);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(random.chance(0.0));
    EXPECT_TRUE(random.chance(1.0));
  }
}

}  // namespace
}  // namespace weir
