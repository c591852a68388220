#include "machine/thread_binding.hpp"

#include <weir/machine_view.hpp>

#include <cerrno>
#include <cstddef>
#include <utility>
#include <vector>

#include <sched.h>

namespace weir {
namespace {

/// The kernel answers EINVAL to a mask shorter than its own; how long that is it does not say.
constexpr std::size_t kFirstMaskCpus = 1024;
constexpr std::size_t kLastMaskCpus = std::size_t{1} << 20;

}  // namespace

std::string_view to_string(BindResult result) {
  switch (result) {
    case BindResult::pinned:
      return "pinned";
    case BindResult::outside:
      return "outside of what this process may use";
    case BindResult::not_permitted:
      return "not permitted";
    case BindResult::not_supported:
      return "not supported";
    case BindResult::mismatch:
      return "accepted but not done";
  }
  return "unknown";
}

BindResult bind_this_thread(const CpuSet& cpus) {
  if (cpus.empty()) return BindResult::outside;
  const std::size_t size = static_cast<std::size_t>(cpus.cpus().back()) + 1;
  cpu_set_t* const mask = CPU_ALLOC(size);
  if (mask == nullptr) return BindResult::not_supported;
  const std::size_t bytes = CPU_ALLOC_SIZE(size);
  CPU_ZERO_S(bytes, mask);
  for (const int cpu : cpus.cpus()) CPU_SET_S(static_cast<std::size_t>(cpu), bytes, mask);
  const int error = sched_setaffinity(0, bytes, mask) == 0 ? 0 : errno;
  CPU_FREE(mask);
  if (error == EINVAL) return BindResult::outside;
  if (error == EPERM || error == EACCES) return BindResult::not_permitted;
  if (error != 0) return BindResult::not_supported;
  const CpuSet now = thread_affinity();
  return !now.empty() && (now & cpus) == now ? BindResult::pinned : BindResult::mismatch;
}

CpuSet affinity_of_thread(int thread) {
  for (std::size_t size = kFirstMaskCpus; size <= kLastMaskCpus; size *= 2) {
    cpu_set_t* const mask = CPU_ALLOC(size);
    if (mask == nullptr) return {};
    const std::size_t bytes = CPU_ALLOC_SIZE(size);
    CPU_ZERO_S(bytes, mask);
    const bool read = sched_getaffinity(thread, bytes, mask) == 0;
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
