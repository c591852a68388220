#include "pipeline/stage_plan.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <xxhash.h>

#include <weir/error.hpp>

namespace weir::detail {
namespace {

std::vector<std::shared_ptr<const Step>> in_order(const std::shared_ptr<const Step>& last) {
  std::vector<std::shared_ptr<const Step>> steps;
  for (std::shared_ptr<const Step> step = last; step; step = step->previous) steps.push_back(step);
  std::reverse(steps.begin(), steps.end());
  return steps;
}

std::string quoted(const std::string& name) { return "'" + name + "'"; }

/// Builds the stages one operator after another.
class Planner {
 public:
  Planner(std::uint64_t seed, Fusion fusion, bool any_order, ImageKernels kernels)
      : seed_(seed), fusion_(fusion), any_order_(any_order), kernels_(kernels) {}

  StagePlan plan(const std::vector<std::shared_ptr<const Step>>& steps) {
    plan_.exact_resume = true;
    const Step& source = *steps.front();
    operators_ = source.name + ":" + source.options.identity;
    // Not in `structure`: the number of items changes what a place means, and no cost.
    if (const auto size = source.source->size()) operators_ += ":" + std::to_string(*size);
    plan_.operators_hash = XXH3_64bits(operators_.data(), operators_.size());
    plan_.source = source.source;
    plan_.source_name = source.name;
    if (const auto size = source.source->size()) {
      plan_.map.emplace(*size, seed_);
      indexed_ = true;
    } else {
      // One worker at a time reads the source, so that is a stage of its own.
      add_passing(source.name, source.source->type());
      plan_.stages.back().serial = true;
    }
    type_ = &source.source->type();
    for (std::uint32_t number = 1; number < steps.size(); ++number) add(steps[number], number);
    if (plan_.stages.empty()) add_passing(source.name, *type_);
    if (plan_.stages.back().renumbers()) add_passing(name_behind(plan_.stages.back()), *type_);
    plan_.exact_resume = plan_.exact_resume && plan_.map.has_value();
    plan_.in_place = plan_.in_place && plan_.outer.times == 1 && !any_order_;
    if (kernels_ == ImageKernels::automatic) place_kernels();
    fuse();
    name_apart();
    plan_.structure = hash_stages();
    return std::move(plan_);
  }

 private:
  void add(const std::shared_ptr<const Step>& step, std::uint32_t number) {
    switch (step->kind) {
      case Step::Kind::source:
        throw Error(ErrorKind::usage, step->name, "a source cannot stand in the middle");
      case Step::Kind::map:
      case Step::Kind::filter:
      case Step::Kind::flat_map:
        add_stage(step, number);
        plan_.stages.back().split = step->split;
        if (step->kind != Step::Kind::map) indexed_ = direct_ = false;
        if (step->kind == Step::Kind::flat_map) {
          plan_.exact_resume = plan_.exact_resume && !plan_.splits && !batched_;
          plan_.splits = true;
          type_ = step->split->item;
          if (step->split->pull != nullptr) {
            // One worker at a time asks the generators, and only as far as there is room behind.
            add_passing(name_behind(plan_.stages.back()), *type_);
            plan_.stages.back().serial = true;
          }
        }
        break;
      case Step::Kind::batch:
        if (step->count == 0)
          throw Error(ErrorKind::usage, step->name, "a batch of 0 rows is none; use 1 or more");
        if (plan_.stages.empty()) add_passing(plan_.source_name, *type_);
        if (plan_.stages.back().renumbers()) add_passing(name_behind(plan_.stages.back()), *type_);
        plan_.in_place = direct_ && step->places_rows && plan_.map.has_value();
        add_stage(step, number);
        plan_.stages.back().gathers = true;
        batched_ = true;
        indexed_ = direct_ = false;
        break;
      case Step::Kind::shuffle:
        if (!indexed_)
          throw Error(ErrorKind::usage, step->name,
                      "shuffling a whole epoch needs an index, which is gone behind " +
                          what_took_the_index() +
                          "; put shuffle right behind the source, or give it a buffer "
                          "(shuffle({.buffer = 1000}), in YAML shuffle: {buffer: 1000})");
        plan_.map->add(*step, number);
        break;
      case Step::Kind::repeat:
        if (step->count == 0)
          throw Error(ErrorKind::usage, step->name, "repeat 0 times leaves nothing; use 1 or more");
        if (indexed_)
          plan_.map->add(*step, number);
        else
          repeat_source(*step, number);
        break;
      case Step::Kind::take:
      case Step::Kind::skip:
      case Step::Kind::shard:
      case Step::Kind::shuffle_buffer:
        if (indexed_)
          plan_.map->add(*step, number);
        else
          renumber(step, number);
        break;
      case Step::Kind::prefetch:
        if (step->count == 0)
          throw Error(ErrorKind::usage, step->name, "a depth of 0 is no queue; use 1 or more");
        if (plan_.stages.empty()) add_passing(plan_.source_name, *type_);
        plan_.stages.back().depth = static_cast<std::int64_t>(step->count);
        break;
    }
    operators_ += "|" + std::to_string(static_cast<int>(step->kind)) + ":" + step->name + ":" +
                  step->options.identity + ":" + std::to_string(step->count) + ":" +
                  std::to_string(step->drop_remainder) + std::to_string(step->places_rows) + ":" +
                  std::to_string(step->shard.rank) + "/" + std::to_string(step->shard.world) + "/" +
                  std::to_string(static_cast<int>(step->shard.remainder));
    plan_.operators_hash = XXH3_64bits(operators_.data(), operators_.size());
  }

