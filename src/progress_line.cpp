#include "src/progress_line.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "src/quantity_text.hpp"
#include "src/short_name.hpp"

namespace weir::program {
namespace {

std::string count_part(const ProgressState& state) {
  const std::string batches = count_text(static_cast<double>(state.batches));
  if (!state.total_batches) return batches + " batches";
  return fmt::format("{}/{}{}", state.batches == 0 ? "0" : batches,
                     state.total_is_bound ? "<=" : "",
                     count_text(static_cast<double>(*state.total_batches)));
}

std::string bar(double share, int cells, bool unicode) {
  // Eighths of a cell, as far as the characters go.
  constexpr const char* kEighths[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double filled = std::clamp(share, 0.0, 1.0) * cells;
  std::string text;
  for (int i = 0; i < cells; ++i) {
    const double here = filled - i;
    if (here >= 1) {
      text += unicode ? "█" : "#";
    } else if (here <= 0) {
      text += " ";
    } else {
      text += unicode ? kEighths[static_cast<int>(here * 8)] : here >= 0.5 ? "#" : " ";
    }
  }
  return "|" + text + "|";
}

/// Green while the consumer hardly waits, yellow in between, red while it is starved.
std::string coloured(const std::string& text, double wait_share, bool colour) {
  if (!colour) return text;
  const int code = wait_share <= 0.02 ? 32 : wait_share <= 0.2 ? 33 : 31;
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

}  // namespace

std::string progress_text(const ProgressState& state, const ProgressLook& look) {
  // Stages that hardly work would push out those that do.
  constexpr double kShown = 0.05;
  std::string workers;
  for (const auto& [stage, running] : state.workers)
    if (running >= kShown)
      workers += fmt::format("{}{} {:.1f}", workers.empty() ? "" : " ", short_name(stage), running);

  std::string times = clock_text(state.elapsed_seconds);
  if (state.left_seconds) times += "<" + clock_text(*state.left_seconds);
  const std::string gap = "gap " + milliseconds_text(state.gap_seconds);

  // In the order in which they are given up when the line is too narrow.
  std::vector<std::string> parts{count_text(state.items_per_second) + " items/s", gap};
  if (!workers.empty()) parts.push_back(workers);
  if (state.budget > 0) parts.push_back(fmt::format("{}/{} workers", state.active, state.budget));
  if (!state.remark.empty()) parts.push_back(state.remark);

  constexpr int kMostCells = 20;
  constexpr int kLeastCells = 4;
  std::string head = state.name + " ";
  const std::string share =
      state.done_share ? fmt::format("{:>3.0f}%", std::floor(*state.done_share * 100)) : "";
  while (true) {
    std::string tail = " " + count_part(state) + " [" + times;
    std::string shown = tail;
    for (const std::string& part : parts) {
      tail.append(", ").append(part);
      shown.append(", ").append(part == gap ? coloured(part, state.wait_share, look.colour) : part);
    }
    tail += "]";
    shown += "]";
    const int room = look.width - static_cast<int>(head.size() + share.size() + tail.size());
    const int cells =
        state.done_share && room >= kLeastCells + 2 ? std::min(room - 2, kMostCells) : 0;
    if (room >= 0)
      return fmt::format("{}{}{}{}", head, share,
                         cells > 0 ? bar(*state.done_share, cells, look.unicode) : "", shown);
    if (parts.size() > 2) {
      parts.pop_back();
    } else if (!head.empty()) {
      head.clear();
    } else if (!parts.empty()) {
      parts.pop_back();
    } else {
      return (share + tail).substr(0, static_cast<std::size_t>(std::max(look.width, 0)));
    }
  }
}

}  // namespace weir::program
