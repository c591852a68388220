#include <chrono>
#include <thread>

#include <time.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/operators.hpp>

#include "tests/images/operator_call.hpp"

namespace weir::test {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;
using SteadyClock = std::chrono::steady_clock;

double seconds_since(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

// Only lower bounds are asserted: a busy machine may take longer, never shorter.

TEST(EmulateWait, WaitsAtLeastAsLongAsToldAndMeasuresIt) {
  const SampleMap wait = emulate({.wait = 2ms});
  const SteadyClock::time_point begin = SteadyClock::now();
  for (std::uint64_t id = 0; id < 5; ++id) (void)apply(wait, Sample(), {.sample_id = id});
  const double elapsed = seconds_since(begin);
  const std::optional<MeasuredWait> measured = wait.op().measured_wait();
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->count, 5U);
  EXPECT_GE(measured->seconds, 0.010);
  EXPECT_LE(measured->seconds, elapsed);
}

TEST(EmulateWait, DrawsItsTimesFromTheItem) {
  // What the waits must add up to, from the items' own generators.
  constexpr int kItems = 40;
  double expected = 0.0;
  for (std::uint64_t id = 0; id < kItems; ++id) {
    SampleInfo info;
    info.sample_id = id;
    Context context(1, 2, info, 0, {});
    expected += 0.001 * std::max(0.0, 1.0 + 0.5 * context.random().normal());
  }
  const SampleMap wait = emulate({.wait = 1ms, .cv = 0.5, .distribution = Distribution::normal});
  for (std::uint64_t id = 0; id < kItems; ++id) {
    (void)apply(wait, Sample(), {.sample_id = id, .worker = static_cast<int>(id % 3)});
  }
  EXPECT_GE(wait.op().measured_wait()->seconds, expected - 1e-6);
}

TEST(EmulateWait, ServesNoMoreAtOnceThanTheDeviceCan) {
  const SampleMap wait = emulate({.wait = 5ms, .limit = 1});
  const SteadyClock::time_point begin = SteadyClock::now();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&wait] { (void)apply(wait, Sample()); });
  }
  for (std::thread& thread : threads) thread.join();
  // One after the other: four waits end no sooner than four times one.
  EXPECT_GE(seconds_since(begin), 0.020);
  EXPECT_EQ(wait.op().measured_wait()->count, 4U);
}

TEST(EmulateWait, EndsWhenTheLoaderCloses) {
  const SampleMap wait = emulate({.wait = std::chrono::hours(1)});
  std::stop_source stop;
  stop.request_stop();
  const SampleInfo info;
  Context context(1, 2, info, 0, stop.get_token());
  (void)wait(Sample(), context);
  EXPECT_EQ(wait.op().measured_wait()->count, 0U) << "a wait that was cut short is none";
}

TEST(EmulateCpu, TakesAtLeastTheCpuTimeToldFromItsThread) {
  const SampleMap cpu = emulate({.cpu = 500us});
  const auto used = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  (void)apply(cpu, Sample());  // The first call calibrates.
  const double before = used();
  for (int i = 0; i < 10; ++i) (void)apply(cpu, Sample());
  EXPECT_GE(used() - before, 0.005);
  EXPECT_EQ(cpu.op().measured_wait(), std::nullopt);
}

TEST(EmulateStream, PassesTheSampleOn) {
  const SampleMap stream = emulate({.stream = 40 << 20});
  Sample sample;
  sample.set("image", Tensor({3}, DType::u8));
  const Sample result = apply(stream, std::move(sample));
  EXPECT_EQ(result["image"].shape(), (Shape{3}));
}

TEST(Emulate, NeedsExactlyOneCost) {
  using testing::HasSubstr;
  EXPECT_THAT(failure_of([] { (void)emulate({}); }), HasSubstr("exactly one of"));
  EXPECT_THAT(failure_of([] { (void)emulate({.wait = 1ms, .cpu = 1ms}); }),
              HasSubstr("exactly one of"));
  EXPECT_THAT(failure_of([] { (void)emulate({.cpu = 1ms, .limit = 2}); }),
              HasSubstr("'limit' is 2"));
  EXPECT_THAT(failure_of([] { (void)emulate({.stream = 100, .cv = 0.5}); }),
              HasSubstr("fixed size"));
  EXPECT_THAT(failure_of([] {
                (void)emulate({.wait = 1ms, .cv = 0.1, .distribution = Distribution::constant});
              }),
              HasSubstr("a constant has no `cv`"));
  EXPECT_THAT(failure_of([] {
                (void)make_operator("emulate", {{"wait", whole(16)}});
              }),
              HasSubstr("must be a duration with its unit"));
  EXPECT_THAT(failure_of([] {
                (void)make_operator("emulate", {{"wait", text("1ms")}}, {"image"});
              }),
              HasSubstr("no `columns`"));
}

}  // namespace
}  // namespace weir::test
