#include <weir/memory_limit.hpp>

#include "machine/cgroup.hpp"
#include "machine/system_file.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace weir {
namespace {

constexpr std::uint64_t kShareDivisor = 4;  // a quarter
/// Small enough for any machine that runs this at all, and some batches of images.
constexpr std::uint64_t kUnknownBytes = std::uint64_t{256} << 20;
/// Version one writes "no limit" as the largest page-aligned number; anything near it is that.
constexpr std::uint64_t kUnlimitedBytes = std::uint64_t{1} << 62;

std::string bytes_text(std::uint64_t bytes) {
  constexpr double kMebibyte = 1024.0 * 1024.0;
  const double mebibytes = static_cast<double>(bytes) / kMebibyte;
  if (mebibytes < 1024) return fmt::format("{:.4g} MiB", mebibytes);
  return fmt::format("{:.4g} GiB", mebibytes / 1024);
}

void take_memory_limit(MemoryLimit& limit, const std::string& file, std::string_view text) {
  text = detail::trimmed(text);
  if (text == "max") return;
  const std::optional<std::uint64_t> bytes = detail::parse_number(text);
  if (!bytes || *bytes == 0) {
    limit.derivation.push_back(fmt::format("{}: not understood, no limit taken from it", file));
    return;
  }
  if (*bytes >= kUnlimitedBytes) return;
  if (limit.cgroup_limit_bytes && *limit.cgroup_limit_bytes <= *bytes) return;
  limit.cgroup_limit_bytes = bytes;
  limit.cgroup_file = file;
}

void read_cgroup_limits(MemoryLimit& limit, const std::string& root) {
  using detail::CgroupVersion;
  const detail::Cgroups cgroups(root);
  for (const std::string& folder : cgroups.folders(CgroupVersion::two, "memory")) {
    const std::string file = folder + "/memory.max";
    if (const auto text = detail::read_system_file(root, file)) {
      take_memory_limit(limit, file, *text);
    }
  }
  for (const std::string& folder : cgroups.folders(CgroupVersion::one, "memory")) {
    const std::string file = folder + "/memory.limit_in_bytes";
    if (const auto text = detail::read_system_file(root, file)) {
      take_memory_limit(limit, file, *text);
    }
    // This one counts ancestors that the mount does not show.
    const std::string statistics = folder + "/memory.stat";
    if (const auto text = detail::read_system_file(root, statistics)) {
      const auto field = detail::find_field(*text, "hierarchical_memory_limit");
      if (field) take_memory_limit(limit, statistics, *field);
    }
  }
}

}  // namespace

std::string_view to_string(MemorySource source) {
  switch (source) {
    case MemorySource::cgroup:
      return "cgroup";
    case MemorySource::available:
      return "available";
    case MemorySource::user:
      return "user";
    case MemorySource::unknown:
      return "unknown";
  }
  return "unknown";
}

MemoryLimit derive_memory_limit(std::optional<std::uint64_t> user_bytes, const MachineView& view) {
  MemoryLimit limit;
  read_cgroup_limits(limit, view.root);
  if (limit.cgroup_limit_bytes) {
    limit.derivation.push_back(fmt::format(
        "container's limit: {} ({})", bytes_text(*limit.cgroup_limit_bytes), limit.cgroup_file));
  } else {
    limit.derivation.emplace_back("container's limit: none known");
  }
  if (const auto text = detail::read_system_file(view.root, "/proc/meminfo")) {
    if (const auto kibibytes = detail::find_number(*text, "MemAvailable")) {
      limit.available_bytes = *kibibytes * 1024;
    }
  }
  limit.derivation.push_back(fmt::format(
      "available: {}", limit.available_bytes ? bytes_text(*limit.available_bytes) : "not known"));
  limit.ranks = local_ranks(view.environment, limit.derivation);

  if (user_bytes) {
    limit.bytes = *user_bytes;
    limit.source = MemorySource::user;
  } else if (!limit.cgroup_limit_bytes && !limit.available_bytes) {
    limit.bytes = kUnknownBytes;
    limit.source = MemorySource::unknown;
  } else {
    const bool cgroup_binds =
        limit.cgroup_limit_bytes &&
        (!limit.available_bytes || *limit.cgroup_limit_bytes <= *limit.available_bytes);
    limit.source = cgroup_binds ? MemorySource::cgroup : MemorySource::available;
    const std::uint64_t whole = cgroup_binds ? *limit.cgroup_limit_bytes : *limit.available_bytes;
    limit.bytes = whole / kShareDivisor / static_cast<std::uint64_t>(limit.ranks.size);
    limit.derivation.push_back(fmt::format("a quarter of that, shared by {} local rank{}",
                                           limit.ranks.size, limit.ranks.size == 1 ? "" : "s"));
  }
  limit.derivation.push_back(
      fmt::format("memory: {} (source: {})", bytes_text(limit.bytes), to_string(limit.source)));
  return limit;
}

}  // namespace weir
