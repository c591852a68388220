#include <algorithm>
#include <fstream>
#include <memory>
#include <set>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/per_worker.hpp>

#include "tests/pipeline/loader_run.hpp"

namespace weir::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Action = BadSamplePolicy::Action;

/// Values that `is_bad` names are bad samples.
template <class IsBad>
auto refusing(IsBad is_bad) {
  return [is_bad](std::int64_t value) {
    if (is_bad(value)) throw BadSample("value " + std::to_string(value) + " is rotten");
    return value;
  };
}

Options with_policy(BadSamplePolicy policy, int count = 2) {
  Options options = workers(count);
  options.on_bad_sample = policy;
  return options;
}

/// Everything before the first failure, and its message.
template <class T>
std::pair<std::vector<T>, std::string> until_failure(const Stream<T>& stream,
                                                     const Options& options) {
  std::vector<T> values;
  Loader<T> loader = stream.start(options);
  for (std::uint32_t epoch = 0; epoch < options.epochs.value_or(1); ++epoch) {
    try {
      while (std::optional<T> value = loader.next()) values.push_back(std::move(*value));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data);
      EXPECT_FALSE(loader.next()) << "nothing comes after a failure";
      return {std::move(values), error.what()};
    }
  }
  return {std::move(values), ""};
}

TEST(BadSampleFails, TheFirstInTheOrderOfTheStreamWhateverWorkersDo) {
  const auto stream = range(100).map("check", refusing([](std::int64_t value) {
                                       return value == 37 || value == 38 || value == 60;
                                     }));
  for (const Options& options : every_way(workers(1))) {
    SCOPED_TRACE(describe(options));
    const auto [values, message] = until_failure(stream, options);
    EXPECT_EQ(values, counting(0, 37));
    EXPECT_THAT(message,
                AllOf(HasSubstr("check"), HasSubstr("sample 37"), HasSubstr("value 37 is rotten")));
  }
}

TEST(BadSampleFails, BehindAShuffleAtTheSameSampleForEveryNumberOfWorkers) {
  const auto stream =
      range(500)
          .shuffle()
          .map("check", refusing([](std::int64_t value) { return value % 100 == 7; }))
          .batch(8);
  std::set<std::string> messages;
  std::set<std::size_t> batches;
  for (const Options& options : every_way(workers(1))) {
    const auto [values, message] = until_failure(stream, options);
    messages.insert(message);
    batches.insert(values.size());
  }
  EXPECT_EQ(messages.size(), 1U) << testing::PrintToString(messages);
  EXPECT_EQ(batches.size(), 1U);
  EXPECT_NE(*messages.begin(), "");
}

struct OfMyOwn {
  int code = 0;
};

/// Throws what the number names.
std::int64_t throwing(std::int64_t what) {
  switch (what) {
    case 0:
      throw 42;
    case 1:
      throw std::string("a text");
    case 2:
      throw "a literal";
    case 3:
      throw OfMyOwn{7};
    case 4:
      throw std::out_of_range("off the end");
    case 5:
      throw std::make_unique<int>(3);
    default:
      throw Error(ErrorKind::usage, "decoder", "no such codec");
  }
}

TEST(BadSampleFails, WithTheUsersExceptionOfWhateverTypeNested) {
  const char* const reasons[] = {"an exception of type int",
                                 "a text",
                                 "a literal",
                                 "OfMyOwn",
                                 "off the end",
                                 "unique_ptr",
                                 "no such codec"};
  for (std::int64_t what = 0; what < 7; ++what) {
    const auto stream = range(3).map(
        "throw", [what](std::int64_t value) { return value == 1 ? throwing(what) : value; });
    Loader<std::int64_t> loader = stream.start(workers(2));
    EXPECT_EQ(loader.next(), 0);
    try {
      (void)loader.next();
      FAIL() << what;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("stage 'throw'"), HasSubstr("sample 1"),
                                      HasSubstr(reasons[what])));
      EXPECT_EQ(error.kind(), what == 6 ? ErrorKind::usage : ErrorKind::data);
      try {
        std::rethrow_if_nested(error);
        ADD_FAILURE() << "nothing nested";
      } catch (int value) {
        EXPECT_EQ(what, 0);
        EXPECT_EQ(value, 42);
      } catch (const OfMyOwn& own) {
        EXPECT_EQ(what, 3);
        EXPECT_EQ(own.code, 7);
      } catch (const std::out_of_range&) {
        EXPECT_EQ(what, 4);
      } catch (...) {
        EXPECT_TRUE(what != 0 && what != 3 && what != 4);
      }
    }
  }
}

