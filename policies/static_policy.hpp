#pragma once

#include <optional>

#include <weir/export.hpp>
#include <weir/policy.hpp>

#include "policies/verified_rate.hpp"

namespace weir::detail {

/// One allocation for the whole run: a baseline, or the settings that somebody chose.
///
/// Thread safety: none.
class WEIR_EXPORT StaticPolicy final : public Policy {
 public:
  enum class Choice {
    fixed,  ///< what the plant has, or what was loaded; with strict and shared ones there, even
    even,   ///< all workers, alike for every stage
    share,  ///< the same, and a worker stays as long as its stage has work
  };

  StaticPolicy(Choice choice, bool strict, const PolicySettings& settings);

  [[nodiscard]] Decision start(const Observation& first,
                               const std::optional<Allocation>& start) override;
  [[nodiscard]] Decision decide(const Observation& seen) override;
  [[nodiscard]] const Standing& standing() const override { return standing_; }

 private:
  const Choice choice_;
  const bool strict_;
  const PolicySettings settings_;
  VerifiedRate verified_;
  Standing standing_;
};

}  // namespace weir::detail
