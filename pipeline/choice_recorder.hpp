#pragma once

#include <span>

#include <weir/allocation.hpp>

namespace weir::detail {

/// Hears what workers saw when they left a stage, and which one they went to: the inputs and the
/// result of choose(), so that the live pool's choices can be replayed elsewhere.
///
/// Thread safety: chosen() is called by all workers at once, outside of any lock.
class ChoiceRecorder {
 public:
  virtual ~ChoiceRecorder() = default;
  /// What is passed lives as long as the call. `stage` is -1 where there was nothing to choose.
  virtual void chosen(const Allocation& allocation, std::span<const StageView> views, int last,
                      int stage) = 0;
};

}  // namespace weir::detail
