#include <array>
#include <atomic>
#include <memory>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/per_worker.hpp>

#include "tests/pipeline/loader_run.hpp"

namespace weir::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::int64_t twice(std::int64_t value) { return value * 2; }

TEST(Map, TakesEveryFormOfFunction) {
  const std::vector<std::int64_t> doubled{0, 2, 4};
  const auto given_by = [](auto function) {
    return all_of(range(3).map("f", function), workers(2));
  };
  EXPECT_EQ(given_by([](std::int64_t value) { return value * 2; }), doubled);
  EXPECT_EQ(given_by([](const std::int64_t& value) { return value * 2; }), doubled);
  EXPECT_EQ(given_by([](std::int64_t&& value) { return value * 2; }), doubled);
  EXPECT_EQ(given_by([](std::int64_t& value) { return value * 2; }), doubled);
  EXPECT_EQ(given_by([](std::int64_t value, Context&) { return value * 2; }), doubled);
  EXPECT_EQ(given_by([](const std::int64_t& value, Context&) { return value * 2; }), doubled);
  EXPECT_EQ(given_by([](std::int64_t& value, Context&) { return value * 2; }), doubled);
  EXPECT_EQ(given_by(&twice), doubled);
  EXPECT_EQ(given_by(std::function<std::int64_t(std::int64_t)>(&twice)), doubled);
  EXPECT_EQ(given_by([](auto value) { return value * 2; }), doubled);
}

TEST(Map, ChangesTheType) {
  const auto stream = range(3)
                          .map("text", [](std::int64_t value) { return std::to_string(value); })
                          .map("size", [](const std::string& text) { return text + "!"; });
  EXPECT_THAT(all_of(stream, workers(2)), ElementsAre("0!", "1!", "2!"));
}

TEST(Map, MovesAndNeverCopies) {
  struct Once {
    explicit Once(int n) : number(n) {}
    Once(Once&& other) noexcept : number(std::exchange(other.number, -1)) {}
    Once& operator=(Once&&) = delete;
    int number;
  };
  const auto stream =
      range(30)
          .map("make", [](std::int64_t value) { return Once(static_cast<int>(value)); })
          .map("pass", [](Once once) { return once; })
          .filter("even", [](const Once& once) { return once.number % 2 == 0; });
  for (const Options& way : every_way(workers(1))) {
    std::vector<int> numbers;
    for (const Once& once : all_of(stream, way)) numbers.push_back(once.number);
    ASSERT_EQ(numbers.size(), 15U);
    for (int i = 0; i < 15; ++i) EXPECT_EQ(numbers[static_cast<std::size_t>(i)], i * 2);
  }
}

TEST(Map, WithStateOfEachWorkersOwn) {
  struct State {
    int uses = 0;
  };
  std::atomic<int> made{0};
  std::mutex mutex;
  std::set<State*> states;
  const auto make = [&made] {
    ++made;
    return State{};
  };
  const auto with_context = [&](State& state, std::int64_t value, Context&) {
    ++state.uses;  // Unguarded on purpose: a state that two workers shared would race.
    const std::lock_guard lock(mutex);
    states.insert(&state);
    return value;
  };
  const auto plain = [](State& state, std::int64_t value) {
    ++state.uses;
    return value;
  };
  EXPECT_EQ(all_of(range(500).map("own", per_worker(make), with_context), workers(4)),
            counting(0, 500));
  EXPECT_EQ(made, static_cast<int>(states.size()));
  EXPECT_LE(made, 4);
  EXPECT_GE(made, 1);
  EXPECT_EQ(all_of(range(50).map("own", per_worker(make), plain), workers(1)), counting(0, 50));
}

TEST(Map, MakesPerWorkerStateForAsManyWorkersAsMayBeAskedFor) {
  // The state is looked up by the worker's number.
  const auto own = per_worker([] { return 1; });
  const auto add = [](int& one, std::int64_t value) { return value + one; };
  detail::PerWorkerFunction function(own, add);
  for (const int worker : {0, 1023, 1024, 4095}) {
    SampleInfo info;
    Context context(0, 0, info, worker, {});
    EXPECT_EQ(function(std::int64_t{4}, context), 5) << worker;
  }
}

