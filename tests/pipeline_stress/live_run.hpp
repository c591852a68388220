#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "pipeline/engine.hpp"
#include "pipeline/worker_pool.hpp"
#include "tests/pipeline_stress/stress_case.hpp"

namespace weir::test {

/// A pool with threads for stress cases. The first allocation is drawn too.
[[nodiscard]] std::unique_ptr<detail::WorkerPool> make_pool(int workers, int active,
                                                            std::uint64_t memory_bytes);

/// One case on a pool with threads, and what its consumer got.
///
/// Thread safety: consume() belongs to one thread; close() may be called from any.
class LiveRun {
 public:
  LiveRun(const StressCase& stress, detail::WorkerPool& pool, std::int64_t packet_items,
          std::int64_t depth_items);

  /// Takes at most `most` values and ends of epochs; false: nothing more will come.
  [[nodiscard]] bool consume(std::uint64_t most);
  void close() { engine_->close(); }
  [[nodiscard]] detail::Engine& engine() { return *engine_; }
  /// "" or what is wrong with what was given, all epochs being over.
  [[nodiscard]] std::string judge() const;

 private:
  const StressCase stress_;
  std::unique_ptr<detail::Engine> engine_;
  std::vector<std::vector<std::uint64_t>> given_{1};
};

/// Changes allocations, depths and the memory bound of a pool at random until told to stop.
class Chaos {
 public:
  Chaos(detail::WorkerPool& pool, std::uint64_t seed, std::uint64_t most_memory_bytes);
  /// One change of anything but depths.
  void change();
  /// One change of a depth.
  void resize(detail::Engine& engine);

 private:
  [[nodiscard]] std::uint64_t below(std::uint64_t n) { return random_() % n; }

  detail::WorkerPool& pool_;
  std::mt19937_64 random_;
  const std::uint64_t most_memory_bytes_;
};

/// An allocation drawn at random for the stages of `now`.
[[nodiscard]] Allocation random_allocation(std::mt19937_64& random, Allocation now, int workers);

}  // namespace weir::test
