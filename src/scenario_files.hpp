#pragma once

#include <optional>
#include <string>
#include <vector>

namespace weir::program {

/// The scenario files that `arguments` name, in order: a path, the name of a scenario of the suite
/// ("skewed_costs", with or without its number), or `all` of the suite.
///
/// The suite lies in `folder`, else in the first that is there of ./configs/scenarios, the place
/// where it is installed beside the program, and the source tree that the program was built in.
/// Throws Error(usage) that says where it was looked for, and the nearest name.
[[nodiscard]] std::vector<std::string> scenario_files(const std::vector<std::string>& arguments,
                                                      const std::optional<std::string>& folder);

}  // namespace weir::program
