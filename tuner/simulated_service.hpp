#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "pipeline/ring.hpp"
#include "tuner/scenario.hpp"

namespace weir::detail {

/// The packets under way in one stage, and how fast they get on: the scaling law, a plateau, a
/// slowdown, a device that takes so many at once, and the part of a core that each has now. All act
/// on the number running at each instant, so the end of a packet moves as others come and go.
///
/// Algorithm: those in service all advance at one rate, so that one clock of work done serves them
/// all: a packet ends when the clock has passed by as much as its work, and the first to end is the
/// smallest in a heap.
///
/// Thread safety: none.
class SimulatedService {
 public:
  void set_stage(const ScenarioStage& stage, double now);
  /// The part of a core that each running thread gets from now on.
  void set_core_share(double share, double now);

  /// Begins `work_seconds` for a worker; false: it waits for the device first.
  [[nodiscard]] bool begin(int worker, double work_seconds, double now);
  /// Ends the packet that next_end() foresaw and returns its worker.
  [[nodiscard]] int end(double now);
  /// Gives a free place on the device to whoever waits longest; -1: there is no such one.
  [[nodiscard]] int admit(double now);

  [[nodiscard]] double next_end() const { return next_end_; }
  [[nodiscard]] int in_service() const { return static_cast<int>(heap_.size()); }
  [[nodiscard]] bool needs_core() const { return needs_core_; }

 private:
  struct Ending {
    double at = 0;  // of the clock of work done
    std::uint64_t order = 0;
    int worker = -1;
    [[nodiscard]] bool operator<(const Ending& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };
  struct Waiting {
    int worker = -1;
    double work_seconds = 0;
  };

  void work_until(double now);
  void foresee(double now);
  void start(int worker, double work_seconds);
  [[nodiscard]] bool has_place() const { return limit_ <= 0 || in_service() < limit_; }

  // Of the stage.
  bool needs_core_ = true;
  int limit_ = 0;
  double contention_ = 0;
  double coherence_ = 0;
  int plateau_ = 0;
  int slow_above_ = 0;
  double slow_factor_ = 1;

  double core_share_ = 1;
  std::vector<Ending> heap_;
  Ring<Waiting> waiting_;
  std::uint64_t order_ = 0;
  double done_ = 0;  ///< work that each in service would have done so far
  double rate_ = 1;  ///< work a second
  double now_ = 0;
  double next_end_ = std::numeric_limits<double>::infinity();
};

}  // namespace weir::detail
