#pragma once

#include <string>
#include <vector>

#include <weir/export.hpp>
#include <weir/observation.hpp>
#include <weir/policy.hpp>
#include <weir/tuning.hpp>

namespace weir::detail {

/// What the tuner saw, wanted and did, one JSON object a line: the window, its label, the inputs,
/// the prediction, and the outcome when it is known.
///
/// Thread safety: none.
class WEIR_EXPORT DecisionLog {
 public:
  /// Opens `path` anew, or nothing when it is empty. Throws Error (cannot) with the system's
  /// reason.
  explicit DecisionLog(const std::string& path);
  ~DecisionLog();
  DecisionLog(const DecisionLog&) = delete;
  DecisionLog& operator=(const DecisionLog&) = delete;

  void begin(const TuningOptions& options, const Observation& first);
  void write(const Observation& seen, const Decision& decision,
             const std::vector<std::string>& corrections, bool applied);
  /// Why lines are missing; empty: none are. Writing ends with the first failure.
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  void put(const std::string& line);

  const std::string path_;
  int file_ = -1;
  std::string error_;
};

}  // namespace weir::detail
