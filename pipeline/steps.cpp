#include <cstdlib>
#include <string>
#include <utility>

#include <weir/error.hpp>
#include <weir/machine_view.hpp>
#include <weir/ranks.hpp>
#include <weir/sources.hpp>
#include <weir/stream.hpp>

namespace weir {
namespace detail {

std::shared_ptr<Step> next_step(std::shared_ptr<const Step> previous, Step::Kind kind,
                                std::string name, StageOptions options) {
  if (name.empty()) throw Error(ErrorKind::usage, "", "an operator needs a name");
  if (options.workers < 0 || options.cap < 0 || options.queue < 0)
    throw Error(ErrorKind::usage, name, "workers, cap and queue must not be negative");
  if (options.serial && options.workers > 1)
    throw Error(ErrorKind::usage, name,
                "serial allows one worker, workers asks for " + std::to_string(options.workers));
  auto step = std::make_shared<Step>();
  step->kind = kind;
  step->written = name;
  step->name = options.name.empty() ? std::move(name) : options.name;
  step->options = std::move(options);
  step->previous = std::move(previous);
  return step;
}

std::shared_ptr<Step> source_step(std::string name, std::shared_ptr<const Source> source,
                                  std::string identity) {
  StageOptions options;
  options.identity = std::move(identity);
  std::shared_ptr<Step> step =
      next_step(nullptr, Step::Kind::source, std::move(name), std::move(options));
  step->output = &source->type();
  step->source = std::move(source);
  return step;
}

ShardPlace shard_place(const ShardOptions& options) {
  std::vector<std::string> notes;
  const Ranks ranks = world_ranks(process_environment(), notes);
  ShardPlace place;
  place.rank = options.rank.value_or(ranks.rank);
  place.world = options.world.value_or(ranks.size);
  place.remainder = options.remainder;
  if (place.world < 1 || place.rank < 0 || place.rank >= place.world)
    throw Error(ErrorKind::usage, "shard",
                "rank " + std::to_string(place.rank) + " of world " + std::to_string(place.world) +
                    "; a rank is 0 to world - 1");
  return place;
}

SourcePass::~SourcePass() = default;
Source::~Source() = default;

void Source::make(std::uint64_t, SlotHeader*) const {
  throw Error(ErrorKind::usage, "", "this source has no index");
}
std::unique_ptr<SourcePass> Source::begin_pass(std::uint32_t, std::uint32_t) const {
  throw Error(ErrorKind::usage, "", "this source is read by its index");
}
std::int32_t Source::label(std::uint64_t) const { return -1; }
std::string Source::describe(std::uint64_t sample_id) const {
  return "sample " + std::to_string(sample_id);
}
const std::vector<std::string>& Source::classes() const {
  static const std::vector<std::string> none;
  return none;
}
std::shared_ptr<LookAhead> Source::look_ahead(const LookAheadSettings&) const { return nullptr; }
std::string Source::remark() const { return {}; }

}  // namespace detail

Stream<std::int64_t> range(std::int64_t count) {
  if (count < 0)
    throw Error(ErrorKind::usage, "range",
                "count is " + std::to_string(count) + "; it must not be negative");
  auto make = [](std::uint64_t i) { return static_cast<std::int64_t>(i); };
  auto source = std::make_shared<detail::IndexedSource<std::int64_t, decltype(make)>>(
      static_cast<std::uint64_t>(count), make);
  return Stream<std::int64_t>(detail::source_step("range", std::move(source), ""));
}

}  // namespace weir
