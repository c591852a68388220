#include <weir/tuned_file.hpp>

#include <weir/cpu_set.hpp>
#include <weir/error.hpp>
#include <weir/placement_mode.hpp>

#include "policies/nearest_name.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

namespace weir {
namespace {

// A tuned file has a few kilobytes; more is another file given by mistake.
constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr int kVersion = 1;

/// Walks the document and turns it into values. Every complaint names file:line:column.
class TunedFileReader {
 public:
  explicit TunedFileReader(std::string path) : path_(std::move(path)) {}

  [[nodiscard]] TunedFile read(const std::string& text);

 private:
  using Node = YAML::Node;
  struct Key {
    std::string_view name;
    std::function<void(const Node&)> take;
  };

  [[noreturn]] void complain(const YAML::Mark& mark, const std::string& what) const {
    throw Error(ErrorKind::usage, fmt::format("{}:{}:{}", path_, mark.line + 1, mark.column + 1),
                what);
  }
  /// What is missing is missing at the end.
  [[noreturn]] void complain_at_end(const std::string& what) const {
    throw Error(ErrorKind::usage, fmt::format("{}:{}:1", path_, lines_ + 1), what);
  }
  [[noreturn]] void wrong_type(const Node& node, std::string_view what,
                               std::string_view wanted) const {
    const std::string value = node.IsScalar()     ? "'" + node.Scalar() + "'"
                              : node.IsMap()      ? "a map"
                              : node.IsSequence() ? "a list"
                                                  : "nothing";
    complain(node.Mark(), fmt::format("{} is {}; allowed is {}", what, value, wanted));
  }

  void each_key(const Node& map, std::string_view what, const std::vector<Key>& keys) const;
  void each_entry(const Node& map, std::string_view what,
                  const std::function<void(const std::string&, const Node&)>& take) const;
  [[nodiscard]] std::string text(const Node& node, std::string_view what) const;
  [[nodiscard]] double number(const Node& node, std::string_view what, double least) const;
  [[nodiscard]] std::int64_t whole(const Node& node, std::string_view what,
                                   std::int64_t least) const;
  [[nodiscard]] int small(const Node& node, std::string_view what, int least) const;
  [[nodiscard]] bool truth(const Node& node, std::string_view what) const;
  [[nodiscard]] std::vector<std::string> texts(const Node& node, std::string_view what) const;

  void read_stages(const Node& node, TunedFile& file) const;
  void read_groups(const Node& node, TunedFile& file) const;
  void read_queues(const Node& node, TunedFile& file) const;
  void read_evidence(const Node& node, TunedFile& file) const;
  [[nodiscard]] TunedFile::StageEvidence stage_evidence(const std::string& name,
                                                        const Node& node) const;

