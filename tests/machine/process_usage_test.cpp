#include "machine/process_usage.hpp"

#include "tests/machine/recorded_machine.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace weir {
namespace {

TEST(ProcessUsage, IsReadFromTheStatusFile) {
  const ProcessUsage usage = read_process_usage(testing::recorded_root("bare_metal"));
  EXPECT_EQ(usage.rss_bytes, 70000u * 1024);
  EXPECT_EQ(usage.peak_rss_bytes, 80000u * 1024);
  EXPECT_EQ(usage.threads, 9);
  EXPECT_EQ(usage.open_descriptors, std::nullopt);
}

TEST(ProcessUsage, IsNothingWhereNothingMakesSense) {
  for (const char* machine : {"garbage", "no_such_machine"}) {
    const ProcessUsage usage = read_process_usage(testing::recorded_root(machine));
    EXPECT_EQ(usage.rss_bytes, std::nullopt) << machine;
    EXPECT_EQ(usage.peak_rss_bytes, std::nullopt) << machine;
    EXPECT_EQ(usage.threads, std::nullopt) << machine;
  }
}

TEST(ProcessUsage, CountsThreads) {
  const std::optional<int> before = read_process_usage().threads;
  ASSERT_TRUE(before);
  std::mutex mutex;
  std::condition_variable wake;
  bool end = false;
  std::thread waiting([&] {
    std::unique_lock lock(mutex);
    wake.wait(lock, [&] { return end; });
  });
  EXPECT_EQ(read_process_usage().threads, *before + 1);
  {
    const std::lock_guard lock(mutex);
    end = true;
  }
  wake.notify_one();
  waiting.join();
}

TEST(ProcessUsage, CountsDescriptors) {
  const std::optional<int> before = read_process_usage().open_descriptors;
  ASSERT_TRUE(before);
  const int descriptor = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(read_process_usage().open_descriptors, *before + 1);
  ::close(descriptor);
  EXPECT_EQ(read_process_usage().open_descriptors, before);
}

TEST(ProcessUsage, HasAPeakOfAtLeastThePresent) {
  const ProcessUsage usage = read_process_usage();
  ASSERT_TRUE(usage.rss_bytes);
  ASSERT_TRUE(usage.peak_rss_bytes);
  EXPECT_GT(*usage.rss_bytes, 0u);
  EXPECT_GE(*usage.peak_rss_bytes, *usage.rss_bytes);
}

}  // namespace
}  // namespace weir
