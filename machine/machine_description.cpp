#include "machine/machine_description.hpp"

#include "machine/cgroup.hpp"
#include "machine/cpu_quota.hpp"
#include "machine/system_file.hpp"

#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <xxhash.h>

namespace weir {

MachineDescription describe_machine(const Topology& topology, const MachineView& view) {
  MachineDescription machine;
  if (const auto text = detail::read_system_file(view.root, "/proc/cpuinfo")) {
    machine.cpu_model = detail::find_field(*text, "model name").value_or(std::string_view{});
  }
  if (machine.cpu_model.empty()) machine.cpu_model = topology.cpu_model;
  if (machine.cpu_model.empty()) machine.cpu_model = "unknown";
  machine.threads = static_cast<int>(topology.units.size());
  machine.cores = topology.cores;
  machine.nodes = topology.nodes;
  if (const auto text = detail::read_system_file(view.root, "/proc/meminfo")) {
    machine.memory_bytes = detail::find_number(*text, "MemTotal").value_or(0) * 1024;
  }
  std::vector<std::string> notes;  // the budget's derivation shows them
  machine.quota = detail::find_cpu_quota(view.root, detail::Cgroups(view.root), notes).cpus;
  machine.fingerprint = fingerprint_of(machine);
  return machine;
}

std::string fingerprint_of(const MachineDescription& description) {
  constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30;
  const std::string text = fmt::format(
      "{}|{}|{}|{}|{}|{}", description.cpu_model, description.threads, description.cores,
      description.nodes, (description.memory_bytes + kGibibyte / 2) / kGibibyte,
      description.quota ? fmt::format("{:.2f}", *description.quota) : "none");
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

}  // namespace weir
