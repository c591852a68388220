#pragma once

#include <weir/cpu_set.hpp>

#include <string_view>

namespace weir {

/// The answer to a wish to be bound. Whatever it is, the run goes on; all but `pinned` are said
/// once.
enum class BindResult {
  pinned,         ///< read back: the thread runs within the set
  outside,        ///< no CPU of the set is one that this process may use (EINVAL)
  not_permitted,  ///< the system call is refused here (EPERM)
  not_supported,  ///< there is no such system call here
  mismatch,       ///< the call succeeded but the mask read back reaches beyond the set
};

[[nodiscard]] std::string_view to_string(BindResult result);

/// Binds the calling thread to `cpus` and reads the mask back: some sandboxes accept the call and
/// do nothing, and the kernel silently drops CPUs outside the cpuset.
///
/// Requires: `cpus` is not empty.
[[nodiscard]] BindResult bind_this_thread(const CpuSet& cpus);

/// The CPUs on which a thread may run, by the kernel's number of the thread, 0 for the calling one;
/// empty where it is gone.
[[nodiscard]] CpuSet affinity_of_thread(int thread);

}  // namespace weir
