#include <random>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/pipeline/loader_run.hpp"

namespace weir::test {
namespace {

using std::chrono_literals::operator""us;

constexpr std::uint64_t kRows = 8;
constexpr std::uint32_t kEpochs = 3;

/// A cost that differs from item to item and from run to run: only the results are the seed's.
void take_a_while() {
  static std::atomic<std::uint64_t> calls{0};
  const std::uint64_t noise = mix_bits(calls.fetch_add(1)) % 8;
  std::this_thread::sleep_for(noise == 0 ? 900us : 40us * static_cast<int>(noise));
}

/// Four neighbours in a hundred are bad, so that they fall into one batch.
bool is_bad(std::uint64_t index) { return index % 100 < 4; }

Stream<Batch<std::uint64_t>> jittered() {
  return range(300)
      .shuffle()
      .map("load",
           [](std::int64_t value, Context& context) {
             take_a_while();
             if (is_bad(context.index())) throw BadSample("broken");
             return static_cast<std::uint64_t>(value) ^ context.random().bits();
           })
      .filter("most", [](const std::uint64_t& value) { return value % 4 != 0; })
      .map("augment",
           [](std::uint64_t value, Context& context) {
             take_a_while();
             return value + context.random().bits();
           })
      .batch(kRows);
}

/// The same shape with samples, whose rows are written in place.
Stream<Batch<Sample>> jittered_samples() {
  return range(300)
      .shuffle()
      .map("load",
           [](std::int64_t value, Context& context) {
             take_a_while();
             if (is_bad(context.index())) throw BadSample("broken");
             return value;
           })
      .map("draw",
           [](std::int64_t value, Context& context) {
             take_a_while();
             Sample sample;
             Tensor image = context.allocate("image", Shape{5, 3}, DType::u16);
             for (int i = 0; i < 15; ++i)
               image.data<std::uint16_t>()[i] = static_cast<std::uint16_t>(
                   context.random().bits() + static_cast<std::uint64_t>(value));
             sample.set("image", std::move(image));
             return sample;
           })
      .batch(kRows);
}

Options digesting(int count) {
  Options options = workers(count);
  options.seed = 17;
  options.epochs = kEpochs;
  options.digest = true;
  options.on_bad_sample.action = BadSamplePolicy::Action::skip;
  return options;
}

template <class T>
Summary run(const Stream<T>& stream, const Options& options) {
  Loader<T> loader = stream.start(options);
  for (std::uint32_t epoch = 0; epoch < *options.epochs; ++epoch)
    for ([[maybe_unused]] const T& value : loader.epoch(epoch)) {
    }
  return loader.summary();
}

TEST(Digest, IsTheSameForEveryWayToRun) {
  const Summary expected = run(jittered(), digesting(1));
  EXPECT_EQ(expected.bad_count, 12U * kEpochs);
  EXPECT_THAT(expected.digest, testing::MatchesRegex("xxh3:[0-9a-f]{32}"));
  const Summary samples = run(jittered_samples(), digesting(1));
  EXPECT_EQ(samples.items, 288U * kEpochs);
  for (const Options& way : every_way(digesting(2))) {
    SCOPED_TRACE(describe(way));
    const Summary summary = run(jittered(), way);
    EXPECT_EQ(summary.digest, expected.digest);
    EXPECT_EQ(summary.set_digest, expected.set_digest);
    EXPECT_EQ(summary.items, expected.items);
    EXPECT_EQ(summary.bad_count, expected.bad_count);
    const Summary in_place = run(jittered_samples(), way);
    EXPECT_EQ(in_place.digest, samples.digest);
    EXPECT_EQ(in_place.set_digest, samples.set_digest);
  }
}

TEST(Digest, IsAnotherForAnotherSeedOrAnotherByte) {
  std::set<std::string> digests;
  Options options = digesting(4);
  options.epochs = 1;
  digests.insert(run(jittered(), options).digest);
  options.seed = 18;
  digests.insert(run(jittered(), options).digest);
  const auto numbers = [](std::int64_t at) {
    return range(100).map("f", [at](std::int64_t v) { return v == at ? v + 1 : v; });
  };
  digests.insert(run(numbers(-1).batch(4), options).digest);
  digests.insert(run(numbers(50).batch(4), options).digest);
  digests.insert(run(numbers(-1).batch(5), options).digest);
  digests.insert(run(numbers(-1), options).digest);
  EXPECT_EQ(digests.size(), 6U);
}

TEST(Digest, HoldsWhileAllocationsAndQueuesChange) {
  const std::string expected = run(jittered(), digesting(1)).digest;
  std::mt19937 random(5);
  Loader<Batch<std::uint64_t>> loader = jittered().start(digesting(8));
  int moves = 0;
  for (std::uint32_t epoch = 0; epoch < kEpochs; ++epoch) {
    for ([[maybe_unused]] const auto& batch : loader.epoch(epoch)) {
      Allocation next = loader.allocation();
      next.active = 1 + static_cast<int>(random() % 8);
      next.strict = random() % 3 == 0;
      for (StageAllocation& stage : next.stages) {
        stage.target = static_cast<double>(random() % 4);
        stage.cap = 1 + static_cast<int>(random() % 8);
        stage.packet_items = static_cast<std::int64_t>(random() % 5);
        stage.depth_items = static_cast<std::int64_t>(random() % 20);
      }
      if (next.strict)
        for (StageAllocation& stage : next.stages)
          stage.target = 1 + static_cast<int>(random() % 2);
      loader.set_allocation(next);
      loader.resize_queue("augment", 1 + static_cast<int>(random() % 30));
      ++moves;
    }
  }
  EXPECT_GT(moves, 50);
  EXPECT_EQ(loader.summary().digest, expected);
}

/// What decides an allocation: targets, caps, unparked workers.
std::vector<double> shape_of(const Allocation& allocation) {
  std::vector<double> shape{static_cast<double>(allocation.active)};
  for (const StageAllocation& stage : allocation.stages) {
    shape.push_back(stage.target);
    shape.push_back(static_cast<double>(stage.cap));
  }
  return shape;
}

class TunedDigest : public testing::TestWithParam<bool> {};

TEST_P(TunedDigest, HoldsWhileTheTunerMoves) {
  Options options = digesting(8);
  options.epochs = 500;  // As many as it takes until the tuner has moved; it is seldom three.
  options.autotune = true;
  options.strict = GetParam();
  options.settings["window"] = "20ms";
  std::uint32_t epochs = 0;
  int moves = 0;
  std::string digest;
  {
    Loader<Batch<std::uint64_t>> loader = jittered().start(options);
    std::vector<double> shape = shape_of(loader.allocation());
    while (moves < 2 && epochs < *options.epochs) {
      for ([[maybe_unused]] const auto& batch : loader.epoch(epochs)) {
        const std::vector<double> now = shape_of(loader.allocation());
        moves += now != shape ? 1 : 0;
        shape = now;
      }
      ++epochs;
    }
    digest = loader.summary().digest;
    EXPECT_EQ(loader.summary().tuning.policy, "balance");
  }
  ASSERT_GE(moves, 2) << "the tuner never moved: nothing was tested";
  Options untuned = digesting(8);
  untuned.epochs = epochs;
  EXPECT_EQ(digest, run(jittered(), untuned).digest);
}

INSTANTIATE_TEST_SUITE_P(SharedAndStrict, TunedDigest, testing::Bool());

TEST(Digest, IsThatOfTheWholeRunAfterTwoResumes) {
  const Summary whole = run(jittered(), digesting(2));
  std::mt19937 random(9);
  for (int round = 0; round < 4; ++round) {
    std::optional<Position> at;
    std::string digest;
    for (int part = 0; part < 3; ++part) {
      Options options = digesting(1 << (random() % 4));
      options.resume = at;
      Loader<Batch<std::uint64_t>> loader = jittered().start(options);
      // The first two parts stop somewhere, the third goes to the end.
      const std::uint64_t most = part < 2 ? 1 + random() % 40 : ~std::uint64_t{0};
      std::uint64_t taken = 0;
      std::uint32_t epoch = at ? at->epoch : 0;
      while (epoch < kEpochs && taken < most) {
        if (loader.next())
          ++taken;
        else
          ++epoch;
      }
      at = Position::parse(loader.position().text());
      digest = loader.summary().digest;
    }
    EXPECT_EQ(digest, whole.digest);
    EXPECT_EQ(at->bad, whole.bad_count);
  }
}

TEST(SetDigest, IsTheSameInAnyOrder) {
  // Nothing is refilled here: with order: any a bad sample's place goes to whoever comes.
  const auto stream = range(300).shuffle().map("load", [](std::int64_t value, Context& context) {
    take_a_while();
    return static_cast<std::uint64_t>(value) ^ context.random().bits();
  });
  const Summary ordered = run(stream.batch(kRows), digesting(2));
  for (const int count : {1, 2, 8}) {
    Options options = digesting(count);
    options.order = Order::any;
    const Summary any = run(stream.batch(kRows), options);
    EXPECT_EQ(any.set_digest, ordered.set_digest) << count;
    EXPECT_EQ(any.items, ordered.items);
    EXPECT_EQ(run(jittered(), options).set_digest, run(jittered(), digesting(count)).set_digest);
  }
  EXPECT_EQ(run(stream, digesting(4)).set_digest, ordered.set_digest) << "batches do not matter";
}

TEST(Digest, OfATypeWithoutOneIsRefused) {
  struct Opaque {
    int value;
  };
  Options options = digesting(1);
  EXPECT_THAT(error_of([&] {
                (void)range(3).map("m", [](std::int64_t) { return Opaque{1}; }).start(options);
              }),
              testing::AllOf(testing::HasSubstr("digest"), testing::HasSubstr("tensors")));
}

}  // namespace
}  // namespace weir::test
