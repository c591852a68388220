#include "machine/read_counters.hpp"

#include "tests/machine/recorded_machine.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace weir {
namespace {

TEST(ReadCounters, AreReadFromTheIoFile) {
  const auto counters = read_read_counters(testing::recorded_root("bare_metal"));
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->asked_bytes, 323934931u);
  EXPECT_EQ(counters->disk_bytes, 3239840u);
}

TEST(ReadCounters, AreNothingWhereTheKernelDoesNotSay) {
  EXPECT_FALSE(read_read_counters(testing::recorded_root("no_such_machine")));
  EXPECT_FALSE(read_read_counters(testing::recorded_root("garbage")));
}

TEST(ReadCounters, GrowWithWhatIsRead) {
  const auto before = read_read_counters();
  if (!before) GTEST_SKIP() << "this kernel does not count";
  const std::string path = ::testing::TempDir() + "weir_read_counters";
  constexpr std::size_t kBytes = 1 << 20;
  const std::string text(kBytes, 'x');
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  ASSERT_GE(file, 0);
  ::unlink(path.c_str());
  ASSERT_EQ(::write(file, text.data(), kBytes), static_cast<ssize_t>(kBytes));
  std::string back(kBytes, ' ');
  ASSERT_EQ(::pread(file, back.data(), kBytes, 0), static_cast<ssize_t>(kBytes));
  ::close(file);
  const auto after = read_read_counters();
  ASSERT_TRUE(after);
  EXPECT_GE(after->asked_bytes - before->asked_bytes, kBytes);
}

TEST(DiskShare, IsThatOfTheBytesBetweenTwoReadings) {
  EXPECT_DOUBLE_EQ(*disk_share({100, 50}, {1100, 300}, 1000), 0.25);
  EXPECT_DOUBLE_EQ(*disk_share({0, 0}, {1000, 4096}, 1000), 1.0);  // readahead
  EXPECT_DOUBLE_EQ(*disk_share({0, 0}, {1000, 0}, 1000), 0.0);
}

TEST(DiskShare, IsNothingWhereLittleWasReadOrCountersWentBack) {
  EXPECT_FALSE(disk_share({0, 0}, {999, 0}, 1000));
  EXPECT_FALSE(disk_share({0, 0}, {0, 0}, 0));
  EXPECT_FALSE(disk_share({10, 0}, {0, 0}, 0));
  EXPECT_FALSE(disk_share({0, 10}, {10, 0}, 0));
}

}  // namespace
}  // namespace weir
