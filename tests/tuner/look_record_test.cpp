#include "tuner/look_record.hpp"

#include <weir/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <utility>

namespace weir::detail {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

/// Anything that a member of an aggregate can be made from.
struct Anything {
  template <class T>
  operator T() const;  // NOLINT: never called
};

template <class Aggregate, std::size_t... Index>
constexpr bool takes(std::index_sequence<Index...>) {
  return requires { Aggregate{(static_cast<void>(Index), Anything{})...}; };
}

template <class Aggregate, std::size_t Count = 0>
constexpr std::size_t count_of_members() {
  if constexpr (takes<Aggregate>(std::make_index_sequence<Count + 1>{}))
    return count_of_members<Aggregate, Count + 1>();
  else
    return Count;
}

/// The text is what a log holds: whatever it loses is lost.
Json through_text(const Json& record) { return Json::parse(record.dump()); }

LookInput some_look() {
  LookInput look;
  look.changed = true;
  look.snapshot.time_seconds = 1234.000000001;
  look.snapshot.budget = 8;
  look.snapshot.unparked_seconds = 0.1 + 0.2;
  look.snapshot.memory_bound_bytes = std::numeric_limits<std::uint64_t>::max();
  look.snapshot.structure = 0x8000000000000001ULL;
  look.snapshot.host.throttled_seconds = 1.0 / 7;
  look.snapshot.loaders.resize(1);
  look.snapshot.loaders[0].name = "train";
  look.snapshot.loaders[0].consumer.service_seconds = 1.0 / 3;
  look.snapshot.loaders[0].consumer.waiting = true;
  for (const char* name : {"read", "decode"}) {
    StageSnapshot& stage = look.snapshot.stages.emplace_back();
    stage.name = name;
    stage.items_in = 1234567890123;
    stage.slot_seconds = std::nextafter(7.0, 8.0);
    stage.queue.full_seconds = 1e-300;
    stage.queue.length_items = -1;
  }
  look.snapshot.stages[1].serial = true;
  look.current.active = 7;
  look.current.stay_slack = Allocation::kUnlimited;
  look.current.stages = {{.target = 0.1}, {.target = 2.0 / 3, .cap = 3, .group = 0}};
  look.current.groups = {2};
  look.current.structure = 9;
  return look;
}

void expect_same(const LookInput& a, const LookInput& b) {
  EXPECT_EQ(a.changed, b.changed);
  EXPECT_EQ(a.snapshot.time_seconds, b.snapshot.time_seconds);
  EXPECT_EQ(a.snapshot.unparked_seconds, b.snapshot.unparked_seconds);
  EXPECT_EQ(a.snapshot.memory_bound_bytes, b.snapshot.memory_bound_bytes);
  EXPECT_EQ(a.snapshot.structure, b.snapshot.structure);
  EXPECT_EQ(a.snapshot.host.throttled_seconds, b.snapshot.host.throttled_seconds);
  ASSERT_EQ(a.snapshot.loaders.size(), b.snapshot.loaders.size());
  EXPECT_EQ(a.snapshot.loaders[0].name, b.snapshot.loaders[0].name);
  EXPECT_EQ(a.snapshot.loaders[0].consumer.service_seconds,
            b.snapshot.loaders[0].consumer.service_seconds);
  EXPECT_EQ(a.snapshot.loaders[0].consumer.waiting, b.snapshot.loaders[0].consumer.waiting);
  ASSERT_EQ(a.snapshot.stages.size(), b.snapshot.stages.size());
  for (std::size_t i = 0; i < a.snapshot.stages.size(); ++i) {
    EXPECT_EQ(a.snapshot.stages[i].name, b.snapshot.stages[i].name);
    EXPECT_EQ(a.snapshot.stages[i].serial, b.snapshot.stages[i].serial);
    EXPECT_EQ(a.snapshot.stages[i].items_in, b.snapshot.stages[i].items_in);
    EXPECT_EQ(a.snapshot.stages[i].slot_seconds, b.snapshot.stages[i].slot_seconds);
    EXPECT_EQ(a.snapshot.stages[i].queue.full_seconds, b.snapshot.stages[i].queue.full_seconds);
    EXPECT_EQ(a.snapshot.stages[i].queue.length_items, b.snapshot.stages[i].queue.length_items);
    EXPECT_EQ(a.current.stages[i].target, b.current.stages[i].target);
    EXPECT_EQ(a.current.stages[i].cap, b.current.stages[i].cap);
    EXPECT_EQ(a.current.stages[i].group, b.current.stages[i].group);
  }
  EXPECT_EQ(a.current.stay_slack, b.current.stay_slack);
  EXPECT_EQ(a.current.groups, b.current.groups);
  EXPECT_EQ(a.current.structure, b.current.structure);
}

TEST(LookRecord, ReadsBackToTheLastBit) {
  LookRecord writer;
  LookRecord reader;
  const LookInput look = some_look();
  expect_same(look, reader.read(through_text(writer.write(look))));
}

TEST(LookRecord, WritesOnlyWhatChanged) {
  LookRecord writer;
  LookRecord reader;
  LookInput look = some_look();
  static_cast<void>(reader.read(through_text(writer.write(look))));
  look.changed = false;
  look.snapshot.stages[1].items_in += 1;
  look.current.groups.clear();
  look.current.stages[1].group = -1;
  const Json record = through_text(writer.write(look));
  EXPECT_EQ(record.dump(), R"({"stages":{"items_in":[1234567890123,1234567890124]},)"
                           R"("allocation":{"group":[-1,-1],"groups":[]}})");
  expect_same(look, reader.read(record));
}

TEST(LookRecord, AfterARestartEverythingIsWritten) {
  LookRecord writer;
  const LookInput look = some_look();
  const Json first = writer.write(look);
  EXPECT_NE(writer.write(look), first);
  writer.restart();
  EXPECT_EQ(writer.write(look), first);
}

TEST(LookRecord, OddNumbersSurvive) {
  LookRecord writer;
  LookRecord reader;
  LookInput look = some_look();
  look.snapshot.stages[0].slot_seconds = std::numeric_limits<double>::quiet_NaN();
  look.snapshot.stages[1].slot_seconds = -std::numeric_limits<double>::infinity();
  const LookInput back = reader.read(through_text(writer.write(look)));
  EXPECT_TRUE(std::isnan(back.snapshot.stages[0].slot_seconds));
  EXPECT_EQ(back.snapshot.stages[1].slot_seconds, look.snapshot.stages[1].slot_seconds);
}

TEST(LookRecord, NamesTheFieldThatIsWrong) {
  const std::pair<const char*, const char*> kWrong[] = {
      {R"([])", "'observation' is no object"},
      {R"({"pool": 3})", "'pool' is no object"},
      {R"({"pool": {"time": true}})", "'time' is no number"},
      {R"({"pool": {"budget": 1.5}})", "'budget' is no whole number"},
      {R"({"pool": {"budget": 3000000000}})", "'budget' is out of range"},
      {R"({"pool": {"structure": -1}})", "'structure' is out of range"},
      {R"({"stages": {"name": 4}})", "'name' is no list"},
      {R"({"stages": {"name": ["a"], "items_in": []}})", "'items_in' has too few values"},
      {R"({"stages": {"name": ["a"]}})", "'loader' names a loader that is not there"},
      {R"({"allocation": {"target": [1], "cap": ["x"]}})", "'cap' is no whole number"},
  };
  for (const auto& [text, message] : kWrong) {
    LookRecord reader;
    try {
      static_cast<void>(reader.read(Json::parse(text)));
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(message));
    }
  }
}

// A counter that is not recorded reads as zero in a replay. Whoever adds a member adds it to the
// record, too (visit_... in look_record.cpp), or to what is left out on purpose: operators and
// service_times of a stage, and how a loader reads its files.
TEST(LookRecord, NoMemberWasForgotten) {
  EXPECT_EQ(count_of_members<Snapshot>(), 13u);
  EXPECT_EQ(count_of_members<HostSnapshot>(), 13u);
  EXPECT_EQ(count_of_members<LoaderSnapshot>(), 3u);
  EXPECT_EQ(count_of_members<ConsumerSnapshot>(), 6u);
  EXPECT_EQ(count_of_members<StageSnapshot>(), 27u);
  EXPECT_EQ(count_of_members<QueueSnapshot>(), 8u);
  EXPECT_EQ(count_of_members<Allocation>(), 7u);
  EXPECT_EQ(count_of_members<StageAllocation>(), 5u);
}

}  // namespace
}  // namespace weir::detail
