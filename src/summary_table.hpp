#pragma once

#include <string>

#include <weir/summary.hpp>

namespace weir::program {

/// What a run came to, for people: a few lines, then one row a stage.
[[nodiscard]] std::string summary_text(const Summary& summary);

}  // namespace weir::program
