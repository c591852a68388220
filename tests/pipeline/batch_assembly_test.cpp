#include <cstring>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/pipeline/loader_run.hpp"

namespace weir::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Action = BadSamplePolicy::Action;

Tensor filled(Tensor tensor, std::uint8_t value) {
  std::memset(tensor.bytes(), value, tensor.size_bytes());
  return tensor;
}

/// A sample whose image holds its number in every byte.
Sample numbered(std::int64_t value, Context& context, const Shape& shape = Shape{2, 3}) {
  Sample sample;
  sample.set("image",
             filled(context.allocate("image", shape, DType::u8), static_cast<std::uint8_t>(value)));
  return sample;
}

Stream<Sample> samples(std::int64_t count) {
  return range(count).map("make", [](std::int64_t v, Context& c) { return numbered(v, c); });
}

std::vector<int> firsts(const Batch<Sample>& batch) {
  std::vector<int> values;
  const Tensor& image = batch["image"];
  for (std::int64_t row = 0; row < image.shape()[0]; ++row) {
    const Tensor one = image.row(row);
    for (const std::byte byte : one.span()) EXPECT_EQ(byte, one.span()[0]) << "a torn row";
    values.push_back(static_cast<int>(one.span()[0]));
  }
  return values;
}

TEST(BatchOfSamples, StacksEachColumn) {
  const auto stream = range(5).map("make", [](std::int64_t v, Context& c) {
    Sample sample = numbered(v, c);
    Tensor label(Shape{}, DType::i64);
    *label.data<std::int64_t>() = v * 100;
    sample.set("label", std::move(label));
    return sample;
  });
  const auto batches = all_of(stream.batch(3), workers(2));
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[0]["image"].shape(), (Shape{3, 2, 3}));
  EXPECT_EQ(batches[0]["image"].dtype(), DType::u8);
  EXPECT_EQ(batches[0]["label"].shape(), (Shape{3}));
  EXPECT_EQ(batches[1]["image"].shape(), (Shape{2, 2, 3})) << "the remainder is as long as it is";
  EXPECT_EQ(batches[1]["label"].shape(), (Shape{2}));
  EXPECT_THAT(firsts(batches[0]), ElementsAre(0, 1, 2));
  EXPECT_THAT(firsts(batches[1]), ElementsAre(3, 4));
  EXPECT_EQ(batches[1]["label"].data<std::int64_t>()[1], 400);
  EXPECT_EQ(batches[0].find("mask"), nullptr);
}

TEST(BatchOfSamples, AreWrittenInPlaceWhereTheShapeIsKnown) {
  for (const Options& way : every_way(workers(1))) {
    Loader<Batch<Sample>> loader = samples(60).batch(8).start(way);
    while (loader.next()) {
    }
    EXPECT_EQ(loader.summary().placed_rows, 60U);
    EXPECT_EQ(loader.summary().copied_rows, 0U);
  }
}

TEST(BatchOfSamples, AreCopiedWhereTheyCannotBePlaced) {
  const auto all = [](const Sample&) { return true; };
  Loader<Batch<Sample>> behind_a_filter = samples(20).filter("all", all).batch(4).start(workers(2));
  while (behind_a_filter.next()) {
  }
  EXPECT_EQ(behind_a_filter.summary().placed_rows, 0U);
  const auto own_memory = range(20).map("own", [](std::int64_t v) {
    Sample sample;
    sample.set("image", filled(Tensor(Shape{4}, DType::u8), static_cast<std::uint8_t>(v)));
    return sample;
  });
  Loader<Batch<Sample>> loader = own_memory.batch(4).start(workers(2));
  std::vector<int> values;
  while (const auto batch = loader.next())
    for (const int value : firsts(*batch)) values.push_back(value);
  EXPECT_EQ(values.size(), 20U);
  EXPECT_EQ(values[13], 13);
  EXPECT_EQ(loader.summary().placed_rows, 0U);
  EXPECT_EQ(loader.summary().copied_rows, 20U);
}

