#pragma once

#include <string>
#include <vector>

#include <weir/allocation.hpp>
#include <weir/host_figures.hpp>
#include <weir/policy.hpp>

namespace weir::program {

/// The sentences of a story. Pure.

/// What a label of a window means: "the consumer is the limit".
[[nodiscard]] std::string label_in_words(const std::string& label);

/// What takes the CPUs of a contended window: ", which others take (2.0 CPUs)".
[[nodiscard]] std::string contention_in_words(const Observation& seen);

/// What took CPUs away over a run: "taken by others 30 % of the time; ...". Empty where nothing is
/// worth a line.
[[nodiscard]] std::string host_in_words(const HostFigures& host);

/// What differs between two allocations: "1 worker from read to decode; 6 of 8 workers awake".
/// Empty where nothing does.
[[nodiscard]] std::string change_in_words(const Allocation& before, const Allocation& after,
                                          const std::vector<std::string>& stages, int budget);

/// The reason of a decision without what the story says anyway: the allocation, the gain.
[[nodiscard]] std::string bare_reason(const Decision& decision,
                                      const std::vector<std::string>& stages);

/// How a move turned out: "predicted +18 %, got +16 %: kept".
[[nodiscard]] std::string outcome_in_words(const Outcome& outcome);

/// "+18 %"; with a digit behind the point below 10 %.
[[nodiscard]] std::string gain_text(double gain);

}  // namespace weir::program
