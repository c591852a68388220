#pragma once

#include <cstdint>

#include <weir/allocation.hpp>
#include <weir/telemetry.hpp>

#include "pipeline/byte_ledger.hpp"
#include "pipeline/stage_rules.hpp"
#include "tuner/scenario.hpp"
#include "tuner/simulated_edge.hpp"
#include "tuner/simulated_flow.hpp"
#include "tuner/simulated_service.hpp"

namespace weir::detail {

/// What chance decides of one stage's items: a function of seed, stage and item index alone, so
/// that the draws of an item are the same whatever the workers do.
///
/// Thread safety: a value.
class StageDraws {
 public:
  void set(const ScenarioStage& stage, std::uint64_t key);
  /// Work of one item, in seconds.
  [[nodiscard]] double work_seconds(std::uint64_t index) const;
  /// True when a filter passes the item.
  [[nodiscard]] bool keeps(std::uint64_t index) const;

 private:
  ScenarioStage stage_;
  std::uint64_t key_ = 0;
  double log_mean_ = 0;
  double log_deviation_ = 0;
};

/// What a thread used, and how often it was switched.
struct ThreadTime {
  double cpu_seconds = 0;
  double run_queue_seconds = 0;
  double voluntary_switches = 0;
  double involuntary_switches = 0;
};

/// One stage of the simulated pool: what pipeline/stage.hpp does, in virtual time and without
/// values.
///
/// Thread safety: none.
/// Invariants: as Stage.
class SimulatedStage {
 public:
  struct Place {
    SimulatedSource* source = nullptr;  ///< of the first stage
    SimulatedEdge* in = nullptr;        ///< of all others
    SimulatedEdge* out = nullptr;
    ByteLedger* ledger = nullptr;
    int loader = 0;
    std::uint64_t key = 0;  ///< of its draws
  };
  SimulatedStage(const ScenarioStage& is, const Place& place, double now);

  void set(const ScenarioStage& is, double now);
  [[nodiscard]] const ScenarioStage& is() const { return is_; }
  [[nodiscard]] int loader() const { return place_.loader; }
  [[nodiscard]] SimulatedService& service() { return service_; }
  [[nodiscard]] const SimulatedService& service() const { return service_; }

  // Choosing.
  [[nodiscard]] std::uint64_t first_ready() const {
    if (place_.source == nullptr) return place_.in->first_ready();
    return place_.source->has_group() ? place_.source->next_index() : kNoIndex;
  }
  [[nodiscard]] bool has_room(std::uint64_t index) const {
    return index < place_.out->limit() &&
           place_.ledger->has_room(learning_.output_bytes, place_.source != nullptr);
  }
  [[nodiscard]] int running() const { return running_; }

  // Working, in this order. `exempt` is the index that bounds do not hold back.
  [[nodiscard]] bool claim(SimulatedPacket& packet, const StageAllocation& allotted, int active,
                           std::uint64_t exempt, double now);
  /// The packet's work; also settles what becomes of its items.
  [[nodiscard]] double run(SimulatedPacket& packet);
  void commit(const SimulatedPacket& packet, double elapsed_seconds, double now);

  // Control.
  [[nodiscard]] EdgeSide side(const StageAllocation& allotted) const;
  void adjust_depth(const StageAllocation& allotted, int active, const EdgeSide* consumer,
                    double now);

  // Telemetry.
  /// A part of what a worker's thread used and of how often it was switched.
  void add_thread_time(const ThreadTime& part);
  /// Without what is under way.
  [[nodiscard]] StageSnapshot snapshot(double now) const;

 private:
  [[nodiscard]] std::int64_t waiting() const {
    return place_.source != nullptr ? place_.source->waiting() : place_.in->waiting();
  }
  [[nodiscard]] bool claim_source(SimulatedPacket& packet, const ClaimLimits& limits);

  ScenarioStage is_;
  const Place place_;
  const bool gathers_;
  StageDraws draws_;
  SimulatedService service_;
  StageLearning learning_;
  int running_ = 0;
  StageSnapshot meters_;  ///< cumulative
  ThreadTime thread_time_;
};

}  // namespace weir::detail
