#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "pipeline/engine.hpp"
#include "pipeline/worker_pool.hpp"
#include "tests/pipeline_stress/stress_case.hpp"

namespace weir::test {

/// What is drawn for one schedule beside the pipelines.
struct ScheduleSettings {
  std::uint64_t seed = 0;
  int workers = 1;
  std::uint64_t memory_bytes = ~std::uint64_t{0};
  std::int64_t packet_items = 1;  ///< 0: by the rule of the runtime
  bool changes = false;           ///< allocations, depths and bounds change on the way
  bool pauses = false;            ///< consumers pause
  bool leaves = false;            ///< a loader may be closed before its end

  [[nodiscard]] std::string text() const;
};

/// Runs loaders on a pool without threads: which virtual worker begins or ends a packet, and which
/// consumer takes, is drawn at random; each interleaving of packets that threads could make is one
/// of these schedules.
///
/// Checks on the way: something can always go on while a consumer waits; no packet starts above a
/// cap, a group's share or A; the ledger stays within the bound plus one item a worker and one
/// batch a loader.
class VirtualSchedule {
 public:
  explicit VirtualSchedule(const ScheduleSettings& settings);

  void add(const StressCase& stress);
  /// Runs all loaders to their ends; "" or what went wrong.
  [[nodiscard]] std::string run();

  /// Epoch by epoch, the ids that loader `index` gave; empty where it was closed early.
  [[nodiscard]] const std::vector<std::vector<std::uint64_t>>& given(std::size_t index) const {
    return loaders_[index]->given;
  }
  [[nodiscard]] std::uint64_t bad(std::size_t index) const { return loaders_[index]->bad; }
  [[nodiscard]] bool closed_early(std::size_t index) const { return loaders_[index]->closed_early; }
  [[nodiscard]] std::uint64_t packets() const { return packets_; }

 private:
  struct LoaderRun {
    StressCase stress;
    std::unique_ptr<detail::Engine> engine;
    std::vector<std::vector<std::uint64_t>> given;
    std::uint64_t bad = 0;
    bool paused = false;
    bool done = false;
    bool closed_early = false;
  };

  [[nodiscard]] std::uint64_t below(std::uint64_t n) { return random_() % n; }
  [[nodiscard]] bool try_begin(int worker);
  void end(int worker);
  [[nodiscard]] bool try_consume(LoaderRun& loader);
  void change();
  void close(LoaderRun& loader);
  [[nodiscard]] Allocation random_allocation();
  void check_started(const std::vector<int>& before);
  void check_bytes();
  void check_stalled();
  [[nodiscard]] std::vector<detail::Stage*> stages() const;
  [[nodiscard]] bool all_done() const;

  const ScheduleSettings settings_;
  std::mt19937_64 random_;
  detail::WorkerPool pool_;
  std::vector<std::unique_ptr<LoaderRun>> loaders_;
  std::vector<bool> busy_;
  std::uint64_t most_bound_;
  std::uint64_t packets_ = 0;
  std::string failure_;
};

}  // namespace weir::test
