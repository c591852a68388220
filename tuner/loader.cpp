#include <weir/loader.hpp>

#include <utility>

#include <weir/error.hpp>

#include "tuner/loader_core.hpp"

namespace weir::detail {

void LoaderCoreDeleter::operator()(LoaderCore* core) const { delete core; }

LoaderBase::LoaderBase(std::shared_ptr<const Step> step, const Options& options)
    : core_(new LoaderCore(step, options)) {}

void LoaderBase::close() { core_->close(); }
Summary LoaderBase::summary() const { return core_->summary(); }
Snapshot LoaderBase::telemetry() const { return core_->pool().snapshot(); }
Allocation LoaderBase::allocation() const { return core_->pool().allocation(); }
void LoaderBase::set_allocation(const Allocation& allocation) { core_->set_allocation(allocation); }

void LoaderBase::resize_queue(const std::string& stage, std::int64_t items) {
  if (items < 1)
    throw Error(ErrorKind::usage, stage,
                "a queue of " + std::to_string(items) + " items; use 1 or more");
  if (core_->delivery().resize_queue(stage, items)) return;
  std::string names;
  for (const StageSummary& known : core_->summary().stages)
    names += (names.empty() ? "" : ", ") + known.name;
  throw Error(ErrorKind::usage, stage, "no such stage; the stages are " + names);
}

void LoaderBase::mark(weir::Step step) { core_->delivery().mark(step == weir::Step::compute_end); }
Position LoaderBase::position() const { return core_->position(); }
const std::vector<std::string>& LoaderBase::classes() const {
  return core_->delivery().plan().source->classes();
}

LoaderBase::EpochSize LoaderBase::batches_per_epoch() const {
  EpochSize size;
  size.batches = core_->delivery().plan().outputs_per_epoch(size.exact);
  return size;
}

std::vector<std::string> LoaderBase::remarks() const { return core_->remarks(); }
SlotHeader* LoaderBase::next_slot() { return core_->next(); }
void LoaderBase::begin_epoch(std::uint32_t epoch) { core_->delivery().begin_epoch(epoch); }
void LoaderBase::release_slot() { core_->delivery().release(); }

}  // namespace weir::detail