  void add_stage(const std::shared_ptr<const Step>& step, std::uint32_t number) {
    PlannedStage stage;
    stage.name = step->name;
    stage.steps.push_back(step);
    stage.numbers.push_back(number);
    stage.options = step->options;
    stage.input = type_;
    stage.output = step->output;
    stage.serial = step->options.serial;
    stage.depth = step->options.queue;
    plan_.stages.push_back(std::move(stage));
    type_ = step->output;
  }

  void add_passing(const std::string& name, const SlotType& type) {
    PlannedStage stage;
    stage.name = name;
    stage.input = &type;
    stage.output = &type;
    plan_.stages.push_back(std::move(stage));
  }

  static std::string name_behind(const PlannedStage& stage) {
    return stage.renumbering.empty() ? stage.name + "_items" : stage.renumbering.back()->name;
  }

  void repeat_source(const Step& step, std::uint32_t number) {
    if (plan_.outer.times > 1)
      throw Error(
          ErrorKind::usage, step.name,
          "only one repeat may stand behind " + what_took_the_index() + "; multiply the counts");
    if (any_order_)
      throw Error(ErrorKind::usage, step.name,
                  "a repeat behind " + what_took_the_index() +
                      " needs order: input; put it in front, or drop order: any");
    plan_.outer = {step.count, number};
  }

  void renumber(const std::shared_ptr<const Step>& step, std::uint32_t number) {
    if (step->kind == Step::Kind::shard && step->shard.remainder == ShardPlace::Remainder::pad &&
        step->shard.world > 1)
      throw Error(ErrorKind::usage, step->name,
                  "padding ranks to equal length needs an index, which is gone behind " +
                      what_took_the_index() +
                      "; put shard in front, or set remainder to drop or uneven");
    PlannedStage& stage = plan_.stages.back();
    stage.renumbering.push_back(step);
    stage.renumbering_numbers.push_back(number);
    plan_.exact_resume = false;
    direct_ = false;
  }

  [[nodiscard]] std::string what_took_the_index() const {
    if (!plan_.map) return "the source " + quoted(plan_.source_name);
    for (const PlannedStage& stage : plan_.stages)
      for (const std::shared_ptr<const Step>& step : stage.steps)
        if (step->kind != Step::Kind::map) return quoted(step->name);
    return quoted(plan_.source_name);
  }

  /// Puts kernels in the place of chains of built-in operators. Decided before stages are fused,
  /// and apart from it, so that no setting of stages changes a result.
  void place_kernels() {
    for (std::size_t first = 0; first < plan_.stages.size(); ++first) {
      std::vector<ChainLink> chain;
      for (std::size_t at = first; at < plan_.stages.size(); ++at) {
        const PlannedStage& stage = plan_.stages[at];
        if (stage.steps.size() != 1 || stage.steps.front()->sample_operator == nullptr) break;
        const bool cut = stage.renumbers();
        chain.push_back({stage.steps.front()->sample_operator, stage.numbers.front(),
                         stage.serial || stage.options.set_by_hand(), cut || stage.depth > 0});
        if (cut) break;
      }
      if (chain.empty()) continue;
      std::size_t at = first;
      std::string name;
      for (const ChainPart& part : chain.front().op->replace(chain)) {
        PlannedStage& stage = plan_.stages[at];
        if (part.op != nullptr) stage.kernels.push_back({0, part.count, part.op});
        name += (name.empty() ? "" : "+") + stage.name;
        for (std::size_t i = 1; i < part.count; ++i) {
          name += "+" + plan_.stages[at + 1].name;
          join(stage, plan_.stages[at + 1]);
          plan_.stages.erase(plan_.stages.begin() + static_cast<std::ptrdiff_t>(at) + 1);
        }
        ++at;
      }
      if (name.empty()) continue;
      plan_.kernel_chains.push_back(name);
      // Other pixels from here on: a position of the plain operators does not fit.
      operators_ += "|kernel:" + name;
      plan_.operators_hash = XXH3_64bits(operators_.data(), operators_.size());
      first = at - 1;
    }
  }

