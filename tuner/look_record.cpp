#include "tuner/look_record.hpp"

#include "tuner/json_field.hpp"

#include <cstddef>
#include <utility>

#include <nlohmann/json.hpp>

namespace weir::detail {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kPool = "pool";
constexpr const char* kHost = "host";
constexpr const char* kLoaders = "loaders";
constexpr const char* kStages = "stages";
constexpr const char* kAllocation = "allocation";

// Every field by its name, for writer and reader alike. A new counter that an observer reads gets
// its line here; a test counts them.
template <class Pool, class Visit>
void visit_pool(Pool& pool, Visit&& visit) {
  visit("time", pool.time_seconds);
  visit("budget", pool.budget);
  visit("active", pool.active);
  visit("unparked", pool.unparked);
  visit("unparked_seconds", pool.unparked_seconds);
  visit("memory_bytes", pool.memory_bytes);
  visit("memory_peak_bytes", pool.memory_peak_bytes);
  visit("memory_bound_bytes", pool.memory_bound_bytes);
  visit("memory_stopped", pool.memory_stopped);
  visit("structure", pool.structure);
}

template <class Host, class Visit>
void visit_host(Host& host, Visit&& visit) {
  visit("read", host.read_seconds);
  visit("cores", host.cores);
  visit("host_cores", host.host_cores);
  visit("host_cpu", host.host_cpu_seconds);
  visit("process_cpu", host.process_cpu_seconds);
  visit("quota_periods", host.quota_periods);
  visit("throttled_periods", host.throttled_periods);
  visit("throttled", host.throttled_seconds);
  visit("cpu_pressure", host.cpu_pressure_seconds);
  visit("memory_pressure", host.memory_pressure_seconds);
  visit("resident_bytes", host.resident_bytes);
  visit("memory_bytes", host.memory_bytes);
  visit("memory_limit_bytes", host.memory_limit_bytes);
}

template <class Stage, class Visit>
void visit_stage(Stage& stage, Visit&& visit) {
  visit("name", stage.name);
  visit("loader", stage.loader);
  visit("serial", stage.serial);
  visit("fixed_workers", stage.fixed_workers);
  visit("hand_cap", stage.hand_cap);
  visit("hand_depth", stage.hand_depth);
  visit("items_in", stage.items_in);
  visit("items_out", stage.items_out);
  visit("errors", stage.errors);
  visit("packets", stage.packets);
  visit("bytes_out", stage.bytes_out);
  visit("slot", stage.slot_seconds);
  visit("slot_squared", stage.slot_seconds_squared);
  visit("running", stage.running_seconds);
  visit("oldest", stage.oldest_running_seconds);
  visit("cpu_user", stage.cpu_user_seconds);
  visit("cpu_system", stage.cpu_system_seconds);
  visit("run_queue", stage.run_queue_seconds);
  visit("voluntary", stage.voluntary_switches);
  visit("involuntary", stage.involuntary_switches);
  visit("minor_faults", stage.minor_faults);
  visit("wait_input", stage.wait_input_seconds);
  visit("wait_output", stage.wait_output_seconds);
  visit("running_now", stage.running);
  visit("capacity", stage.queue.capacity_items);
  visit("length", stage.queue.length_items);
  visit("low", stage.queue.low_items);
  visit("high", stage.queue.high_items);
  visit("bytes", stage.queue.bytes);
  visit("queued", stage.queue.item_seconds);
  visit("empty", stage.queue.empty_seconds);
  visit("full", stage.queue.full_seconds);
}

template <class Loader, class Visit>
void visit_loader(Loader& loader, Visit&& visit) {
  visit("name", loader.name);
  visit("items", loader.consumer.items);
  visit("wait", loader.consumer.wait_seconds);
  visit("first_wait", loader.consumer.first_wait_seconds);
  visit("service", loader.consumer.service_seconds);
  visit("service_squared", loader.consumer.service_seconds_squared);
  visit("waiting", loader.consumer.waiting);
}

template <class Whole, class Visit>
void visit_allocation(Whole& allocation, Visit&& visit) {
  visit("active", allocation.active);
  visit("strict", allocation.strict);
  visit("helping", allocation.helping);
  visit("stay", allocation.stay_slack);
  visit("structure", allocation.structure);
}

template <class Stage, class Visit>
void visit_allotted(Stage& stage, Visit&& visit) {
  visit("target", stage.target);
  visit("cap", stage.cap);
  visit("depth", stage.depth_items);
  visit("packet", stage.packet_items);
  visit("group", stage.group);
}

/// Reads the field of the element `index` out of the columns; a missing column keeps the default.
struct ColumnReader {
  const JsonFields& columns;
  std::size_t index;
  template <class Value>
  void operator()(const char* field, Value& to) const {
    const Json* const column = columns.find_array(field);
    if (column == nullptr) return;
    if (index >= column->size()) refuse_json(field, "has too few values");
    read_json((*column)[index], field, to);
  }
};

Json exact(double value) { return exact_json(value); }
template <class Value>
Json exact(const Value& value) {
  return value;
}

struct FieldWriter {
  Json& to;
  template <class Value>
  void operator()(const char* field, const Value& from) const {
    to[field] = exact(from);
  }
};

struct ColumnWriter {
  Json& columns;
  template <class Value>
  void operator()(const char* field, const Value& from) const {
    columns[field].push_back(exact(from));
  }
};

Json whole_record(const LookInput& look) {
  Json record;
  visit_pool(look.snapshot, FieldWriter{record[kPool]});
  visit_host(look.snapshot.host, FieldWriter{record[kHost]});
  Json& loaders = record[kLoaders] = Json::object();
  for (const LoaderSnapshot& loader : look.snapshot.loaders)
    visit_loader(loader, ColumnWriter{loaders});
  Json& stages = record[kStages] = Json::object();
  for (const StageSnapshot& stage : look.snapshot.stages) visit_stage(stage, ColumnWriter{stages});
  record[kAllocation] = exact_json(look.current);
  return record;
}

/// How many values the columns have.
std::size_t length_of(const JsonFields& columns, const char* first) {
  const Json* const column = columns.find_array(first);
  return column == nullptr ? 0 : column->size();
}

}  // namespace