TEST(BadSampleSkip, RefillsTheBatchSoThatItsSizeIsExactAndNoIdComesTwice) {
  // Four bad ones in what would be the first batch, and some later.
  const auto bad = [](std::int64_t value) { return value < 4 || value % 17 == 5; };
  const auto stream = range(100).map("check", refusing(bad)).batch(8);
  std::vector<std::vector<std::int64_t>> expected(1);
  for (std::int64_t value = 0; value < 100; ++value) {
    if (bad(value)) continue;
    if (expected.back().size() == 8) expected.emplace_back();
    expected.back().push_back(value);
  }
  for (const Options& way : every_way(with_policy({.action = Action::skip}))) {
    SCOPED_TRACE(describe(way));
    Loader<Batch<std::int64_t>> loader = stream.start(way);
    std::vector<Batch<std::int64_t>> batches;
    std::set<std::uint64_t> ids;
    while (auto batch = loader.next()) {
      for (const std::uint64_t id : batch->ids()) EXPECT_TRUE(ids.insert(id).second) << id;
      batches.push_back(std::move(*batch));
    }
    EXPECT_EQ(rows_of(std::move(batches)), expected);
    EXPECT_EQ(loader.summary().bad_count, 10U);
    EXPECT_EQ(loader.summary().items, 90U);
  }
}

TEST(BadSampleSkip, IsBoundedByACount) {
  const auto stream =
      range(200).map("check", refusing([](std::int64_t value) { return value % 20 == 10; }));
  for (const Options& way : every_way(with_policy({.action = Action::skip, .max_count = 3}))) {
    SCOPED_TRACE(describe(way));
    const auto [values, message] = until_failure(stream, way);
    EXPECT_EQ(values.back(), 69);  // 10, 30 and 50 are allowed; 70 is one too many.
    EXPECT_THAT(message, AllOf(HasSubstr("sample 70"), HasSubstr("4 samples are bad"),
                               HasSubstr("allowed are 3")));
  }
  EXPECT_EQ(until_failure(stream, with_policy({.action = Action::skip, .max_count = 10})).second,
            "");
}

TEST(BadSampleSkip, IsBoundedByARateFromAThousandSamplesOn) {
  // One in ten is bad among the first hundred, and none behind: 1 % of a thousand is not exceeded.
  const auto early = range(2000).map(
      "check", refusing([](std::int64_t value) { return value < 100 && value % 10 == 0; }));
  EXPECT_EQ(until_failure(early, with_policy({.action = Action::skip, .max_rate = 0.01})).second,
            "");
  // One in fifty, all along.
  const auto steady =
      range(4000).map("check", refusing([](std::int64_t value) { return value % 50 == 49; }));
  for (const Options& way : every_way(with_policy({.action = Action::skip, .max_rate = 0.01}))) {
    SCOPED_TRACE(describe(way));
    const auto [values, message] = until_failure(steady, way);
    EXPECT_EQ(values.size(), 980U);  // Sample 999 is the thousandth, and the twentieth bad one.
    EXPECT_THAT(message, AllOf(HasSubstr("sample 999"), HasSubstr("20 of 1000"), HasSubstr("1 %")));
  }
}

TEST(BadSampleSkip, IsBoundedByARateAtAnEpochsEnd) {
  const auto stream =
      range(50).map("check", refusing([](std::int64_t value) { return value == 9; }));
  const auto [values, message] =
      until_failure(stream, with_policy({.action = Action::skip, .max_rate = 0.01}));
  EXPECT_EQ(values.size(), 49U);
  EXPECT_THAT(message, AllOf(HasSubstr("sample 9"), HasSubstr("1 of 50"), HasSubstr("epoch")));
  EXPECT_EQ(until_failure(stream, with_policy({.action = Action::skip, .max_rate = 0.02})).second,
            "");
}

