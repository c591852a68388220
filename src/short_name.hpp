#pragma once

#include <string>

namespace weir::program {

/// A stage's name for a narrow place: of a fused stage with a long name its first operator and how
/// many more there are, "random_resized_crop+3".
[[nodiscard]] std::string short_name(const std::string& stage);

}  // namespace weir::program
