// The choices of a live pool, replayed through the function that the simulator calls.

#include <gtest/gtest.h>

#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "pipeline/choice_recorder.hpp"
#include "tests/pipeline_stress/live_run.hpp"

namespace weir::test {
namespace {

/// Keeps all that choose() saw.
class Recorder final : public detail::ChoiceRecorder {
 public:
  struct Choice {
    Allocation allocation;
    std::vector<StageView> views;
    int last = -1;
    int stage = -1;
  };

  void chosen(const Allocation& allocation, std::span<const StageView> views, int last,
              int stage) override {
    const std::lock_guard lock(mutex_);
    if (choices_.size() < kMost)
      choices_.push_back({allocation, {views.begin(), views.end()}, last, stage});
  }
  [[nodiscard]] std::vector<Choice> take() {
    const std::lock_guard lock(mutex_);
    return std::move(choices_);
  }

 private:
  static constexpr std::size_t kMost = 20'000;

  std::mutex mutex_;
  std::vector<Choice> choices_;
};

TEST(RecordedChoices, ReplayEqual) {
  std::size_t none = 0;
  std::size_t some = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Recorder recorder;
    detail::WorkerPool::Settings settings;
    settings.workers = 4;
    settings.first.active = 4;
    settings.choices = &recorder;
    {
      detail::WorkerPool pool(settings);
      std::mt19937_64 random(seed);
      StressCase stress = stress_case(seed);
      stress.items = stress.items * 10 + 5;
      stress.jitters = true;
      LiveRun run(stress, pool, 1, 0);
      for (int step = 0; step < 50; ++step) {
        if (!run.consume(20)) break;
        (void)pool.apply(random_allocation(random, pool.allocation(), 4));
      }
      run.close();
    }
    for (const Recorder::Choice& choice : recorder.take()) {
      ASSERT_EQ(choose(choice.allocation, choice.views, choice.last), choice.stage) << seed;
      ++(choice.stage < 0 ? none : some);
    }
  }
  EXPECT_GT(none, 0u);
  EXPECT_GT(some, 100u);
}

}  // namespace
}  // namespace weir::test
