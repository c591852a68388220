#include <atomic>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/error.hpp>
#include <weir/loader.hpp>
#include <weir/sources.hpp>

namespace weir {
namespace {

Options options_for(int workers) {
  Options options;
  options.workers = workers;
  options.oversubscribe = true;
  options.epochs = 1;
  options.seed = 5;
  return options;
}

/// `count` items of item `v`: v * 1000, v * 1000 + 1, ...
auto counting(std::int64_t v, std::int64_t count) {
  return [v, count, i = std::int64_t{0}]() mutable -> std::optional<std::int64_t> {
    if (i == count) return std::nullopt;
    return v * 1000 + i++;
  };
}

template <class T>
std::vector<T> all_of(Loader<T>& loader) {
  std::vector<T> values;
  while (std::optional<T> value = loader.next()) values.push_back(*value);
  return values;
}

TEST(Generator, GivesItsItemsInOrderAtAnyWorkerCount) {
  std::vector<std::int64_t> expected;
  for (std::int64_t v = 0; v < 200; ++v)
    for (std::int64_t i = 0; i < v % 5; ++i) expected.push_back(v * 1000 + i);
  const auto stream =
      range(200).flat_map("each", [](std::int64_t v) { return counting(v, v % 5); });
  for (const int workers : {1, 2, 8}) {
    auto loader = stream.start(options_for(workers));
    EXPECT_EQ(all_of(loader), expected) << workers << " workers";
  }
}

TEST(Generator, WithoutEndIsCutByTakeAndHoldsNothingBack) {
  const auto stream = range(3)
                          .flat_map("endless", [](std::int64_t v) { return counting(v, -1); })
                          .take(100)
                          .batch(30);
  for (const int workers : {1, 4}) {
    auto loader = stream.start(options_for(workers));
    std::size_t rows = 0;
    for (auto& batch : loader.epoch(0)) rows += batch.size();
    EXPECT_EQ(rows, 100U);
  }
}

TEST(Generator, IsAskedOnlyAsFarAsThereIsRoom) {
  std::atomic<std::int64_t> asked{0};
  const auto stream = range(1).flat_map("counted", [&asked](std::int64_t) {
    return [&asked]() -> std::optional<std::int64_t> { return asked++; };
  });
  Options options = options_for(2);
  auto loader = stream.prefetch(4).start(options);
  for (std::int64_t i = 0; i < 10; ++i) EXPECT_EQ(loader.next(), i);
  loader.close();
  // Ten were taken; four may wait, and one more is exempt from the bound.
  EXPECT_LE(asked.load(), 10 + 4 + 1);
}

TEST(Generator, ThatThrowsEndsThereAndTheRunFailsOrGoesOn) {
  const auto throwing = [](std::int64_t v) {
    return [v, i = 0]() mutable -> std::optional<std::int64_t> {
      if (i == 2 && v == 1) throw BadSample("torn");
      if (i == 3) return std::nullopt;
      return v * 1000 + i++;
    };
  };
  auto failing = range(3).flat_map("torn", throwing).start(options_for(2));
  for (const std::int64_t expected : {0, 1, 2, 1000, 1001}) EXPECT_EQ(failing.next(), expected);
  try {
    (void)failing.next();
    FAIL() << "the failure was lost";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "stage 'torn': sample 1: torn");
  }

  Options skipping = options_for(2);
  skipping.on_bad_sample.action = BadSamplePolicy::Action::skip;
  auto loader = range(3).flat_map("torn", throwing).start(skipping);
  EXPECT_EQ(all_of(loader), (std::vector<std::int64_t>{0, 1, 2, 1000, 1001, 2000, 2001, 2002}));
  EXPECT_EQ(loader.summary().bad_count, 1U);
}

TEST(Generator, ResumesWithinOne) {
  const auto stream =
      range(20).flat_map("each", [](std::int64_t v) { return counting(v, 7); }).batch(4);
  Options options = options_for(2);
  options.digest = true;
  auto whole = stream.start(options);
  while (whole.next()) {
  }
  auto first = stream.start(options);
  for (int i = 0; i < 9; ++i) (void)first.next();  // 36 rows: one into the sixth generator.
  options.resume = first.position();
  first.close();
  EXPECT_EQ(options.resume->source_index, 5U);
  EXPECT_EQ(options.resume->split, 1U);
  auto rest = stream.start(options);
  while (rest.next()) {
  }
  EXPECT_EQ(rest.summary().digest, whole.summary().digest);
}

}  // namespace
}  // namespace weir
