#include <weir/buffer.hpp>

#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace weir {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20U;

TEST(Buffer, IsAlignedAndLargeEnoughAtEverySize) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{64}, std::size_t{65}, std::size_t{512},
        std::size_t{513}, std::size_t{4097}, kMiB - 1, kMiB, kMiB + 1, 19 * kMiB + 7}) {
    const Buffer buffer(size);
    EXPECT_EQ(buffer.size(), size);
    EXPECT_GE(buffer.capacity(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0U);
    EXPECT_LE(buffer.capacity(), size + size / 8 + 64) << "waste at " << size;
    std::memset(buffer.data(), 0xab, buffer.capacity());
  }
}

TEST(Buffer, SharesOneBlockUntilTheLastHolderLetsGo) {
  const std::size_t before = buffer_pool_use().in_use_bytes;
  Buffer first(1000);
  first.data()[0] = std::byte{7};
  Buffer second = first.share();
  EXPECT_EQ(first.holders(), 2U);
  EXPECT_EQ(second.data(), first.data());
  first.reset();
  EXPECT_FALSE(first);
  EXPECT_EQ(second.holders(), 1U);
  EXPECT_EQ(second.data()[0], std::byte{7});
  EXPECT_GT(buffer_pool_use().in_use_bytes, before);
  second.reset();
  EXPECT_EQ(buffer_pool_use().in_use_bytes, before);
}

TEST(Buffer, MovingAndAssigningKeepTheCountRight) {
  Buffer a(100);
  Buffer b(200);
  const std::byte* data = b.data();
  a = std::move(b);
  EXPECT_EQ(a.data(), data);
  EXPECT_EQ(a.size(), 200U);
  EXPECT_EQ(a.holders(), 1U);
  Buffer& alias = a;
  a = std::move(alias);
  EXPECT_EQ(a.data(), data);
}

TEST(BufferPool, AsksTheSystemForNothingOnceSizesHaveSettled) {
  trim_buffer_pool();
  std::mt19937 random(1);
  std::uniform_int_distribution<std::size_t> size(20000, 400000);
  const auto round = [&] {
    std::vector<Buffer> held;
    for (int i = 0; i < 64; ++i) held.emplace_back(size(random));
  };
  for (int i = 0; i < 200; ++i) round();
  const std::uint64_t warm = buffer_pool_use().allocations;
  for (int i = 0; i < 50; ++i) round();
  // 3,200 buffers of random sizes: the few that a class has never seen at once are not the rule.
  EXPECT_LE(buffer_pool_use().allocations - warm, 16U);

  std::vector<Buffer> batches;
  for (int i = 0; i < 4; ++i) batches.emplace_back(19 * kMiB);
  batches.clear();
  const std::uint64_t allocations = buffer_pool_use().allocations;
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < 4; ++j) batches.emplace_back(19 * kMiB);
    batches.clear();
  }
  EXPECT_EQ(buffer_pool_use().allocations, allocations);
}

TEST(BufferPool, HoldsNoMoreThanItsBound) {
  trim_buffer_pool();
  const std::size_t base = buffer_pool_use().in_use_bytes;
  // Each size is used once and never again: without the bound all of it would be kept.
  for (std::size_t i = 0; i < 400; ++i) {
    const Buffer buffer(kMiB + i * 37000);
  }
  const BufferPoolUse use = buffer_pool_use();
  EXPECT_EQ(use.in_use_bytes, base);
  EXPECT_LE(use.kept_bytes, 64 * kMiB);
  EXPECT_GT(use.kept_bytes, 0U);
}

TEST(BufferPool, GivesBackWhatHasGoneUnusedForLongest) {
  trim_buffer_pool();
  { const Buffer warm(300000); }
  for (std::size_t i = 0; i < 200; ++i) {
    { const Buffer passing(kMiB + i * 300000); }
    const std::uint64_t before = buffer_pool_use().allocations;
    { const Buffer again(300000); }
    ASSERT_EQ(buffer_pool_use().allocations, before) << "the size in use went, after " << i;
  }
}

TEST(BufferPool, TrimGivesBackDownToTheAskedBytes) {
  { const Buffer a(10 * kMiB), b(10 * kMiB), c(10 * kMiB); }
  EXPECT_GE(buffer_pool_use().kept_bytes, 30 * kMiB);
  trim_buffer_pool(12 * kMiB);
  EXPECT_LE(buffer_pool_use().kept_bytes, 12 * kMiB);
  trim_buffer_pool();
  EXPECT_EQ(buffer_pool_use().kept_bytes, 0U);
}

TEST(BufferPool, ServesThreadsThatHandBuffersToEachOther) {
  trim_buffer_pool();
  const std::size_t base = buffer_pool_use().in_use_bytes;
  constexpr int kRounds = 2000;
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([seed] {
      std::mt19937 random(seed);
      std::vector<Buffer> held;
      for (int i = 0; i < kRounds; ++i) {
        held.emplace_back(1 + random() % 60000);
        held.back().data()[0] = static_cast<std::byte>(seed);
        held.push_back(held.back().share());
        if (held.size() > 20) {
          for (const Buffer& buffer : held)
            EXPECT_EQ(buffer.data()[0], static_cast<std::byte>(seed));
          held.clear();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(buffer_pool_use().in_use_bytes, base);
}

TEST(Buffer, RefusesMoreThanAnyMachineHas) {
  EXPECT_THROW(Buffer(std::size_t{1} << 60U), std::bad_alloc);
  EXPECT_THROW(Buffer(~std::size_t{0}), std::bad_alloc);
}

}  // namespace
}  // namespace weir
