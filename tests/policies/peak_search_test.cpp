#include "policies/peak_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

namespace weir::detail {
namespace {

constexpr double kPlateau = 0.02;

/// What a survey does: half of `from` again and again, then what the search asks for.
int found(const std::function<double(int)>& rate, int from, int* tries = nullptr) {
  PeakSearch search(kPlateau);
  for (int n = from; n > 0; n /= 2) search.add(n, rate(n));
  int count = 0;
  while (const std::optional<int> next = search.next()) {
    EXPECT_GE(*next, 1);
    EXPECT_LE(*next, from);
    search.add(*next, rate(*next));
    if (++count > 20) {
      ADD_FAILURE() << "it does not end";
      break;
    }
  }
  if (tries != nullptr) *tries = count;
  return search.best();
}

TEST(PeakSearch, NeedsTwoTrialsToSayAnything) {
  PeakSearch search(kPlateau);
  EXPECT_EQ(search.best(), 1);
  EXPECT_FALSE(search.next());
  search.add(8, 100);
  EXPECT_EQ(search.best(), 8);
  EXPECT_FALSE(search.next());
}

TEST(PeakSearch, BestIsTheFewestThatHoldAllButThePlateau) {
  PeakSearch search(kPlateau);
  search.add(8, 100);
  search.add(6, 98.5);
  search.add(4, 97.5);
  EXPECT_EQ(search.best(), 6);
}

TEST(PeakSearch, LooksHalfWayToANeighbourThatFell) {
  PeakSearch search(kPlateau);
  search.add(8, 100);
  search.add(4, 160);
  EXPECT_EQ(search.next(), 6);
  search.add(6, 130);
  EXPECT_EQ(search.next(), 5);
}

TEST(PeakSearch, GoesToTheTopOfAStraightLine) {
  PeakSearch search(kPlateau);
  search.add(8, 800);
  search.add(4, 400);
  EXPECT_EQ(search.next(), 6);
  search.add(6, 600);
  EXPECT_EQ(search.next(), 7);
  search.add(7, 700);
  EXPECT_FALSE(search.next());
  EXPECT_EQ(search.best(), 8);
}

TEST(PeakSearch, HalvesWhereMoreWorkersGiveNothing) {
  EXPECT_EQ(found([](int) { return 100.0; }, 32), 1);
  EXPECT_EQ(found([](int n) { return 100.0 * std::min(n, 3); }, 32), 3);
}

TEST(PeakSearch, FindsThePeakOfEachLawOrItsNeighbourInFewTries) {
  for (const double contention : {0.0, 0.05, 0.2})
    for (const double coherence : {1e-3, 3e-3, 1e-2, 5e-2})
      for (const int from : {8, 32, 100}) {
        const auto rate = [&](int n) {
          return 1000.0 * n / (1 + contention * (n - 1) + coherence * n * (n - 1));
        };
        int peak = 1;
        for (int n = 1; n <= from; ++n) peak = rate(n) > rate(peak) ? n : peak;
        int tries = 0;
        const int best = found(rate, from, &tries);
        EXPECT_TRUE(std::abs(best - peak) <= 1 || rate(best) >= (1 - 2 * kPlateau) * rate(peak))
            << contention << ' ' << coherence << ' ' << from << ": " << best;
        EXPECT_LE(tries, 12) << contention << ' ' << coherence << ' ' << from;
      }
}

TEST(PeakSearch, FindsTheEdgeOfACliff) {
  // Six times as slow with more than three.
  const auto rate = [](int n) { return n <= 3 ? 100.0 * n : 100.0 * n / 6; };
  EXPECT_EQ(found(rate, 8), 3);
}

TEST(PeakSearch, NothingCompletedIsNoBest) {
  PeakSearch search(kPlateau);
  search.add(8, 0);
  search.add(4, 50);
  EXPECT_EQ(search.best(), 4);
  search.clear();
  EXPECT_EQ(search.best(), 1);
}

}  // namespace
}  // namespace weir::detail
