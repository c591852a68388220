#include <vector>

#include <nlohmann/json.hpp>

#include <weir/machine_view.hpp>

#include "machine/place_registry.hpp"
#include "machine/topology.hpp"
#include "src/machine_report.hpp"
#include "src/standard_output.hpp"
#include "src/summary_json.hpp"
#include "src/verb.hpp"

namespace weir::program {

int machine_verb(const CommandLine& line, SignalWatch&) {
  constexpr PlacementMode kModes[] = {PlacementMode::none, PlacementMode::cache_domain,
                                      PlacementMode::core, PlacementMode::node};
  PlacementMode mode = PlacementMode::cache_domain;
  if (const auto choice = line.choice("--pin", {"none", "cache_domain", "core", "node"}))
    mode = kModes[*choice];
  const MachineView view;
  // Asked as a run would ask, and nothing entered.
  std::vector<int> taken;
  PlaceRegistry registry(runtime_folder(view));
  (void)registry.settle([&](const std::vector<int>& others) {
    taken = others;
    return std::vector<int>{};
  });
  const MachineReport report = make_machine_report(view, read_topology(), mode, taken);
  write_output(line.has("--json") ? document_text(machine_json(report)) : machine_text(report));
  return report.budget.refusal ? static_cast<int>(report.budget.refusal->kind) : 0;
}

}  // namespace weir::program
