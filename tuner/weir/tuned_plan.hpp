#pragma once

#include <optional>
#include <string>
#include <vector>

#include <weir/allocation.hpp>
#include <weir/export.hpp>
#include <weir/tuned_file.hpp>
#include <weir/tuning.hpp>

namespace weir {

/// The run that wants to use a tuned file.
struct TunedContext {
  struct Stage {
    std::string name;
    bool serial = false;
    int fixed_workers = 0;  ///< set by hand; 0: not set
    int hand_cap = 0;       ///< 0: none
  };

  PipelineIdentity pipeline;
  MachineIdentity machine;
  std::vector<Stage> stages;  ///< upstream first
  int budget = 1;             ///< N of this run
  bool strict = false;
  bool autotune = false;
  bool ignore_mismatch = false;  ///< --tuned-mismatch ignore
};

/// What to do with a tuned file.
struct TunedPlan {
  enum class Action {
    use,        ///< as it is, controller off
    probation,  ///< start there, controller on
    solved,     ///< solved again from the file's evidence; say so (`text`)
    ignore,     ///< another pipeline's, and told to ignore it; say so
    refuse,     ///< `text` says why: exit status 2
  };
  Action action = Action::refuse;
  std::optional<Allocation> allocation;  ///< stages in the order of TunedContext::stages
  std::string text;                      ///< one sentence; for refuse a complete message
};

/// The loading table: what `file` means for the run `context`. Pure.
[[nodiscard]] WEIR_EXPORT TunedPlan plan_tuned(const TunedFile& file, const TunedContext& context);

/// Where a tuned file comes from, besides the tuning itself.
struct TunedOrigin {
  PipelineIdentity pipeline;
  MachineIdentity machine;
  int loader = 0;      ///< index into TuningStatus::loaders
  std::string memory;  ///< the byte bound, as a user writes it
  std::vector<TunedFile::Queue> queues;
  std::string placement_mode;
  std::vector<std::string> placement_workers;
  std::string at;  ///< ISO 8601, UTC
  std::optional<double> disk_share =
      {};  ///< of the bytes read so far; none: too few, or not counted
};

/// The tuned file of a tuning, or nothing where nothing was verified: then nothing is to be
/// written, and that is to be said.
[[nodiscard]] WEIR_EXPORT std::optional<TunedFile> make_tuned_file(const TuningStatus& status,
                                                                   const TunedOrigin& origin);

}  // namespace weir
