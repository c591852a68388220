#include <cmath>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/index_map.hpp"
#include "tests/pipeline/loader_run.hpp"

namespace weir::test {
namespace {

using detail::IndexShuffle;
using testing::AllOf;
using testing::HasSubstr;

TEST(IndexShuffle, IsABijectionOfEverySize) {
  for (const std::uint64_t size :
       {1U,  2U,  3U,   4U,   5U,   7U,    8U,    13U,   16U,    17U,     64U,
        65U, 97U, 255U, 256U, 257U, 1009U, 4096U, 4097U, 65537U, 100'000U}) {
    for (const std::uint64_t key : {0ULL, 1ULL, 0x123456789abcdefULL}) {
      const IndexShuffle shuffle(size, key);
      std::vector<bool> seen(size);
      for (std::uint64_t place = 0; place < size; ++place) {
        const std::uint64_t value = shuffle(place);
        ASSERT_LT(value, size);
        ASSERT_FALSE(seen[value]) << size << ": " << value << " twice";
        seen[value] = true;
      }
    }
  }
}

TEST(IndexShuffle, GivesAnyPlaceOfAHugeEpochAtOnce) {
  // Nothing is stored: an epoch of 2^62 items costs as much as one of ten.
  const std::uint64_t size = std::uint64_t{1} << 62U;
  const IndexShuffle shuffle(size, 7);
  std::set<std::uint64_t> values;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::uint64_t value = shuffle(i * (size / 1000));
    EXPECT_LT(value, size);
    values.insert(value);
  }
  EXPECT_EQ(values.size(), 1000U);
}

/// Pearson's statistic against equal shares.
double chi_square(const std::vector<std::uint64_t>& counts, double expected) {
  double sum = 0;
  for (const std::uint64_t count : counts) {
    const double difference = static_cast<double>(count) - expected;
    sum += difference * difference / expected;
  }
  return sum;
}

TEST(IndexShuffle, PutsEveryItemAnywhereAboutEquallyOften) {
  constexpr std::uint64_t kKeys = 4000;
  for (const std::uint64_t size : {2U, 3U, 5U, 8U, 16U, 31U, 64U}) {
    // Over many keys: which item stands first, in the middle, last.
    for (const std::uint64_t place : {std::uint64_t{0}, size / 2, size - 1}) {
      std::vector<std::uint64_t> counts(size);
      for (std::uint64_t key = 0; key < kKeys; ++key)
        ++counts[IndexShuffle(size, mix_bits(key))(place)];
      const double freedom = static_cast<double>(size - 1);
      // Seven standard deviations of the statistic: a bias of a tenth would show, chance does not.
      EXPECT_LT(chi_square(counts, static_cast<double>(kKeys) / static_cast<double>(size)),
                freedom + 7 * std::sqrt(2 * freedom))
          << "size " << size << ", place " << place;
    }
  }
}

TEST(IndexShuffle, PutsNeighboursApart) {
  constexpr std::uint64_t kSize = 1000;
  std::uint64_t together = 0;
  for (std::uint64_t key = 0; key < 100; ++key) {
    const IndexShuffle shuffle(kSize, mix_bits(key));
    for (std::uint64_t place = 0; place + 1 < kSize; ++place)
      if (shuffle(place) + 1 == shuffle(place + 1)) ++together;
  }
  // In a random order one pair in a thousand stays: about 100 here, with a deviation of 10.
  EXPECT_GT(together, 50U);
  EXPECT_LT(together, 150U);
}

TEST(IndexShuffle, ReachesEveryOrderOfAFewItems) {
  std::map<std::vector<std::uint64_t>, std::uint64_t> orders;
  constexpr std::uint64_t kKeys = 24'000;
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    const IndexShuffle shuffle(4, mix_bits(key));
    ++orders[{shuffle(0), shuffle(1), shuffle(2), shuffle(3)}];
  }
  EXPECT_EQ(orders.size(), 24U);
  for (const auto& [order, count] : orders) {
    EXPECT_GT(count, kKeys / 24 / 2) << testing::PrintToString(order);
    EXPECT_LT(count, kKeys / 24 * 2) << testing::PrintToString(order);
  }
}

TEST(Shuffle, GivesEachItemOnceInAnotherOrderEachEpochAndSeed) {
  for (const std::int64_t size : {0, 1, 2, 3, 31, 64, 101}) {
    Options options = workers(2);
    options.epochs = 3;
    options.seed = 5;
    std::vector<std::vector<std::int64_t>> epochs;
    {
      Loader<std::int64_t> loader = range(size).shuffle().start(options);
      for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
        epochs.emplace_back();
        for (const std::int64_t value : loader.epoch(epoch)) epochs.back().push_back(value);
      }
    }
    options.seed = 6;
    epochs.push_back(all_of(range(size).shuffle(), options));
    epochs.back().resize(static_cast<std::size_t>(size));
    for (const std::vector<std::int64_t>& epoch : epochs)
      EXPECT_THAT(epoch, testing::UnorderedElementsAreArray(counting(0, size)));
    if (size < 31) continue;
    EXPECT_EQ(std::set<std::vector<std::int64_t>>(epochs.begin(), epochs.end()).size(), 4U);
  }
}