  const std::string path_;
  std::ptrdiff_t lines_ = 0;
};

void TunedFileReader::each_entry(
    const Node& map, std::string_view what,
    const std::function<void(const std::string&, const Node&)>& take) const {
  if (!map.IsMap()) wrong_type(map, what, "a map");
  std::set<std::string> seen;
  for (const auto& entry : map) {
    if (!entry.first.IsScalar())
      wrong_type(entry.first, fmt::format("a key of {}", what), "a name");
    const std::string& name = entry.first.Scalar();
    if (!seen.insert(name).second)
      complain(entry.first.Mark(), fmt::format("'{}' stands twice in {}; keep one", name, what));
    take(name, entry.second);
  }
}

void TunedFileReader::each_key(const Node& map, std::string_view what,
                               const std::vector<Key>& keys) const {
  if (!map.IsMap()) wrong_type(map, what, "a map");
  std::set<std::string> seen;
  for (const auto& entry : map) {
    const std::string name = text(entry.first, fmt::format("a key of {}", what));
    if (!seen.insert(name).second)
      complain(entry.first.Mark(), fmt::format("'{}' stands twice in {}; keep one", name, what));
    bool taken = false;
    for (const Key& key : keys)
      if (key.name == name) {
        key.take(entry.second);
        taken = true;
      }
    if (taken) continue;
    std::vector<std::string_view> names;
    for (const Key& key : keys) names.push_back(key.name);
    complain(entry.first.Mark(),
             fmt::format("{} has no key '{}'{} Allowed are: {}", what, name,
                         detail::did_you_mean(name, names), detail::listed(names)));
  }
}

std::string TunedFileReader::text(const Node& node, std::string_view what) const {
  if (!node.IsScalar()) wrong_type(node, what, "a text");
  return node.Scalar();
}

double TunedFileReader::number(const Node& node, std::string_view what, double least) const {
  const std::string wanted = fmt::format("a number from {:g}", least);
  if (!node.IsScalar()) wrong_type(node, what, wanted);
  const std::string& value = node.Scalar();
  double result = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (error != std::errc() || end != value.data() + value.size() || !std::isfinite(result) ||
      result < least)
    wrong_type(node, what, wanted);
  return result;
}

std::int64_t TunedFileReader::whole(const Node& node, std::string_view what,
                                    std::int64_t least) const {
  const std::string wanted = fmt::format("a whole number from {}", least);
  if (!node.IsScalar()) wrong_type(node, what, wanted);
  const std::string& value = node.Scalar();
  std::int64_t result = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (error != std::errc() || end != value.data() + value.size() || result < least)
    wrong_type(node, what, wanted);
  return result;
}

int TunedFileReader::small(const Node& node, std::string_view what, int least) const {
  constexpr int kMost = 1'000'000;
  const std::int64_t value = whole(node, what, least);
  if (value > kMost) wrong_type(node, what, fmt::format("from {} to {}", least, kMost));
  return static_cast<int>(value);
}

bool TunedFileReader::truth(const Node& node, std::string_view what) const {
  if (node.IsScalar() && node.Scalar() == "true") return true;
  if (!node.IsScalar() || node.Scalar() != "false") wrong_type(node, what, "true or false");
  return false;
}

std::vector<std::string> TunedFileReader::texts(const Node& node, std::string_view what) const {
  if (!node.IsSequence()) wrong_type(node, what, "a list");
  std::vector<std::string> all;
  for (const Node& each : node) all.push_back(text(each, fmt::format("an entry of {}", what)));
  return all;
}

void TunedFileReader::read_stages(const Node& node, TunedFile& file) const {
  each_entry(node, "stages", [&](const std::string& name, const Node& values) {
    TunedFile::Stage stage;
    stage.name = name;
    const std::string what = "stage '" + name + "'";
    each_key(values, what,
             {{"workers", [&](const Node& n) { stage.workers = small(n, "workers", 1); }},
              {"target", [&](const Node& n) { stage.target = number(n, "target", 0); }},
              {"cap", [&](const Node& n) { stage.cap = small(n, "cap", 1); }},
              {"packet", [&](const Node& n) { stage.packet_items = whole(n, "packet", 1); }}});
    if (!stage.workers && !stage.target)
      complain(values.Mark(), what + " has neither 'workers' nor 'target'; give one of them");
    file.stages.push_back(std::move(stage));
  });
  if (file.stages.empty()) complain(node.Mark(), "'stages' is empty; list the pipeline's stages");
}

void TunedFileReader::read_groups(const Node& node, TunedFile& file) const {
  if (!node.IsSequence()) wrong_type(node, "groups", "a list");
  for (const Node& each : node) {
    TunedFile::Group group;
    each_key(each, "a group",
             {{"stages", [&](const Node& n) { group.stages = texts(n, "stages"); }},
              {"workers", [&](const Node& n) { group.workers = small(n, "workers", 1); }}});
    if (group.stages.size() < 2) complain(each.Mark(), "a group needs at least two stages");
    file.groups.push_back(std::move(group));
  }
}

void TunedFileReader::read_queues(const Node& node, TunedFile& file) const {
  each_entry(node, "queues", [&](const std::string& name, const Node& values) {
    TunedFile::Queue queue{name, 0};
    each_key(values, "queue '" + name + "'",
             {{"items", [&](const Node& n) { queue.items = whole(n, "items", 1); }}});
    if (queue.items == 0) complain(values.Mark(), "queue '" + name + "' has no 'items'");
    file.queues.push_back(std::move(queue));
  });
}

TunedFile::StageEvidence TunedFileReader::stage_evidence(const std::string& name,
                                                         const Node& node) const {
  TunedFile::StageEvidence seen;
  seen.name = name;
  const auto levels = [&](const Node& list) {
    if (!list.IsSequence()) wrong_type(list, "levels", "a list of [running, service_time_us]");
    for (const Node& pair : list) {
      if (!pair.IsSequence() || pair.size() != 2)
        wrong_type(pair, "a level", "a pair [running, service_time_us]");
      seen.levels.emplace_back(number(pair[0], "a level's running workers", 0),
                               number(pair[1], "a level's service time", 0));
    }
  };
  each_key(
      node, "evidence of stage '" + name + "'",
      {{"service_time_us",
        [&](const Node& n) { seen.service_time_us = number(n, "service_time_us", 0); }},
       {"cv", [&](const Node& n) { seen.cv = number(n, "cv", 0); }},
       {"samples",
        [&](const Node& n) { seen.samples = static_cast<std::uint64_t>(whole(n, "samples", 0)); }},
       {"visits", [&](const Node& n) { seen.visits = number(n, "visits", 0); }},
       {"levels", levels},
       {"blocked_share",
        [&](const Node& n) { seen.blocked_share = number(n, "blocked_share", 0); }},
       {"hint", [&](const Node& n) { seen.hint = text(n, "hint"); }},
       {"bytes_out", [&](const Node& n) {
          seen.bytes_out = static_cast<std::uint64_t>(whole(n, "bytes_out", 0));
        }}});
  return seen;
}

void TunedFileReader::read_evidence(const Node& node, TunedFile& file) const {
  TunedFile::Evidence& all = file.evidence;
  const auto consumer = [&](const Node& map) {
    each_key(map, "consumer",
             {{"rate_per_second",
               [&](const Node& n) { all.consumer_rate_per_second = number(n, "the rate", 0); }},
              {"wait_share",
               [&](const Node& n) { all.consumer_wait_share = number(n, "wait_share", 0); }}});
  };
  const auto throughput = [&](const Node& map) {
    each_key(
        map, "throughput",
        {{"items_per_second",
          [&](const Node& n) { all.items_per_second = number(n, "items_per_second", 0); }},
         {"bound_shared", [&](const Node& n) { all.bound_shared = number(n, "bound_shared", 0); }},
         {"bound_whole", [&](const Node& n) { all.bound_whole = number(n, "bound_whole", 0); }},
         {"label", [&](const Node& n) { all.label = text(n, "label"); }},
         {"disk_share", [&](const Node& n) { all.disk_share = number(n, "disk_share", 0); }}});
  };
  const auto host = [&](const Node& map) {
    HostFigures& own = all.host.emplace();
    each_key(
        map, "host",
        {{"cpu_wait_share",
          [&](const Node& n) { own.cpu_wait_share = number(n, "cpu_wait_share", 0); }},
         {"switches_per_cpu_second",
          [&](const Node& n) { own.switches_per_cpu_second = number(n, "switches", 0); }},
         {"throttled_share",
          [&](const Node& n) { own.throttled_share = number(n, "throttled_share", 0); }},
         {"others_cores", [&](const Node& n) { own.others_cores = number(n, "others_cores", 0); }},
         {"idle_cores", [&](const Node& n) { own.idle_cores = number(n, "idle_cores", 0); }},
         {"cpu_pressure", [&](const Node& n) { own.cpu_pressure = number(n, "cpu_pressure", 0); }},
         {"contended_shares", [&](const Node& shares) {
            each_entry(shares, "contended_shares", [&](const std::string& by, const Node& n) {
              own.contended_shares[by] = number(n, "a share", 0);
            });
          }}});
  };
  const auto stages = [&](const Node& map) {
    each_entry(map, "evidence.stages", [&](const std::string& name, const Node& values) {
      all.stages.push_back(stage_evidence(name, values));
    });
  };
  each_key(
      node, "evidence",
      {{"consumer", consumer}, {"throughput", throughput}, {"host", host}, {"stages", stages}});
}

TunedFile TunedFileReader::read(const std::string& text_of_file) {
  lines_ = std::count(text_of_file.begin(), text_of_file.end(), '\n');
  Node root;
  try {
    root = YAML::Load(text_of_file);
  } catch (const YAML::Exception& error) {
    if (error.mark.is_null()) complain_at_end("this is not YAML: " + error.msg);
    complain(error.mark, fmt::format("this is not YAML, or the file is truncated: {}", error.msg));
  }
  if (root.IsNull()) complain_at_end("the file is empty; write it with weir tune");
  TunedFile file;
  file.path = path_;
  bool versioned = false;
  const auto version = [&](const Node& n) {
    if (whole(n, "weir_tuned", 0) != kVersion)
      complain(n.Mark(),
               fmt::format("the file has version {}; this weir reads version {}: tune anew",
                           n.Scalar(), kVersion));
    versioned = true;
  };
  const auto pipeline = [&](const Node& map) {
    PipelineIdentity& own = file.pipeline.emplace();
    each_key(map, "pipeline",
             {{"name", [&](const Node& n) { own.name = text(n, "name"); }},
              {"structure", [&](const Node& n) { own.structure = text(n, "structure"); }}});
  };
  const auto machine = [&](const Node& map) {
    MachineIdentity& own = file.machine.emplace();
    each_key(map, "machine",
             {{"cpu", [&](const Node& n) { own.cpu = text(n, "cpu"); }},
              {"threads", [&](const Node& n) { own.threads = small(n, "threads", 1); }},
              {"cores", [&](const Node& n) { own.cores = small(n, "cores", 0); }},
              {"nodes", [&](const Node& n) { own.nodes = small(n, "nodes", 0); }},
              {"quota", [&](const Node& n) { own.quota = text(n, "quota"); }},
              {"memory", [&](const Node& n) { own.memory = text(n, "memory"); }},
              {"fingerprint", [&](const Node& n) { own.fingerprint = text(n, "fingerprint"); }}});
  };
  const auto budget = [&](const Node& map) {
    each_key(map, "budget",
             {{"threads", [&](const Node& n) { file.budget.threads = small(n, "threads", 1); }},
              {"active", [&](const Node& n) { file.budget.active = small(n, "active", 1); }},
              {"memory", [&](const Node& n) { file.budget.memory = text(n, "memory"); }},
              {"strict", [&](const Node& n) { file.budget.strict = truth(n, "strict"); }}});
  };
  const auto placement = [&](const Node& map) {
    each_key(map, "placement",
             {{"mode",
               [&](const Node& n) {
                 file.placement_mode = text(n, "mode");
                 if (!parse_placement_mode(file.placement_mode))
                   wrong_type(n, "mode", "none, cache_domain, core or node");
               }},
              {"workers", [&](const Node& n) {
                 file.placement_workers = texts(n, "workers");
                 for (const Node& each : n)
                   if (CpuSet::parse(each.Scalar()).value_or(CpuSet{}).empty())
                     wrong_type(each, "a worker's place", "a list of CPUs, as 0-3,8");
               }}});
  };
  const auto written = [&](const Node& map) {
    TunedFile::Written& own = file.written.emplace();
    each_key(map, "written",
             {{"by", [&](const Node& n) { own.by = text(n, "by"); }},
              {"policy", [&](const Node& n) { own.policy = text(n, "policy"); }},
              {"at", [&](const Node& n) { own.at = text(n, "at"); }},
              {"settled", [&](const Node& n) { own.settled = truth(n, "settled"); }},
              {"seconds", [&](const Node& n) { own.seconds = number(n, "seconds", 0); }},
              {"moves", [&](const Node& n) { own.moves = small(n, "moves", 0); }}});
  };
  each_key(root, "a tuned file",
           {{"weir_tuned", version},
            {"pipeline", pipeline},
            {"machine", machine},
            {"budget", budget},
            {"stages", [&](const Node& n) { read_stages(n, file); }},
            {"groups", [&](const Node& n) { read_groups(n, file); }},
            {"queues", [&](const Node& n) { read_queues(n, file); }},
            {"placement", placement},
            {"evidence", [&](const Node& n) { read_evidence(n, file); }},
            {"written", written}});
  if (!versioned)
    complain(root.Mark(),
             "this is no tuned file: it has no 'weir_tuned: 1'; was a pipeline given?");
  // weir writes 'written' last, so a file of weir without it has lost its end.
  if ((file.pipeline || file.machine) && !file.written)
    complain_at_end(
        "the file is truncated: 'written' is missing; tune anew (a file made by hand has "
        "neither 'pipeline' nor 'machine')");
  if (file.stages.empty()) complain_at_end("'stages' is missing; list each stage with its workers");
  return file;
}

}  // namespace

TunedFile parse_tuned_file(const std::string& text, const std::string& path) {
  if (text.size() > kMostBytes)
    throw Error(
        ErrorKind::usage, path,
        fmt::format("the file has {} bytes, a tuned file at most {}; was another file given?",
                    text.size(), kMostBytes));
  return TunedFileReader(path).read(text);
}

TunedFile read_tuned_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    throw Error(ErrorKind::usage, path,
                fmt::format("the tuned file cannot be opened: {}; write one with weir tune",
                            std::strerror(errno)));
  // One byte more than allowed shows a file that is too large, without reading all of it.
  std::string text(kMostBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad() || (stream.fail() && !stream.eof()))
    throw Error(ErrorKind::usage, path,
                fmt::format("the tuned file cannot be read: {}", std::strerror(errno)));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return parse_tuned_file(text, path);
}

}  // namespace weir
