#include "machine/memory_nodes.hpp"

#include "machine/system_file.hpp"

#include <string_view>

namespace weir {
namespace {

/// "Node 0 MemFree:  123 kB" in a node's meminfo.
std::optional<std::uint64_t> bytes_of(std::string_view text, std::string_view key) {
  for (const std::string_view line : detail::lines_of(text)) {
    const std::size_t at = line.find(key);
    if (at == std::string_view::npos) continue;
    const std::optional<std::uint64_t> kib = detail::find_number(line.substr(at), key);
    if (kib) return *kib * 1024;
  }
  return std::nullopt;
}

}  // namespace

std::vector<MemoryNode> read_memory_nodes(const std::string& root) {
  std::vector<MemoryNode> nodes;
  const std::string folder = "/sys/devices/system/node";
  const auto online = detail::read_system_file(root, folder + "/online");
  const std::optional<CpuSet> numbers = online ? CpuSet::parse(*online) : std::nullopt;
  if (!numbers) return nodes;
  for (const int number : numbers->cpus()) {
    MemoryNode node;
    node.number = number;
    const std::string own = folder + "/node" + std::to_string(number);
    if (const auto list = detail::read_system_file(root, own + "/cpulist"))
      node.cpus = CpuSet::parse(*list).value_or(CpuSet{});
    if (const auto text = detail::read_system_file(root, own + "/meminfo")) {
      node.total_bytes = bytes_of(*text, "MemTotal");
      node.free_bytes = bytes_of(*text, "MemFree");
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

}  // namespace weir
