#pragma once

#include <weir/machine_view.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <stdlib.h>

namespace weir::testing {

/// The folder of a machine recorded under tests/machine/recorded.
inline std::string recorded_root(const std::string& name) {
  return std::string(WEIR_TEST_SOURCE_DIR) + "/tests/machine/recorded/" + name;
}

/// A recorded machine as seen by a thread that may use `mask`, with these variables set.
inline MachineView recorded_machine(const std::string& name, CpuSet mask,
                                    std::map<std::string, std::string> variables = {}) {
  MachineView view;
  view.root = recorded_root(name);
  view.affinity = [mask = std::move(mask)] { return mask; };
  view.environment =
      [variables = std::move(variables)](const std::string& key) -> std::optional<std::string> {
    const auto found = variables.find(key);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
  return view;
}

/// The CPUs `first` to `last`.
inline CpuSet cpus_from(int first, int last) {
  std::vector<int> cpus;
  for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
  return CpuSet(std::move(cpus));
}

/// A small tree of /proc and /sys made for one test, gone after it.
class ScratchMachine {
 public:
  ScratchMachine() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weir-machine-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp: " + pattern);
    root_ = pattern;
  }
  ~ScratchMachine() { std::filesystem::remove_all(root_); }
  ScratchMachine(const ScratchMachine&) = delete;
  ScratchMachine& operator=(const ScratchMachine&) = delete;

  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  [[nodiscard]] const std::string& root() const { return root_; }

 private:
  std::string root_;
};

}  // namespace weir::testing
