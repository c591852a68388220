#pragma once

#include <cstddef>
#include <cstdint>

#include <weir/allocation.hpp>
#include <weir/export.hpp>

namespace weir::detail {

// How the runtime sizes packets and queues where nobody says otherwise: pure, so that the simulator
// goes by the same rules.

/// What is set by hand, or by the stage's nature, about its workers; 0: nothing.
struct StageLimits {
  bool serial = false;
  int fixed_workers = 0;
  int hand_cap = 0;
};
/// Brings what was asked for within what there is.
WEIR_EXPORT void clamp_allotted(StageAllocation& allotted, const StageLimits& limits, int workers,
                                std::size_t groups);

/// Items that are about 100 us of work; 1 until `item_ns`, the time of one, was measured.
[[nodiscard]] WEIR_EXPORT std::int64_t packet_items_for(double item_ns);

/// The items that one packet may have: as many as the stage is allotted or as the rule gives, and
/// no more than a worker's part of what waits. 1 until `item_ns` was measured in either case:
/// nothing is known of the bytes before that.
[[nodiscard]] WEIR_EXPORT std::int64_t packet_limit(const StageAllocation& allotted, double item_ns,
                                                    std::int64_t waiting, int active);

/// One side of an edge, as far as the depth depends on it.
struct EdgeSide {
  double target = 1;
  int cap = 1;
  std::int64_t packet_items = 1;
  std::int64_t rows = 0;  ///< that it gathers into one; 0: it does not gather
  std::uint64_t bytes_per_output = 0;
};

/// Depth of the edge between the two; a null consumer is the user's thread.
[[nodiscard]] WEIR_EXPORT std::int64_t depth_by_rule(const EdgeSide& producer,
                                                     const EdgeSide* consumer, int active);

/// Packet sizes wander: a depth by rule that is near enough to the one in force stays.
[[nodiscard]] WEIR_EXPORT bool depth_differs(std::int64_t by_rule, std::int64_t now);

/// What a stage learns of its own items, each value smoothed over packets.
struct StageLearning {
  double item_ns = 0;
  double output_mean = 0;
  double output_square = 0;
  double output_most = 0;
  std::uint64_t output_bytes = 0;  ///< of one output, seldom exceeded; what a grant asks for

  /// A packet of `live` items took `elapsed_ns` and gave `live_out` of `out_bytes` in all.
  WEIR_EXPORT void add(double elapsed_ns, std::uint64_t live, std::uint64_t live_out,
                       std::uint64_t out_bytes);
};

}  // namespace weir::detail