TEST(BadSampleSkip, FailsAnEpochWithoutAGoodSample) {
  const auto stream = range(10).map("check", refusing([](std::int64_t) { return true; })).batch(4);
  for (const Options& way : every_way(with_policy({.action = Action::skip}))) {
    const auto [values, message] = until_failure(stream, way);
    EXPECT_TRUE(values.empty());
    EXPECT_THAT(message, AllOf(HasSubstr("no sample of this epoch is good"), HasSubstr("10 bad")));
  }
}

TEST(BadSampleSkip, CountsGoodRowsThatFilledNoBatch) {
  // Three good ones and a bad one make no batch of four, and no epoch without a good sample either.
  const auto stream = range(4)
                          .map("check", refusing([](std::int64_t value) { return value == 2; }))
                          .batch(4, {.drop_remainder = true});
  Options options = with_policy({.action = Action::skip, .max_rate = 0.25});
  options.epochs = 2;
  for (const Options& way : every_way(options)) {
    SCOPED_TRACE(describe(way));
    const auto [values, message] = until_failure(stream, way);
    EXPECT_TRUE(values.empty());
    EXPECT_EQ(message, "");
  }
  // One bad of 12 is under a tenth, though only eight were delivered.
  const auto longer = range(12)
                          .map("check", refusing([](std::int64_t value) { return value == 2; }))
                          .batch(8, {.drop_remainder = true});
  EXPECT_EQ(until_failure(longer, with_policy({.action = Action::skip, .max_rate = 0.1})).second,
            "");
  EXPECT_THAT(until_failure(longer, with_policy({.action = Action::skip, .max_rate = 0.08})).second,
              HasSubstr("1 of 12"));
}

TEST(BadSampleSkip, AppliesToBadSamplesAloneUnlessTheStageSaysSo) {
  const auto throws = [](std::int64_t value) {
    if (value == 5) throw std::runtime_error("a bug");
    return value;
  };
  const Options skip = with_policy({.action = Action::skip});
  EXPECT_THAT(until_failure(range(10).map("work", throws), skip).second,
              AllOf(HasSubstr("sample 5"), HasSubstr("a bug")));
  const auto own =
      range(10).map("work", throws, {.on_bad_sample = BadSamplePolicy{.action = Action::skip}});
  EXPECT_EQ(until_failure(own, workers(2)),
            std::make_pair(std::vector<std::int64_t>{0, 1, 2, 3, 4, 6, 7, 8, 9}, std::string()));
}

TEST(BadSampleSkip, CountsAStagesOwnLimitApart) {
  const auto stream =
      range(40)
          .map("first", refusing([](std::int64_t value) { return value % 10 == 1; }))
          .map("second", refusing([](std::int64_t value) { return value == 5 || value == 25; }),
               {.on_bad_sample = BadSamplePolicy{.action = Action::skip, .max_count = 1}});
  const auto [values, message] = until_failure(stream, with_policy({.action = Action::skip}));
  EXPECT_THAT(message, AllOf(HasSubstr("second"), HasSubstr("sample 25"),
                             HasSubstr("2 samples are bad"), HasSubstr("allowed are 1")));
  // And the other way round: the stage's own do not use up the run's.
  const auto generous = range(40)
                            .map("own", refusing([](std::int64_t value) { return value % 2 == 1; }),
                                 {.on_bad_sample = BadSamplePolicy{.action = Action::skip}})
                            .map("run", refusing([](std::int64_t value) { return value == 20; }));
  EXPECT_EQ(until_failure(generous, with_policy({.action = Action::skip, .max_count = 1})).second,
            "");
}

TEST(BadSampleSkip, BeginsItsCountOfAnEpochAnewWhenAnotherOneIsAskedFor) {
  // 1 bad of 20 in each epoch is allowed; of the broken one nothing may be left over.
  const auto stream =
      range(20).map("own", refusing([](std::int64_t value) { return value == 0; }),
                    {.on_bad_sample = BadSamplePolicy{.action = Action::skip, .max_rate = 0.05}});
  Options options = workers(1);
  options.epochs = 4;
  Loader<std::int64_t> loader = stream.start(options);
  for (const std::uint32_t epoch : {0U, 2U, 1U, 3U}) {
    int seen = 0;
    for ([[maybe_unused]] const std::int64_t value : loader.epoch(epoch))
      if (++seen == 7 && epoch != 3) break;
    EXPECT_EQ(seen, epoch == 3 ? 19 : 7);
  }
}

