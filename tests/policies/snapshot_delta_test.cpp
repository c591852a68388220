#include "policies/snapshot_delta.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace weir::detail {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

Snapshot two_stages() {
  Snapshot snapshot;
  snapshot.loaders.resize(1);
  snapshot.stages.resize(2);
  snapshot.stages[0].name = "read";
  snapshot.stages[1].name = "decode";
  for (StageSnapshot& stage : snapshot.stages) {
    stage.items_in = stage.items_out = 1000;
    stage.packets = 100;
    stage.slot_seconds = 5;
    stage.running_seconds = 6;
  }
  snapshot.loaders[0].consumer.items = 70;
  return snapshot;
}

TEST(StageDelta, IsWhatTheCountersGrewBy) {
  StageSnapshot before = two_stages().stages[0];
  StageSnapshot after = before;
  after.items_in += 30;
  after.items_out += 20;
  after.packets += 3;
  after.slot_seconds += 0.25;
  after.queue.full_seconds += 0.5;
  const StageDelta did = delta(before, after);
  EXPECT_EQ(did.items_in, 30);
  EXPECT_EQ(did.items_out, 20);
  EXPECT_EQ(did.packets, 3);
  EXPECT_EQ(did.slot_seconds, 0.25);
  EXPECT_EQ(did.queue_full_seconds, 0.5);
  EXPECT_EQ(did.queue_empty_seconds, 0);
}

TEST(StageDelta, CountersWrap) {
  StageSnapshot before = two_stages().stages[0];
  StageSnapshot after = before;
  before.items_in = kMost - 9;
  after.items_in = 10;
  before.involuntary_switches = kMost;
  after.involuntary_switches = 1;
  const StageDelta did = delta(before, after);
  EXPECT_EQ(did.items_in, 20);
  EXPECT_EQ(did.involuntary_switches, 2);
}

TEST(StageDelta, WhatFallsReadsAsNothing) {
  StageSnapshot before = two_stages().stages[0];
  StageSnapshot after = before;
  after.running_seconds -= 0.01;
  after.minor_faults = 3;
  before.minor_faults = 4;
  after.cpu_user_seconds = 1;
  before.cpu_user_seconds = std::numeric_limits<double>::quiet_NaN();
  const StageDelta did = delta(before, after);
  EXPECT_EQ(did.running_seconds, 0);
  EXPECT_EQ(did.minor_faults, 0);
  EXPECT_EQ(did.cpu_user_seconds, 0);
}

class Comparable : public testing::Test {
 protected:
  Comparable() : before_(two_stages()), after_(two_stages()) {}
  [[nodiscard]] std::string why_not() const { return why_not_comparable(before_, after_); }

  Snapshot before_;
  Snapshot after_;
};

TEST_F(Comparable, WhatStoodStillGrewOrWrapped) {
  EXPECT_EQ(why_not(), "");
  after_.stages[1].items_in += 5;
  EXPECT_EQ(why_not(), "");
  before_.stages[1].items_in = kMost - 3;
  after_.stages[1].items_in = 3;
  before_.loaders[0].consumer.items = kMost;
  after_.loaders[0].consumer.items = 0;
  EXPECT_EQ(why_not(), "");
}

TEST_F(Comparable, OtherStagesAreNot) {
  after_.stages.pop_back();
  EXPECT_EQ(why_not(), "stages came or went");
  after_ = before_;
  after_.loaders.emplace_back();
  EXPECT_EQ(why_not(), "stages came or went");
}

TEST_F(Comparable, StepsBackAreNot) {
  after_.stages[1].items_out -= 1;
  EXPECT_EQ(why_not(), "counters of decode went backwards");
  after_ = before_;
  after_.stages[0].slot_seconds -= 1;
  EXPECT_EQ(why_not(), "counters of read went backwards");
  after_ = before_;
  after_.loaders[0].consumer.items -= 1;
  EXPECT_EQ(why_not(), "counters of a consumer went backwards");
}

TEST_F(Comparable, WhatIsNoNumberIsNot) {
  double StageSnapshot::*const fields[] = {
      &StageSnapshot::slot_seconds,       &StageSnapshot::slot_seconds_squared,
      &StageSnapshot::running_seconds,    &StageSnapshot::oldest_running_seconds,
      &StageSnapshot::cpu_user_seconds,   &StageSnapshot::cpu_system_seconds,
      &StageSnapshot::run_queue_seconds,  &StageSnapshot::wait_input_seconds,
      &StageSnapshot::wait_output_seconds};
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (double StageSnapshot::*const field : fields) {
      after_ = before_;
      after_.stages[1].*field = bad;
      EXPECT_EQ(why_not(), "a counter of decode is no number");
    }
    after_ = before_;
    after_.stages[0].queue.empty_seconds = bad;
    EXPECT_EQ(why_not(), "a counter of read is no number");
    after_ = before_;
    after_.loaders[0].consumer.wait_seconds = bad;
    EXPECT_EQ(why_not(), "a counter of a consumer is no number");
    after_ = before_;
    after_.unparked_seconds = bad;
    EXPECT_EQ(why_not(), "a counter of the pool is no number");
  }
}

}  // namespace
}  // namespace weir::detail
