#include <atomic>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/pipeline/chain_run.hpp"
#include "tests/pipeline/loader_run.hpp"

namespace weir::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// What one uninterrupted run gives, with the position after each value.
struct WholeRun {
  std::vector<Given> given;
  std::vector<std::uint32_t> epochs;
  std::vector<Position> positions;
  std::string digest;
  std::string set_digest;
};

WholeRun run_whole(const Chain& chain, const Options& options) {
  WholeRun run;
  ChainLoader loader(stream_of(chain), options);
  for (std::uint32_t epoch = 0; epoch < *options.epochs; ++epoch) {
    while (std::optional<Given> value = loader.next()) {
      run.given.push_back(std::move(*value));
      run.epochs.push_back(epoch);
      run.positions.push_back(loader.position());
    }
  }
  run.digest = loader.summary().digest;
  run.set_digest = loader.summary().set_digest;
  return run;
}

class ResumedChain : public testing::TestWithParam<std::uint64_t> {};

TEST_P(ResumedChain, GoesOnExactlyWhereItWas) {
  std::mt19937_64 random(GetParam());
  for (int draw = 0; draw < 6; ++draw) {
    const Chain chain = random_chain(GetParam() * 77 + static_cast<std::uint64_t>(draw) + 5000);
    SCOPED_TRACE(chain.text());
    Options options = workers(2);
    options.seed = GetParam();
    options.epochs = 3;
    options.digest = true;
    const WholeRun whole = run_whole(chain, options);
    if (whole.given.empty()) continue;
    for (const int count : {1, 2, 8}) {
      const std::size_t at = random() % whole.given.size();
      SCOPED_TRACE("after value " + std::to_string(at) + ", " + std::to_string(count) + " workers");
      Options resumed = options;
      resumed.workers = count;
      // By way of its text, as a program keeps it.
      resumed.resume = Position::parse(whole.positions[at].text());
      ChainLoader loader(stream_of(chain), resumed);
      std::size_t next = at + 1;
      for (std::uint32_t epoch = resumed.resume->epoch; epoch < 3; ++epoch) {
        while (std::optional<Given> value = loader.next()) {
          ASSERT_LT(next, whole.given.size());
          ASSERT_EQ(*value, whole.given[next]);
          ASSERT_EQ(epoch, whole.epochs[next]);
          ASSERT_EQ(loader.position().text(), whole.positions[next].text());
          ++next;
        }
      }
      EXPECT_EQ(next, whole.given.size());
      EXPECT_EQ(loader.summary().digest, whole.digest);
      EXPECT_EQ(loader.summary().set_digest, whole.set_digest);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ResumedChain, testing::Range(std::uint64_t{0}, std::uint64_t{20}));

TEST(Resume, OfAnIndexableSourceMakesNoMoreThanABatchAndTheLookAheadFirst) {
  constexpr std::int64_t kItems = 100'000;
  constexpr std::uint64_t kBatch = 10;
  std::atomic<std::int64_t> calls{0};
  const auto stream = range(kItems)
                          .shuffle()
                          .map("count",
                               [&calls](std::int64_t value) {
                                 ++calls;
                                 return value;
                               })
                          .batch(kBatch);
  Options options;
  options.run_inline = true;  // So that nothing runs beside what the first batch needs.
  Position late;
  {
    Loader<Batch<std::int64_t>> loader = stream.start(options);
    for (int i = 0; i < 9000; ++i) ASSERT_TRUE(loader.next());
    late = loader.position();
  }
  calls = 0;
  options.resume = late;
  Loader<Batch<std::int64_t>> loader = stream.start(options);
  ASSERT_TRUE(loader.next());
  std::int64_t ahead = 0;
  for (const StageSummary& stage : loader.summary().stages) ahead += stage.queue_capacity_items;
  EXPECT_GE(calls, static_cast<std::int64_t>(kBatch));
  EXPECT_LE(calls, static_cast<std::int64_t>(kBatch) + ahead);
  EXPECT_THAT(loader.remarks(), testing::IsEmpty());
}

TEST(Resume, OfABufferedShuffleOverAnIndexReplaysTheDrawsAlone) {
  std::atomic<int> calls{0};
  const auto stream =
      range(5000).shuffle({.buffer = 100}).map("count", [&calls](std::int64_t value) {
        ++calls;
        return value;
      });
  Options options;
  options.run_inline = true;
  Position late;
  std::vector<std::int64_t> expected;
  {
    Loader<std::int64_t> loader = stream.start(options);
    for (int i = 0; i < 4000; ++i) ASSERT_TRUE(loader.next());
    late = loader.position();
    while (const std::optional<std::int64_t> value = loader.next()) expected.push_back(*value);
  }
  calls = 0;
  options.resume = late;
  Loader<std::int64_t> loader = stream.start(options);
  std::vector<std::int64_t> given;
  given.push_back(*loader.next());
  EXPECT_LT(calls, 1500);  // A packet at most, not the 4,000 items in front.
  while (const std::optional<std::int64_t> value = loader.next()) given.push_back(*value);
  EXPECT_EQ(given, expected);
}

TEST(Resume, OverAGeneratorReadsAgainAndSaysSo) {
  const auto stream = generate("numbers", [] {
    return [next = 0]() mutable { return next < 50 ? std::optional<int>(next++) : std::nullopt; };
  });
  Options options = workers(2);
  Position at;
  {
    Loader<int> loader = stream.start(options);
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(loader.next());
    at = loader.position();
  }
  options.resume = at;
  std::vector<std::string> said;
  options.say = [&said](const std::string& text) { said.push_back(text); };
  Loader<int> loader = stream.start(options);
  EXPECT_EQ(loader.next(), 20);
  EXPECT_THAT(said, testing::Contains(AllOf(HasSubstr("resume"), HasSubstr("first 20"))));
  EXPECT_EQ(said, loader.remarks());
}

TEST(Resume, InTheMiddleOfAFlatMapGoesOnBehindTheItemsDelivered) {
  const auto stream = range(6).flat_map("triple", [](std::int64_t value) {
    return std::vector<std::int64_t>{value * 10, value * 10 + 1, value * 10 + 2};
  });
  Options options = workers(2);
  Loader<std::int64_t> loader = stream.start(options);
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(loader.next());
  const Position at = loader.position();
  EXPECT_EQ(at.source_index, 2U);
  EXPECT_EQ(at.split, 2U);
  loader.close();
  options.resume = at;
  EXPECT_THAT(all_of(stream, options),
              testing::ElementsAre(22, 30, 31, 32, 40, 41, 42, 50, 51, 52));
}

TEST(Resume, AtTheEndOfAnEpochBeginsTheNext) {
  const auto stream = range(7).shuffle().batch(2);
  Options options = workers(2);
  options.epochs = 2;
  Position end;
  std::vector<Batch<std::int64_t>> second;
  {
    auto loader = stream.start(options);
    while (loader.next()) {
    }
    end = loader.position();
    while (auto batch = loader.next()) second.push_back(std::move(*batch));
  }
  EXPECT_EQ(end.epoch, 1U);
  options.resume = end;
  auto loader = stream.start(options);
  std::vector<Batch<std::int64_t>> resumed;
  while (auto batch = loader.next()) resumed.push_back(std::move(*batch));
  EXPECT_EQ(rows_of(std::move(resumed)), rows_of(std::move(second)));
}

Position position_of(const Stream<std::int64_t>& stream, const Options& options) {
  Loader<std::int64_t> loader = stream.start(options);
  EXPECT_TRUE(loader.next());
  return loader.position();
}

TEST(Resume, IsRefusedWhereItCannotBeExact) {
  const Stream<std::int64_t> stream = range(20).shuffle().take(10);
  Options options = workers(1);
  options.seed = 3;
  const Position at = position_of(stream, options);
  Options resumed = options;
  resumed.resume = at;

  Options other_seed = resumed;
  other_seed.seed = 4;
  EXPECT_THAT(error_of([&] { (void)stream.start(other_seed); }),
              AllOf(HasSubstr("resume"), HasSubstr("seed 3"), HasSubstr("seed 4")));
  Options any = resumed;
  any.order = Order::any;
  EXPECT_THAT(error_of([&] { (void)stream.start(any); }),
              AllOf(HasSubstr("resume"), HasSubstr("order: any")));
  const auto another = [&](const Stream<std::int64_t>& other) {
    return error_of([&] { (void)other.start(resumed); });
  };
  const auto refused = AllOf(HasSubstr("resume"), HasSubstr("another pipeline"));
  EXPECT_THAT(another(range(20).shuffle().take(11)), refused);
  EXPECT_THAT(another(range(20).shuffle()), refused);
  EXPECT_THAT(another(range(20).shuffle().take(10).skip(1)), refused);
  EXPECT_THAT(another(range(21).shuffle().take(10)), refused) << "the source has other items";
  EXPECT_EQ(another(stream), "");
}

TEST(Resume, TellsShardsApart) {
  using Remainder = detail::ShardPlace::Remainder;
  const auto sharded = [](int rank, Remainder remainder) {
    return range(20).shard({.rank = rank, .world = 2, .remainder = remainder});
  };
  Options options = workers(1);
  options.resume = position_of(sharded(0, Remainder::pad), options);
  EXPECT_THAT(error_of([&] { (void)sharded(1, Remainder::pad).start(options); }),
              HasSubstr("another pipeline"));
  EXPECT_THAT(error_of([&] { (void)sharded(0, Remainder::drop).start(options); }),
              HasSubstr("another pipeline"));
}

TEST(Resume, HasNoPositionWithoutAnOrder) {
  Options options = workers(2);
  options.order = Order::any;
  Loader<std::int64_t> loader = range(10).start(options);
  EXPECT_THAT(error_of([&] { (void)loader.position(); }),
              AllOf(HasSubstr("order: any"), HasSubstr("order: input")));
}

}  // namespace
}  // namespace weir::test
