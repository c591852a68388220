#include "machine/nested_pools.hpp"

#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

// Stand-ins for the two libraries that are looked up by name; the program exports its symbols.
namespace {
int openblas_threads = 6;
thread_local int openmp_threads = 4;
}  // namespace

extern "C" {
__attribute__((visibility("default"))) int openblas_get_num_threads() { return openblas_threads; }
__attribute__((visibility("default"))) void openblas_set_num_threads(int threads) {
  openblas_threads = threads;
}
__attribute__((visibility("default"))) int omp_get_max_threads() { return openmp_threads; }
__attribute__((visibility("default"))) void omp_set_num_threads(int threads) {
  openmp_threads = threads;
}
}

namespace weir {
namespace {

/// A pool of some library that remembers every size it was given.
struct FakePool {
  int threads = 8;
  std::vector<int> settings;

  void register_with(NestedPools& pools, const std::string& name) {
    pools.add(
        name, [this] { return threads; },
        [this](int count) {
          threads = count;
          settings.push_back(count);
        });
  }
};

TEST(NestedPools, AreHeldFromTheFirstHoldToTheLastRelease) {
  NestedPools pools;
  FakePool pool;
  pool.register_with(pools, "fake");
  EXPECT_EQ(pool.threads, 8);
  pools.hold();
  EXPECT_EQ(pool.threads, 1);
  pools.hold();
  EXPECT_EQ(pools.holders(), 2);
  pools.release();
  EXPECT_EQ(pool.threads, 1);
  EXPECT_EQ(pools.held(), std::vector<std::string>{"fake"});
  pools.release();
  EXPECT_EQ(pool.threads, 8);
  EXPECT_TRUE(pools.held().empty());
  EXPECT_EQ(pool.settings, (std::vector<int>{1, 8}));
}

TEST(NestedPools, AreHeldAnewWithTheirSizeOfThen) {
  NestedPools pools;
  FakePool pool;
  pool.register_with(pools, "fake");
  pools.hold();
  pools.release();
  pool.threads = 3;
  pools.hold();
  EXPECT_EQ(pool.threads, 1);
  pools.release();
  EXPECT_EQ(pool.threads, 3);
}

TEST(NestedPools, ThatComeLateAreHeldAtOnce) {
  NestedPools pools;
  pools.hold();
  FakePool pool;
  pool.register_with(pools, "late");
  EXPECT_EQ(pool.threads, 1);
  pools.release();
  EXPECT_EQ(pool.threads, 8);
}

TEST(NestedPools, RegisteredTwiceAreHeldOnce) {
  NestedPools pools;
  FakePool pool;
  FakePool twin;
  pool.register_with(pools, "fake");
  twin.register_with(pools, "fake");
  pools.hold();
  pools.release();
  EXPECT_EQ(pool.settings, (std::vector<int>{1, 8}));
  EXPECT_TRUE(twin.settings.empty());
}

TEST(NestedPools, ThatSomebodySetMeanwhileAreLeftAsTheyAre) {
  NestedPools pools;
  FakePool pool;
  pool.register_with(pools, "fake");
  pools.hold();
  pool.threads = 5;
  pools.release();
  EXPECT_EQ(pool.threads, 5);
}

TEST(NestedPools, CountHoldersOfManyThreads) {
  NestedPools pools;
  FakePool pool;
  pool.register_with(pools, "fake");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        pools.hold();
        pools.release();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pools.holders(), 0);
  EXPECT_EQ(pool.threads, 8);
}

TEST(NestedPools, OfTheProcessKnowOpenBlasByName) {
  openblas_threads = 6;
  {
    const NestedPoolsHold outer;
    EXPECT_EQ(openblas_threads, 1);
    {
      const NestedPoolsHold inner;
      EXPECT_EQ(openblas_threads, 1);
    }
    EXPECT_EQ(openblas_threads, 1);
  }
  EXPECT_EQ(openblas_threads, 6);
}

TEST(OpenMpHold, HoldsTheCallingThreadAloneAndRestoresIt) {
  openmp_threads = 4;
  std::thread([] {
    const OpenMpHold hold;
    EXPECT_EQ(openmp_threads, 1);
  }).join();
  EXPECT_EQ(openmp_threads, 4);
  {
    const OpenMpHold hold;
    EXPECT_EQ(openmp_threads, 1);
  }
  EXPECT_EQ(openmp_threads, 4);
}

}  // namespace
}  // namespace weir
