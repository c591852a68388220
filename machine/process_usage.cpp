#include "machine/process_usage.hpp"

#include "machine/system_file.hpp"

#include <climits>
#include <memory>
#include <string_view>

#include <dirent.h>

namespace weir {
namespace {

std::optional<int> count_descriptors(const std::string& root) {
  struct Close {
    void operator()(DIR* folder) const { ::closedir(folder); }
  };
  const std::unique_ptr<DIR, Close> folder(
      ::opendir(detail::under_root(root, "/proc/self/fd").c_str()));
  if (!folder) return std::nullopt;
  const std::string own = std::to_string(::dirfd(folder.get()));
  int count = 0;
  while (const dirent* const entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    // The folder's own descriptor shows up in the live tree.
    if (name != "." && name != ".." && !(root == "/" && name == own)) ++count;
  }
  return count;
}

}  // namespace

ProcessUsage read_process_usage(const std::string& root) {
  ProcessUsage usage;
  if (const auto status = detail::read_system_file(root, "/proc/self/status")) {
    const auto bytes = [&](const char* key) -> std::optional<std::uint64_t> {
      const auto kibibytes = detail::find_number(*status, key);
      if (!kibibytes) return std::nullopt;
      return *kibibytes * 1024;
    };
    usage.rss_bytes = bytes("VmRSS");
    usage.peak_rss_bytes = bytes("VmHWM");
    const auto threads = detail::find_number(*status, "Threads");
    if (threads && *threads <= INT_MAX) usage.threads = static_cast<int>(*threads);
  }
  usage.open_descriptors = count_descriptors(root);
  return usage;
}

}  // namespace weir
