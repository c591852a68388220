#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <weir/bad_sample_policy.hpp>

namespace weir {

/// Settings of one stage by hand. A stage with any of these set is never fused with another.
struct StageOptions {
  std::string name = {};   ///< of the stage; empty: the operator's
  int workers = 0;         ///< target and cap, never moved by tuning; 0: the tuner's business
  int cap = 0;             ///< most workers at once; 0: none
  bool serial = false;     ///< one worker at a time, items in index order
  std::int64_t queue = 0;  ///< depth of the output edge in items; 0: by rule
  std::optional<BadSamplePolicy> on_bad_sample = {};
  /// What the stage does, for the structure hash of a tuned file: parameters that change its cost.
  std::string identity = {};

  [[nodiscard]] bool set_by_hand() const {
    return workers != 0 || cap != 0 || serial || queue != 0 || on_bad_sample.has_value();
  }
};

}  // namespace weir
