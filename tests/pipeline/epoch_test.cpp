#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/pipeline/loader_run.hpp"

namespace weir::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// The values of one epoch of a fresh loader.
std::vector<std::int64_t> alone(const Stream<std::int64_t>& stream, std::uint32_t epoch) {
  Options options;
  options.run_inline = true;  // Beside the loader under test, whose workers it leaves alone.
  Loader<std::int64_t> loader = stream.start(options);
  std::vector<std::int64_t> values;
  for (const std::int64_t value : loader.epoch(epoch)) values.push_back(value);
  return values;
}

std::vector<std::int64_t> rest(Loader<std::int64_t>& loader) {
  std::vector<std::int64_t> values;
  while (const std::optional<std::int64_t> value = loader.next()) values.push_back(*value);
  return values;
}

TEST(Epochs, RunOnOneAfterAnother) {
  const auto stream = range(30).shuffle();
  Options options = workers(4);
  options.epochs.reset();  // As long as they are asked for.
  Loader<std::int64_t> loader = stream.start(options);
  for (std::uint32_t epoch = 0; epoch < 5; ++epoch) {
    std::vector<std::int64_t> values;
    for (const std::int64_t value : loader.epoch(epoch)) values.push_back(value);
    EXPECT_EQ(values, alone(stream, epoch)) << epoch;
  }
  EXPECT_EQ(loader.summary().epochs, 5U);
}

TEST(Epochs, EndWithOneNulloptEachAndForGoodAfterTheLast) {
  Options options = workers(2);
  options.epochs = 2;
  Loader<std::int64_t> loader = range(2).start(options);
  EXPECT_EQ(loader.next(), 0);
  EXPECT_EQ(loader.next(), 1);
  EXPECT_FALSE(loader.next());
  EXPECT_EQ(loader.next(), 0);
  EXPECT_EQ(loader.next(), 1);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(loader.next());
}

TEST(Epochs, AnyMayBeAskedForNext) {
  const auto stream = range(40).shuffle().filter("most", [](std::int64_t v) { return v % 5 != 0; });
  Options options = workers(4);
  options.epochs = 10;
  Loader<std::int64_t> loader = stream.start(options);
  for (const std::uint32_t epoch : {3U, 1U, 1U, 9U, 0U, 1U}) {
    std::vector<std::int64_t> values;
    for (const std::int64_t value : loader.epoch(epoch)) values.push_back(value);
    EXPECT_EQ(values, alone(stream, epoch)) << epoch;
  }
}

TEST(Epochs, LeftInTheMiddleGoOnWithTheOneAskedFor) {
  const auto stream = range(40).shuffle().batch(4);
  Options options = workers(4);
  options.epochs = 4;
  Loader<Batch<std::int64_t>> loader = stream.start(options);
  for (std::uint32_t epoch = 0; epoch < 4; ++epoch) {
    int seen = 0;
    for (const Batch<std::int64_t>& batch : loader.epoch(epoch)) {
      EXPECT_EQ(batch.epoch(), epoch);
      EXPECT_EQ(batch.size(), 4U);
      if (++seen == 3) break;
    }
  }
  // The same epoch once more, from its start.
  std::vector<Batch<std::int64_t>> again;
  for (Batch<std::int64_t>& batch : loader.epoch(3)) again.push_back(std::move(batch));
  EXPECT_EQ(again.size(), 10U);
}

TEST(Epochs, LeftBehindTheLastValueGoOnToo) {
  const auto stream = range(6).shuffle();
  Options options = workers(2);
  options.epochs = 2;
  Loader<std::int64_t> loader = stream.start(options);
  int seen = 0;
  for ([[maybe_unused]] const std::int64_t value : loader.epoch(0))
    if (++seen == 6) break;
  std::vector<std::int64_t> second;
  for (const std::int64_t value : loader.epoch(1)) second.push_back(value);
  EXPECT_EQ(second, alone(stream, 1));
}

TEST(Epochs, BeyondTheirNumberAreRefused) {
  Options options = workers(1);
  options.epochs = 2;
  Loader<std::int64_t> loader = range(2).start(options);
  EXPECT_THAT(error_of([&] { (void)loader.epoch(2); }),
              AllOf(HasSubstr("epoch 2"), HasSubstr("options.epochs is 2")));
  options.epochs = 0;
  EXPECT_THAT(error_of([&] { (void)range(2).start(options); }), HasSubstr("epochs is 0"));
}

TEST(Epochs, OfAnEmptySourceAreEmpty) {
  Options options = workers(2);
  options.epochs = 3;
  Loader<std::int64_t> loader = range(0).start(options);
  for (std::uint32_t epoch = 0; epoch < 3; ++epoch)
    for ([[maybe_unused]] const std::int64_t value : loader.epoch(epoch)) ADD_FAILURE();
  EXPECT_EQ(loader.summary().epochs, 3U);
}

TEST(Epochs, BatchesNeverSpanThem) {
  Options options = workers(4);
  options.epochs = 3;
  const auto batches = all_of(range(7).batch(3), options);
  std::vector<std::size_t> sizes;
  std::vector<std::uint32_t> epochs;
  for (const auto& batch : batches) {
    sizes.push_back(batch.size());
    epochs.push_back(batch.epoch());
  }
  EXPECT_THAT(sizes, ElementsAre(3, 3, 1, 3, 3, 1, 3, 3, 1));
  EXPECT_THAT(epochs, ElementsAre(0, 0, 0, 1, 1, 1, 2, 2, 2));
}

TEST(BatchesPerEpoch, IsExactWithoutAFilterAndABoundBehindOne) {
  const auto size = [](const auto& stream) { return stream.start(workers(1)).batches_per_epoch(); };
  const auto even = [](std::int64_t v) { return v % 2 == 0; };
  EXPECT_EQ(size(range(10).batch(4)).batches, 3U);
  EXPECT_TRUE(size(range(10).batch(4)).exact);
  EXPECT_EQ(size(range(10).batch(4, {.drop_remainder = true})).batches, 2U);
  EXPECT_EQ(size(range(10).repeat(3).batch(4)).batches, 8U);
  EXPECT_EQ(size(range(10).batch(4).repeat(3).take(7)).batches, 7U);
  EXPECT_EQ(size(range(10)).batches, 10U);
  const auto bound = size(range(10).filter("even", even).batch(4));
  EXPECT_EQ(bound.batches, 3U);
  EXPECT_FALSE(bound.exact);
  EXPECT_FALSE(size(range(10).flat_map("x", [](std::int64_t v) {
                 return std::vector<std::int64_t>{v};
               })).batches);
  EXPECT_FALSE(size(generate("g", [] { return [] { return std::optional<int>(); }; })).batches);
}

TEST(Closing, EndsTheValuesForGood) {
  Options options = workers(2);
  options.epochs.reset();
  Loader<std::int64_t> loader = range(1000).start(options);
  EXPECT_TRUE(loader.next());
  loader.close();
  EXPECT_FALSE(loader.next());
  EXPECT_THAT(rest(loader), testing::IsEmpty());
  loader.close();
  EXPECT_EQ(loader.summary().batches, 1U);
}

}  // namespace
}  // namespace weir::test
