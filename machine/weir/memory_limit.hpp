#pragma once

#include <weir/export.hpp>
#include <weir/machine_view.hpp>
#include <weir/ranks.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// What decided the memory limit.
enum class MemorySource {
  cgroup,     ///< a quarter of the container's limit, shared by the local ranks
  available,  ///< a quarter of what the machine has available, shared likewise
  user,       ///< asked for; taken as it is
  unknown,    ///< nothing could be read: a fixed, small bound
};

[[nodiscard]] WEIR_EXPORT std::string_view to_string(MemorySource source);

/// The bytes of payload that all loaders of this process may hold, and how that was found.
///
/// auto = 25 % of min(cgroup limit, available memory) / local ranks. A quarter, because neither
/// figure is free memory: the page cache of the files being read counts against a cgroup's limit
/// (so usage near the limit is normal and is not looked at), and the kernel's "available" counts
/// cache that it would have to drop, the very cache that makes the second epoch fast. Inside a
/// container "available" is still that of the host.
///
/// **Thread safety**: a value.
struct MemoryLimit {
  std::uint64_t bytes = 0;
  MemorySource source = MemorySource::unknown;
  std::optional<std::uint64_t> cgroup_limit_bytes;  ///< least over the own cgroup and its ancestors
  std::string cgroup_file;                          ///< which said so
  std::optional<std::uint64_t> available_bytes;
  Ranks ranks;                          ///< local ones
  std::vector<std::string> derivation;  ///< step by step, for people
};

/// Derives the limit; `user_bytes` is what the user asked for, if anything.
[[nodiscard]] WEIR_EXPORT MemoryLimit derive_memory_limit(
    std::optional<std::uint64_t> user_bytes = std::nullopt, const MachineView& view = {});

}  // namespace weir
