#include <weir/machine_view.hpp>

#include <cerrno>
#include <cstdlib>
#include <utility>
#include <vector>

#include <sched.h>

namespace weir {
namespace {

/// The kernel answers EINVAL to a mask shorter than its own; how long that is it does not say.
constexpr std::size_t kFirstMaskCpus = 1024;
constexpr std::size_t kLastMaskCpus = std::size_t{1} << 20;

}  // namespace

EnvironmentLookup process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* const value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return std::string(value);
  };
}

CpuSet thread_affinity() {
  for (std::size_t size = kFirstMaskCpus; size <= kLastMaskCpus; size *= 2) {
    cpu_set_t* const mask = CPU_ALLOC(size);
    if (mask == nullptr) return {};
    const std::size_t bytes = CPU_ALLOC_SIZE(size);
    CPU_ZERO_S(bytes, mask);
    const bool read = sched_getaffinity(0, bytes, mask) == 0;
    const bool too_short = !read && errno == EINVAL;
    std::vector<int> cpus;
    for (std::size_t cpu = 0; read && cpu < size; ++cpu) {
      if (CPU_ISSET_S(cpu, bytes, mask)) cpus.push_back(static_cast<int>(cpu));
    }
    CPU_FREE(mask);
    if (!too_short) return CpuSet(std::move(cpus));
  }
  return {};
}

}  // namespace weir