TEST(Shuffle, OfTheSameSeedIsTheSame) {
  const auto stream = range(50).shuffle();
  EXPECT_EQ(all_of(stream, workers(1)), all_of(stream, workers(8)));
}

TEST(Shuffle, IsRefusedWhereTheIndexIsGone) {
  const auto keep = [](std::int64_t) { return true; };
  EXPECT_THAT(error_of([&] { (void)range(9).filter("odd", keep).shuffle().start(workers(1)); }),
              AllOf(HasSubstr("shuffle"), HasSubstr("'odd'"), HasSubstr("buffer")));
  EXPECT_THAT(error_of([] { (void)range(9).batch(2).shuffle().start(workers(1)); }),
              AllOf(HasSubstr("'batch'"), HasSubstr("buffer")));
  EXPECT_THAT(error_of([] {
                (void)generate("stream", [] { return [] { return std::optional<int>(); }; })
                    .shuffle()
                    .start(workers(1));
              }),
              AllOf(HasSubstr("'stream'"), HasSubstr("buffer")));
  EXPECT_THAT(error_of([] { (void)range(9).shuffle({.buffer = 3}).shuffle().start(workers(1)); }),
              HasSubstr("shuffle"));
}

class BufferedShuffle : public testing::TestWithParam<bool> {
 public:
  /// Over the index, or behind a filter that keeps everything.
  static Stream<std::int64_t> numbers(std::int64_t count) {
    if (!GetParam()) return range(count);
    return range(count).filter("all", [](std::int64_t) { return true; });
  }
};

TEST_P(BufferedShuffle, GivesEachItemOnceAndNoneFromBeyondTheBuffer) {
  for (const std::uint64_t buffer : {1U, 2U, 10U, 1000U}) {
    const std::vector<std::int64_t> values =
        all_of(numbers(200).shuffle({.buffer = buffer}), workers(4));
    EXPECT_THAT(values, testing::UnorderedElementsAreArray(counting(0, 200)));
    for (std::size_t place = 0; place < values.size(); ++place)
      EXPECT_LT(static_cast<std::uint64_t>(values[place]), place + buffer);
    EXPECT_EQ(values == counting(0, 200), buffer == 1);
  }
}

TEST_P(BufferedShuffle, DrawsAnewInEachEpoch) {
  Options options = workers(2);
  options.epochs = 2;
  const std::vector<std::int64_t> both = all_of(numbers(60).shuffle({.buffer = 20}), options);
  ASSERT_EQ(both.size(), 120U);
  const std::vector<std::int64_t> first(both.begin(), both.begin() + 60);
  const std::vector<std::int64_t> second(both.begin() + 60, both.end());
  EXPECT_NE(first, second);
  EXPECT_THAT(second, testing::UnorderedElementsAreArray(counting(0, 60)));
}

TEST_P(BufferedShuffle, AsLargeAsTheEpochPutsEachItemAnywhere) {
  constexpr std::uint32_t kEpochs = 300;
  Options options = workers(1);
  options.epochs = kEpochs;
  const std::vector<std::int64_t> values = all_of(numbers(6).shuffle({.buffer = 6}), options);
  std::vector<std::uint64_t> first(6);
  for (std::uint32_t epoch = 0; epoch < kEpochs; ++epoch)
    ++first[static_cast<std::size_t>(values[std::size_t{epoch} * 6])];
  EXPECT_LT(chi_square(first, kEpochs / 6.0), 5 + 7 * std::sqrt(10.0));
}

INSTANTIATE_TEST_SUITE_P(OverAnIndexAndBehindAFilter, BufferedShuffle, testing::Bool());

}  // namespace
}  // namespace weir::test
