#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <time.h>

#include <weir/sample_operator.hpp>

#include "machine/precise_sleep.hpp"
#include "pipeline/operators/emulated_device.hpp"

namespace weir::detail {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr const char* kName = "emulate";

/// Service times with a mean and a coefficient of variation.
class ServiceTime {
 public:
  ServiceTime(double mean_seconds, const Parameters& parameters)
      : mean_seconds_(mean_seconds), cv_(parameters.number("cv")) {
    const std::string& distribution = parameters.text("distribution");
    normal_ = distribution == "normal";
    if (distribution == "constant" && cv_ > 0.0) {
      parameters.reject("distribution", "a constant has no `cv`; give normal or lognormal");
    }
  }

  /// Draws only where times vary, from the item's own generator: the same at any worker count.
  [[nodiscard]] double draw(Context& context) const {
    if (cv_ <= 0.0 || mean_seconds_ <= 0.0) return mean_seconds_;
    const double z = context.random().normal();
    if (normal_) return std::max(0.0, mean_seconds_ * (1.0 + cv_ * z));
    const double variance = std::log1p(cv_ * cv_);
    return mean_seconds_ * std::exp(std::sqrt(variance) * z - variance / 2.0);
  }

 private:
  double mean_seconds_;
  double cv_;
  bool normal_ = false;
};

SteadyClock::duration as_duration(double seconds) {
  return std::chrono::duration_cast<SteadyClock::duration>(Seconds(seconds));
}

/// Sleeps to an absolute deadline, and measures what the sleep really took.
class EmulateWait final : public SampleOperator {
 public:
  explicit EmulateWait(const Parameters& parameters)
      : time_(parameters.number("wait"), parameters) {
    if (parameters.has("limit")) {
      device_ =
          std::make_unique<EmulatedDevice>(static_cast<std::size_t>(parameters.integer("limit")));
    }
  }

  void apply(Sample&, Context& context) const override {
    thread_local const bool punctual = use_smallest_timer_slack();
    (void)punctual;  // Where the kernel refuses, the measured waits show it.
    const SteadyClock::duration length = as_duration(time_.draw(context));
    const SteadyClock::time_point now = SteadyClock::now();
    const SteadyClock::time_point begin = device_ ? device_->reserve(now, length) : now;
    const SteadyClock::time_point deadline = begin + length;
    // A long wait looks up now and then, so that closing the loader need not wait for its end.
    constexpr std::chrono::milliseconds kLook(100);
    for (SteadyClock::time_point at = now; at < deadline;) {
      if (context.stop_token().stop_requested()) return;
      at = std::min(deadline, at + kLook);
      sleep_until(at);
    }
    const auto waited =
        std::chrono::duration_cast<std::chrono::nanoseconds>(SteadyClock::now() - begin);
    waits_.fetch_add(1, std::memory_order_relaxed);
    waited_ns_.fetch_add(static_cast<std::uint64_t>(waited.count()), std::memory_order_relaxed);
  }

  [[nodiscard]] std::optional<MeasuredWait> measured_wait() const override {
    return MeasuredWait{waits_.load(std::memory_order_relaxed),
                        static_cast<double>(waited_ns_.load(std::memory_order_relaxed)) * 1e-9};
  }

 private:
  ServiceTime time_;
  std::unique_ptr<EmulatedDevice> device_;
  // Counters that several workers add to; they order nothing.
  mutable std::atomic<std::uint64_t> waits_{0};
  mutable std::atomic<std::uint64_t> waited_ns_{0};
};

std::chrono::nanoseconds thread_cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// Arithmetic that no compiler can leave out.
void spin(std::uint64_t rounds) {
  thread_local std::uint64_t state = 1;
  std::uint64_t x = state;
  for (std::uint64_t i = 0; i < rounds; ++i) x = mix_bits(x);
  // The store through a volatile keeps the loop.
  *static_cast<volatile std::uint64_t*>(&state) = x;
}

/// Rounds of spin() in a second of CPU time, measured once: reading the clock costs a system call,
/// so that it is read every few microseconds of work only.
double rounds_per_second() {
  static const double rate = [] {
    constexpr std::uint64_t kRounds = 200000;
    double best = 0.0;
    for (int i = 0; i < 5; ++i) {
      const std::chrono::nanoseconds begin = thread_cpu_time();
      spin(kRounds);
      const double seconds = Seconds(thread_cpu_time() - begin).count();
      if (seconds > 0.0) best = std::max(best, static_cast<double>(kRounds) / seconds);
    }
    return best > 0.0 ? best : 1e9;
  }();
  return rate;
}

class EmulateCpu final : public SampleOperator {
 public:
  explicit EmulateCpu(const Parameters& parameters) : time_(parameters.number("cpu"), parameters) {}

