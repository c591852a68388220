#pragma once

#include <weir/machine_view.hpp>

#include <functional>
#include <string>
#include <vector>

namespace weir {

/// The folder in which processes of this user leave word for one another: `weir` in
/// $XDG_RUNTIME_DIR or /run/user/UID, else /tmp/weir-UID. Made where it is missing; empty where no
/// such folder of the user's own can be had.
[[nodiscard]] std::string runtime_folder(const MachineView& view);

/// Where the workers of the user's other processes of weir have their places, so that two of them
/// do not settle on the same first cores.
///
/// Each process holds one file in the folder, locked while the process lives; what nobody holds a
/// lock on is stale and removed by whoever comes next. The CPUs in it are separated by blanks, one
/// a worker.
///
/// **Thread safety**: none; the caller's lock covers it.
/// **Invariants**: no two processes plan at the same time.
class PlaceRegistry {
 public:
  /// Nothing is touched before settle(). An empty `folder`: every settle() fails.
  explicit PlaceRegistry(std::string folder) : folder_(std::move(folder)) {}
  ~PlaceRegistry();
  PlaceRegistry(const PlaceRegistry&) = delete;
  PlaceRegistry& operator=(const PlaceRegistry&) = delete;

  /// Calls `plan` with the CPUs that others have taken and enters the CPUs that it gives back in
  /// place of what this process had. False, without calling it, where the folder cannot be used:
  /// then nobody knows of anybody.
  [[nodiscard]] bool settle(
      const std::function<std::vector<int>(const std::vector<int>& taken)>& plan);

 private:
  [[nodiscard]] std::vector<int> read_others() const;
  [[nodiscard]] bool enter(const std::vector<int>& cpus);

  const std::string folder_;
  std::string own_path_;  // empty: not entered
  int own_ = -1;          // its descriptor, with the lock
};

}  // namespace weir
