#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir::program {

/// What the progress line tells.
struct ProgressState {
  std::string name;
  std::uint64_t batches = 0;
  std::optional<std::uint64_t> total_batches;
  bool total_is_bound = false;  ///< at most so many
  double elapsed_seconds = 0;
  std::optional<double> left_seconds;
  std::optional<double> done_share;  ///< by whichever end comes first
  double items_per_second = 0;
  double gap_seconds = 0;
  double wait_share = 0;
  std::vector<std::pair<std::string, double>> workers;  ///< running in each stage, on average
  int active = 0;
  int budget = 0;
  std::string remark;  ///< "tuning", "settled"
};

struct ProgressLook {
  int width = 80;
  bool unicode = false;
  bool colour = false;
};

/// One line of at most `width` columns, in the shape that tqdm made familiar:
/// `name  42%|####      | 84/200 [00:04<00:05, 1,596 items/s, gap 0.25 ms, read 0.4 decode 5.9,
/// 7/8]`. What does not fit is left out, the bar first, the end last.
[[nodiscard]] std::string progress_text(const ProgressState& state, const ProgressLook& look);

}  // namespace weir::program
