// The real control thread over a plant that is safe for threads.

#include <weir/tuning.hpp>

#include <weir/error.hpp>

#include "tests/support/simulated_line.hpp"
#include "tests/tuner/tuner_run.hpp"
#include "tuner/control.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

namespace weir::test {
namespace {

/// A simulated plant in which time passes with each look, so that no test waits for a clock.
class SteppedPlant : public Plant {
 public:
  explicit SteppedPlant(const std::vector<detail::ScenarioProcess>& loaders) : line_(loaders, 8) {}

  [[nodiscard]] Snapshot snapshot() const override {
    const std::lock_guard lock(mutex_);
    EXPECT_FALSE(closed_);
    if (throws_) throw std::runtime_error("the plant broke");
    line_.run(0.1);
    ++looks_;
    looked_.notify_all();
    return line_.plant.snapshot();
  }
  [[nodiscard]] Allocation allocation() const override {
    const std::lock_guard lock(mutex_);
    return line_.plant.allocation();
  }
  [[nodiscard]] bool apply(const Allocation& allocation) override {
    const std::lock_guard lock(mutex_);
    EXPECT_FALSE(closed_);
    return line_.plant.apply(allocation);
  }
  void wait_for_looks(int count) {
    std::unique_lock lock(mutex_);
    looked_.wait(lock, [&] { return looks_ >= count; });
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  void break_down() {
    const std::lock_guard lock(mutex_);
    throws_ = true;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable looked_;
  mutable SimulatedLine line_;
  mutable int looks_ = 0;
  bool closed_ = false;
  bool throws_ = false;
};

// Windows as short as they may be: time in the plant is its own.
TuningOptions quick() {
  TuningOptions options;
  options.settings = {{"window", "10ms"}, {"window_least", "5ms"}, {"window_most", "50ms"}};
  return options;
}

int control_threads() {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream stream(task.path() / "comm");
    std::string name;
    std::getline(stream, name);
    count += name == "weir-control";
  }
  return count;
}

TEST(Tuning, LooksDecidesAndLetsGo) {
  SteppedPlant plant({line({4e-3, 8e-3, 32e-3})});
  Tuning tuning = Tuning::attach(plant, quick());
  plant.wait_for_looks(30);
  EXPECT_TRUE(tuning.attached());
  tuning.detach();
  plant.close();
  EXPECT_FALSE(tuning.attached());
  const TuningStatus status = tuning.status();
  EXPECT_GE(status.windows, 29u);
  EXPECT_EQ(status.policy, "balance");
  EXPECT_EQ(status.budget, 8);
  EXPECT_FALSE(status.last_reason.empty());
  EXPECT_TRUE(status.error.empty());
  tuning.detach();
}

TEST(Tuning, OneControlThreadWhileSomethingIsAttached) {
  EXPECT_EQ(control_threads(), 0);
  SteppedPlant one({line({1e-3})});
  SteppedPlant two({line({1e-3})});
  {
    Tuning first = Tuning::attach(one, quick());
    Tuning second = Tuning::attach(two, quick());
    one.wait_for_looks(2);
    two.wait_for_looks(2);
    EXPECT_EQ(control_threads(), 1);
    first.detach();
    one.close();
    two.wait_for_looks(6);
    EXPECT_EQ(control_threads(), 1);
  }
  two.close();
  EXPECT_EQ(control_threads(), 0);
}

TEST(Tuning, TwoLoadersOfOnePlantShareTheTuner) {
  SteppedPlant plant({line({1e-3})});
  Tuning first = Tuning::attach(plant, quick());
  plant.wait_for_looks(3);
  Tuning second = Tuning::attach(plant, quick());
  EXPECT_GE(second.status().windows, 1u);
  first.detach();
  plant.wait_for_looks(10);
  second.detach();
  plant.close();
}

TEST(Tuning, TwoWaysForOnePlantAreRefused) {
  SteppedPlant plant({line({1e-3})});
  const Tuning first = Tuning::attach(plant, quick());
  TuningOptions other = quick();
  other.strict = true;
  try {
    (void)Tuning::attach(plant, other);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), testing::HasSubstr("already being tuned, with policy 'balance'"));
  }
}

TEST(Tuning, MistakesAreAnsweredBeforeAnythingStarts) {
  SteppedPlant plant({line({1e-3})});
  TuningOptions options = quick();
  options.policy = "shere";
  EXPECT_THROW((void)Tuning::attach(plant, options), Error);
  options = quick();
  options.settings["windo"] = "1s";
  EXPECT_THROW((void)Tuning::attach(plant, options), Error);
  EXPECT_EQ(control_threads(), 0);
}

TEST(Tuning, FailureIsToldAndEndsOnlyThisTuning) {
  SteppedPlant broken({line({1e-3})});
  SteppedPlant whole({line({1e-3})});
  Tuning first = Tuning::attach(broken, quick());
  Tuning second = Tuning::attach(whole, quick());
  broken.wait_for_looks(2);
  broken.break_down();
  while (first.status().error.empty()) std::this_thread::yield();
  EXPECT_EQ(first.status().error, "the plant broke");
  whole.wait_for_looks(10);
  EXPECT_TRUE(second.status().error.empty());
}

TEST(Tuning, HandlesMove) {
  SteppedPlant plant({line({1e-3})});
  Tuning tuning;
  EXPECT_FALSE(tuning.attached());
  EXPECT_EQ(tuning.status().windows, 0u);
  tuning = Tuning::attach(plant, quick());
  plant.wait_for_looks(2);
  Tuning other = std::move(tuning);
  EXPECT_TRUE(other.attached());
  other = Tuning();
  plant.close();
}

TEST(Tuning, ComingAndGoingFromManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int round = 0; round < 50; ++round) {
        SteppedPlant plant({line({1e-3})});
        Tuning tuning = Tuning::attach(plant, quick());
        if (round % 3 == 0) plant.wait_for_looks(2);
        (void)tuning.status();
        tuning.detach();
        plant.close();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(control_threads(), 0);
}

TEST(Control, RemovedTaskNeverRunsAgain) {
  detail::Control& control = detail::Control::instance();
  for (int round = 0; round < 200; ++round) {
    std::atomic<bool> removed{false};
    std::atomic<bool> ran_after{false};
    const std::uint64_t task = control.add([&] {
      if (removed) ran_after = true;
      return 1e-6;
    });
    control.remove(task);
    removed = true;
    EXPECT_FALSE(ran_after);
  }
}

}  // namespace
}  // namespace weir::test