  /// Adds the steps of `right`, and takes over its edge.
  static void join(PlannedStage& left, PlannedStage& right) {
    left.name += "+" + right.name;
    for (PlannedStage::Kernel& kernel : right.kernels) {
      kernel.first += left.steps.size();
      left.kernels.push_back(std::move(kernel));
    }
    left.steps.insert(left.steps.end(), right.steps.begin(), right.steps.end());
    left.numbers.insert(left.numbers.end(), right.numbers.begin(), right.numbers.end());
    left.output = right.output;
    left.split = right.split;
    left.renumbering = std::move(right.renumbering);
    left.renumbering_numbers = std::move(right.renumbering_numbers);
    left.depth = right.depth;
  }

  [[nodiscard]] bool joins(const PlannedStage& left, const PlannedStage& right) const {
    if (fusion_ == Fusion::off || left.steps.empty() || right.steps.empty()) return false;
    if (left.gathers || right.gathers || left.renumbers() || left.depth > 0 || left.serial ||
        right.serial || left.options.set_by_hand() || right.options.set_by_hand())
      return false;
    if (fusion_ == Fusion::all) return true;
    const Step& before = *left.steps.back();
    const Step& after = *right.steps.front();
    return before.built_in && after.built_in && (before.cheap || after.cheap);
  }

  void fuse() {
    std::vector<PlannedStage> fused;
    for (PlannedStage& stage : plan_.stages) {
      if (fused.empty() || !joins(fused.back(), stage)) {
        fused.push_back(std::move(stage));
        continue;
      }
      join(fused.back(), stage);
    }
    plan_.stages = std::move(fused);
  }

  void name_apart() {
    std::set<std::string> names;
    for (PlannedStage& stage : plan_.stages) {
      std::string name = stage.name;
      for (int i = 2; !names.insert(name).second; ++i) name = stage.name + "_" + std::to_string(i);
      stage.name = name;
    }
  }

  [[nodiscard]] std::uint64_t hash_stages() const {
    std::string text;
    for (const PlannedStage& stage : plan_.stages) {
      text += "|" + stage.name;
      for (const std::shared_ptr<const Step>& step : stage.steps)
        text += ";" + step->options.identity + ":" + std::to_string(step->count);
      for (const PlannedStage::Kernel& kernel : stage.kernels)
        text += ";kernel:" + std::to_string(kernel.first) + "+" + std::to_string(kernel.count);
    }
    return XXH3_64bits(text.data(), text.size());
  }

  const std::uint64_t seed_;
  const Fusion fusion_;
  const bool any_order_;
  const ImageKernels kernels_;
  StagePlan plan_;
  std::string operators_;
  const SlotType* type_ = nullptr;
  bool indexed_ = false;  ///< places are still a function of the source's index
  bool direct_ = true;    ///< one source item, one sample, in front of `batch`
  bool batched_ = false;
};

}  // namespace

StagePlan make_stage_plan(const std::shared_ptr<const Step>& last, std::uint64_t seed,
                          Fusion fusion, bool any_order, ImageKernels kernels) {
  return Planner(seed, fusion, any_order, kernels).plan(in_order(last));
}

const PlannedStage::Kernel* PlannedStage::kernel_at(std::size_t step) const {
  for (const Kernel& kernel : kernels)
    if (kernel.first == step) return &kernel;
  return nullptr;
}

std::optional<std::uint64_t> StagePlan::outputs_per_epoch(bool& exact) const {
  exact = true;
  if (!map) return std::nullopt;
  std::uint64_t count = map->size();
  bool repeated = outer.times == 1;
  const auto pass = [&](const Step& step, std::uint32_t number) {
    if (!repeated && number > outer.step) {
      count *= outer.times;
      repeated = true;
    }
    switch (step.kind) {
      case Step::Kind::filter:
        exact = false;
        break;
      case Step::Kind::batch:
        count = count / step.count + (!step.drop_remainder && count % step.count > 0 ? 1 : 0);
        break;
      case Step::Kind::take:
        count = std::min(count, step.count);
        break;
      case Step::Kind::skip:
        count -= std::min(count, step.count);
        break;
      case Step::Kind::shard:
        count = shard_size(count, step.shard);
        break;
      default:
        break;
    }
  };
  for (const PlannedStage& stage : stages) {
    if (stage.split != nullptr) return std::nullopt;
    for (std::size_t i = 0; i < stage.steps.size(); ++i) pass(*stage.steps[i], stage.numbers[i]);
    for (std::size_t i = 0; i < stage.renumbering.size(); ++i)
      pass(*stage.renumbering[i], stage.renumbering_numbers[i]);
  }
  return repeated ? count : count * outer.times;
}

}  // namespace weir::detail
