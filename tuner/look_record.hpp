#pragma once

#include <memory>

#include <nlohmann/json_fwd.hpp>

#include <weir/allocation.hpp>
#include <weir/export.hpp>
#include <weir/telemetry.hpp>

namespace weir::detail {

/// What a tuner is given at one look. From it follows all that it sees, and what its policy
/// decides.
struct LookInput {
  Snapshot snapshot;     ///< without operators and histograms, which no policy sees
  Allocation current;    ///< in force
  bool changed = false;  ///< it was set since the last look
};

/// Look after look as JSON, to the last bit: numbers in the shortest form that reads back as the
/// same, each counter once by its name with a value for every stage. What did not change since the
/// look before is left out.
///
/// Thread safety: none.
/// Invariants: looks are read in the order in which they were written, from a restart() on.
class WEIR_EXPORT LookRecord {
 public:
  LookRecord();
  ~LookRecord();
  LookRecord(const LookRecord&) = delete;
  LookRecord& operator=(const LookRecord&) = delete;

  /// The next look is written whole.
  void restart();
  [[nodiscard]] nlohmann::ordered_json write(const LookInput& look);
  /// Throws Error (usage) that names the field and what is wrong with it.
  [[nodiscard]] LookInput read(const nlohmann::ordered_json& record);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

/// An allocation to the last bit; read throws as above.
[[nodiscard]] WEIR_EXPORT nlohmann::ordered_json exact_json(const Allocation& allocation);
[[nodiscard]] WEIR_EXPORT Allocation exact_allocation(const nlohmann::ordered_json& record);

}  // namespace weir::detail
