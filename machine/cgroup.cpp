#include "machine/cgroup.hpp"

#include "machine/system_file.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace weir::detail {
namespace {

std::vector<std::string> copies(const std::vector<std::string_view>& views) {
  return {views.begin(), views.end()};
}

std::vector<std::string> path_parts(std::string_view path) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(path, '/')) {
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

/// Undoes the octal escapes of mountinfo: "\040" is a blank.
std::string unescaped(std::string_view text) {
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) && is_octal(text[i + 2]) &&
        is_octal(text[i + 3])) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                 (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

/// The names that lead from a mount's root down to the group at `path`; nullopt if the mount does
/// not show that group nor an ancestor of it. Both may begin with ".." parts, as seen from a
/// namespace.
std::optional<std::vector<std::string>> way_down(const std::string& mount_root,
                                                 const std::string& path) {
  const std::vector<std::string> root = path_parts(mount_root);
  std::vector<std::string> group = path_parts(path);
  std::size_t same = 0;
  while (same < root.size() && same < group.size() && root[same] == group[same]) ++same;
  if (same == root.size()) {
    // Deeper ".." parts after the root: the group lies beside or above what is mounted.
    if (same < group.size() && group[same] == "..") return std::nullopt;
    group.erase(group.begin(), group.begin() + static_cast<std::ptrdiff_t>(same));
    return group;
  }
  // A root further up than the group: an ancestor, but the names in between are not known. Only the
  // mount point itself can be looked at.
  const bool root_is_above = std::all_of(root.begin() + static_cast<std::ptrdiff_t>(same),
                                         root.end(), [](const auto& part) { return part == ".."; });
  const bool only_up = std::all_of(root.begin(), root.begin() + static_cast<std::ptrdiff_t>(same),
                                   [](const auto& part) { return part == ".."; });
  if (root_is_above && only_up) return std::vector<std::string>{};
  return std::nullopt;
}

}  // namespace

Cgroups::Cgroups(const std::string& root) {
  if (const auto text = read_system_file(root, "/proc/self/cgroup")) read_memberships(*text);
  if (const auto text = read_system_file(root, "/proc/self/mountinfo")) read_mounts(*text);
}

void Cgroups::read_memberships(std::string_view text) {
  // "4:memory:/docker/1f2e" or, for version two, "0::/docker/1f2e". A path may hold colons.
  for (const std::string_view line : lines_of(text)) {
    const std::size_t first = line.find(':');
    if (first == std::string_view::npos) continue;
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view path = line.substr(second + 1);
    if (!path.starts_with('/')) continue;
    const CgroupVersion version = controllers.empty() ? CgroupVersion::two : CgroupVersion::one;
    memberships_.push_back({version, copies(split(controllers, ',')), std::string(path)});
  }
}

void Cgroups::read_mounts(std::string_view text) {
  // "32 31 0:29 /docker/1f2e /sys/fs/cgroup/cpu ro,relatime - cgroup cgroup rw,cpu,cpuacct";
  // between the mount options and the dash stands any number of optional fields.
  for (const std::string_view line : lines_of(text)) {
    const std::vector<std::string_view> fields = split(line, ' ');
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    if (dash - fields.begin() < 6 || fields.end() - dash < 4) continue;
    const std::string_view kind = dash[1];
    if (kind != "cgroup" && kind != "cgroup2") continue;
    const CgroupVersion version = kind == "cgroup2" ? CgroupVersion::two : CgroupVersion::one;
    mounts_.push_back(
        {version, copies(split(dash[3], ',')), unescaped(fields[3]), unescaped(fields[4])});
  }
}

std::vector<std::string> Cgroups::folders(CgroupVersion version,
                                          std::string_view controller) const {
  const auto concerned = [&](CgroupVersion its, const std::vector<std::string>& controllers) {
    if (its != version) return false;
    return version == CgroupVersion::two ||
           std::find(controllers.begin(), controllers.end(), controller) != controllers.end();
  };
  std::vector<std::string> found;
  for (const Membership& membership : memberships_) {
    if (!concerned(membership.version, membership.controllers)) continue;
    for (const Mount& mount : mounts_) {
      if (!concerned(mount.version, mount.controllers)) continue;
      std::optional<std::vector<std::string>> parts = way_down(mount.root, membership.path);
      if (!parts) continue;
      for (;; parts->pop_back()) {
        std::string folder = mount.point;
        for (const std::string& part : *parts) folder += '/' + part;
        // The same tree may be mounted twice.
        if (std::find(found.begin(), found.end(), folder) == found.end()) {
          found.push_back(std::move(folder));
        }
        if (parts->empty()) break;
      }
    }
  }
  return found;
}

}  // namespace weir::detail