struct LookRecord::State {
  Json last = Json::object();  // every group whole
};

LookRecord::LookRecord() : state_(std::make_unique<State>()) {}
LookRecord::~LookRecord() = default;

void LookRecord::restart() { state_->last = Json::object(); }

Json LookRecord::write(const LookInput& look) {
  Json now = whole_record(look);
  Json record = Json::object();
  if (look.changed) record["changed"] = true;
  for (const auto& [group, fields] : now.items()) {
    const auto before = state_->last.find(group);
    for (const auto& [field, value] : fields.items())
      if (before == state_->last.end() || !before->contains(field) || (*before)[field] != value)
        record[group][field] = value;
  }
  state_->last = std::move(now);
  return record;
}

LookInput LookRecord::read(const Json& record) {
  const JsonFields groups(record, "observation");
  for (const char* const group : {kPool, kHost, kLoaders, kStages, kAllocation})
    if (const Json* const fields = groups.find_object(group)) state_->last[group].update(*fields);
  const JsonFields last(state_->last, "observation");
  LookInput look;
  groups("changed", look.changed);
  if (const Json* const pool = last.find_object(kPool))
    visit_pool(look.snapshot, JsonFields(*pool, kPool));
  if (const Json* const host = last.find_object(kHost))
    visit_host(look.snapshot.host, JsonFields(*host, kHost));
  if (const Json* const found = last.find_object(kLoaders)) {
    const JsonFields columns(*found, kLoaders);
    look.snapshot.loaders.resize(length_of(columns, "name"));
    for (std::size_t i = 0; i < look.snapshot.loaders.size(); ++i)
      visit_loader(look.snapshot.loaders[i], ColumnReader{columns, i});
  }
  if (const Json* const found = last.find_object(kStages)) {
    const JsonFields columns(*found, kStages);
    look.snapshot.stages.resize(length_of(columns, "name"));
    for (std::size_t i = 0; i < look.snapshot.stages.size(); ++i) {
      visit_stage(look.snapshot.stages[i], ColumnReader{columns, i});
      const int loader = look.snapshot.stages[i].loader;
      if (loader < 0 || loader >= static_cast<int>(look.snapshot.loaders.size()))
        refuse_json("loader", "names a loader that is not there");
    }
  }
  if (const Json* const allocation = last.find_object(kAllocation))
    look.current = exact_allocation(*allocation);
  return look;
}

Json exact_json(const Allocation& allocation) {
  Json record;
  visit_allocation(allocation, FieldWriter{record});
  for (const StageAllocation& stage : allocation.stages)
    visit_allotted(stage, ColumnWriter{record});
  record["groups"] = allocation.groups;
  return record;
}

Allocation exact_allocation(const Json& record) {
  const JsonFields fields(record, kAllocation);
  Allocation allocation;
  visit_allocation(allocation, fields);
  allocation.stages.resize(length_of(fields, "target"));
  for (std::size_t i = 0; i < allocation.stages.size(); ++i)
    visit_allotted(allocation.stages[i], ColumnReader{fields, i});
  if (const Json* const groups = fields.find_array("groups"))
    for (const Json& workers : *groups)
      read_json(workers, "groups", allocation.groups.emplace_back());
  return allocation;
}

}  // namespace weir::detail
