#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/pipeline/loader_run.hpp"

namespace weir::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAreArray;
using Remainder = detail::ShardPlace::Remainder;

bool is_even(std::int64_t value) { return value % 2 == 0; }

std::vector<std::int64_t> given_by(const Stream<std::int64_t>& stream) {
  return all_of(stream, workers(4));
}

TEST(Repeat, StandsWhereverItIsWritten) {
  EXPECT_THAT(given_by(range(3).repeat(2)), ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_THAT(given_by(range(4).filter("even", is_even).repeat(3)), ElementsAre(0, 2, 0, 2, 0, 2));
  EXPECT_THAT(given_by(range(2).repeat(2).repeat(2)), ElementsAre(0, 1, 0, 1, 0, 1, 0, 1));
  EXPECT_THAT(given_by(range(3).take(2).repeat(2).skip(1)), ElementsAre(1, 0, 1));
  EXPECT_THAT(given_by(range(6).filter("even", is_even).repeat(2).take(4)),
              ElementsAre(0, 2, 4, 0));
  EXPECT_THAT(given_by(range(6).filter("even", is_even).take(2).repeat(2)),
              ElementsAre(0, 2, 0, 2));
}

TEST(Repeat, BeforeABatchLetsItSpanPassesAndBehindItDoesNot) {
  EXPECT_THAT(rows_of(all_of(range(3).repeat(2).batch(2), workers(2))),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 0), ElementsAre(1, 2)));
  EXPECT_THAT(rows_of(all_of(range(3).batch(2).repeat(2), workers(2))),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2), ElementsAre(0, 1), ElementsAre(2)));
  EXPECT_THAT(rows_of(all_of(range(6).filter("even", is_even).repeat(2).batch(2), workers(2))),
              ElementsAre(ElementsAre(0, 2), ElementsAre(4, 0), ElementsAre(2, 4)));
}

TEST(Repeat, BehindAShuffleGivesEachPassItsOwnOrder) {
  const auto passes_of = [](const Stream<std::int64_t>& stream) {
    const std::vector<std::int64_t> values = given_by(stream);
    EXPECT_EQ(values.size(), 80U);
    std::set<std::vector<std::int64_t>> passes;
    for (auto begin = values.begin(); begin != values.end(); begin += 40) {
      passes.emplace(begin, begin + 40);
      EXPECT_THAT(*passes.rbegin(), UnorderedElementsAreArray(counting(0, 40)));
    }
    return passes.size();
  };
  const auto all = [](std::int64_t) { return true; };
  EXPECT_EQ(passes_of(range(40).shuffle().repeat(2)), 2U);
  EXPECT_EQ(passes_of(range(40).shuffle().filter("all", all).repeat(2)), 2U);
  EXPECT_EQ(passes_of(range(40).shuffle({.buffer = 10}).repeat(2)), 2U);
  EXPECT_EQ(passes_of(range(40).shuffle({.buffer = 10}).filter("all", all).repeat(2)), 2U);
  EXPECT_EQ(passes_of(range(40).filter("all", all).shuffle({.buffer = 10}).repeat(2)), 2U);
  // And in front of it: all passes are one set of items.
  EXPECT_THAT(given_by(range(3).repeat(2).shuffle()),
              testing::UnorderedElementsAre(0, 1, 2, 0, 1, 2));
}

TEST(Repeat, IsRefusedWhereItCannotBeDone) {
  const auto filtered = range(4).filter("even", is_even);
  EXPECT_THAT(error_of([&] { (void)filtered.repeat(2).repeat(2).start(workers(1)); }),
              AllOf(HasSubstr("repeat"), HasSubstr("'even'"), HasSubstr("multiply")));
  Options any = workers(1);
  any.order = Order::any;
  EXPECT_THAT(error_of([&] { (void)filtered.repeat(2).start(any); }),
              AllOf(HasSubstr("repeat"), HasSubstr("order: input")));
  EXPECT_THAT(error_of([] { (void)range(4).repeat(0).start(workers(1)); }), HasSubstr("repeat"));
  EXPECT_THAT(error_of([] { (void)range(4).repeat(~std::uint64_t{0}).start(workers(1)); }),
              AllOf(HasSubstr("repeat"), HasSubstr("epochs")));
}

