#pragma once

#include <weir/export.hpp>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// A set of logical CPUs by the kernel's numbers, of any size: machines with more than 1,024 CPUs
/// do not fit in a `cpu_set_t`.
///
/// **Thread safety**: a value; distinct objects are independent.
/// **Invariants**: the numbers are ascending, unique and not negative.
class WEIR_EXPORT CpuSet {
 public:
  CpuSet() = default;
  CpuSet(std::initializer_list<int> cpus);
  explicit CpuSet(std::vector<int> cpus);

  /// Reads the kernel's list form, "0-3,8,10-11"; nullopt if `list` is anything else. An empty list
  /// (or white space) is the empty set, as in cpuset files.
  [[nodiscard]] static std::optional<CpuSet> parse(std::string_view list);

  [[nodiscard]] bool contains(int cpu) const;
  [[nodiscard]] int size() const { return static_cast<int>(cpus_.size()); }
  [[nodiscard]] bool empty() const { return cpus_.empty(); }
  [[nodiscard]] const std::vector<int>& cpus() const { return cpus_; }
  /// The list form; "none" for the empty set, since the text is for people.
  [[nodiscard]] std::string to_string() const;

  /// What is in both.
  [[nodiscard]] CpuSet operator&(const CpuSet& other) const;
  friend bool operator==(const CpuSet& left, const CpuSet& right) = default;

 private:
  std::vector<int> cpus_;
};

}  // namespace weir
