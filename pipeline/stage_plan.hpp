#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weir/step.hpp>

#include "pipeline/index_map.hpp"
#include "pipeline/source_inlet.hpp"

namespace weir::detail {

/// Which adjacent operators become one stage.
enum class Fusion { automatic, all, off };
/// Whether a chain of operators on images may be replaced by a kernel.
enum class ImageKernels { automatic, off };

/// One stage to be, and the edge behind it.
struct PlannedStage {
  std::string name;
  std::vector<std::shared_ptr<const Step>> steps;  ///< empty: passes items on unchanged
  std::vector<std::uint32_t> numbers;              ///< operator number of each, as written
  StageOptions options;
  const SlotType* input = nullptr;
  const SlotType* output = nullptr;
  bool gathers = false;
  bool serial = false;
  /// What does the work of steps `first` to `first + count`.
  struct Kernel {
    std::size_t first = 0;
    std::size_t count = 1;
    std::shared_ptr<const SampleOperator> op;
  };
  std::vector<Kernel> kernels;

  [[nodiscard]] const Kernel* kernel_at(std::size_t step) const;

  // The edge behind it.
  const SplitType* split = nullptr;
  std::vector<std::shared_ptr<const Step>> renumbering;  ///< take, skip, shard, shuffle_buffer
  std::vector<std::uint32_t> renumbering_numbers;
  std::int64_t depth = 0;  ///< by `queue` or `prefetch`; 0: by rule

  /// The items of its generators are asked for one after another.
  [[nodiscard]] bool unfolds() const { return split != nullptr && split->pull != nullptr; }
  [[nodiscard]] bool renumbers() const { return split != nullptr || !renumbering.empty(); }
};

/// What a sequence of written operators is run as. A pure function of the operators and the
/// options.
struct StagePlan {
  std::shared_ptr<const Source> source;
  std::string source_name;
  std::optional<IndexMap> map;  ///< none: the source has no index
  OuterRepeat outer;
  std::vector<PlannedStage> stages;
  bool in_place = false;  ///< the stage in front of `batch` writes into the batch
  bool exact_resume =
      false;  ///< a position leads straight to its place; else the epoch is replayed
  bool splits = false;
  std::uint64_t structure = 0;             ///< hash of the stages and what changes their cost
  std::uint64_t operators_hash = 0;        ///< hash of the operators, however they are fused
  std::vector<std::string> kernel_chains;  ///< operators that a kernel stands in for, by `+`

  /// Batches (or items) of one epoch, if known, and whether that is exact.
  [[nodiscard]] std::optional<std::uint64_t> outputs_per_epoch(bool& exact) const;
};

/// Throws Error(usage), naming the operator, for a sequence that cannot run.
[[nodiscard]] StagePlan make_stage_plan(const std::shared_ptr<const Step>& last, std::uint64_t seed,
                                        Fusion fusion, bool any_order,
                                        ImageKernels kernels = ImageKernels::off);

}  // namespace weir::detail