TEST(TakeAndSkip, InFrontOfAFilterCountItemsAndBehindItSurvivors) {
  EXPECT_THAT(given_by(range(10).take(4).filter("even", is_even)), ElementsAre(0, 2));
  EXPECT_THAT(given_by(range(10).filter("even", is_even).take(4)), ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(given_by(range(10).skip(3).filter("even", is_even)), ElementsAre(4, 6, 8));
  EXPECT_THAT(given_by(range(10).filter("even", is_even).skip(3)), ElementsAre(6, 8));
  EXPECT_THAT(given_by(range(5).take(0)), testing::IsEmpty());
  EXPECT_THAT(given_by(range(5).filter("even", is_even).take(0)), testing::IsEmpty());
  EXPECT_THAT(given_by(range(5).skip(9)), testing::IsEmpty());
  EXPECT_THAT(given_by(range(5).take(9)), ElementsAre(0, 1, 2, 3, 4));
}

TEST(TakeAndSkip, CountAnewInEachEpoch) {
  Options options = workers(4);
  options.epochs = 3;
  EXPECT_THAT(all_of(range(10).filter("even", is_even).skip(1).take(2), options),
              ElementsAre(2, 4, 2, 4, 2, 4));
}

TEST(TakeAndSkip, OfAnEndlessStreamEnd) {
  const auto endless = generate("numbers", [] {
    return [next = std::int64_t{0}]() mutable { return std::optional<std::int64_t>(next++); };
  });
  Options options = workers(2);
  options.epochs = 2;
  EXPECT_THAT(all_of(endless.take(3), options), ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_THAT(all_of(endless.filter("even", is_even).skip(1).take(2), options),
              ElementsAre(2, 4, 2, 4));
}

class Shard : public testing::TestWithParam<bool> {
 public:
  static std::vector<std::int64_t> part(std::int64_t count, int rank, int world,
                                        Remainder remainder) {
    const ShardOptions options{.rank = rank, .world = world, .remainder = remainder};
    if (!GetParam()) return given_by(range(count).shard(options));
    return given_by(range(count).filter("all", [](std::int64_t) { return true; }).shard(options));
  }
};

TEST_P(Shard, UnevenRanksShareEverythingExactly) {
  for (const std::int64_t count : {0, 1, 6, 7, 25}) {
    std::vector<std::int64_t> all;
    for (int rank = 0; rank < 4; ++rank) {
      const std::vector<std::int64_t> own = part(count, rank, 4, Remainder::uneven);
      for (std::size_t i = 0; i < own.size(); ++i)
        EXPECT_EQ(own[i], rank + 4 * static_cast<std::int64_t>(i));
      all.insert(all.end(), own.begin(), own.end());
    }
    EXPECT_THAT(all, UnorderedElementsAreArray(counting(0, count)));
  }
}

TEST_P(Shard, DroppingRanksAreEquallyLongAndShareAllWholeGroups) {
  for (const std::int64_t count : {0, 3, 8, 11, 25}) {
    std::vector<std::int64_t> all;
    for (int rank = 0; rank < 4; ++rank) {
      const std::vector<std::int64_t> own = part(count, rank, 4, Remainder::drop);
      EXPECT_EQ(own.size(), static_cast<std::size_t>(count / 4));
      all.insert(all.end(), own.begin(), own.end());
    }
    EXPECT_THAT(all, UnorderedElementsAreArray(counting(0, count - count % 4)));
  }
}

INSTANTIATE_TEST_SUITE_P(OverAnIndexAndBehindAFilter, Shard, testing::Bool());

TEST(ShardWithPadding, MakesRanksEquallyLongWithItemsFromTheStart) {
  for (const std::int64_t count : {1, 3, 8, 11, 25}) {
    std::multiset<std::int64_t> all;
    for (int rank = 0; rank < 4; ++rank) {
      const std::vector<std::int64_t> own =
          given_by(range(count).shard({.rank = rank, .world = 4}));
      EXPECT_EQ(own.size(), static_cast<std::size_t>((count + 3) / 4)) << "padding is the default";
      all.insert(own.begin(), own.end());
    }
    std::multiset<std::int64_t> expected;
    for (std::int64_t i = 0; i < (count + 3) / 4 * 4; ++i) expected.insert(i % count);
    EXPECT_EQ(all, expected);
  }
}

TEST(ShardWithPadding, NeedsTheIndex) {
  EXPECT_THAT(
      error_of([] {
        (void)range(9).filter("even", is_even).shard({.rank = 0, .world = 2}).start(workers(1));
      }),
      AllOf(HasSubstr("shard"), HasSubstr("'even'"), HasSubstr("drop"), HasSubstr("uneven")));
}

TEST(ShardPlace, IsChecked) {
  EXPECT_THAT(error_of([] { (void)range(9).shard({.rank = 2, .world = 2}); }),
              AllOf(HasSubstr("shard"), HasSubstr("rank 2"), HasSubstr("world 2")));
  EXPECT_THAT(error_of([] { (void)range(9).shard({.rank = -1, .world = 2}); }),
              HasSubstr("rank -1"));
  EXPECT_THAT(error_of([] { (void)range(9).shard({.rank = 0, .world = 0}); }),
              HasSubstr("world 0"));
}

TEST(OrderAny, GivesTheSameItemsAndEpochsApart) {
  Options options = workers(8);
  options.order = Order::any;
  options.epochs = 3;
  const auto stream = range(100).shuffle().map("m", [](std::int64_t v) { return v * 2; });
  Loader<std::int64_t> loader = stream.start(options);
  std::vector<std::int64_t> doubled;
  for (std::int64_t i = 0; i < 100; ++i) doubled.push_back(i * 2);
  for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<std::int64_t> values;
    for (const std::int64_t value : loader.epoch(epoch)) values.push_back(value);
    EXPECT_THAT(values, UnorderedElementsAreArray(doubled)) << epoch;
  }
}

}  // namespace
}  // namespace weir::test
