#include <weir/cpu_set.hpp>

#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(CpuSet, ReadsTheKernelsListForm) {
  EXPECT_EQ(CpuSet::parse("0-3,8,10-11\n"), (CpuSet{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(CpuSet::parse("5"), CpuSet{5});
  EXPECT_EQ(CpuSet::parse("\n"), CpuSet{});
}

TEST(CpuSet, RefusesAnythingElse) {
  for (const char* text : {"a", "1-", "-1", "3-1", "1,,2", "1 2", "0-99999999999", "1.5", "0x3"}) {
    EXPECT_EQ(CpuSet::parse(text), std::nullopt) << text;
  }
}

TEST(CpuSet, HoldsCpusBeyondWhatOneMaskOfTheKernelHolds) {
  const CpuSet cpus = CpuSet::parse("1020-1030").value();
  EXPECT_EQ(cpus.size(), 11);
  EXPECT_TRUE(cpus.contains(1030));
  EXPECT_FALSE(cpus.contains(1031));
}

TEST(CpuSet, IsOrderedAndWithoutDoubles) {
  EXPECT_EQ((CpuSet{3, 1, 3, -1}).cpus(), (std::vector<int>{1, 3}));
}

TEST(CpuSet, WritesWhatItReads) {
  for (const char* text : {"0", "0-3", "0-1,3,5-9", "1023-1025"}) {
    EXPECT_EQ(CpuSet::parse(text).value().to_string(), text);
  }
  EXPECT_EQ(CpuSet{}.to_string(), "none");
}

TEST(CpuSet, IntersectsWithAnother) {
  EXPECT_EQ((CpuSet{0, 1, 2, 3} & CpuSet{2, 3, 4}), (CpuSet{2, 3}));
  EXPECT_TRUE((CpuSet{0} & CpuSet{1}).empty());
}

}  // namespace
}  // namespace weir