TEST(BatchOfSamples, CloseTheHolesThatBadSamplesLeave) {
  // Bad ones are found late, while those behind them have their places already.
  for (const std::uint64_t rows : {1U, 2U, 3U, 8U}) {
    const auto stream = range(200)
                            .map("make",
                                 [](std::int64_t v, Context& c) {
                                   Sample sample = numbered(v, c);
                                   if (v % 23 < 3) {
                                     std::this_thread::sleep_for(std::chrono::microseconds(300));
                                     throw BadSample("rotten");
                                   }
                                   return sample;
                                 })
                            .batch(rows);
    std::vector<int> expected;
    for (int v = 0; v < 200; ++v)
      if (v % 23 >= 3) expected.push_back(v);
    for (Options way : every_way(workers(1))) {
      SCOPED_TRACE(describe(way));
      way.on_bad_sample.action = Action::skip;
      way.epochs = 2;
      Loader<Batch<Sample>> loader = stream.start(way);
      for (std::uint32_t epoch = 0; epoch < 2; ++epoch) {
        std::vector<int> values;
        std::vector<Batch<Sample>> kept;  // Held: later batches must not be written over them.
        for (Batch<Sample>& batch : loader.epoch(epoch)) kept.push_back(std::move(batch));
        for (const Batch<Sample>& batch : kept) {
          const std::vector<int> own = firsts(batch);
          for (std::size_t row = 0; row < own.size(); ++row)
            EXPECT_EQ(static_cast<std::uint64_t>(own[row]), batch.ids()[row]);
          values.insert(values.end(), own.begin(), own.end());
        }
        EXPECT_EQ(values, expected);
      }
      const Summary summary = loader.summary();
      EXPECT_EQ(summary.placed_rows + summary.copied_rows, expected.size() * 2);
      // How many stay in place is a matter of when the bad ones are found.
      if (!way.run_inline) continue;
      EXPECT_GT(summary.placed_rows, summary.copied_rows);
    }
  }
}

TEST(BatchOfSamples, ArePlacedAfterAResumeToo) {
  const auto stream = samples(40).batch(8);
  Options options = workers(2);
  Position at;
  {
    Loader<Batch<Sample>> loader = stream.start(options);
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(loader.next());
    at = loader.position();
  }
  options.resume = at;
  Loader<Batch<Sample>> loader = stream.start(options);
  const auto batch = loader.next();
  ASSERT_TRUE(batch);
  EXPECT_THAT(firsts(*batch), ElementsAre(16, 17, 18, 19, 20, 21, 22, 23));
  while (loader.next()) {
  }
  EXPECT_EQ(loader.summary().copied_rows, 0U);
}

TEST(BatchOfSamples, PutZerosInForABadSampleThatIsReplaced) {
  const auto stream = range(4)
                          .map("make",
                               [](std::int64_t v, Context& c) {
                                 if (v == 0 || v == 2) throw BadSample("rotten");
                                 return numbered(v, c);
                               })
                          .batch(4);
  for (Options way : every_way(workers(1))) {
    way.on_bad_sample.action = Action::replace;
    const auto batches = all_of(stream, way);
    ASSERT_EQ(batches.size(), 1U);
    EXPECT_THAT(firsts(batches[0]), ElementsAre(0, 1, 0, 3));
    EXPECT_THAT(batches[0].ids(), ElementsAre(0, 1, 2, 3));
    EXPECT_TRUE(batches[0].replaced(0) && batches[0].replaced(2));
    EXPECT_EQ(batches[0].replaced_count(), 2U);
  }
}

TEST(BatchOfSamples, OfBadOnesAloneHaveNoShapeToReplaceThemBy) {
  const auto stream = range(4)
                          .map("make",
                               [](std::int64_t v, Context& c) {
                                 if (v >= 2) throw BadSample("rotten");
                                 return numbered(v, c);
                               })
                          .batch(2);
  Options options = workers(2);
  options.on_bad_sample.action = Action::replace;
  Loader<Batch<Sample>> loader = stream.start(options);
  EXPECT_TRUE(loader.next());
  EXPECT_THAT(error_of([&] { (void)loader.next(); }),
              AllOf(HasSubstr("batch"), HasSubstr("all 2 samples"), HasSubstr("shape")));
}