TEST(BadSampleSkip, KeepsItsCountsAcrossAResume) {
  const auto stream = range(60)
                          .map("own", refusing([](std::int64_t value) { return value % 10 == 3; }),
                               {.on_bad_sample = BadSamplePolicy{.action = Action::skip}})
                          .map("run", refusing([](std::int64_t value) { return value % 20 == 5; }))
                          .batch(4);
  Options options = with_policy({.action = Action::skip, .max_count = 3});
  options.digest = true;
  Loader<Batch<std::int64_t>> whole = stream.start(options);
  std::vector<Position> positions;
  while (whole.next()) positions.push_back(whole.position());
  EXPECT_EQ(whole.summary().bad_count, 9U);
  for (const Position& at : positions) {
    Options resumed = options;
    resumed.resume = Position::parse(at.text());
    Loader<Batch<std::int64_t>> loader = stream.start(resumed);
    while (loader.next()) {
    }
    EXPECT_EQ(loader.summary().bad_count, 9U);
    EXPECT_EQ(loader.summary().digest, whole.summary().digest);
  }
}

TEST(BadSampleReplace, PutsTheStagesValueInAndFlagsIt) {
  const auto stream = range(6)
                          .map("check", refusing([](std::int64_t value) { return value % 3 == 1; }),
                               {}, [] { return std::int64_t{-1}; })
                          .batch(6);
  for (const Options& way : every_way(with_policy({.action = Action::replace}))) {
    Loader<Batch<std::int64_t>> loader = stream.start(way);
    const auto batch = loader.next();
    ASSERT_TRUE(batch);
    EXPECT_THAT(batch->items(), ElementsAre(0, -1, 2, 3, -1, 5));
    EXPECT_THAT(batch->ids(), ElementsAre(0, 1, 2, 3, 4, 5));
    EXPECT_EQ(batch->replaced_count(), 2U);
    for (std::size_t row = 0; row < 6; ++row) EXPECT_EQ(batch->replaced(row), row % 3 == 1);
    EXPECT_FALSE(loader.next());
    EXPECT_EQ(loader.summary().bad_count, 2U);
  }
}

TEST(BadSampleReplace, PutsADefaultInWithoutAValue) {
  const auto stream = range(4)
                          .map("check", refusing([](std::int64_t value) { return value == 2; }))
                          .map("more", [](std::int64_t value) { return value + 100; })
                          .batch(4);
  Loader<Batch<std::int64_t>> loader = stream.start(with_policy({.action = Action::replace}));
  const auto batch = loader.next();
  ASSERT_TRUE(batch);
  EXPECT_THAT(batch->items(), ElementsAre(100, 101, 0, 103));
  EXPECT_TRUE(batch->replaced(2));
  EXPECT_EQ(batch->replaced_count(), 1U);
}

TEST(BadSampleReplace, NeedsAValueWhereNoBatchIsBehind) {
  Loader<std::int64_t> loader =
      range(4)
          .map("check", refusing([](std::int64_t value) { return value == 1; }))
          .start(with_policy({.action = Action::replace}));
  EXPECT_EQ(loader.next(), 0);
  EXPECT_THAT(error_of([&] { (void)loader.next(); }),
              AllOf(HasSubstr("replace"), HasSubstr("replacement"), HasSubstr("batch")));
}

TEST(BadSampleReplace, WithAReplacementThatThrowsFailsWithItsReason) {
  const auto stream = range(4)
                          .map("check", refusing([](std::int64_t value) { return value == 1; }), {},
                               []() -> std::int64_t { throw std::runtime_error("none left"); })
                          .batch(2);
  const auto [values, message] = until_failure(stream, with_policy({.action = Action::replace}));
  EXPECT_THAT(message, AllOf(HasSubstr("sample 1"), HasSubstr("none left")));
}

