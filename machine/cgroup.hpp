#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weir::detail {

/// The two kinds of cgroup hierarchy; a machine may mount both.
enum class CgroupVersion { one, two };

/// Where the control groups of this process lie.
///
/// Limits of every ancestor bind, not the own group's alone, so a lookup gives the whole way up as
/// far as it is visible. What is visible depends on the mount: inside a container /proc/self/cgroup
/// may name the path on the host while only the container's part of the tree is mounted, or both
/// are seen from a cgroup namespace, whose paths may begin with "/..".
///
/// **Thread safety**: immutable once made.
class Cgroups {
 public:
  /// Reads /proc/self/cgroup and /proc/self/mountinfo under `root`. What cannot be read or makes no
  /// sense is as if it were not there.
  explicit Cgroups(const std::string& root);

  /// The folders of the own group and of its visible ancestors, the own first, as paths without the
  /// root. `controller` matters to version one only: there each has a tree of its own.
  [[nodiscard]] std::vector<std::string> folders(CgroupVersion version,
                                                 std::string_view controller) const;

 private:
  struct Membership {
    CgroupVersion version;
    std::vector<std::string> controllers;
    std::string path;
  };
  struct Mount {
    CgroupVersion version;
    std::vector<std::string> controllers;
    std::string root;  // the path within the hierarchy that is mounted
    std::string point;
  };
  void read_memberships(std::string_view text);
  void read_mounts(std::string_view text);

  std::vector<Membership> memberships_;
  std::vector<Mount> mounts_;
};

}  // namespace weir::detail
