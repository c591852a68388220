#include <weir/cpu_set.hpp>

#include "machine/system_file.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

namespace weir {
namespace {

/// Above what any kernel can be built for; a bound, so that "0-99999999999" in a broken file does
/// not take the memory.
constexpr std::uint64_t kMostCpus = std::uint64_t{1} << 16;

}  // namespace

CpuSet::CpuSet(std::initializer_list<int> cpus) : CpuSet(std::vector<int>(cpus)) {}

CpuSet::CpuSet(std::vector<int> cpus) : cpus_(std::move(cpus)) {
  std::sort(cpus_.begin(), cpus_.end());
  cpus_.erase(std::unique(cpus_.begin(), cpus_.end()), cpus_.end());
  cpus_.erase(cpus_.begin(), std::lower_bound(cpus_.begin(), cpus_.end(), 0));
}

std::optional<CpuSet> CpuSet::parse(std::string_view list) {
  list = detail::trimmed(list);
  if (list.empty()) return CpuSet{};
  std::vector<int> cpus;
  for (const std::string_view range : detail::split(list, ',')) {
    const std::size_t dash = range.find('-');
    const std::optional<std::uint64_t> first = detail::parse_number(range.substr(0, dash));
    const std::optional<std::uint64_t> last =
        dash == std::string_view::npos ? first : detail::parse_number(range.substr(dash + 1));
    if (!first || !last || *first > *last || *last >= kMostCpus) return std::nullopt;
    for (std::uint64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
  }
  return CpuSet(std::move(cpus));
}

bool CpuSet::contains(int cpu) const { return std::binary_search(cpus_.begin(), cpus_.end(), cpu); }

std::string CpuSet::to_string() const {
  if (cpus_.empty()) return "none";
  std::string text;
  for (std::size_t first = 0; first < cpus_.size();) {
    std::size_t last = first;
    while (last + 1 < cpus_.size() && cpus_[last + 1] == cpus_[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus_[first]);
    if (last > first) text += '-' + std::to_string(cpus_[last]);
    first = last + 1;
  }
  return text;
}

CpuSet CpuSet::operator&(const CpuSet& other) const {
  CpuSet both;
  std::set_intersection(cpus_.begin(), cpus_.end(), other.cpus_.begin(), other.cpus_.end(),
                        std::back_inserter(both.cpus_));
  return both;
}

}  // namespace weir