  void apply(Sample&, Context& context) const override {
    const std::chrono::nanoseconds end =
        thread_cpu_time() +
        std::chrono::nanoseconds(static_cast<std::int64_t>(time_.draw(context) * 1e9));
    constexpr double kSliceSeconds = 20e-6;
    for (double left = Seconds(end - thread_cpu_time()).count(); left > 0.0;
         left = Seconds(end - thread_cpu_time()).count()) {
      const double rounds = std::min(left, kSliceSeconds) * rounds_per_second();
      spin(static_cast<std::uint64_t>(rounds) + 1);
    }
  }

 private:
  ServiceTime time_;
};

/// Reads and writes so many bytes of memory.
class EmulateStream final : public SampleOperator {
 public:
  explicit EmulateStream(const Parameters& parameters)
      : bytes_(static_cast<std::size_t>(parameters.number("stream"))) {}

  void apply(Sample&, Context&) const override {
    // Larger than most caches' share of a core, and walked round, so that the traffic reaches the
    // memory.
    constexpr std::size_t kRegionWords = (std::size_t{32} << 20U) / sizeof(std::uint64_t);
    thread_local std::vector<std::uint64_t> region(kRegionWords);
    thread_local std::size_t at = 0;
    for (std::size_t left = bytes_ / sizeof(std::uint64_t); left > 0;) {
      const std::size_t run = std::min(left, kRegionWords - at);
      std::uint64_t* words = region.data() + at;
      for (std::size_t i = 0; i < run; ++i) words[i] += 1;
      left -= run;
      at = (at + run) % kRegionWords;
    }
  }

 private:
  std::size_t bytes_;
};

SampleMap make_emulate(const Parameters& parameters, const std::vector<std::string>& columns) {
  if (!columns.empty()) parameters.reject("wait", "an emulated stage acts on no `columns`");
  const bool waits = parameters.has("wait");
  const bool computes = parameters.has("cpu");
  const bool streams = parameters.has("stream");
  if (int{waits} + int{computes} + int{streams} != 1) {
    parameters.reject("wait",
                      "give exactly one of `wait`, `cpu` and `stream`; two costs are two "
                      "`emulate` operators");
  }
  if (parameters.has("limit") && !waits) {
    parameters.reject("limit", "only a `wait` has a device that limits it");
  }
  if (streams) {
    if (parameters.number("cv") > 0.0) parameters.reject("cv", "a `stream` has a fixed size");
    return SampleMap(std::make_shared<const EmulateStream>(parameters));
  }
  if (computes) return SampleMap(std::make_shared<const EmulateCpu>(parameters));
  return SampleMap(std::make_shared<const EmulateWait>(parameters));
}

}  // namespace

OperatorSpec emulate_spec() {
  return {.name = kName,
          .summary = "passes samples on unchanged at a cost, for study and tests",
          .parameters = {{.name = "wait",
                          .type = ParameterType::duration,
                          .fallback = "none",
                          .low = 0,
                          .high = 3600,
                          .meaning = "time asleep a sample, as a device or a network takes it"},
                         {.name = "cpu",
                          .type = ParameterType::duration,
                          .fallback = "none",
                          .low = 0,
                          .high = 3600,
                          .meaning = "CPU time a sample"},
                         {.name = "stream",
                          .type = ParameterType::size,
                          .fallback = "none",
                          .low = 8,
                          .high = 1e12,
                          .meaning = "bytes of memory read and written a sample"},
                         {.name = "cv",
                          .type = ParameterType::number,
                          .fallback = "0",
                          .low = 0,
                          .high = 10,
                          .meaning = "standard deviation of the time divided by its mean"},
                         {.name = "distribution",
                          .type = ParameterType::choice,
                          .fallback = "lognormal",
                          .choices = {"constant", "normal", "lognormal"},
                          .meaning = "of the time, where `cv` is above 0; normal is cut at 0"},
                         {.name = "limit",
                          .type = ParameterType::integer,
                          .fallback = "none",
                          .low = 1,
                          .high = 65536,
                          .meaning = "waits that the device serves at once"}},
          .make = &make_emulate};
}

}  // namespace weir::detail
