#include <limits>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/pipeline/loader_run.hpp"

namespace weir::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Stream<std::int64_t> doubled(std::int64_t count) {
  return range(count).map("double", [](std::int64_t value) { return value * 2; });
}

TEST(TwoLoaders, ShareTheWorkersAndEachGivesItsOwn) {
  Options training = workers(4);
  training.name = "training";
  training.epochs = 3;
  Options validation = workers(4);
  validation.name = "validation";
  std::set<std::thread::id> threads;
  std::mutex mutex;
  const auto note = [&](std::int64_t value) {
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
    return value;
  };
  Loader<std::int64_t> first = range(300).shuffle().map("note", note).start(training);
  for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<std::int64_t> values;
    int seen = 0;
    for (const std::int64_t value : first.epoch(epoch)) {
      values.push_back(value);
      if (++seen != 100) continue;
      // In the middle of an epoch a validation runs to its end.
      Loader<std::int64_t> second = range(50).map("note", note).start(validation);
      EXPECT_EQ(second.telemetry().loaders.size(), 2U);
      std::vector<std::int64_t> others;
      while (const auto other = second.next()) others.push_back(*other);
      EXPECT_EQ(others, counting(0, 50));
    }
    EXPECT_THAT(values, testing::UnorderedElementsAreArray(counting(0, 300)));
  }
  EXPECT_LE(threads.size(), 4U);
  EXPECT_EQ(first.telemetry().loaders.size(), 1U);
}

TEST(TwoLoaders, OfDifferentWorkersAreRefusedNamingBoth) {
  Options training = workers(3);
  training.name = "training";
  Options validation = workers(2);
  validation.name = "validation";
  {
    const auto first = range(3).start(training);
    EXPECT_THAT(error_of([&] { (void)range(3).start(validation); }),
                AllOf(HasSubstr("validation"), HasSubstr("2 workers"), HasSubstr("'training'"),
                      HasSubstr("3"), HasSubstr("same workers")));
  }
  EXPECT_EQ(all_of(range(3), validation).size(), 3U) << "once the other is gone";
}

TEST(SetAllocation, TakesEffectAndIsClampedToTheBudget) {
  Loader<std::int64_t> loader = doubled(1000).start(workers(3));
  Allocation next = loader.allocation();
  ASSERT_EQ(next.stages.size(), 1U);
  next.active = 2;
  next.stages[0].target = 1.5;
  next.stages[0].cap = 2;
  loader.set_allocation(next);
  EXPECT_EQ(loader.allocation().active, 2);
  EXPECT_EQ(loader.allocation().stages[0].target, 1.5);
  EXPECT_EQ(loader.allocation().stages[0].cap, 2);
  next.active = 1000;
  next.stages[0].cap = 1000;
  loader.set_allocation(next);
  EXPECT_EQ(loader.allocation().active, 3);
  EXPECT_EQ(loader.allocation().stages[0].cap, 3);
  next.active = -5;
  next.stages[0].cap = 0;
  loader.set_allocation(next);
  EXPECT_EQ(loader.allocation().active, 1);
  EXPECT_EQ(loader.allocation().stages[0].cap, 1);
  std::int64_t seen = 0;
  while (loader.next()) ++seen;
  EXPECT_EQ(seen, 1000);
}

TEST(SetAllocation, OfAnotherShapeOrWithoutSenseIsRefused) {
  Loader<std::int64_t> loader = doubled(10).start(workers(2));
  const double before = loader.allocation().stages[0].target;
  Allocation more = loader.allocation();
  more.stages.emplace_back();
  EXPECT_THAT(error_of([&] { loader.set_allocation(more); }),
              AllOf(HasSubstr("2 stages"), HasSubstr("1")));
  for (const double target :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Allocation wrong = loader.allocation();
    wrong.stages[0].target = target;
    EXPECT_THAT(error_of([&] { loader.set_allocation(wrong); }),
                AllOf(HasSubstr("target"), HasSubstr("stage 0")));
  }
  Allocation negative = loader.allocation();
  negative.stages[0].depth_items = -1;
  EXPECT_THAT(error_of([&] { loader.set_allocation(negative); }), HasSubstr("depth"));
  EXPECT_EQ(loader.allocation().stages[0].target, before) << "what was refused changed nothing";
}

