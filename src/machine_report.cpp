#include "src/machine_report.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <sched.h>
#include <nlohmann/json.hpp>

#include "src/quantity_text.hpp"
#include "src/text_table.hpp"

namespace weir::program {
namespace {

using Json = nlohmann::ordered_json;

std::string counted(int count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// The cores of one kind in one cache domain.
struct CoreGroup {
  CpuSet cpus;
  int cores = 0;
  int efficiency = 0;
};

struct DomainView {
  CpuSet cpus;
  std::vector<CoreGroup> groups;  // fast ones first
};

struct NodeView {
  int number = 0;
  std::vector<DomainView> domains;
};

CoreGroup group_of(const std::vector<ProcessingUnit>& units) {
  CoreGroup group;
  std::set<int> cores;
  std::vector<int> cpus;
  for (const ProcessingUnit& unit : units) {
    cores.insert(unit.core);
    cpus.push_back(unit.cpu);
    group.efficiency = unit.efficiency;
  }
  group.cores = static_cast<int>(cores.size());
  group.cpus = CpuSet(std::move(cpus));
  return group;
}

std::vector<NodeView> nodes_of(const Topology& topology) {
  using Units = std::vector<ProcessingUnit>;
  std::map<int, std::map<int, std::map<int, Units>>> tree;  // node, domain, kind
  for (const ProcessingUnit& unit : topology.units)
    tree[unit.node][unit.cache_domain][-unit.efficiency].push_back(unit);
  std::vector<NodeView> nodes;
  for (const auto& [node, domains] : tree) {
    NodeView& seen = nodes.emplace_back();
    const auto at = static_cast<std::size_t>(node);
    seen.number = at < topology.node_numbers.size() ? topology.node_numbers[at] : node;
    for (const auto& [domain, kinds] : domains) {
      DomainView& part = seen.domains.emplace_back();
      std::vector<int> cpus;
      for (const auto& [kind, units] : kinds) {
        part.groups.push_back(group_of(units));
        for (const ProcessingUnit& unit : units) cpus.push_back(unit.cpu);
      }
      part.cpus = CpuSet(std::move(cpus));
    }
  }
  return nodes;
}

const MemoryNode* memory_of(const MachineReport& report, int number) {
  for (const MemoryNode& node : report.nodes)
    if (node.number == number) return &node;
  return nullptr;
}

std::string memory_words(const MemoryNode& node) {
  if (!node.total_bytes) return "";
  std::string text = bytes_text(*node.total_bytes);
  if (node.free_bytes) text += ", " + bytes_text(*node.free_bytes) + " free";
  return text;
}

/// "4 cores, 8 CPUs (0-7)"; kinds of core apart where there are several.
std::string domain_words(const DomainView& domain) {
  std::string text;
  for (std::size_t i = 0; i < domain.groups.size(); ++i) {
    const CoreGroup& group = domain.groups[i];
    const char* kind = domain.groups.size() < 2 ? "" : i == 0 ? "fast " : "slower ";
    if (!text.empty()) text += "; ";
    text += fmt::format("{} {}core{}, {} ({})", group.cores, kind, group.cores == 1 ? "" : "s",
                        counted(group.cpus.size(), "CPU"), group.cpus.to_string());
  }
  return text;
}

std::string topology_text(const MachineReport& report) {
  const Topology& topology = report.topology;
  std::string text = fmt::format(
      "topology: {}, {}, {}, {}{}\n", counted(static_cast<int>(topology.units.size()), "CPU"),
      counted(topology.cores, "core"), counted(topology.cache_domains, "cache domain"),
      counted(topology.nodes, "node"),
      topology.cpu_model.empty() ? "" : " (" + topology.cpu_model + ")");
  std::set<int> shown;
  for (const NodeView& node : nodes_of(topology)) {
    shown.insert(node.number);
    const MemoryNode* memory = memory_of(report, node.number);
    const std::string words = memory == nullptr ? "" : memory_words(*memory);
    text += fmt::format("  node {}{}\n", node.number, words.empty() ? "" : ": " + words);
    for (const DomainView& domain : node.domains)
      text += fmt::format("    cache domain: {}\n", domain_words(domain));
  }
  for (const MemoryNode& node : report.nodes) {
    if (shown.count(node.number) != 0) continue;
    text += fmt::format("  node {}: {}{}\n", node.number,
                        node.cpus.empty() ? "memory without CPUs" : "outside of the mask",
                        node.total_bytes ? ", " + memory_words(node) : "");
  }
  return text;
}

std::string devices_text(const MachineReport& report) {
  std::string text;
  for (const GraphicsDevice& device : report.devices)
    text += fmt::format("  {}  {}{}, {}\n", device.bus_id, device.vendor,
                        device.model.empty() ? "" : " " + device.model,
                        device.node ? fmt::format("node {}", *device.node) : "node not known");
  return "devices:" + (text.empty() ? " none on the PCI bus\n" : "\n" + text);
}

std::string findings_text(const MachineReport& report) {
  if (report.findings.empty()) return "host: nothing found that costs speed\n";
  std::string text = "host: found to cost speed\n";
  for (const HostFinding& finding : report.findings)
    text += fmt::format("  {}: {}\n    {}\n", finding.what, finding.detail, finding.advice);
  return text;
}

/// The kernel's number of the node of a place; nullopt where it spans several.
std::optional<int> node_number(const MachineReport& report, const WorkerPlace& place) {
  const auto index = static_cast<std::size_t>(std::max(0, place.node));
  if (place.node < 0 || index >= report.topology.node_numbers.size()) return std::nullopt;
  return report.topology.node_numbers[index];
}

/// Workers with the same place stand in one row.
std::string places_text(const MachineReport& report) {
  const PlacementPlan& plan = report.placement;
  if (plan.places.empty()) return "places: none, no thread is allowed\n";
  std::string text = fmt::format("places: by {}", to_string(plan.mode));
  if (!plan.note.empty()) text += " (" + plan.note + ")";
  if (report.taken > 0)
    text += fmt::format("; {} held by other processes of weir", counted(report.taken, "place"));
  text += "\n";
  if (plan.mode == PlacementMode::none) return text + "  workers run where the system puts them\n";
  TextTable table({"workers", "CPUs", "node"}, {0, 1});
  for (std::size_t first = 0; first < plan.places.size();) {
    std::size_t end = first + 1;
    while (end < plan.places.size() && plan.places[end].cpus == plan.places[first].cpus) ++end;
    const WorkerPlace& place = plan.places[first];
    const std::optional<int> node = node_number(report, place);
    table.add({end - first == 1 ? std::to_string(first) : fmt::format("{}-{}", first, end - 1),
               place.cpus.to_string(), node ? std::to_string(*node) : "several"});
    first = end;
  }
  const std::string rows = table.text();
  for (std::size_t at = 0; at < rows.size();) {
    const std::size_t end = std::min(rows.find('\n', at), rows.size());
    text += "  " + rows.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return text;
}

Json optional_json(const auto& value) { return value ? Json(*value) : Json(nullptr); }

Json nodes_json(const MachineReport& report) {
  Json nodes = Json::array();
  for (const NodeView& node : nodes_of(report.topology)) {
    Json domains = Json::array();
    for (const DomainView& domain : node.domains) {
      Json cores = Json::array();
      for (const CoreGroup& group : domain.groups)
        cores.push_back({{"cores", group.cores},
                         {"cpus", group.cpus.to_string()},
                         {"efficiency", group.efficiency}});
      domains.push_back({{"cpus", domain.cpus.to_string()}, {"kinds", std::move(cores)}});
    }
    Json row{{"node", node.number}, {"cache_domains", std::move(domains)}};
    const MemoryNode* memory = memory_of(report, node.number);
    row["total_bytes"] = memory == nullptr ? Json(nullptr) : optional_json(memory->total_bytes);
    row["free_bytes"] = memory == nullptr ? Json(nullptr) : optional_json(memory->free_bytes);
    nodes.push_back(std::move(row));
  }
  return nodes;
}

}  // namespace

MachineReport make_machine_report(const MachineView& view, const Topology& whole,
                                  PlacementMode mode, const std::vector<int>& taken) {
  MachineReport report;
  report.budget = derive_thread_budget({}, view);
  report.memory = derive_memory_limit(std::nullopt, view);
  report.topology = whole.restricted_to(report.budget.mask);
  report.nodes = read_memory_nodes(view.root);
  report.devices = read_graphics_devices(view.root);
  report.findings = find_host_hindrances(report.budget, report.topology.nodes, view);
  PlacementRequest request = placement_request(report.budget, mode);
  request.taken = taken;
  const int cpu = ::sched_getcpu();
  if (cpu >= 0) request.consumer_cpu = cpu;
  report.placement = plan_placement(report.topology, report.budget.mask, request);
  report.taken = static_cast<int>(taken.size());
  return report;
}

std::string machine_text(const MachineReport& report) {
  const ThreadBudget& budget = report.budget;
  std::string text =
      budget.refusal ? fmt::format("threads: none: {}\n", budget.refusal->message)
                     : fmt::format("threads: {} ({})\n", budget.threads, to_string(budget.source));
  for (const std::string& step : budget.derivation) text += "  " + step + "\n";
  text += fmt::format("memory: {} ({})\n", bytes_text(report.memory.bytes),
                      to_string(report.memory.source));
  for (const std::string& step : report.memory.derivation) text += "  " + step + "\n";
  return text + topology_text(report) + devices_text(report) + findings_text(report) +
         places_text(report);
}

nlohmann::ordered_json machine_json(const MachineReport& report) {
  const ThreadBudget& budget = report.budget;
  Json devices = Json::array();
  for (const GraphicsDevice& device : report.devices)
    devices.push_back({{"bus_id", device.bus_id},
                       {"vendor", device.vendor},
                       {"model", device.model},
                       {"node", optional_json(device.node)}});
  Json findings = Json::array();
  for (const HostFinding& finding : report.findings)
    findings.push_back(
        {{"what", finding.what}, {"detail", finding.detail}, {"advice", finding.advice}});
  Json places = Json::array();
  for (const WorkerPlace& place : report.placement.places)
    places.push_back({{"worker", place.worker},
                      {"cpus", place.cpus.empty() ? Json(nullptr) : Json(place.cpus.to_string())},
                      {"node", optional_json(node_number(report, place))}});
  const Topology& topology = report.topology;
  return {
      {"threads", budget.threads},
      {"source", to_string(budget.source)},
      {"refusal", budget.refusal ? Json(budget.refusal->message) : Json(nullptr)},
      {"allowed", budget.allowed},
      {"mask", budget.mask.to_string()},
      {"quota", optional_json(budget.quota)},
      {"quota_file", budget.quota ? Json(budget.quota_file) : Json(nullptr)},
      {"ranks",
       {{"rank", budget.ranks.rank}, {"size", budget.ranks.size}, {"divide", budget.ranks_divide}}},
      {"derivation", budget.derivation},
      {"memory",
       {{"bytes", report.memory.bytes},
        {"source", to_string(report.memory.source)},
        {"derivation", report.memory.derivation}}},
      {"topology",
       {{"cpu", topology.cpu_model},
        {"cpus", topology.units.size()},
        {"cores", topology.cores},
        {"cache_domains", topology.cache_domains},
        {"nodes", nodes_json(report)}}},
      {"devices", std::move(devices)},
      {"findings", std::move(findings)},
      {"placement",
       {{"mode", to_string(report.placement.mode)},
        {"note", report.placement.note.empty() ? Json(nullptr) : Json(report.placement.note)},
        {"taken", report.taken},
        {"workers", std::move(places)}}}};
}

}  // namespace weir::program