TEST(Filter, TakesEveryFormOfFunction) {
  EXPECT_THAT(
      all_of(range(6).filter("even", [](const std::int64_t& v) { return v % 2 == 0; }), workers(2)),
      ElementsAre(0, 2, 4));
  EXPECT_THAT(all_of(range(6).filter("by id", [](const std::int64_t&,
                                                 Context& c) { return c.sample_id() > 3; }),
                     workers(2)),
              ElementsAre(4, 5));
  EXPECT_THAT(all_of(range(6).filter("none", [](std::int64_t) { return false; }), workers(2)),
              testing::IsEmpty());
}

TEST(FlatMap, GivesTheItemsOfEachResultInOrder) {
  const auto digits = [](std::int64_t value) {
    std::vector<std::string> items;
    for (std::int64_t i = 0; i < value; ++i)
      items.push_back(std::to_string(value) + "." + std::to_string(i));
    return items;
  };
  for (const Options& way : every_way(workers(1)))
    EXPECT_THAT(all_of(range(4).flat_map("digits", digits), way),
                ElementsAre("1.0", "2.0", "2.1", "3.0", "3.1", "3.2"));
}

TEST(FlatMap, TakesAnyRangeAndLeavesWhatIsNotItsOwn) {
  const auto arrays = [](std::int64_t v) { return std::array<std::int64_t, 2>{v, -v}; };
  EXPECT_THAT(all_of(range(3).flat_map("array", arrays), workers(2)),
              ElementsAre(0, 0, 1, -1, 2, -2));
  const std::vector<std::string> shared{"keep", "me"};
  const auto by_reference = [&shared](std::int64_t) -> const std::vector<std::string>& {
    return shared;
  };
  EXPECT_THAT(all_of(range(2).flat_map("shared", by_reference), workers(2)),
              ElementsAre("keep", "me", "keep", "me"));
  std::vector<std::string> changeable{"a string that is longer than what fits inside one"};
  const auto by_span = [&changeable](std::int64_t) { return std::span<std::string>(changeable); };
  EXPECT_EQ(all_of(range(2).flat_map("span", by_span), workers(1)),
            (std::vector<std::string>{changeable[0], changeable[0]}));
  EXPECT_FALSE(changeable[0].empty());
}

TEST(FlatMap, SaysOfEachItemWhereItCameFrom) {
  const auto stream =
      range(3)
          .flat_map("pair",
                    [](std::int64_t v) {
                      return std::vector<std::int64_t>{v, v};
                    })
          .map("place", [](std::int64_t, Context& c) { return c.sample_id() * 10 + c.split(); })
          .batch(6);
  const auto batches = all_of(stream, workers(4));
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_THAT(batches[0].items(), ElementsAre(0, 1, 10, 11, 20, 21));
  EXPECT_THAT(batches[0].ids(), ElementsAre(0, 0, 1, 1, 2, 2));
  EXPECT_THAT(batches[0].splits(), ElementsAre(0, 1, 0, 1, 0, 1));
}

TEST(BatchOfValues, KeepsOrDropsTheRemainder) {
  EXPECT_THAT(rows_of(all_of(range(7).batch(3), workers(2))),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4, 5), ElementsAre(6)));
  EXPECT_THAT(rows_of(all_of(range(7).batch(3, {.drop_remainder = true}), workers(2))),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4, 5)));
  EXPECT_THAT(rows_of(all_of(range(6).batch(3), workers(2))),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4, 5)));
  EXPECT_THAT(all_of(range(2).batch(3, {.drop_remainder = true}), workers(2)), testing::IsEmpty());
  EXPECT_THAT(error_of([] { (void)range(2).batch(0).start(workers(1)); }), HasSubstr("batch"));
}

