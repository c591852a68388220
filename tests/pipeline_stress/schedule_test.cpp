#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/pipeline_stress/rounds.hpp"
#include "tests/pipeline_stress/virtual_schedule.hpp"

namespace weir::test {
namespace {

const std::uint64_t kSchedules = rounds(4000, 400);

ScheduleSettings random_settings(std::uint64_t seed, const StressCase& stress) {
  std::mt19937_64 random(seed * 7919 + 17);
  ScheduleSettings settings;
  settings.seed = seed;
  settings.workers = static_cast<int>(1 + random() % 6);
  switch (random() % 5) {
    case 0:
      settings.memory_bytes = 1;
      break;
    case 1:
      settings.memory_bytes = stress.most_item_bytes;
      break;
    case 2:
      settings.memory_bytes = 2 * stress.batch_bytes();
      break;
    case 3:
      settings.memory_bytes = 8 * stress.batch_bytes();
      break;
    default:
      break;
  }
  static constexpr std::int64_t kPackets[] = {0, 1, 1, 3, 50};
  settings.packet_items = kPackets[random() % 5];
  settings.changes = random() % 2 == 0;
  settings.pauses = random() % 2 == 0;
  settings.leaves = random() % 4 == 0;
  return settings;
}

void expect_given(const VirtualSchedule& schedule, std::size_t loader, const StressCase& stress) {
  if (schedule.closed_early(loader)) return;
  std::vector<std::uint64_t> wanted = stress.reference();
  const bool any = stress.shuffled() || stress.any_order;
  if (any) std::sort(wanted.begin(), wanted.end());
  ASSERT_EQ(schedule.given(loader).size(), stress.epochs);
  for (std::vector<std::uint64_t> epoch : schedule.given(loader)) {
    if (any) std::sort(epoch.begin(), epoch.end());
    ASSERT_EQ(epoch, wanted);
  }
}

TEST(Schedule, NeverHangsNeverLosesKeepsOrderCapsAndBytes) {
  std::uint64_t packets = 0;
  for (std::uint64_t seed = 1; seed <= kSchedules; ++seed) {
    const StressCase stress = stress_case(seed);
    const ScheduleSettings settings = random_settings(seed, stress);
    SCOPED_TRACE(stress.text() + "\n" + settings.text());
    VirtualSchedule schedule(settings);
    schedule.add(stress);
    ASSERT_EQ(schedule.run(), "");
    ASSERT_NO_FATAL_FAILURE(expect_given(schedule, 0, stress));
    packets += schedule.packets();
  }
  EXPECT_GT(packets, kSchedules * 50);
}

TEST(Schedule, LoadersShareOnePool) {
  for (std::uint64_t seed = 1; seed <= kSchedules / 4; ++seed) {
    const std::vector<StressCase> cases = {stress_case(seed), stress_case(seed + 100'000),
                                           stress_case(seed + 200'000)};
    const ScheduleSettings settings = random_settings(seed + 300'000, cases[0]);
    SCOPED_TRACE(cases[0].text() + "\n" + cases[1].text() + "\n" + cases[2].text() + "\n" +
                 settings.text());
    VirtualSchedule schedule(settings);
    for (const StressCase& stress : cases) schedule.add(stress);
    ASSERT_EQ(schedule.run(), "");
    for (std::size_t i = 0; i < cases.size(); ++i)
      ASSERT_NO_FATAL_FAILURE(expect_given(schedule, i, cases[i]));
  }
}

TEST(Schedule, OrderDoesNotDependOnTheSchedule) {
  for (std::uint64_t seed = 1; seed <= kSchedules / 4; ++seed) {
    StressCase stress = stress_case(seed);
    stress.any_order = false;
    ScheduleSettings first = random_settings(seed, stress);
    ScheduleSettings second = random_settings(seed + 500'000, stress);
    first.leaves = second.leaves = false;
    SCOPED_TRACE(stress.text() + "\n" + first.text() + "\n" + second.text());
    VirtualSchedule one(first);
    one.add(stress);
    ASSERT_EQ(one.run(), "");
    VirtualSchedule other(second);
    other.add(stress);
    ASSERT_EQ(other.run(), "");
    ASSERT_EQ(one.given(0), other.given(0));
    ASSERT_EQ(one.bad(0), other.bad(0));
  }
}

}  // namespace
}  // namespace weir::test
