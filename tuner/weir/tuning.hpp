#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weir/allocation.hpp>
#include <weir/export.hpp>
#include <weir/host_figures.hpp>
#include <weir/observation.hpp>
#include <weir/plant.hpp>

namespace weir {

/// How a plant is to be tuned.
struct TuningOptions {
  std::string policy = "balance";
  bool strict = false;
  std::map<std::string, std::string> settings;  ///< by name, as a user writes them
  std::string log_path;                         ///< decision log as JSON lines; empty: none
  std::optional<Allocation> start;        ///< begin with this one, its stages named by start_stages
  std::vector<std::string> start_stages;  ///< names of start->stages, in their order
  std::uint64_t seed = 0;                 ///< of the windows' jitter
};

/// Where a tuning stands. Times are in seconds since it was attached.
struct TuningStatus {
  std::string policy;
  bool strict = false;
  int moves = 0;  ///< changes after the ramp
  bool settled = false;
  double settle_seconds = 0;  ///< when the last change was made; 0 while not settled
  double seconds = 0;
  std::uint64_t windows = 0;
  std::string label = "none";  ///< the commonest one of the valid windows since the last change
  std::map<std::string, double> label_shares;  ///< of the time of all valid windows; they add to 1
  HostFigures host;                            ///< over all windows
  std::string phase;
  int budget = 0;
  double active_mean = 0;  ///< time mean of the unparked workers
  double last_half_active_mean = 0;
  int needed_workers = 0;   ///< fewest that hold the rate, by the model; 0: unknown
  double throughput = 0;    ///< consumer items a second, smoothed, all loaders together
  double bound_shared = 0;  ///< the most that sharing can give, by the model; 0: unknown
  double bound_whole = 0;   ///< with whole workers a stage
  std::string last_reason;  ///< of the last change
  Allocation current;
  std::optional<Allocation> best_verified;  ///< none: nothing to write
  double best_per_second = 0;
  bool contended = false;                  ///< best_verified comes from before a contended period
  std::vector<StageObservation> stages;    ///< the last window's, with estimates
  std::vector<StageObservation> evidence;  ///< the same before others took the CPUs
  std::vector<LoaderObservation> loaders;
  std::string error;      ///< why tuning stopped; empty: it did not
  std::string log_error;  ///< why the decision log is incomplete; empty: it is whole
};

/// Tunes a plant while the handle lives.
///
/// Attaching a plant a second time (two loaders of one pool) shares the tuner that is there; it
/// ends with its last handle. All tunings of the process are served by one control thread, which
/// starts with the first and is joined after the last.
///
/// Thread safety: all functions may be called from any thread but the control thread.
/// Invariants: 1. the plant is not touched after detach() or the destructor has returned; 2. the
/// plant's last allocation stays in force.
class WEIR_EXPORT Tuning {
 public:
  Tuning() = default;  ///< attached to nothing
  /// Throws Error when the policy, a setting or the log file is not usable, or when the plant is
  /// already being tuned in another way.
  [[nodiscard]] static Tuning attach(Plant& plant, const TuningOptions& options);
  Tuning(Tuning&&) noexcept;
  Tuning& operator=(Tuning&&) noexcept;
  ~Tuning();

  void detach();  ///< idempotent
  [[nodiscard]] bool attached() const { return shared_ != nullptr; }
  /// As of the last window; kept after detach().
  [[nodiscard]] TuningStatus status() const;

 private:
  struct Shared;
  explicit Tuning(std::shared_ptr<Shared> shared);

  // Shared: by the handles of one plant, and with the control thread while it steps.
  std::shared_ptr<Shared> shared_;
  std::unique_ptr<TuningStatus> last_;
};

}  // namespace weir
