#pragma once

#include <optional>
#include <string>
#include <vector>

#include <weir/export.hpp>
#include <weir/observation.hpp>
#include <weir/policy.hpp>
#include <weir/tuning.hpp>

#include "tuner/look_record.hpp"

namespace weir::detail {

/// What the tuner saw, wanted and did, one JSON object a line: the window, its label, the inputs,
/// the prediction, and the outcome when it is known. A head with the stages comes first, and again
/// whenever loaders came or went.
///
/// Every number is there for people, with six digits; behind them `observation` has what the tuner
/// was given, to the last bit, from which everything can be played again.
///
/// Thread safety: none.
class WEIR_EXPORT DecisionLog {
 public:
  /// 1 had no `observation`; 2 no `host`, and of what stands there only others_cores and
  /// throttled_share, among the figures of the window.
  static constexpr int kVersion = 3;

  /// Opens `path` anew, or nothing when it is empty. Throws Error (cannot) with the system's
  /// reason.
  explicit DecisionLog(const std::string& path);
  ~DecisionLog();
  DecisionLog(const DecisionLog&) = delete;
  DecisionLog& operator=(const DecisionLog&) = delete;

  /// `start`: the allocation that the policy is told to begin with.
  void begin(const TuningOptions& options, const Observation& first,
             const std::optional<Allocation>& start);
  /// One look: what was given to the tuner, what it saw in it and wants, and what became of that.
  struct Line {
    const LookInput& given;
    const Observation& seen;
    const Decision& decision;
    const Standing& standing;
    const std::vector<std::string>& corrections;
    bool applied = false;
  };
  void write(const Line& line);
  /// Why lines are missing; empty: none are. Writing ends with the first failure.
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  void put(const std::string& line);

  const std::string path_;
  int file_ = -1;
  LookRecord looks_;
  std::string error_;
};

}  // namespace weir::detail
