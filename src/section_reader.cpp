#include "src/section_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <weir/error.hpp>
#include <weir/policy.hpp>
#include <weir/policy_settings.hpp>

#include "src/suggestion.hpp"

namespace weir::detail {
namespace {

constexpr double kUnlimited = 1e300;
constexpr double kMostWorkers = 1024;

[[noreturn]] void refuse(const Location& place, const std::string& what) {
  throw Error(ErrorKind::usage, place.text(), what);
}

ParameterSpec spec(const std::string& name, ParameterType type, const std::string& fallback,
                   double low, double high, const std::string& meaning) {
  ParameterSpec made;
  made.name = name;
  made.type = type;
  made.fallback = fallback;
  made.low = low;
  made.high = high;
  made.meaning = meaning;
  return made;
}

ParameterSpec count(const std::string& name, const std::string& meaning) {
  return spec(name, ParameterType::integer, "none", 1, kUnlimited, meaning);
}

ParameterSpec flag(const std::string& name, const std::string& meaning) {
  return spec(name, ParameterType::flag, "false", 0, 1, meaning);
}

ParameterSpec text(const std::string& name, const std::string& fallback,
                   const std::string& meaning) {
  return spec(name, ParameterType::text, fallback, 0, 0, meaning);
}

ParameterSpec choice(const std::string& name, std::vector<std::string> choices,
                     const std::string& meaning) {
  ParameterSpec made = text(name, choices.front(), meaning);
  made.type = ParameterType::choice;
  made.choices = std::move(choices);
  return made;
}

std::optional<int> workers_of(const Parameters& run) {
  const std::string& written = run.text("workers");
  if (written == "auto") return std::nullopt;
  int number = 0;
  const char* const end = written.data() + written.size();
  const auto [stop, error] = std::from_chars(written.data(), end, number);
  if (error != std::errc{} || stop != end || number < 1 || number > kMostWorkers)
    run.reject("workers", fmt::format("must be auto or a whole number from 1 to {}", kMostWorkers));
  return number;
}

std::optional<std::uint64_t> memory_of(const Parameters& run) {
  const std::string& written = run.text("memory");
  if (written == "auto") return std::nullopt;
  const std::optional<std::uint64_t> bytes = parse_size_bytes(written);
  if (!bytes || *bytes == 0) run.reject("memory", "must be auto or a size, as 512MiB or 2GiB");
  return bytes;
}

std::string setting_text(const Value& value) {
  if (const auto* words = std::get_if<std::string>(&value.data)) return *words;
  if (const auto* whole = std::get_if<std::int64_t>(&value.data)) return fmt::format("{}", *whole);
  if (const auto* number = std::get_if<double>(&value.data)) return fmt::format("{}", *number);
  if (const auto* yes = std::get_if<bool>(&value.data)) return *yes ? "true" : "false";
  refuse(value.location, "a setting is a number, a duration or a share");
}

const std::vector<ParameterSpec>& run_specs() {
  static const std::vector<ParameterSpec> specs{
      count("epochs", "end after so many epochs"),
      count("steps", "end after so many batches"),
      spec("seconds", ParameterType::number, "none", 0.001, kUnlimited, "end after this time"),
      text("workers", "auto", "threads for all stages together"),
      text("memory", "auto", "most bytes held by the pipeline"),
      flag("oversubscribe", "allow more workers than the machine has threads for, for emulation"),
      choice("order", {"input", "any"}, "any: as samples are done"),
      choice("fuse", {"auto", "all", "off"}, "which operators become one stage"),
      choice("image_path", {"auto", "plain"}, "plain: the reference operators alone"),
      choice("pin", {"cache_domain", "none", "core", "node"}, "what workers are bound to"),
      choice("reader", {"auto", "pread", "io_uring"}, "how files are read"),
      spec("reserve", ParameterType::integer, "0", 0, kMostWorkers, "threads left to the consumer"),
      choice("nested_threads", {"one", "keep"}, "thread pools of the libraries that stages call"),
  };
  return specs;
}

std::vector<std::string> names_of(std::span<const ParameterSpec> specs,
                                  std::initializer_list<const char*> more = {}) {
  std::vector<std::string> names;
  for (const ParameterSpec& one : specs) names.push_back(one.name);
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

}  // namespace

Written written_values(const YamlNode& map, const Variables& variables, std::string_view what,
                       std::span<const std::string> nested) {
  Written written;
  if (map.is_nothing()) return written;
  if (map.kind != YamlNode::Kind::map)
    refuse(map.location, fmt::format("{} takes its parameters by name, as {{key: value}}", what));
  for (std::size_t i = 0; i < map.items.size(); ++i) {
    const std::string& key = map.keys[i].text;
    if (std::find(nested.begin(), nested.end(), key) != nested.end()) continue;
    Value value;
    // The value of an unknown key is never looked at, so that the key is what gets named.
    if (map.items[i].kind != YamlNode::Kind::map)
      value = variables.value(map.items[i]);
    else
      value = {std::string("a map"), {}};
    value.location = map.items[i].location;
    written.emplace(key, std::move(value));
  }
  return written;
}

void check_keys(const YamlNode& map, std::string_view what, std::span<const std::string> allowed) {
  for (const YamlNode::Key& key : map.keys) {
    if (std::find(allowed.begin(), allowed.end(), key.text) != allowed.end()) continue;
    refuse(key.location, fmt::format("unknown key '{}' in {}{}", key.text, what,
                                     key_suggestion(key.text, allowed, "Allowed")));
  }
}

BadSamplePolicy read_bad_sample_policy(const YamlNode& node, const Variables& variables,
                                       std::string* quarantine) {
  static const std::vector<ParameterSpec> specs{
      choice("action", {"fail", "skip", "replace"}, "what happens to a bad sample"),
      spec("max", ParameterType::share, "none", 0, kUnlimited,
           "more bad samples than this fail the run: a count, or a share as 1%"),
      text("quarantine", "none", "file that lists the bad samples")};
  Written written;
  if (node.kind == YamlNode::Kind::scalar && !node.is_nothing()) {
    written.emplace("action", variables.value(node));
  } else {
    std::vector<std::string> allowed = names_of(specs);
    if (quarantine == nullptr) allowed.pop_back();
    check_keys(node, "on_bad_sample", allowed);
    written = written_values(node, variables, "on_bad_sample");
  }
  const Parameters given("on_bad_sample", specs, written, node.location);
  BadSamplePolicy policy;
  using Action = BadSamplePolicy::Action;
  const std::string& action = given.text("action");
  policy.action = action == "skip"      ? Action::skip
                  : action == "replace" ? Action::replace
                                        : Action::fail;
  if (given.has("max")) {
    // "1%" and 0.01 are rates; a whole number is a count.
    const auto found = written.find("max");
    const double most = given.number("max");
    if (std::holds_alternative<std::int64_t>(found->second.data)) {
      policy.max_count = most;
    } else if (most <= 1) {
      policy.max_rate = most;
    } else {
      given.reject("max", "must be a whole number of samples, or a share of at most 100%");
    }
  }
  if (quarantine != nullptr && given.has("quarantine")) *quarantine = given.text("quarantine");
  return policy;
}

void read_run(const YamlNode& node, const Variables& variables, Pipeline& pipeline) {
  if (node.is_nothing()) return;
  const std::vector<std::string> nested{"on_bad_sample"};
  check_keys(node, "run", names_of(run_specs(), {"on_bad_sample"}));
  const Written written = written_values(node, variables, "run", nested);
  const Parameters run("run", run_specs(), written, node.location);

  for (std::size_t i = 0; i < node.keys.size(); ++i)
    pipeline.places[node.keys[i].text] = node.items[i].location;
  Options& options = pipeline.options;
  if (run.has("epochs")) {
    const std::int64_t epochs = run.integer("epochs");
    if (epochs > std::numeric_limits<std::int32_t>::max())
      run.reject("epochs", "must be at most 2147483647");
    options.epochs = static_cast<std::uint32_t>(epochs);
  }
  if (run.has("steps")) pipeline.length.steps = static_cast<std::uint64_t>(run.integer("steps"));
  if (run.has("seconds")) pipeline.length.seconds = run.number("seconds");
  options.workers = workers_of(run);
  options.memory_bytes = memory_of(run);
  options.oversubscribe = run.flag("oversubscribe");
  options.order = run.text("order") == "any" ? Order::any : Order::input;
  const std::string& fuse = run.text("fuse");
  options.fuse = fuse == "all" ? Fuse::all : fuse == "off" ? Fuse::off : Fuse::automatic;
  if (run.has("pin")) options.pin = parse_placement_mode(run.text("pin"));
  options.image_path = run.text("image_path") == "plain" ? ImagePath::plain : ImagePath::automatic;
  const std::string& reader = run.text("reader");
  options.reader = reader == "pread"      ? Reader::pread
                   : reader == "io_uring" ? Reader::io_uring
                                          : Reader::automatic;
  options.reserve = static_cast<int>(run.integer("reserve"));
  options.nested_threads =
      run.text("nested_threads") == "keep" ? NestedThreads::keep : NestedThreads::one;
  if (const YamlNode* policy = node.find("on_bad_sample"))
    options.on_bad_sample = read_bad_sample_policy(*policy, variables, &options.quarantine);
}

void read_consumer(const YamlNode& node, const Variables& variables, Pipeline& pipeline) {
  static const std::vector<ParameterSpec> specs{
      spec("step_time", ParameterType::duration, "none", 0, 86400, "length of an emulated step")};
  if (node.is_nothing()) return;
  check_keys(node, "consumer", names_of(specs));
  const Written written = written_values(node, variables, "consumer");
  const Parameters consumer("consumer", specs, written, node.location);
  if (!consumer.has("step_time")) return;
  pipeline.consumer.step_time = std::chrono::nanoseconds(
      static_cast<std::int64_t>(std::llround(consumer.number("step_time") * 1e9)));
}

void read_tuning(const YamlNode& node, const Variables& variables, Pipeline& pipeline) {
  static const std::vector<ParameterSpec> specs{flag("autotune", "let the controller move workers"),
                                                text("policy", "none", "see weir policies"),
                                                flag("strict", "whole workers a stage")};
  if (node.is_nothing()) return;
  const std::vector<std::string> nested{"settings"};
  check_keys(node, "tuning", names_of(specs, {"settings"}));
  const Written written = written_values(node, variables, "tuning", nested);
  const Parameters tuning("tuning", specs, written, node.location);
  pipeline.options.autotune = tuning.flag("autotune");
  pipeline.options.strict = tuning.flag("strict");
  if (tuning.has("policy")) {
    std::vector<std::string> names;
    for (const PolicyInfo& policy : policies()) names.emplace_back(policy.name);
    const std::string& name = tuning.text("policy");
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      tuning.reject("policy", "no such policy" + suggestion(name, names, "Known"));
    }
    pipeline.options.policy = name;
  }
  const YamlNode* settings = node.find("settings");
  if (settings == nullptr || settings->is_nothing()) return;
  const std::string policy = pipeline.options.policy.empty() ? std::string(policies().front().name)
                                                             : pipeline.options.policy;
  for (const auto& [name, value] : written_values(*settings, variables, "settings")) {
    const std::string words = setting_text(value);
    // One at a time, so that the place is that of the setting.
    static_cast<void>(make_settings(policy, {{name, words}}, value.location.text()));
    pipeline.options.settings[name] = words;
  }
}

void read_device(const YamlNode& node, const Variables& variables) {
  static const std::vector<ParameterSpec> specs{
      choice("kind", {"none", "host", "cuda", "auto"}, "where batches are wanted"),
      spec("index", ParameterType::integer, "0", 0, kMostWorkers, "which device"),
      spec("depth", ParameterType::integer, "3", 1, kMostWorkers, "batches on their way"),
      spec("sink_size", ParameterType::integer, "1", 1, kMostWorkers,
           "batches handed over at once"),
      choice("normalize", {"auto", "host", "device"}, "where floats are made")};
  if (node.is_nothing()) return;
  check_keys(node, "device", names_of(specs));
  const Written written = written_values(node, variables, "device");
  const Parameters device("device", specs, written, node.location);
  if (device.text("kind") != "none")
    device.reject("kind", "not in this version; batches stay in host memory (kind: none)");
}

}  // namespace weir::detail
