#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <weir/export.hpp>
#include <weir/policy.hpp>

#include "policies/tuning_round.hpp"
#include "policies/verified_rate.hpp"
#include "policies/wanted_allocation.hpp"

namespace weir::detail {

/// MindSpore's dataset AutoTune, to compare with.
///
/// Source: mindspore/ccsrc/minddata/dataset/engine/perf/auto_tune.{h,cc} of mindspore-ai/mindspore
/// (AutoTune::TrackPipelineTime, AnalyseTime, AnalyseMemory) with its constants for step mode, and
/// cpu_sampler.cc for what a CPU utilisation is.
///
/// Algorithm: a round lasts a second. *Time phase:* while the last queue of a loader is less than
/// 75 % full, each of its parallel stages gets two workers more when its input queue is fuller than
/// its output queue by more than 0.35 of their depths (a source counts as fed by a full one), or
/// else when its workers are busy on a CPU for more than 75 % of the time; and its output queue
/// gets four slots more, up to 128, when they are busy for less than 35 % and either the input
/// queue is less than half full or the output queue is fuller than it by more than 0.35. A round
/// whose mean step time is the lowest yet saves the settings if they were changed since the last
/// saving. After 11 rounds without a lower one the phase ends with a roll-back. *Memory phase:* one
/// queue after the other is made 0.8 as deep as long as the last queue loses no more than 2 % of
/// its filling, at least as deep as its stage has workers. Then it ends for good.
///
/// The two variants: the code appends to the list of saved settings and reads the list from its
/// front, so that it goes back to the first saved ones (or to none, if none were saved). As it is
/// meant, it goes back to the best.
///
/// Mapping: a stage's workers are its own, without helping; A is their sum, at most N, as so many
/// threads on N processors. The most workers of a stage are N, which stands for the hardware
/// threads. It counts the workers that it asked for, cut or not. Serial stages and those set by
/// hand are not tuned.
///
/// Thread safety: none.
class WEIR_EXPORT MindsporePolicy final : public Policy {
 public:
  enum class RollBack { to_first_saved, to_best };

  MindsporePolicy(RollBack roll_back, bool strict, const PolicySettings& settings);

  [[nodiscard]] Decision start(const Observation& first,
                               const std::optional<Allocation>& start) override;
  [[nodiscard]] Decision decide(const Observation& seen) override;
  [[nodiscard]] const Standing& standing() const override { return standing_; }

 private:
  enum class Phase { time, memory, ended };
  struct Setting {
    std::vector<int> workers;
    std::vector<std::int64_t> depths;  // 0: by the rule of the runtime
  };
  /// How far the memory phase is.
  struct MemoryTest {
    std::vector<std::size_t> stages;  // whose queues are still to be made smaller, the tested first
    std::int64_t before_items = 0;    // depth before the change that is under test; 0: none is
    double before_filling = 0;        // of the last queue
  };

  /// What a round changes and why; empty: nothing.
  [[nodiscard]] std::string finish_round(const Observation& seen);
  void track_time();
  [[nodiscard]] std::string analyse_time(const Observation& seen);
  [[nodiscard]] std::string analyse_memory(const Observation& seen);
  [[nodiscard]] std::string roll_back();
  [[nodiscard]] std::int64_t depth_of(const Observation& seen, std::size_t stage) const;
  [[nodiscard]] Allocation wanted_allocation(const Observation& seen) const;

  const RollBack roll_back_;
  const bool strict_;
  const PolicySettings settings_;

  TuningRound round_;
  Phase phase_ = Phase::time;
  Setting setting_;
  std::optional<Setting> saved_;  // what the roll-back goes back to
  bool changed_ = false;          // since it was saved
  std::optional<double> best_step_seconds_;
  int rounds_without_gain_ = 0;
  MemoryTest memory_;
  WantedAllocation wanted_;
  MoveKind wanted_kind_ = MoveKind::move;
  VerifiedRate verified_;
  Standing standing_;
};

}  // namespace weir::detail
