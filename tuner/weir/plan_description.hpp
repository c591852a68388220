#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weir/export.hpp>
#include <weir/options.hpp>
#include <weir/step.hpp>
#include <weir/tuned_plan.hpp>

namespace weir {

/// What a stream will run as, without running it.
struct PlanDescription {
  struct Stage {
    std::string name;
    std::vector<std::string> operators;
    std::string kind;  ///< map, filter, flat_map, batch, pass
    bool serial = false;
    int workers = 0;  ///< by hand; 0: the tuner's business
    int cap = 0;
    std::int64_t queue = 0;
    std::string behind;  ///< what its output edge does: "take 10", "shuffle 1000"; empty: nothing
  };
  std::vector<std::string> classes;
  std::vector<Stage> stages;
  std::optional<std::uint64_t> source_items;
  std::optional<std::uint64_t> outputs_per_epoch;
  bool outputs_exact = false;
  bool in_place = false;  ///< the last stage in front of `batch` writes into the batch
  bool exact_resume = false;
  bool any_order = false;
  std::string structure;  ///< hash of stages and what changes their cost
  int budget_threads = 0;
  std::string budget_source;
  std::uint64_t memory_bound_bytes = 0;
  std::string remark;                      ///< of the source
  std::vector<std::string> image_kernels;  ///< chains that a kernel stands in for, names by `+`
  /// What the tuned file of the options means for such a run; none: there is no file.
  std::optional<TunedPlan> tuned;
};

/// Throws Error for a sequence that cannot run, and where the budget or the tuned file is refused.
[[nodiscard]] WEIR_EXPORT PlanDescription
describe_plan(const std::shared_ptr<const detail::Step>& last, const Options& options);

}  // namespace weir
