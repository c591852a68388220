#include "policies/host_meter.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace weir::detail {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class HostMeterTest : public testing::Test {
 protected:
  HostMeterTest() {
    host_.read_seconds = 10;
    host_.cores = 4;
    host_.host_cores = 8;
    host_.host_cpu_seconds = 1000;
    host_.process_cpu_seconds = 100;
    host_.quota_periods = 50;
    host_.throttled_periods = 5;
    host_.resident_bytes = 300;
  }
  HostObservation read() { return meter_.add(host_, 100, throttled_); }

  HostSnapshot host_;
  HostMeter meter_;
  WorkTime throttled_;
};

TEST_F(HostMeterTest, OneReadingHasNoRates) {
  const HostObservation seen = read();
  EXPECT_FALSE(seen.known);
  EXPECT_EQ(seen.cores, 4);
  EXPECT_EQ(seen.resident_over_ledger, 3);
  EXPECT_EQ(seen.others_cores, 0);
  EXPECT_EQ(throttled_.throttled_periods, 0);
}

TEST_F(HostMeterTest, TwoReadingsAreRates) {
  (void)read();
  host_.read_seconds += 2;
  host_.host_cpu_seconds += 9;     // 4.5 CPUs of 8
  host_.process_cpu_seconds += 4;  // two of them by this process
  host_.cpu_pressure_seconds += 0.5;
  host_.memory_pressure_seconds += 7;  // of 2 s: cannot be
  host_.quota_periods += 20;
  host_.throttled_periods += 3;
  host_.throttled_seconds += 0.2;
  const HostObservation seen = read();
  EXPECT_TRUE(seen.known);
  EXPECT_NEAR(seen.others_cores, 2.5, 1e-9);
  EXPECT_NEAR(seen.idle_cores, 2, 1e-9);  // 3.5 idle, of the own four two are free
  EXPECT_NEAR(seen.cpu_pressure, 0.25, 1e-9);
  EXPECT_EQ(seen.memory_pressure, 1);
  EXPECT_NEAR(seen.throttled_share, 0.15, 1e-9);
  EXPECT_EQ(throttled_.throttled_periods, 3);
  EXPECT_NEAR(throttled_.throttled_seconds, 0.2, 1e-9);
}

TEST_F(HostMeterTest, BetweenReadingsTheRatesStandAndNothingIsThrottledTwice) {
  (void)read();
  host_.read_seconds += 1;
  host_.host_cpu_seconds += 6;
  host_.throttled_periods += 3;
  host_.quota_periods += 3;
  (void)read();
  const HostObservation seen = read();
  EXPECT_EQ(seen.others_cores, 6);
  EXPECT_EQ(throttled_.throttled_periods, 3);
}

TEST_F(HostMeterTest, NeverReadIsNothing) {
  host_ = {};
  EXPECT_FALSE(read().known);
  EXPECT_EQ(read().cores, 0);
}

TEST_F(HostMeterTest, AHostThatSaysNothingOfItsCpusHasNoneIdle) {
  host_.host_cores = 0;
  host_.host_cpu_seconds = 0;
  (void)read();
  host_.read_seconds += 1;
  host_.process_cpu_seconds += 1;
  EXPECT_EQ(read().idle_cores, 0);
  EXPECT_EQ(read().others_cores, 0);
}

TEST_F(HostMeterTest, CountersThatGoBackReadAsNothing) {
  (void)read();
  host_.read_seconds += 1;
  host_.host_cpu_seconds = 1;
  host_.process_cpu_seconds = 1;
  host_.throttled_periods = 0;
  host_.quota_periods = 0;
  const HostObservation seen = read();
  EXPECT_EQ(seen.others_cores, 0);
  EXPECT_EQ(seen.throttled_share, 0);
  EXPECT_EQ(throttled_.throttled_periods, 0);
}

TEST_F(HostMeterTest, AClockThatGoesBackLeavesTheRatesAsTheyWere) {
  (void)read();
  host_.read_seconds += 1;
  host_.host_cpu_seconds += 6;
  (void)read();
  host_.read_seconds -= 5;
  host_.host_cpu_seconds += 1;
  EXPECT_EQ(read().others_cores, 6);
  host_.read_seconds = kNan;
  EXPECT_EQ(read().others_cores, 6);
}

TEST_F(HostMeterTest, NumbersComeOutWhateverIsRead) {
  double HostSnapshot::*const fields[] = {&HostSnapshot::cores,
                                          &HostSnapshot::host_cores,
                                          &HostSnapshot::host_cpu_seconds,
                                          &HostSnapshot::process_cpu_seconds,
                                          &HostSnapshot::throttled_seconds,
                                          &HostSnapshot::cpu_pressure_seconds,
                                          &HostSnapshot::memory_pressure_seconds};
  for (double HostSnapshot::*const field : fields)
    for (const double bad : {kNan, std::numeric_limits<double>::infinity(), -1.0}) {
      HostMeter meter;
      WorkTime throttled;
      (void)meter.add(host_, 100, throttled);
      HostSnapshot next = host_;
      for (int i = 0; i < 3; ++i) {
        next.read_seconds += 1;
        next.host_cpu_seconds += 5;
        next.process_cpu_seconds += 1;
        HostSnapshot spoilt = next;
        if (i == 1) spoilt.*field = bad;
        const HostObservation seen = meter.add(spoilt, 100, throttled);
        for (const double value :
             {seen.cores, seen.idle_cores, seen.others_cores, seen.throttled_share,
              seen.cpu_pressure, seen.memory_pressure, throttled.throttled_seconds}) {
          EXPECT_TRUE(std::isfinite(value)) << bad;
          EXPECT_GE(value, 0) << bad;
        }
      }
    }
}

}  // namespace
}  // namespace weir::detail
