#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include <cxxabi.h>

#include <weir/error.hpp>
#include <weir/operator.hpp>

namespace weir::detail {
namespace {

std::string type_name_of_current() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (type == nullptr) return "unknown exception";
  int status = 0;
  char* name = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
  std::string result = status == 0 ? name : type->name();
  std::free(name);
  return result;
}

}  // namespace

FailureNote failure_note(const SampleInfo& info, const std::string& stage) {
  FailureNote note;
  note.info = info;
  note.stage = stage;
  note.exception = std::current_exception();
  try {
    throw;
  } catch (const std::exception& error) {
    note.reason = error.what();
  } catch (const std::string& text) {
    note.reason = text;
  } catch (const char* text) {
    note.reason = text;
  } catch (...) {
    note.reason = "an exception of type " + type_name_of_current();
  }
  return note;
}

bool record_failure(const SlotHeader& in, SlotHeader* out, const OperatorRun& run) {
  FailureNote note = failure_note(in.info, *run.stage);
  bool bad_sample = false;
  try {
    throw;
  } catch (const BadSample&) {
    bad_sample = true;
  } catch (...) {
  }
  const bool skippable =
      (bad_sample || run.stage_has_policy) && run.policy.action != BadSamplePolicy::Action::fail;
  note.fatal = !skippable;
  note.own_policy = run.stage_has_policy;
  note.limit_count = run.policy.max_count;
  note.limit_rate = run.policy.max_rate;
  const bool replace = skippable && run.policy.action == BadSamplePolicy::Action::replace;
  note.replaced = replace;
  if (!out->notes) out->notes = std::make_unique<FailureNotes>();
  out->notes->push_back(std::move(note));
  out->state = replace ? SlotState::blank : SlotState::failed;
  out->replaced = replace;
  return replace;
}

void record_fatal(SlotHeader* out, const OperatorRun& run) {
  FailureNote note = failure_note(out->info, *run.stage);
  note.own_policy = run.stage_has_policy;
  if (!out->notes) out->notes = std::make_unique<FailureNotes>();
  out->notes->push_back(std::move(note));
  out->state = SlotState::failed;
  out->replaced = false;
}

Operator::~Operator() = default;
Gatherer::~Gatherer() = default;

}  // namespace weir::detail