TEST(BadSampleReplace, CountsTowardsTheLimits) {
  const auto stream =
      range(40).map("check", refusing([](std::int64_t value) { return value % 10 == 5; }), {},
                    [] { return std::int64_t{0}; });
  EXPECT_THAT(
      until_failure(stream, with_policy({.action = Action::replace, .max_count = 2})).second,
      AllOf(HasSubstr("sample 25"), HasSubstr("allowed are 2")));
}

TEST(BadSample, InAFilterIsSkippedLikeElsewhere) {
  const auto stream = range(10).filter("odd", [](const std::int64_t& value) {
    if (value == 3) throw BadSample("three");
    return value % 2 == 1;
  });
  EXPECT_THAT(all_of(stream, with_policy({.action = Action::skip})), ElementsAre(1, 5, 7, 9));
  EXPECT_THAT(until_failure(stream, workers(2)).second,
              AllOf(HasSubstr("odd"), HasSubstr("sample 3"), HasSubstr("three")));
}

TEST(BadSample, InAFlatMapIsSkippedLikeElsewhere) {
  const auto stream = range(5).flat_map("twice", [](std::int64_t value) {
    if (value == 2) throw BadSample("two");
    return std::vector<std::int64_t>{value, value};
  });
  EXPECT_THAT(all_of(stream, with_policy({.action = Action::skip})),
              ElementsAre(0, 0, 1, 1, 3, 3, 4, 4));
  EXPECT_THAT(until_failure(stream, workers(2)).second, HasSubstr("sample 2"));
}

TEST(BadSample, InACollateFunctionFailsAndNamesTheStage) {
  const auto stream = range(8).batch(4, [](std::vector<std::int64_t> values) {
    if (values.front() == 4) throw std::runtime_error("cannot stack");
    return values.size();
  });
  const auto [values, message] = until_failure(stream, workers(2));
  EXPECT_EQ(values.size(), 1U);
  EXPECT_THAT(message, AllOf(HasSubstr("batch"), HasSubstr("sample 4"), HasSubstr("cannot stack")));
}

TEST(BadSample, InAPerWorkerFactoryFailsAndNamesTheStage) {
  const auto stream =
      range(8).map("model", per_worker([]() -> int { throw std::runtime_error("no weights"); }),
                   [](int&, std::int64_t value) { return value; });
  EXPECT_THAT(until_failure(stream, workers(2)).second,
              AllOf(HasSubstr("model"), HasSubstr("sample 0"), HasSubstr("no weights")));
}

TEST(BadSample, OfAnIndexedSourceFollowsThePolicyOfTheRun) {
  const auto stream = indexed("shards", 10, [](std::uint64_t index) {
    if (index == 4) throw BadSample("cut off");
    return static_cast<std::int64_t>(index);
  });
  EXPECT_THAT(until_failure(stream, workers(2)).second,
              AllOf(HasSubstr("shards"), HasSubstr("sample 4"), HasSubstr("cut off")));
  EXPECT_THAT(all_of(stream, with_policy({.action = Action::skip})),
              ElementsAre(0, 1, 2, 3, 5, 6, 7, 8, 9));
}

TEST(BadSample, OfAGeneratorFailsTheRunAndNamesTheSource) {
  const auto stream = generate("socket", [] {
    return [next = 0]() mutable -> std::optional<int> {
      if (next == 5) throw std::runtime_error("connection reset");
      return next++;
    };
  });
  for (const Options& way : every_way(workers(1))) {
    const auto [values, message] = until_failure(stream, way);
    EXPECT_THAT(values, ElementsAre(0, 1, 2, 3, 4));
    EXPECT_THAT(message,
                AllOf(HasSubstr("socket"), HasSubstr("sample 5"), HasSubstr("connection reset")));
  }
}

TEST(BadSample, OfAGeneratorThatCannotBeginFailsTheRun) {
  const auto stream = generate("socket", []() -> std::function<std::optional<int>()> {
    throw std::runtime_error("no route");
  });
  EXPECT_THAT(until_failure(stream, workers(2)).second,
              AllOf(HasSubstr("socket"), HasSubstr("no route")));
}

}  // namespace
}  // namespace weir::test
