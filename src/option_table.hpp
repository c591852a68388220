#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::program {

/// One option of the command line, and the verbs that take it. A name may stand in several rows
/// where it means different things to different verbs.
struct OptionSpec {
  std::string name;        ///< "--workers"
  std::string value_name;  ///< "N|auto"; empty: a flag
  std::string meaning;
  std::vector<std::string> verbs;
  bool repeats = false;
  bool later = false;  ///< known, but "not in this version"
};

/// All options, in the order in which help shows them.
[[nodiscard]] std::span<const OptionSpec> option_table();
[[nodiscard]] std::vector<const OptionSpec*> options_of(std::string_view verb);

}  // namespace weir::program