std::string message_of(const Stream<Sample>& stream, BatchOptions batch = {}) {
  std::set<std::string> messages;
  for (const Options& way : every_way(workers(1)))
    messages.insert(error_of([&] { (void)all_of(stream.batch(4, batch), way); }));
  EXPECT_EQ(messages.size(), 1U) << testing::PrintToString(messages);
  return *messages.begin();
}

TEST(UnequalSamples, AreRefusedWithTheSampleAndBothShapes) {
  const auto stream = range(8).map("make", [](std::int64_t v, Context& c) {
    return numbered(v, c, v == 6 ? Shape{2, 5} : Shape{2, 3});
  });
  EXPECT_THAT(message_of(stream), AllOf(HasSubstr("batch"), HasSubstr("column 'image' of sample 6"),
                                        HasSubstr("[2, 5]"), HasSubstr("sample 4"),
                                        HasSubstr("[2, 3]"), HasSubstr("pad: true")));
}

TEST(UnequalSamples, OfAnotherTypeAreRefused) {
  const auto stream = range(4).map("make", [](std::int64_t v, Context& c) {
    Sample sample;
    sample.set("x", c.allocate("x", Shape{2}, v == 1 ? DType::f32 : DType::u8));
    return sample;
  });
  EXPECT_THAT(message_of(stream),
              AllOf(HasSubstr("column 'x' of sample 1 is f32"), HasSubstr("sample 0 u8")));
}

TEST(UnequalSamples, WithMissingColumnsAreRefused) {
  const auto with = [](std::vector<std::string> names) {
    return range(4).map("make", [names](std::int64_t v) {
      Sample sample;
      sample.set("image", Tensor(Shape{1}, DType::u8));
      if (v == 2)
        for (const std::string& name : names) sample.set(name, Tensor(Shape{1}, DType::u8));
      else
        sample.set("mask", Tensor(Shape{1}, DType::u8));
      return sample;
    });
  };
  EXPECT_THAT(message_of(with({})),
              AllOf(HasSubstr("sample 2 has 1 columns"), HasSubstr("sample 0 has 2")));
  EXPECT_THAT(message_of(with({"depth"})),
              AllOf(HasSubstr("sample 2 has no column 'mask'"), HasSubstr("sample 0 has")));
}

TEST(UnequalSamples, ArePaddedWithZerosWhereAskedFor) {
  const auto stream = range(3).map("make", [](std::int64_t v, Context& c) {
    return numbered(v + 1, c, Shape{v + 1, 4 - v});
  });
  for (const Options& way : every_way(workers(1))) {
    const auto batches = all_of(stream.batch(3, {.pad = true}), way);
    ASSERT_EQ(batches.size(), 1U);
    const Tensor& image = batches[0]["image"];
    ASSERT_EQ(image.shape(), (Shape{3, 3, 4}));
    for (int n = 0; n < 3; ++n)
      for (int row = 0; row < 3; ++row)
        for (int column = 0; column < 4; ++column)
          EXPECT_EQ(image.data<std::uint8_t>()[(n * 3 + row) * 4 + column],
                    row <= n && column < 4 - n ? n + 1 : 0)
              << n << ' ' << row << ' ' << column;
  }
}

TEST(UnequalSamples, OfAnotherRankCannotBePadded) {
  const auto stream = range(4).map("make", [](std::int64_t v, Context& c) {
    return numbered(v, c, v == 3 ? Shape{6} : Shape{2, 3});
  });
  EXPECT_THAT(message_of(stream, {.pad = true}), AllOf(HasSubstr("sample 3"), HasSubstr("[6]")));
}

TEST(BatchMemory, IsUsedAgainOnceTheConsumerLetsGo) {
  Loader<Batch<Sample>> loader = samples(40000).batch(8).start(workers(2));
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(loader.next());
  const std::uint64_t before = buffer_pool_use().allocations;
  while (loader.next()) {
  }
  // The queue may still deepen and ask for as many as it holds, some hundreds of so small ones;
  // without reuse it would be all of them.
  EXPECT_LT(buffer_pool_use().allocations - before, 2475U) << "of 4950 batches";
}

}  // namespace
}  // namespace weir::test
