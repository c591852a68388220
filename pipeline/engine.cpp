#include "pipeline/engine.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <weir/error.hpp>
#include <weir/operator.hpp>

#include "pipeline/renumber_edge.hpp"
#include "pipeline/unfold_edge.hpp"

namespace weir::detail {
namespace {

constexpr std::int64_t kFirstDepth = 2;

/// Moves items on unchanged: a stage that is there only because its neighbours need one between
/// them.
class PassingOperator final : public Operator {
 public:
  explicit PassingOperator(const SlotType& type) : type_(type) {}
  void process(SlotHeader* const* in, SlotHeader* const* out, std::size_t count,
               OperatorRun&) override {
    for (std::size_t i = 0; i < count; ++i) type_.move(in[i], out[i]);
  }

 private:
  const SlotType& type_;
};

std::unique_ptr<Operator> sample_operator(const std::shared_ptr<const SampleOperator>& op) {
  return std::make_unique<MapOperator<Sample, Sample, SampleMap>>(SampleMap(op),
                                                                  std::function<Sample()>());
}

}  // namespace

Engine::Engine(const StagePlan& plan, WorkerPool& pool, Settings settings)
    : settings_(std::move(settings)), pool_(pool), source_(plan.source) {
  make_edges(plan);
  make_zones();
  make_stages(plan);
  std::vector<StageAllocation> allotted = settings_.allotted;
  allotted.resize(stages_.size());
  loader_.name = settings_.name;
  loader_.consumer = settings_.consumer;
  loader_.reading = [this] { return inlet_->reading(); };
  for (const std::unique_ptr<Stage>& stage : stages_) loader_.stages.push_back(stage.get());
  pool_.add(&loader_, allotted);
}

Engine::~Engine() {
  close();
  stages_.clear();
  edges_.clear();
  pool_.work_may_be_ready();  // What was queued here held bytes that others may have now.
}

void Engine::make_edges(const StagePlan& plan) {
  SourceInlet::Settings source;
  source.name = plan.source_name;
  source.source = plan.source;
  source.on_bad_sample = settings_.on_bad_sample;
  source.map = plan.map;
  source.outer = plan.outer;
  source.first_epoch = settings_.first_epoch;
  source.end_epoch = settings_.end_epoch;
  if (!plan.stages.front().steps.empty() && plan.stages.front().steps.front()->written == "read")
    source.ahead = plan.source->look_ahead(
        {settings_.reader, pool_.workers(), &pool_.ledger(), settings_.say});
  if (settings_.resume) source.first_place = settings_.resume->source_index;
  inlet_ = std::make_unique<SourceInlet>(std::move(source));

  ByteLedger& ledger = pool_.ledger();
  const OrderedEdge::Order order{settings_.any_order, settings_.first_epoch};
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const PlannedStage& stage = plan.stages[i];
    const SlotType& type = *stage.output;
    if (stage.unfolds()) {
      const Step& step = *stage.steps.back();
      UnfoldEdge::Settings unfold;
      unfold.split = stage.split;
      unfold.stage = stage.name;
      unfold.policy = step.options.on_bad_sample.value_or(settings_.on_bad_sample);
      unfold.has_policy = step.options.on_bad_sample.has_value();
      unfold.order = order;
      unfold.several_passes = plan.outer.times > 1;
      if (settings_.resume) {
        unfold.resume_source_index = settings_.resume->source_index;
        unfold.resume_split = settings_.resume->split;
        unfold.resume_epoch = settings_.resume->epoch;
      }
      auto edge = std::make_unique<UnfoldEdge>(type, kFirstDepth, ledger, std::move(unfold));
      unfolding_.push_back(edge.get());
      edges_.push_back(std::move(edge));
    } else if (stage.renumbers()) {
      RenumberEdge::Settings renumber;
      renumber.split = stage.split;
      renumber.steps = stage.renumbering;
      renumber.step_numbers = stage.renumbering_numbers;
      renumber.seed = settings_.seed;
      renumber.order = order;
      if (settings_.resume) {
        renumber.resume_source_index = settings_.resume->source_index;
        renumber.resume_split = settings_.resume->split;
        renumber.resume_epoch = settings_.resume->epoch;
      }
      // The generators behind this edge still have items of the pass to give.
      renumber.pass_is_over = [this, in_front = unfolding_](const SampleInfo& info) {
        inlet_->end_pass(info);
        for (UnfoldEdge* edge : in_front) edge->end_pass(info);
      };
      edges_.push_back(
          std::make_unique<RenumberEdge>(type, kFirstDepth, ledger, std::move(renumber)));
    } else if (i + 1 == plan.stages.size()) {
      auto sink = std::make_unique<SinkEdge>(type, kFirstDepth, ledger, order);
      sink_ = sink.get();
      edges_.push_back(std::move(sink));
    } else if (plan.stages[i + 1].gathers) {
      const Step& batch = *plan.stages[i + 1].steps.front();
      edges_.push_back(std::make_unique<GatherEdge>(
          type, kFirstDepth, ledger,
          GatherEdge::Settings{batch.count, batch.drop_remainder,
                               plan.stages[i + 1].numbers.front(), order}));
      if (plan.in_place && !arena_) {
        arena_ = std::make_unique<BatchArena>(batch.count);
        arena_->begin_at(settings_.first_epoch,
                         settings_.resume ? settings_.resume->source_index : 0);
      }
    } else {
      edges_.push_back(
          std::make_unique<PlainEdge>(type, kFirstDepth, ledger, plan.stages[i + 1].serial));
    }
  }
}

