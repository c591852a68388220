#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <weir/export.hpp>
#include <weir/observation.hpp>
#include <weir/policy.hpp>

namespace weir::detail {

/// Decisions as they stand in a log: for people, six digits a number. Two decisions with one text
/// are the same decision.

/// A number with so many digits; six say all that a measurement knows. Null where it is not finite.
[[nodiscard]] WEIR_EXPORT nlohmann::ordered_json rounded_json(double value, int digits = 6);

/// What the stages are called in a log: by their names, with the loader's before it where two
/// loaders have a stage of that name.
[[nodiscard]] WEIR_EXPORT std::vector<std::string> stage_names(const Observation& seen);

[[nodiscard]] WEIR_EXPORT nlohmann::ordered_json decision_json(
    const Decision& decision, const std::vector<std::string>& stage_names);
[[nodiscard]] WEIR_EXPORT nlohmann::ordered_json outcome_json(const Outcome& outcome);

/// Back again. Throws Error (usage) that names the field and what is wrong with it.
[[nodiscard]] WEIR_EXPORT Decision decision_of(const nlohmann::ordered_json& record,
                                               const std::vector<std::string>& stage_names);
[[nodiscard]] WEIR_EXPORT Outcome outcome_of(const nlohmann::ordered_json& record);

}  // namespace weir::detail
