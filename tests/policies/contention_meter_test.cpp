#include "policies/contention_meter.hpp"

#include <gtest/gtest.h>

namespace weir::detail {
namespace {

/// A tenth of a second in which four workers held a slot, each on a CPU for `cpu_share` of the time
/// and waiting for one for `wait_share` of it.
WorkTime window_of(double cpu_share, double wait_share) {
  WorkTime work;
  work.seconds = 0.1;
  work.running_seconds = work.slot_seconds = 0.4;
  work.cpu_seconds = cpu_share * 0.4;
  work.run_queue_seconds = wait_share * 0.4;
  return work;
}

class ContentionMeterTest : public testing::Test {
 protected:
  ContentionMeterTest() { host_.cores = 4; }
  std::string after(const WorkTime& window, int times = 10) {
    for (int i = 0; i < times; ++i) meter_.add(window, host_);
    return meter_.by();
  }

  HostObservation host_;
  ContentionMeter meter_{PolicySettings{}};
};

TEST(CpuWaits, AreSharesOfWhatWasWantedAndOfWhatWasHeld) {
  WorkTime work;
  work.slot_seconds = 4;
  work.cpu_seconds = 1.5;
  work.run_queue_seconds = 0.5;
  EXPECT_NEAR(cpu_waits(work).share, 0.25, 1e-12);
  EXPECT_NEAR(cpu_waits(work).slot_share, 0.125, 1e-12);
  work.throttled_seconds = 1.0;  // counted in both, so the larger one counts
  EXPECT_NEAR(cpu_waits(work).share, 0.4, 1e-12);
  EXPECT_NEAR(cpu_waits(work).slot_share, 0.25, 1e-12);
}

TEST(CpuWaits, NothingIsDividedByNothing) {
  EXPECT_EQ(cpu_waits(WorkTime{}).share, 0);
  WorkTime work;
  work.run_queue_seconds = 2;  // more than the slots that the readings show
  EXPECT_EQ(cpu_waits(work).share, 1);
  EXPECT_EQ(cpu_waits(work).slot_share, 1);
}

TEST_F(ContentionMeterTest, WaitsAboveTheMarkAreOthersDoing) {
  EXPECT_EQ(after(window_of(0.89, 0.09)), "");  // 9.2 % of what was wanted
  EXPECT_EQ(after(window_of(0.80, 0.20)), "others");
  EXPECT_TRUE(meter_.contended());
}

TEST_F(ContentionMeterTest, ItIsOverASecondAfterTheLastWait) {
  ASSERT_EQ(after(window_of(0.6, 0.4)), "others");
  EXPECT_EQ(after(window_of(1.0, 0.0), 5), "others");  // half a second: 20 %
  EXPECT_EQ(after(window_of(1.0, 0.0), 5), "");
}

TEST_F(ContentionMeterTest, WorkersThatMostlySleepAreNotContended) {
  EXPECT_EQ(after(window_of(0.02, 0.02)), "");  // half of what they want, 2 % of their time
}

TEST_F(ContentionMeterTest, MoreRunningWorkersThanCpusAreItsOwnDoing) {
  host_.cores = 2;
  EXPECT_EQ(after(window_of(0.5, 0.5)), "own");
  host_.cores = 0;  // unknown
  EXPECT_EQ(after(window_of(0.5, 0.5)), "others");
}

TEST_F(ContentionMeterTest, TwoThrottledPeriodsInASecondAreTheQuota) {
  WorkTime throttled = window_of(0.9, 0.0);
  throttled.throttled_periods = 1;
  EXPECT_EQ(after(throttled, 1), "");
  EXPECT_EQ(after(window_of(0.9, 0.0), 9), "");
  EXPECT_EQ(after(throttled, 1), "");  // the first is more than a second ago
  EXPECT_EQ(after(throttled, 1), "quota");
  EXPECT_EQ(after(window_of(0.9, 0.0), 10), "");
}

// Where the kernel counts no waits for a CPU.
class SwitchesTest : public ContentionMeterTest {
 protected:
  static WorkTime switching(double a_cpu_second) {
    WorkTime work = window_of(0.9, 0.0);
    work.involuntary_switches = a_cpu_second * work.cpu_seconds;
    return work;
  }
};

TEST_F(SwitchesTest, FarAboveTheirOwnBaselineMeanOthers) {
  EXPECT_EQ(after(switching(20)), "");
  EXPECT_EQ(after(switching(50)), "");  // 2.5 times
  EXPECT_EQ(after(switching(5000), 1), "others");
}

TEST_F(SwitchesTest, NothingIsSaidBeforeThereIsABaseline) {
  EXPECT_EQ(after(switching(1), 3), "");
  EXPECT_EQ(after(switching(5000), 2), "");  // 1.8 s of CPU time in all
}

TEST_F(SwitchesTest, AFewAreFew) {
  EXPECT_EQ(after(switching(0.1)), "");
  EXPECT_EQ(after(switching(9)), "");  // 90 times the baseline
}

TEST_F(SwitchesTest, DoNotCountWhereWaitsAreCounted) {
  EXPECT_EQ(after(window_of(0.9, 0.001), 1), "");
  EXPECT_EQ(after(switching(20)), "");
  EXPECT_EQ(after(switching(4000)), "");
}

}  // namespace
}  // namespace weir::detail
