#include <weir/parameters.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/error.hpp>

namespace weir {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Written = std::map<std::string, Value, std::less<>>;

const std::vector<ParameterSpec>& specs() {
  static const std::vector<ParameterSpec> all{
      {.name = "size",
       .type = ParameterType::integer,
       .low = 1,
       .high = 100,
       .meaning = "the size"},
      {.name = "probability", .type = ParameterType::share, .fallback = "0.5", .low = 0, .high = 1},
      {.name = "scale", .type = ParameterType::range, .fallback = "0.08, 1", .low = 0, .high = 1},
      {.name = "mean", .type = ParameterType::numbers, .fallback = "[0.5, 0.25]"},
      {.name = "wait", .type = ParameterType::duration, .fallback = "none"},
      {.name = "memory", .type = ParameterType::size, .fallback = "8MiB"},
      {.name = "interpolation",
       .type = ParameterType::choice,
       .fallback = "linear",
       .choices = {"linear", "nearest", "3"}},
      {.name = "exact", .type = ParameterType::flag, .fallback = "false"},
      {.name = "note", .type = ParameterType::text, .fallback = "none"}};
  return all;
}

Value at(int line, decltype(Value::data) data) { return {std::move(data), {"p.yaml", line, 7}}; }

Parameters made(Written written) {
  return Parameters("resize", specs(), written, {"p.yaml", 3, 5});
}

std::string message_of(Written written) {
  try {
    (void)made(std::move(written));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "accepted";
}

TEST(Parameters, TakesDefaultsWhereNothingIsWritten) {
  const Parameters parameters = made({{"size", at(4, std::int64_t{7})}});
  EXPECT_EQ(parameters.integer("size"), 7);
  EXPECT_EQ(parameters.number("probability"), 0.5);
  EXPECT_THAT(parameters.numbers("scale"), ElementsAre(0.08, 1.0));
  EXPECT_THAT(parameters.numbers("mean"), ElementsAre(0.5, 0.25));
  EXPECT_FALSE(parameters.has("wait"));
  EXPECT_EQ(parameters.number("memory"), 8.0 * 1024 * 1024);
  EXPECT_EQ(parameters.text("interpolation"), "linear");
  EXPECT_FALSE(parameters.flag("exact"));
  EXPECT_FALSE(parameters.has("note"));
}

TEST(Parameters, TakesWhatIsWritten) {
  const Value::List pair{at(5, 0.25), at(5, std::int64_t{1})};
  const Parameters parameters = made({{"size", at(4, std::int64_t{1})},
                                      {"probability", at(4, std::string("25%"))},
                                      {"scale", at(5, pair)},
                                      {"mean", at(5, std::int64_t{2})},
                                      {"wait", at(6, std::string("18ms"))},
                                      {"memory", at(6, std::int64_t{512})},
                                      {"interpolation", at(7, std::int64_t{3})},
                                      {"exact", at(7, true)},
                                      {"note", at(7, std::string("hello"))}});
  EXPECT_EQ(parameters.number("probability"), 0.25);
  EXPECT_THAT(parameters.numbers("scale"), ElementsAre(0.25, 1.0));
  EXPECT_THAT(parameters.numbers("mean"), ElementsAre(2.0));
  EXPECT_DOUBLE_EQ(parameters.number("wait"), 0.018);
  EXPECT_EQ(parameters.number("memory"), 512.0);
  EXPECT_EQ(parameters.text("interpolation"), "3");
  EXPECT_TRUE(parameters.flag("exact"));
  EXPECT_EQ(parameters.text("note"), "hello");
}

TEST(Parameters, NamesPlaceAndNearestSpellingOfAnUnknownKey) {
  EXPECT_THAT(message_of({{"size", at(4, std::int64_t{1})}, {"interpolaton", at(9, true)}}),
              AllOf(HasSubstr("p.yaml:9:7: resize: unknown key 'interpolaton'"),
                    HasSubstr("did you mean 'interpolation'?"), HasSubstr("Allowed: size, ")));
  EXPECT_THAT(message_of({{"xyzzy", at(9, true)}}),
              AllOf(HasSubstr("unknown key 'xyzzy'"), HasSubstr("Allowed: size, ")));
}

TEST(Parameters, AnswersKeysThatOtherLibrariesUse) {
  EXPECT_THAT(message_of({{"p", at(2, 0.5)}}), HasSubstr("did you mean 'probability'?"));
  EXPECT_THAT(message_of({{"num_parallel_workers", at(2, std::int64_t{4})}}),
              HasSubstr("did you mean 'workers', which stands beside the operator?"));
  EXPECT_THAT(message_of({{"num_workers", at(2, std::int64_t{4})}}), HasSubstr("'workers'"));
}

TEST(Parameters, SaysWhatIsMissing) {
  EXPECT_EQ(message_of({}),
            "p.yaml:3:5: resize: 'size' is missing (the size); give a whole number from 1 to 100");
}

TEST(Parameters, SaysWhatAValueIsAndMustBe) {
  const auto with = [](const char* name, decltype(Value::data) data) {
    Written written{{"size", at(4, std::int64_t{1})}};
    written[name] = at(8, std::move(data));
    return message_of(std::move(written));
  };
  EXPECT_EQ(with("size", std::int64_t{0}),
            "p.yaml:8:7: resize: 'size' is 0, must be a whole number from 1 to 100");
  EXPECT_THAT(with("size", 1.5), HasSubstr("'size' is 1.5, must be a whole number"));
  EXPECT_THAT(with("size", std::string("big")), HasSubstr("'size' is 'big'"));
  EXPECT_THAT(with("size", std::monostate{}), HasSubstr("'size' is nothing"));
  EXPECT_THAT(with("probability", 1.5), HasSubstr("must be a share from 0 to 1, as 1% or 0.01"));
  EXPECT_THAT(with("probability", std::nan("")), HasSubstr("must be a share"));
  EXPECT_THAT(with("scale", 0.5), HasSubstr("must be two numbers [low, high]"));
  EXPECT_THAT(with("scale", Value::List{at(8, 0.5)}), HasSubstr("it has 1 entries"));
  EXPECT_THAT(with("scale", Value::List{at(8, 0.5), at(8, 0.25)}),
              HasSubstr("the first is larger than the second"));
  EXPECT_THAT(with("mean", Value::List{}), HasSubstr("must be a number or a list of numbers"));
  EXPECT_THAT(with("mean", Value::List{at(8, std::string("x"))}), HasSubstr("'x' is not"));
  EXPECT_THAT(with("wait", std::int64_t{18}),
              AllOf(HasSubstr("must be a duration with its unit"), HasSubstr("unit is missing")));
  EXPECT_THAT(with("wait", std::string("18 parsecs")), HasSubstr("must be a duration"));
  EXPECT_THAT(with("memory", std::string("lots")), HasSubstr("must be a size, as 8MiB"));
  EXPECT_THAT(
      with("interpolation", std::string("linaer")),
      AllOf(HasSubstr("must be one of linear, nearest, 3"), HasSubstr("did you mean linear?")));
  EXPECT_THAT(with("exact", std::string("yes")), HasSubstr("must be true or false"));
}

TEST(Parameters, AcceptsNoneWhereAbsenceIsTheDefault) {
  EXPECT_FALSE(
      made({{"size", at(1, std::int64_t{1})}, {"wait", at(1, std::string("none"))}}).has("wait"));
  EXPECT_THAT(
      message_of({{"size", at(1, std::int64_t{1})}, {"memory", at(1, std::string("none"))}}),
      HasSubstr("must be a size"));
}

TEST(Parameters, RejectsAtThePlaceOfTheValue) {
  const Parameters parameters = made({{"size", at(4, std::int64_t{7})}});
  try {
    parameters.reject("size", "seven is not liked");
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "p.yaml:4:7: resize: 'size' is 7: seven is not liked");
    EXPECT_EQ(error.where(), "p.yaml:4:7");
  }
  EXPECT_THROW((void)parameters.number("undeclared"), Error);
}

TEST(Parameters, WithoutAFileTheOperatorIsThePlace) {
  try {
    (void)Parameters("resize", specs(), {}, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "resize");
  }
}

TEST(NearestSpelling, FindsSlipsAndLeavesStrangersAlone) {
  const std::vector<std::string> names{"random_horizontal_flip", "random_vertical_flip", "decode",
                                       "normalize", "resize"};
  EXPECT_EQ(nearest_spelling("decdoe", names), "decode");
  EXPECT_EQ(nearest_spelling("Normalise", names), "normalize");
  EXPECT_EQ(nearest_spelling("random-horizontal-flip", names), "random_horizontal_flip");
  EXPECT_EQ(nearest_spelling("horizontal_flip", names), "random_horizontal_flip");
  EXPECT_EQ(nearest_spelling("mixup", names), std::nullopt);
  EXPECT_EQ(nearest_spelling("", names), std::nullopt);
  EXPECT_EQ(nearest_spelling(std::string(1000000, 'r'), names), std::nullopt);
}

TEST(Units, ReadDurations) {
  EXPECT_DOUBLE_EQ(parse_duration_seconds("18ms").value(), 0.018);
  EXPECT_DOUBLE_EQ(parse_duration_seconds("2 s").value(), 2.0);
  EXPECT_DOUBLE_EQ(parse_duration_seconds("3min").value(), 180.0);
  EXPECT_DOUBLE_EQ(parse_duration_seconds("1.5us").value(), 1.5e-6);
  EXPECT_DOUBLE_EQ(parse_duration_seconds("0").value(), 0.0);
  for (const char* wrong : {"", "ms", "18", "-1s", "1 fortnight", "1s2", "infs", "nan s"}) {
    EXPECT_EQ(parse_duration_seconds(wrong), std::nullopt) << wrong;
  }
}

TEST(Units, ReadSizesAndShares) {
  EXPECT_EQ(parse_size_bytes("8MiB"), std::uint64_t{8} << 20U);
  EXPECT_EQ(parse_size_bytes("2GB"), 2000000000U);
  EXPECT_EQ(parse_size_bytes("0.5 KiB"), 512U);
  EXPECT_EQ(parse_size_bytes("512"), 512U);
  for (const char* wrong : {"", "MiB", "-1", "8Mib!", "1e30", "8 m"}) {
    EXPECT_EQ(parse_size_bytes(wrong), std::nullopt) << wrong;
  }
  EXPECT_DOUBLE_EQ(parse_share("1%").value(), 0.01);
  EXPECT_DOUBLE_EQ(parse_share("0.25").value(), 0.25);
  EXPECT_EQ(parse_share("1 percent"), std::nullopt);
}

}  // namespace
}  // namespace weir
