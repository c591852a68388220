#pragma once

#include <optional>
#include <string>
#include <vector>

#include <weir/allocation.hpp>
#include <weir/export.hpp>
#include <weir/observation.hpp>
#include <weir/policy_settings.hpp>

namespace weir::detail {

/// How deep the queues are.
///
/// Algorithm: the runtime's rule, until there is evidence. A queue that was both empty and full for
/// more than a mark within the same stretch of time loses to variance, about cv^2 / (slots + 2) of
/// the rate, and is doubled while that is more than another mark; one that is always full or always
/// empty would not gain. In front of a consumer that pauses again and again, so many items as can
/// be made in its longest pause. Bytes decide between queues, the largest loss saved per byte
/// first, and set the end: nothing grows from the stop mark of the bound on, and from the halve
/// mark on all depths are halved, then the caps of stages that give out more than they take. A
/// depth that was made larger and whose queue has not been empty for a while shrinks by a quarter
/// when memory is short.
///
/// Thread safety: none.
class WEIR_EXPORT DepthControl {
 public:
  explicit DepthControl(const PolicySettings& settings) : settings_(settings) {}

  struct Advice {
    Allocation allocation;  ///< the one in force with other depths
    std::string reason;
  };
  /// After each counted window under settled workers.
  [[nodiscard]] std::optional<Advice> advise(const Observation& seen);
  /// Workers were moved: queues fill and drain for a while, which says nothing about their depth.
  void clear() { edges_.clear(); }

 private:
  // What a stage's output queue did since its depth was last changed, old windows fading.
  struct Edge {
    double seconds = 0;
    double empty_seconds = 0;
    double full_seconds = 0;
    double not_empty_seconds = 0;  // since it was last empty
  };

  void watch(const Observation& seen);
  [[nodiscard]] std::optional<Advice> halve(const Observation& seen);
  [[nodiscard]] std::optional<Advice> prefetch(const Observation& seen);
  [[nodiscard]] std::optional<Advice> grow(const Observation& seen);
  [[nodiscard]] std::optional<Advice> shrink(const Observation& seen);
  [[nodiscard]] Advice set(const Observation& seen, std::size_t stage, double depth,
                           const std::string& why);
  /// Items that may be added to the queue of `stage` within the stop mark.
  [[nodiscard]] double room_items(const Observation& seen, std::size_t stage) const;
  [[nodiscard]] double memory_share(const Observation& seen) const;
  [[nodiscard]] bool free_to_set(const Observation& seen, std::size_t stage) const;
  /// Share of the rate that the queue of `stage` loses to variance with `depth` items.
  [[nodiscard]] double loss(const Observation& seen, std::size_t stage, double depth) const;

  PolicySettings settings_;
  std::vector<Edge> edges_;
  double halved_seconds_ = -1;
  bool stopped_ = false;  // over the stop mark, and not below the resume mark since
};

}  // namespace weir::detail
