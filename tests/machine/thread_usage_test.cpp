#include "machine/thread_usage.hpp"

#include "machine/process_usage.hpp"
#include "tests/machine/recorded_machine.hpp"

#include <chrono>
#include <cstddef>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace weir {
namespace {

using testing::recorded_root;

/// Works until this thread's CPU time has grown; a clock that stands still runs into the time limit
/// of the test.
ThreadUsage work_until_cpu_time_grows(const ThreadUsage& before) {
  volatile unsigned sink = 0;
  while (true) {
    for (unsigned i = 0; i < 100000; ++i) sink = sink + i;
    const ThreadUsage now = read_thread_usage();
    if (now.cpu_user + now.cpu_system > before.cpu_user + before.cpu_system) return now;
  }
}

TEST(ThreadUsage, CountsCpuTimeOfTheCallingThreadAlone) {
  std::thread([] {
    const ThreadUsage idle_before = read_thread_usage();
    ThreadUsage busy_before;
    ThreadUsage busy_after;
    std::thread([&] {
      busy_before = read_thread_usage();
      ThreadUsage now = busy_before;
      for (int i = 0; i < 20; ++i) now = work_until_cpu_time_grows(now);
      busy_after = now;
    }).join();
    const ThreadUsage idle_after = read_thread_usage();
    const auto cpu = [](const ThreadUsage& usage) { return usage.cpu_user + usage.cpu_system; };
    EXPECT_LT(cpu(idle_after) - cpu(idle_before), cpu(busy_after) - cpu(busy_before));
  }).join();
}

TEST(ThreadUsage, CountsVoluntarySwitches) {
  const ThreadUsage before = read_thread_usage();
  for (int i = 0; i < 5; ++i) std::this_thread::sleep_for(std::chrono::microseconds(100));
  EXPECT_GE(read_thread_usage().voluntary_switches, before.voluntary_switches + 5);
}

TEST(ThreadUsage, CountsMinorFaults) {
  constexpr std::size_t kPages = 64;
  const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const memory =
      ::mmap(nullptr, kPages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ::madvise(memory, kPages * page, MADV_NOHUGEPAGE);
  const ThreadUsage before = read_thread_usage();
  for (std::size_t i = 0; i < kPages; ++i) static_cast<volatile char*>(memory)[i * page] = 1;
  EXPECT_GE(read_thread_usage().minor_faults, before.minor_faults + kPages);
  ::munmap(memory, kPages * page);
}

TEST(ThreadUsage, RunQueueDelayNeverShrinks) {
  const ThreadUsage before = read_thread_usage();
  if (!before.run_queue_delay) GTEST_SKIP() << "the kernel does not count it";
  std::this_thread::sleep_for(std::chrono::microseconds(100));
  EXPECT_GE(read_thread_usage().run_queue_delay, before.run_queue_delay);
}

TEST(ThreadUsage, TakesTheSecondFieldAsRunQueueDelay) {
  ThreadClock clock(recorded_root("bare_metal"));
  EXPECT_EQ(clock.usage().run_queue_delay, std::chrono::nanoseconds(4567));
}

TEST(ThreadUsage, HasNoRunQueueDelayWhereTheKernelHasNone) {
  for (const char* machine : {"garbage", "no_such_machine"}) {
    ThreadClock clock(recorded_root(machine));
    EXPECT_EQ(clock.usage().run_queue_delay, std::nullopt) << machine;
    EXPECT_FALSE(clock.io()) << machine;
  }
}

TEST(ThreadUsage, TellsBytesAskedForFromBytesOfTheDisk) {
  ThreadClock clock(recorded_root("bare_metal"));
  const std::optional<ThreadIo> io = clock.io();
  ASSERT_TRUE(io);
  EXPECT_EQ(io->asked_bytes, 1000000u);
  EXPECT_EQ(io->disk_bytes, 4096u);
}

TEST(ThreadUsage, CountsReadsOfTheCallingThread) {
  const testing::ScratchMachine scratch;
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  scratch.write("/file", std::string(kBytes, 'x'));
  const std::optional<ThreadIo> before = read_thread_io();
  if (!before) GTEST_SKIP() << "the kernel does not count it";
  const int descriptor = ::open((scratch.root() + "/file").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(descriptor, 0);
  std::vector<char> buffer(kBytes);
  std::size_t done = 0;
  while (done < kBytes) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    ASSERT_GT(count, 0);
    done += static_cast<std::size_t>(count);
  }
  ::close(descriptor);
  EXPECT_GE(read_thread_io()->asked_bytes, before->asked_bytes + kBytes);
}

TEST(ThreadUsage, KeepsNoDescriptorOfAThreadThatEnded) {
  const auto read_in_threads = [] {
    for (int i = 0; i < 50; ++i) {
      std::thread([] {
        (void)read_thread_usage();
        (void)read_thread_io();
      }).join();
    }
  };
  read_in_threads();
  const std::optional<int> before = read_process_usage().open_descriptors;
  read_in_threads();
  EXPECT_EQ(read_process_usage().open_descriptors, before);
}

TEST(ThreadUsage, OpensOnceAThread) {
  (void)read_thread_usage();
  (void)read_thread_io();
  const std::optional<int> before = read_process_usage().open_descriptors;
  for (int i = 0; i < 100; ++i) {
    (void)read_thread_usage();
    (void)read_thread_io();
  }
  EXPECT_EQ(read_process_usage().open_descriptors, before);
}

}  // namespace
}  // namespace weir
