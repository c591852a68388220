#pragma once

#include <map>
#include <optional>
#include <vector>

#include <weir/export.hpp>
#include <weir/observation.hpp>

#include "policies/decayed_sums.hpp"

namespace weir::detail {

/// The entry that `running` workers belong to: whole numbers, coarser from 16 on.
[[nodiscard]] int level_key(double running);

/// Service times of a stage by how many workers were running in it, as measured and not as
/// assigned. The cold start visits low levels on purpose; natural variation gives others.
///
/// Thread safety: a value.
class WEIR_EXPORT LevelTable {
 public:
  /// Adds a window in which `running` workers ran on average. Fewer than one counts as one: the
  /// stage was starved, and while it ran it ran alone.
  void add(double running, double items, double sum, double squares, double independent,
           double alpha);
  void clear() { levels_.clear(); }

  /// By running workers, ascending.
  [[nodiscard]] std::vector<Level> levels() const;
  /// The level near `running`, or nothing where fewer than `least` items were seen there.
  [[nodiscard]] std::optional<Level> near(double running, double least) const;

 private:
  struct Entry {
    DecayedSums running;
    DecayedSums service;
    [[nodiscard]] Level level() const;
  };

  std::map<int, Entry> levels_;  // by key of running workers
};

}  // namespace weir::detail