void Engine::make_zones() {
  zone_of_.resize(edges_.size());
  for (std::size_t i = edges_.size(); i-- > 0;) {
    const bool last = i + 1 == edges_.size();
    if (last || edges_[i]->renumbers()) {
      auto zone = std::make_unique<Zone>();
      if (last) {
        zone->sink = sink_;
      } else {
        zone->end = edges_[i].get();
        zone->next = zones_.back().get();
      }
      zones_.push_back(std::move(zone));
    }
    zone_of_[i] = zones_.back().get();
  }
}

void Engine::make_stages(const StagePlan& plan) {
  std::size_t gather = plan.stages.size();
  for (std::size_t i = 0; i < plan.stages.size() && gather == plan.stages.size(); ++i)
    if (plan.stages[i].gathers) gather = i;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const PlannedStage& planned = plan.stages[i];
    Stage::Settings stage;
    stage.name = planned.name;
    for (std::size_t p = 0; p < planned.steps.size(); ++p) {
      const Step& step = *planned.steps[p];
      Stage::Part part;
      part.name = step.written;
      part.number = planned.numbers[p];
      part.place = p;
      const PlannedStage::Kernel* kernel = planned.kernel_at(p);
      if (kernel != nullptr) {
        part.op = sample_operator(kernel->op);
        for (; p + 1 < kernel->first + kernel->count; ++p)
          part.others.push_back(planned.steps[p + 1]->written);
      } else if (step.make_operator) {
        part.op = step.make_operator();
      }
      part.output = step.output;
      part.has_policy = step.options.on_bad_sample.has_value();
      part.policy = step.options.on_bad_sample.value_or(settings_.on_bad_sample);
      stage.parts.push_back(std::move(part));
    }
    if (planned.steps.empty()) {
      Stage::Part part;
      part.name = planned.name;
      part.op = std::make_unique<PassingOperator>(*planned.input);
      part.output = planned.output;
      stage.parts.push_back(std::move(part));
    }
    if (planned.gathers) {
      stage.gatherer = planned.steps.front()->make_gatherer();
      stage.rows = planned.steps.front()->count;
    }
    stage.input = planned.input;
    stage.in = i == 0 ? static_cast<Inlet*>(inlet_.get()) : edges_[i - 1].get();
    stage.out = edges_[i].get();
    stage.zone = zone_of_[i];
    stage.ledger = &pool_.ledger();
    if (arena_ && i <= gather) stage.arena = arena_.get();
    if (arena_ && i + 1 == gather) stage.places = arena_.get();
    stage.is_source = i == 0;
    stage.serial = planned.serial;
    stage.fixed_workers = planned.options.workers;
    stage.hand_cap = planned.options.cap;
    stage.hand_depth = planned.depth;
    stage.seed = settings_.seed;
    stage.stop = stop_.get_token();
    stage.most_workers = pool_.workers();
    stages_.push_back(std::make_unique<Stage>(std::move(stage)));
  }
}

SinkEdge::Take Engine::try_take(SlotHeader*& slot) {
  const SinkEdge::Take taken = sink_->take(slot, monotonic_now());
  if (taken == SinkEdge::Take::slot) pool_.work_may_be_ready();
  return taken;
}

SlotHeader* Engine::take() {
  SlotHeader* slot = nullptr;
  while (true) {
    switch (try_take(slot)) {
      case SinkEdge::Take::slot:
        return slot;
      case SinkEdge::Take::closed:
        return nullptr;
      case SinkEdge::Take::empty:
        if (pool_.threaded()) {
          sink_->wait();
        } else if (!pool_.step(0)) {
          return nullptr;  // Nothing to run and nothing ready: the stream is over.
        }
        break;
    }
  }
}

void Engine::close() {
  if (WorkerPool::this_thread_works_for(loader_))
    throw Error(
        ErrorKind::usage, settings_.name,
        "close() was called by a function of one of its own stages and would wait for itself; "
        "throw an exception there, or let the consumer close");
  MutexLock lock(close_mutex_);
  if (closed_.exchange(true)) return;
  stop_.request_stop();
  inlet_->halt();
  pool_.remove(&loader_, [this] {
    if (settings_.say) settings_.say(who_is_late());
  });
  sink_->close();
}

std::string Engine::who_is_late() const {
  std::string busy;
  for (const std::unique_ptr<Stage>& stage : stages_) {
    if (stage->running() == 0) continue;
    busy += fmt::format(" stage '{}' is busy with", stage->name());
    for (int worker = 0; worker < pool_.workers(); ++worker)
      if (stage->counters(worker).started_ns.get() != 0)
        busy += fmt::format(" {}", source_->describe(stage->sample_under_way(worker)));
    busy += ";";
  }
  return fmt::format(
      "{}: still closing after 5 s;{} its function should look at Context::stop_token()",
      settings_.name, busy);
}

bool Engine::resize_queue(const std::string& stage, std::int64_t items) {
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    if (stages_[i]->name() != stage) continue;
    stages_[i]->set_hand_depth(items);
    pool_.work_may_be_ready();
    return true;
  }
  return false;
}

std::uint64_t Engine::placed_rows() const { return arena_ ? arena_->placed_rows() : 0; }
std::uint64_t Engine::copied_rows() const { return arena_ ? arena_->copied_rows() : 0; }

std::vector<std::string> Engine::without_bytes() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < stages_.size(); ++i)
    if (!edges_[i]->type().reports_bytes) names.push_back(stages_[i]->name());
  return names;
}

}  // namespace weir::detail
