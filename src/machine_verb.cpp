#include <string>

#include <fmt/format.h>

#include <weir/memory_limit.hpp>
#include <weir/thread_budget.hpp>

#include "src/quantity_text.hpp"
#include "src/standard_output.hpp"
#include "src/verb.hpp"

namespace weir::program {

int machine_verb(const CommandLine&, SignalWatch&) {
  const ThreadBudget budget = derive_thread_budget();
  std::string text =
      budget.refusal ? fmt::format("threads: none: {}\n", budget.refusal->message)
                     : fmt::format("threads: {} ({})\n", budget.threads, to_string(budget.source));
  for (const std::string& step : budget.derivation) text += "  " + step + "\n";
  const MemoryLimit memory = derive_memory_limit();
  text += fmt::format("memory: {} ({})\n", bytes_text(memory.bytes), to_string(memory.source));
  for (const std::string& step : memory.derivation) text += "  " + step + "\n";
  text += "topology, devices and the plan of worker places: not in this version\n";
  write_output(text);
  return budget.refusal ? static_cast<int>(budget.refusal->kind) : 0;
}

}  // namespace weir::program
