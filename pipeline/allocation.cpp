#include <weir/allocation.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace weir {
namespace {

constexpr double kLeastTarget = 0.01;

bool eligible(const Allocation& allocation, std::span<const StageView> views, int stage) {
  const StageView& view = views[static_cast<std::size_t>(stage)];
  if (!view.runnable || view.running >= most_running(allocation, stage)) return false;
  const int group = allocation.stages[static_cast<std::size_t>(stage)].group;
  if (group < 0) return true;
  int running = 0;
  for (std::size_t i = 0; i < views.size(); ++i)
    if (allocation.stages[i].group == group) running += views[i].running;
  return running < allocation.groups[static_cast<std::size_t>(group)];
}

}  // namespace

int most_running(const Allocation& allocation, int stage) {
  const StageAllocation& own = allocation.stages[static_cast<std::size_t>(stage)];
  int most = own.cap;
  if (own.group >= 0) {
    most = std::min(most, allocation.groups[static_cast<std::size_t>(own.group)]);
  } else if (allocation.strict || !allocation.helping) {
    most = std::min(most, static_cast<int>(std::ceil(std::clamp(own.target, kLeastTarget, 1e6))));
  }
  return most;
}

bool stays(const Allocation& allocation, const StageView& view, int stage) {
  return view.runnable && view.running < most_running(allocation, stage) &&
         view.running <
             allocation.stages[static_cast<std::size_t>(stage)].target + allocation.stay_slack;
}

int choose(const Allocation& allocation, std::span<const StageView> views, int last) {
  const auto count = static_cast<int>(views.size());
  const bool last_eligible = last >= 0 && last < count && eligible(allocation, views, last);
  if (last_eligible && stays(allocation, views[static_cast<std::size_t>(last)], last)) return last;
  int best = -1;
  double best_deficit = 0.0;
  for (int stage = count - 1; stage >= 0; --stage) {
    if (!eligible(allocation, views, stage)) continue;
    const auto i = static_cast<std::size_t>(stage);
    const double target = std::max(allocation.stages[i].target, kLeastTarget);
    const double deficit = (target - views[i].running) / target;
    if (best < 0 || deficit > best_deficit) {
      best = stage;
      best_deficit = deficit;
    }
  }
  if (best >= 0 && best_deficit <= 0.0 && last_eligible) return last;
  return best;
}

}  // namespace weir
