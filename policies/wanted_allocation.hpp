#pragma once

#include <optional>

#include <weir/allocation.hpp>
#include <weir/export.hpp>
#include <weir/observation.hpp>

namespace weir::detail {

/// An allocation that a policy wants, on its way to be in force: whoever applies it cuts what is
/// beyond the budget, and goes far in several steps.
///
/// Thread safety: none.
class WEIR_EXPORT WantedAllocation {
 public:
  void set(Allocation wanted);
  /// What to ask for in this window. None: it is in force, or asking again brought nothing more.
  [[nodiscard]] std::optional<Allocation> next(const Observation& seen);

 private:
  std::optional<Allocation> wanted_;
  std::optional<Allocation> before_;  // in force when it was asked for
};

}  // namespace weir::detail