TEST(BatchOfValues, SaysEpochAndIds) {
  Options options = workers(2);
  options.epochs = 2;
  const auto batches = all_of(range(3).skip(1).batch(2), options);
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[1].epoch(), 1U);
  EXPECT_THAT(batches[1].ids(), ElementsAre(1, 2));
  EXPECT_THAT(batches[1].labels(), ElementsAre(-1, -1));
  EXPECT_EQ(batches[1].replaced_count(), 0U);
}

TEST(BatchOfValues, OfBatches) {
  const auto batches = all_of(range(10).batch(2).batch(2), workers(2));
  ASSERT_EQ(batches.size(), 3U);
  EXPECT_THAT(batches[1][1].items(), ElementsAre(6, 7));
  EXPECT_EQ(batches[2].size(), 1U);
}

TEST(BatchOfValues, WithACollateFunction) {
  const auto sum = [](std::vector<std::int64_t> values) {
    std::int64_t total = 0;
    for (const std::int64_t value : values) total += value;
    return std::make_unique<std::int64_t>(total);
  };
  for (const Options& way : every_way(workers(1))) {
    auto batches = all_of(range(10).batch(4, sum), way);
    ASSERT_EQ(batches.size(), 3U);
    EXPECT_EQ(*batches[0].value(), 6);
    EXPECT_EQ(*batches[2].value(), 17);
    EXPECT_THAT(batches[2].ids(), ElementsAre(8, 9));
  }
}

TEST(Prefetch, SetsTheDepthOfItsQueue) {
  const auto stream = range(100)
                          .map("work", [](std::int64_t value) { return value; })
                          .prefetch(17)
                          .batch(5)
                          .prefetch(3);
  Loader<Batch<std::int64_t>> loader = stream.start(workers(2));
  while (loader.next()) {
  }
  const Summary summary = loader.summary();
  ASSERT_EQ(summary.stages.size(), 2U);
  EXPECT_EQ(summary.stages[0].queue_capacity_items, 17);
  EXPECT_EQ(summary.stages[1].queue_capacity_items, 3);
  EXPECT_THAT(error_of([] { (void)range(3).prefetch(0).start(workers(1)); }),
              HasSubstr("prefetch"));
}

TEST(StageOptions, AreCheckedWhereTheyAreWritten) {
  const auto same = [](std::int64_t value) { return value; };
  EXPECT_THAT(error_of([&] { (void)range(1).map("m", same, {.workers = -1}); }), HasSubstr("m"));
  EXPECT_THAT(error_of([&] { (void)range(1).map("m", same, {.workers = 2, .serial = true}); }),
              HasSubstr("serial"));
  EXPECT_THAT(error_of([&] { (void)range(1).map("", same); }), HasSubstr("name"));
}

TEST(StageOptions, ASerialStageSeesItsItemsInOrderOneAtATime) {
  std::vector<std::int64_t> seen;  // Unguarded: the stage promises one worker at a time.
  const auto stream = range(3000)
                          .map("jitter", [](std::int64_t value) { return value; })
                          .map("in order",
                               [&seen](std::int64_t value) {
                                 seen.push_back(value);
                                 return value;
                               },
                               {.serial = true});
  EXPECT_EQ(all_of(stream, workers(8)).size(), 3000U);
  EXPECT_EQ(seen, counting(0, 3000));
}

TEST(StageNames, AreToldApart) {
  const auto same = [](std::int64_t value) { return value; };
  Options options = workers(1);
  options.fuse = Fuse::off;
  Loader<std::int64_t> loader =
      range(1).map("m", same).map("m", same).map("m", same, {.name = "other"}).start(options);
  std::vector<std::string> names;
  for (const StageSummary& stage : loader.summary().stages) names.push_back(stage.name);
  EXPECT_THAT(names, ElementsAre("m", "m_2", "other"));
}

}  // namespace
}  // namespace weir::test
