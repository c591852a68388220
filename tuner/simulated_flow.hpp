#pragma once

#include <cstdint>

#include "tuner/scenario.hpp"

namespace weir::detail {

/// The earliest time, `seconds` or later, at which something flows.
[[nodiscard]] double next_flowing(const ScenarioFlow& flow, double seconds);
/// From one item to the next while it flows; 0: no time at all.
[[nodiscard]] double seconds_between(const ScenarioFlow& flow);

/// The items that a source has ready, by its rate. What is not taken waits, up to what the source
/// gives in a period: a bursty source keeps its mean rate as long as the line holds that.
///
/// Thread safety: none.
class SimulatedSource {
 public:
  void set_flow(const ScenarioFlow& flow, double now);
  /// So many items are taken together, under one index: for a batch right behind the source.
  void set_group(int items, double now);
  void advance_to(double now);
  /// Takes as many groups as `most`, at least one. Requires: has_group().
  [[nodiscard]] std::uint64_t take(std::uint64_t most);

  [[nodiscard]] bool has_group() const { return unlimited() || ready_ >= group_; }
  [[nodiscard]] std::uint64_t next_index() const { return next_; }
  [[nodiscard]] std::int64_t waiting() const;  ///< items
  /// When it has a group again; infinite while it has one.
  [[nodiscard]] double next_event() const;
  /// Time without a group so far.
  [[nodiscard]] double empty_seconds() const { return empty_seconds_; }

 private:
  [[nodiscard]] bool unlimited() const { return flow_.per_second <= 0; }
  void foresee();
  [[nodiscard]] double given_until(double seconds) const;

  ScenarioFlow flow_;
  double now_ = 0;
  double group_ = 1;
  double ready_ = 0;
  double ready_at_ = 0;  ///< when ready_ comes to a group
  double empty_seconds_ = 0;
  std::uint64_t next_ = 0;
};

}  // namespace weir::detail
