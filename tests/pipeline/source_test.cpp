#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/pipeline/loader_run.hpp"

namespace weir::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(RangeSource, GivesItsNumbersInOrder) {
  EXPECT_EQ(all_of(range(1000), workers(8)), counting(0, 1000));
  EXPECT_THAT(all_of(range(1), workers(2)), ElementsAre(0));
  EXPECT_THAT(all_of(range(0), workers(2)), IsEmpty());
  EXPECT_THAT(error_of([] { (void)range(-1); }), HasSubstr("-1"));
}

TEST(IndexedSource, CallsTheFunctionOncePerIndex) {
  std::vector<std::atomic<int>> calls(100);
  const auto stream = indexed("squares", 100, [&calls](std::uint64_t index) {
    ++calls[index];
    return index * index;
  });
  const std::vector<std::uint64_t> values = all_of(stream, workers(4));
  ASSERT_EQ(values.size(), 100U);
  for (std::uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(values[i], i * i);
    EXPECT_EQ(calls[i], 1);
  }
}

TEST(IndexedSource, TakesAFunctionThatGivesReferences) {
  const std::vector<std::string> names{"a", "b", "c"};
  const auto stream = indexed("names", names.size(),
                              [&names](std::uint64_t i) -> const std::string& { return names[i]; });
  EXPECT_EQ(all_of(stream, workers(2)), names);
}

TEST(FromSource, GivesItsValuesInEveryEpoch) {
  Options options = workers(2);
  options.epochs = 2;
  EXPECT_THAT(all_of(from(std::vector<std::string>{"x", "y"}), options),
              ElementsAre("x", "y", "x", "y"));
  EXPECT_THAT(all_of(from(std::vector<bool>{true, false}), workers(1)), ElementsAre(true, false));
  EXPECT_THAT(all_of(from(std::vector<int>{}), workers(1)), IsEmpty());
}

TEST(GenerateSource, BeginsAnewInEveryEpochWithItsNumber) {
  const auto stream = generate("countdown", [](std::uint32_t epoch) {
    return [left = static_cast<int>(epoch) + 2]() mutable {
      return left > 0 ? std::optional<int>(left--) : std::nullopt;
    };
  });
  Options options = workers(4);
  options.epochs = 3;
  EXPECT_THAT(all_of(stream, options), ElementsAre(2, 1, 3, 2, 1, 4, 3, 2, 1));
}

TEST(GenerateSource, IsReadByOneWorkerAtATime) {
  std::atomic<int> inside{0};
  std::atomic<bool> met{false};
  const auto stream = generate("lonely", [&] {
    return [&, next = 0]() mutable {
      if (inside.fetch_add(1) != 0) met = true;
      const std::optional<int> value = next < 2000 ? std::optional<int>(next++) : std::nullopt;
      inside.fetch_sub(1);
      return value;
    };
  });
  EXPECT_EQ(all_of(stream, workers(8)).size(), 2000U);
  EXPECT_FALSE(met);
}

TEST(GenerateSource, MayGiveValuesThatOnlyMove) {
  const auto stream = generate("boxes", [] {
    return [next = 0]() mutable -> std::optional<std::unique_ptr<int>> {
      if (next == 4) return std::nullopt;
      return std::make_unique<int>(next++);
    };
  });
  const auto boxes =
      all_of(stream.map("same", [](std::unique_ptr<int> box) { return box; }).batch(3), workers(2));
  ASSERT_EQ(boxes.size(), 2U);
  EXPECT_EQ(*boxes[0][2], 2);
  EXPECT_EQ(*boxes[1][0], 3);
}

TEST(IterateSource, WalksWhatTheFunctionGivesInEveryEpoch) {
  Options options = workers(2);
  options.epochs = 2;
  EXPECT_THAT(all_of(iterate("list",
                             [] {
                               return std::list<int>{3, 1, 2};
                             }),
                     options),
              ElementsAre(3, 1, 2, 3, 1, 2));
  EXPECT_THAT(all_of(iterate("nothing", [] { return std::vector<int>{}; }), options), IsEmpty());
}

/// What a Context says of each sample id.
struct Seen {
  std::uint64_t index = 0;
  std::uint32_t epoch = 0;
  std::uint32_t repeat = 0;
  std::int32_t label = 0;
  std::uint64_t draw = 0;
};

TEST(ContextOfAnItem, SaysWhereItStandsAndDrawsByItsPlaceAlone) {
  std::mutex mutex;
  std::multimap<std::uint64_t, Seen> seen;
  const auto stream =
      range(20).shuffle().repeat(2).map("look", [&](std::int64_t value, Context& context) {
        EXPECT_EQ(static_cast<std::uint64_t>(value), context.sample_id());
        EXPECT_GE(context.worker(), 0);
        EXPECT_LT(context.worker(), 8);
        EXPECT_FALSE(context.stop_token().stop_requested());
        const std::lock_guard lock(mutex);
        seen.emplace(context.sample_id(), Seen{context.index(), context.epoch(), context.repeat(),
                                               context.label(), context.random().bits()});
        return value;
      });
  Options options = workers(8);
  options.epochs = 2;
  const std::vector<std::int64_t> values = all_of(stream, options);
  ASSERT_EQ(seen.size(), 80U);
  std::set<std::uint64_t> draws;
  for (const auto& [id, one] : seen) {
    EXPECT_EQ(values[one.epoch * 40 + one.index], static_cast<std::int64_t>(id));
    EXPECT_EQ(one.repeat, one.index / 20);
    EXPECT_EQ(one.label, -1);
    draws.insert(one.draw);
    SampleInfo info;
    info.sample_id = id;
    info.epoch = one.epoch;
    info.repeat = one.repeat;
    Context same(options.seed, 3, info, 0, {});  // Source 0, shuffle 1, repeat 2, look 3.
    EXPECT_EQ(same.random().bits(), one.draw);
  }
  EXPECT_EQ(draws.size(), 80U);
}

TEST(ContextOfAnItem, CountsOperatorsAsWrittenWhateverIsFused) {
  const auto stream =
      range(50)
          .map("a", [](std::int64_t, Context& c) { return c.random().bits(); })
          .map("b", [](std::uint64_t a, Context& c) { return a ^ c.random().bits(); });
  Options all = workers(2);
  all.fuse = Fuse::all;
  Options off = workers(3);
  off.fuse = Fuse::off;
  EXPECT_EQ(all_of(stream, all), all_of(stream, off));
  Loader<std::uint64_t> fused = stream.start(all);
  EXPECT_EQ(fused.summary().stages.size(), 1U);
  EXPECT_EQ(fused.summary().stages[0].name, "a+b");
  EXPECT_EQ(fused.summary().stages[0].operators.size(), 2U);
}

}  // namespace
}  // namespace weir::test