TEST(SetAllocation, LeavesWhatIsSetByHand) {
  const auto same = [](std::int64_t value) { return value; };
  Loader<std::int64_t> loader = range(10)
                                    .map("fixed", same, {.workers = 2})
                                    .map("capped", same, {.cap = 1})
                                    .map("serial", same, {.serial = true})
                                    .start(workers(4));
  Allocation next = loader.allocation();
  ASSERT_EQ(next.stages.size(), 3U);
  for (StageAllocation& stage : next.stages) stage.target = stage.cap = 3;
  loader.set_allocation(next);
  const Allocation now = loader.allocation();
  EXPECT_EQ(now.stages[0].target, 2.0);
  EXPECT_EQ(now.stages[0].cap, 2);
  EXPECT_EQ(now.stages[1].cap, 1);
  EXPECT_EQ(now.stages[2].cap, 1);
}

TEST(ResizeQueue, SetsTheDepthAndNamesTheStagesThereAre) {
  Loader<Batch<std::int64_t>> loader = doubled(100).batch(4).start(workers(2));
  loader.resize_queue("double", 33);
  EXPECT_EQ(loader.summary().stages[0].queue_capacity_items, 33);
  EXPECT_THAT(error_of([&] { loader.resize_queue("decode", 3); }),
              AllOf(HasSubstr("decode"), HasSubstr("double, batch")));
  EXPECT_THAT(error_of([&] { loader.resize_queue("double", 0); }), HasSubstr("1 or more"));
}

TEST(LoaderOptions, AreChecked) {
  const auto refused = [](auto change) {
    Options options = workers(1);
    change(options);
    return error_of([&] { (void)range(1).start(options); });
  };
  EXPECT_THAT(refused([](Options& o) { o.workers = 0; }), HasSubstr("workers"));
  EXPECT_THAT(refused([](Options& o) { o.workers = -3; }), HasSubstr("-3"));
  EXPECT_THAT(refused([](Options& o) { o.workers = 1'000'000; }), HasSubstr("1000000"));
  EXPECT_THAT(refused([](Options& o) { o.memory_bytes = 0; }), HasSubstr("memory"));
  EXPECT_THAT(refused([](Options& o) { o.reserve = -1; }), HasSubstr("reserve"));
  EXPECT_THAT(refused([](Options& o) { o.run_inline = o.autotune = true; }), HasSubstr("inline"));
}

TEST(LoaderOptions, SayWhichValuesDoNotTellTheirSize) {
  struct Opaque {
    std::unique_ptr<std::vector<int>> values;
  };
  const auto stream = range(2).map("opaque", [](std::int64_t) { return Opaque{}; });
  const auto loader = stream.start(workers(1));
  EXPECT_THAT(loader.remarks(),
              testing::Contains(AllOf(HasSubstr("'opaque'"), HasSubstr("bytes_of"))));
  EXPECT_THAT(range(2).start(workers(1)).remarks(), testing::IsEmpty());
}

TEST(LoaderMemory, SmallerThanOneItemStillPassesItAlone) {
  const auto stream = range(20).map("large", [](std::int64_t value) {
    return std::string(100'000, static_cast<char>('a' + value));
  });
  for (Options way : every_way(workers(1))) {
    way.memory_bytes = 1000;
    const std::vector<std::string> values = all_of(stream, way);
    ASSERT_EQ(values.size(), 20U);
    EXPECT_EQ(values[19][0], 't');
  }
}

}  // namespace
}  // namespace weir::test
