#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include <weir/plant.hpp>

namespace weir::test {

/// One stage of a simulated line. Times are per item that enters, except with `batch`: per batch.
struct SimulatedStage {
  std::string name;
  double seconds = 1e-3;
  double cv = 0;  ///< lognormal service times
  bool serial = false;
  double keep = 1;        ///< share of items that pass (a filter)
  int batch = 1;          ///< items that are gathered into one
  double contention = 0;  ///< universal scalability law: a
  double coherence = 0;   ///< b; time grows by 1 + a(n-1) + b n(n-1) with n running
  int slow_above = 0;  ///< with more than so many running, each takes `slow_factor` times as long
  double slow_factor = 1;
  int fixed_workers = 0;
  int hand_cap = 0;
  std::int64_t depth = 0;  ///< of the output edge; 0: by a rule that scales with the workers
};

struct SimulatedLoader {
  std::string name = "train";
  std::vector<SimulatedStage> stages;
  double consumer_seconds = 0;  ///< from the return of one next() to the following call
  double consumer_cv = 0;
  double source_per_second = 0;  ///< items that the source has; 0: always one
};

/// A worker pool in virtual time: event by event, with the pool's own choose(). Deterministic.
///
/// Thread safety: none, for all that Plant promises: tests drive it from one thread.
class SimulatedPlant : public Plant {
 public:
  SimulatedPlant(int workers, std::vector<SimulatedLoader> loaders, std::uint64_t seed = 1);

  [[nodiscard]] Snapshot snapshot() const override;
  [[nodiscard]] Allocation allocation() const override { return allocation_; }
  [[nodiscard]] bool apply(const Allocation& allocation) override;

  void advance(double seconds);
  [[nodiscard]] double now() const { return now_; }
  /// Changes while it runs.
  SimulatedStage& stage(int index) { return stages_[static_cast<std::size_t>(index)].is; }
  SimulatedLoader& loader(int index) { return loaders_[static_cast<std::size_t>(index)].is; }
  /// The consumer stops calling next() for so long, from its next call on.
  void pause_consumer(int loader, double seconds);
  /// Every service takes 1 / (1 - share) as long, the rest spent waiting for a CPU.
  void set_run_queue_share(double share) { run_queue_share_ = share; }
  /// Loaders come or go: all counters begin anew.
  void set_loaders(std::vector<SimulatedLoader> loaders);
  /// The most workers that were busy at once; the most an allocation asked for.
  [[nodiscard]] int most_busy() const { return most_busy_; }
  [[nodiscard]] int applied() const { return applied_; }

 private:
  struct Stage {
    SimulatedStage is;
    int loader = 0;
    bool first = false;
    bool last = false;
    int running = 0;
    std::int64_t reserved_out = 0;  // outputs of packets under way
    std::int64_t length = 0;        // of the output edge
    std::int64_t capacity = 0;
    std::uint64_t draws = 0;
    std::deque<double> started;  // of packets under way
    StageSnapshot meters;
  };
  struct Loader {
    SimulatedLoader is;
    int first_stage = 0;
    int last_stage = 0;
    double source_ready = 0;  // items that wait at the source
    bool waiting = false;
    double called = 0;  // when next() was called
    double returned = 0;
    double pause = 0;
    std::uint64_t draws = 0;
    ConsumerSnapshot meters;
  };
  struct Worker {
    int stage = -1;  // busy in it, or -1
    int last = -1;
    double since = 0;
  };
  struct Event {
    double time;
    std::uint64_t order;
    int worker;  // packet ended; -1: a consumer calls next()
    int loader;
    std::int64_t items;
    double service;
    [[nodiscard]] bool operator<(const Event& other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };

  void rebuild();
  void integrate(double to);
  void dispatch();
  void start_packet(int worker, int stage);
  void end_packet(const Event& event);
  void call_next(int loader);
  void serve_consumers();
  [[nodiscard]] bool has_input(int stage) const;
  [[nodiscard]] bool has_room(int stage) const;
  [[nodiscard]] std::int64_t depth_of(int stage) const;
  [[nodiscard]] double drawn(double mean, double cv, std::uint64_t stream,
                             std::uint64_t count) const;
  [[nodiscard]] double uniform(std::uint64_t stream, std::uint64_t count) const;
  void push(Event event);

  const int workers_;
  const std::uint64_t seed_;
  Allocation allocation_;
  std::vector<Stage> stages_;
  std::vector<Loader> loaders_;
  std::vector<Worker> pool_;
  std::vector<int> sleepers_;  // the last one is woken first
  std::priority_queue<Event> events_;
  double now_ = 0;
  double unparked_seconds_ = 0;
  double run_queue_share_ = 0;
  std::uint64_t order_ = 0;
  std::uint64_t structure_ = 1;
  int busy_ = 0;
  int most_busy_ = 0;
  int applied_ = 0;
};

}  // namespace weir::test
