#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <weir/allocation.hpp>
#include <weir/step.hpp>
#include <weir/telemetry.hpp>

#include "pipeline/batch_arena.hpp"
#include "pipeline/counters.hpp"
#include "pipeline/edge.hpp"
#include "pipeline/inlet.hpp"
#include "pipeline/sink_edge.hpp"
#include "pipeline/stage_rules.hpp"

namespace weir::detail {

/// The end of a run of stages that share one numbering: the edge behind which items are numbered
/// anew, or the sink.
struct Zone {
  const Inlet* end = nullptr;      ///< null for the last zone
  const SinkEdge* sink = nullptr;  ///< of the last zone
  const Zone* next = nullptr;

  /// The index that bounds do not hold back: the smallest one that the oldest undelivered batch
  /// still lacks here; kNoIndex: it lacks none.
  [[nodiscard]] std::uint64_t exempt() const {
    if (sink != nullptr) return sink->missing();
    return next->exempt() == end->next_available() ? end->frontier() : kNoIndex;
  }
};

/// One step of a running pipeline, to which workers are allocated: adjacent operators joined, or a
/// gathering one.
///
/// Thread safety: all functions from any worker; a packet belongs to its worker.
/// Invariants: 1. no packet starts while running() is at the most allowed; 2. what is claimed is
/// committed, whatever user functions do.
class Stage {
 public:
  struct Part {
    std::string name;                 ///< as written
    std::vector<std::string> others;  ///< operators behind it whose work `op` does too
    std::size_t place = 0;            ///< of the first one among the operators of the stage
    std::uint32_t number = 0;         ///< operator number
    std::unique_ptr<Operator> op;
    const SlotType* output = nullptr;
    BadSamplePolicy policy;
    bool has_policy = false;
  };
  struct Settings {
    std::string name;
    std::vector<Part> parts;             ///< one-to-one stages
    std::unique_ptr<Gatherer> gatherer;  ///< gathering stages: parts[0] names the operator
    std::uint64_t rows = 1;              ///< of a batch
    const SlotType* input = nullptr;
    Inlet* in = nullptr;
    Edge* out = nullptr;
    const Zone* zone = nullptr;  ///< that `out` belongs to
    ByteLedger* ledger = nullptr;
    BatchArena* places = nullptr;  ///< the last operator's results go here
    BatchArena* arena = nullptr;   ///< hears of bad samples; gathering: gives the batch's memory
    bool is_source = false;        ///< takes from the source
    bool serial = false;
    int fixed_workers = 0;
    int hand_cap = 0;
    std::int64_t hand_depth = 0;
    std::uint64_t seed = 0;
    std::stop_token stop;
    int most_workers = 1;
  };
  explicit Stage(Settings settings);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  // Choosing.

  /// Input present, room behind, bytes to be had. May be outdated when it is used; claim() decides.
  [[nodiscard]] bool runnable() const;
  /// Acquire, with the release of leave(): who reads 0 sees all that the workers wrote here.
  [[nodiscard]] int running() const { return running_.load(std::memory_order_acquire); }
  /// The same in one order with leave() and with what announces that somebody waits for it.
  [[nodiscard]] bool idle() const { return running_.load(std::memory_order_seq_cst) == 0; }
  /// Takes a place among at most `most` workers; false: full.
  [[nodiscard]] bool enter(int most);
  void leave() { running_.fetch_sub(1, std::memory_order_seq_cst); }

  // Working, in this order.

  [[nodiscard]] bool claim(Packet& packet, const StageAllocation& allotted, int active);
  void run(Packet& packet, int worker);
  /// Hands over the results and the room.
  void commit(Packet& packet, int worker);

  // Control.

  /// Holds the depth of the output edge at `items` from now on.
  void set_hand_depth(std::int64_t items);
  /// Sets the depth of the output edge by the rule of the runtime, unless it is set otherwise.
  void adjust_depth(const StageAllocation& allotted, int active, const Stage* downstream,
                    const StageAllocation* allotted_downstream);
  [[nodiscard]] std::int64_t packet_items() const;  ///< about 100 us of work

  // Telemetry.

  [[nodiscard]] StageSnapshot snapshot(Nanoseconds now) const;
  [[nodiscard]] StageCounters& counters(int worker) const {
    return *counters_[static_cast<std::size_t>(worker)];
  }
  [[nodiscard]] const std::string& name() const { return settings_.name; }
  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] bool gathers() const { return settings_.gatherer != nullptr; }
  /// The sample that `worker` has been working on since when; 0: none. For messages.
  [[nodiscard]] std::uint64_t sample_under_way(int worker) const {
    return samples_under_way_[static_cast<std::size_t>(worker)].get();
  }

 private:
  void run_operators(Packet& packet, int worker);
  /// Moves what came without a value to its place behind the stage.
  void pass_on_valueless(Packet& packet) const;
  void run_part(std::size_t p, SlotHeader* const* in, SlotHeader* const* out, std::size_t count,
                Packet& packet, int worker);
  void run_chain(SlotHeader* const* in, SlotHeader* const* out, Packet& packet, int worker);
  /// Of what an operator of a chain made, in packet.kept, moves what lost its value to its place
  /// behind the stage; returns how many are left.
  [[nodiscard]] std::size_t keep_live(Packet& packet, SlotHeader* const* out,
                                      std::size_t count) const;
  void run_gatherer(Packet& packet, int worker);
  void measure_output(Packet& packet) const;
  [[nodiscard]] OperatorRun operator_run(const Part& part, int worker) const;
  [[nodiscard]] SlotArray& scratch(int worker, std::size_t part);
  void learn(const Packet& packet, Nanoseconds elapsed);
  [[nodiscard]] EdgeSide side(const StageAllocation& allotted) const;
  [[nodiscard]] std::uint64_t bytes_per_output() const {
    return output_bytes_.load(std::memory_order_relaxed);
  }

  const Settings settings_;
  std::vector<std::unique_ptr<StageCounters>> counters_;  ///< one a worker
  std::vector<Counter<std::uint64_t>> samples_under_way_;
  std::vector<std::vector<std::unique_ptr<SlotArray>>> scratch_;  ///< [worker][part], owned by it

  alignas(64) std::atomic<int> running_{0};
  std::atomic<std::int64_t> hand_depth_;        ///< 0: none
  std::atomic<double> item_ns_{0};              ///< smoothed; 0: not measured yet
  std::atomic<std::uint64_t> output_bytes_{0};  ///< estimate of the p95 of one output
  std::atomic<double> output_mean_{0};
  std::atomic<double> output_square_{0};
  std::atomic<double> output_most_{0};
};

[[nodiscard]] Nanoseconds monotonic_now();

}  // namespace weir::detail
