#include <weir/machine_view.hpp>

#include "machine/thread_binding.hpp"

#include <cstdlib>

namespace weir {

EnvironmentLookup process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* const value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return std::string(value);
  };
}

CpuSet thread_affinity() { return affinity_of_thread(0); }

}  // namespace weir
