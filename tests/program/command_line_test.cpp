// What a mistake on the command line is answered with, and with which exit status.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/program/photo_folder.hpp"
#include "tests/program/program_run.hpp"

namespace weir::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

const std::string& pipeline() {
  static const std::string path = temporary_file("small.yaml", R"(weir: 1
name: small
variables: {size: 2, data: photos}
pipeline:
  - range: {count: 8}
  - batch: {size: "${size}"}
)");
  return path;
}

struct Mistake {
  const char* name;
  Words words;  ///< FILE stands for a small pipeline that is right
  int status;
  Words said;
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

class CommandLineMistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(CommandLineMistakes, AreAnsweredOnStandardErrorWithTheirStatus) {
  Words words = GetParam().words;
  for (std::string& word : words)
    if (word == "FILE") word = pipeline();
  const ProgramEnd end = run_program(words);
  EXPECT_EQ(end.status, GetParam().status) << end.err;
  EXPECT_EQ(end.out, "");
  for (const std::string& said : GetParam().said) EXPECT_THAT(end.err, HasSubstr(said));
}

const std::vector<Mistake> kMistakes{
    {"nothing", {}, 2, {"usage: weir VERB"}},
    {"verb", {"rnu", "FILE"}, 2, {"'rnu' is no verb", "did you mean 'run'?"}},
    {"later_verb", {"diagnose", "FILE", "--headroom"}, 2, {"diagnose: not in this version"}},
    {"scan", {"scan", "all"}, 2, {"all: cannot be read: No such file"}},
    {"option_first", {"--verbose"}, 2, {"'--verbose' is no option here"}},
    {"no_file", {"run"}, 2, {"name a PIPELINE.yaml"}},
    {"two_files", {"run", "FILE", "b.yaml"}, 2, {"'b.yaml' is one more"}},
    {"missing_file", {"run", "no.yaml"}, 2, {"no.yaml: cannot be read: No such file"}},
    {"option",
     {"run", "FILE", "--wrokers", "4"},
     2,
     {"--wrokers: unknown option; did you mean --workers?"}},
    {"option_before", {"run", "--wrokers", "4", "FILE"}, 2, {"did you mean --workers?"}},
    {"option_elsewhere",
     {"run", "FILE", "--num_parallel_workers", "4"},
     2,
     {"here it is --workers"}},
    {"option_dashes", {"run", "FILE", "--num-workers=4"}, 2, {"here it is --workers"}},
    {"option_batch", {"run", "FILE", "--batch-size", "4"}, 2, {"'batch: {size: 32}'"}},
    {"other_verb", {"check", "FILE", "--epochs", "4"}, 2, {"it belongs to run, tune"}},
    {"no_value", {"run", "FILE", "--workers"}, 2, {"--workers: needs a value: N|auto"}},
    {"flag_value", {"run", "FILE", "--quiet=2"}, 2, {"--quiet: takes no value"}},
    {"twice", {"run", "FILE", "--seed", "1", "--seed", "2"}, 2, {"--seed: was given 2 times"}},
    {"workers_zero",
     {"run", "FILE", "--workers", "0"},
     2,
     {"'0', must be auto or a whole number from 1 to 1024"}},
    {"workers_negative", {"run", "FILE", "--workers", "-3"}, 2, {"'-3', must be auto"}},
    {"workers_huge", {"run", "FILE", "--workers", "1000000"}, 2, {"'1000000', must be auto"}},
    {"workers_many", {"run", "FILE", "--workers", "1024"}, 2, {"oversubscribe"}},
    {"memory", {"run", "FILE", "--memory", "3XB"}, 2, {"'3XB', must be auto or a size"}},
    {"epochs", {"run", "FILE", "--epochs", "0"}, 2, {"--epochs: '0', must be a whole number"}},
    {"steps", {"run", "FILE", "--steps", "1e3"}, 2, {"--steps: '1e3', must be a whole number"}},
    {"seconds", {"run", "FILE", "--seconds", "0"}, 2, {"--seconds: '0', must be a time above 0"}},
    {"step_time", {"run", "FILE", "--step-time", "18"}, 2, {"a time with its unit"}},
    {"order", {"run", "FILE", "--order", "input2"}, 2, {"one of input, any; did you mean input?"}},
    {"fuse", {"run", "FILE", "--fuse", "on"}, 2, {"one of auto, all, off"}},
    {"policy_alone", {"run", "FILE", "--policy", "even"}, 2, {"add --autotune"}},
    {"policy", {"run", "FILE", "--autotune", "--policy", "balanse"}, 2, {"did you mean balance?"}},
    {"inline_tuning", {"run", "FILE", "--inline", "--autotune"}, 2, {"nothing to tune"}},
    {"set", {"run", "FILE", "--set", "size"}, 2, {"NAME=VALUE"}},
    {"set_twice",
     {"run", "FILE", "--set", "size=2", "--set", "size=3"},
     2,
     {"'size' is set twice"}},
    {"set_unknown",
     {"run", "FILE", "--set", "sise=2"},
     2,
     {"has no variable 'sise'", "did you mean 'size'?"}},
    {"set_type",
     {"run", "FILE", "--set", "size=big"},
     2,
     {"must be a whole number like its value in"}},
    {"data_twice",
     {"run", "FILE", "--data", "a", "--set", "data=b"},
     2,
     {"is short for --set data=DIR"}},
    {"resume_missing",
     {"run", "FILE", "--resume", "no.position"},
     2,
     {"no.position: cannot be read"}},
    {"resume_nonsense", {"run", "FILE", "--resume", "FILE"}, 2, {"position"}},
    {"position_any",
     {"run", "FILE", "--order", "any", "--save-position", "x"},
     2,
     {"needs order: input"}},
    {"position_folder",
     {"run", "FILE", "--save-position", "/no/such/place"},
     3,
     {"cannot be written", "No such file"}},
    {"emit_folder",
     {"run", "FILE", "--autotune", "--emit", "/no/such/place"},
     3,
     {"cannot be written"}},
    {"emit_is_folder", {"run", "FILE", "--autotune", "--emit", "/"}, 3, {"is a folder"}},
    {"tuned_missing", {"run", "FILE", "--tuned", "no.tuned.yaml"}, 2, {"no.tuned.yaml"}},
    {"mismatch", {"run", "FILE", "--tuned-mismatch", "ask"}, 2, {"one of refuse, ignore"}},
    {"serve", {"run", "FILE", "--serve", "8080"}, 2, {"--serve: not in this version"}},
    {"report", {"run", "FILE", "--report", "r.html"}, 2, {"--report: not in this version"}},
    {"trace", {"run", "FILE", "--trace", "t.json"}, 2, {"--trace: not in this version"}},
    {"pin", {"run", "FILE", "--pin", "numa"}, 2, {"--pin", "cache_domain", "core", "node"}},
    {"device", {"run", "FILE", "--device", "cuda"}, 2, {"--device: not in this version"}},
    {"operator", {"operators", "decod"}, 2, {"no operator 'decod'; did you mean 'decode'?"}},
    {"planned_operator", {"operators", "cache"}, 2, {"cache: not in this version"}},
    {"policies", {"policies", "balanc"}, 2, {"did you mean 'balance'?"}},
    {"machine_argument", {"machine", "x"}, 2, {"takes no argument"}},
    {"help_verb", {"help", "rnu"}, 2, {"did you mean 'run'?"}},
    {"preview_count", {"preview", "FILE", "--count", "0"}, 2, {"from 1 to 1024"}},
    {"preview_numbers", {"preview", "FILE"}, 2, {"no column 'image'"}},
};

INSTANTIATE_TEST_SUITE_P(All, CommandLineMistakes, ::testing::ValuesIn(kMistakes),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(CommandLine, PlaceInAFileStandsFirstInTheMessage) {
  const std::string file = temporary_file("wrong.yaml", "weir: 1\npipeline:\n  - decoed: {}\n");
  const ProgramEnd end = run_program({"check", file});
  EXPECT_EQ(end.status, 2);
  EXPECT_THAT(end.err, StartsWith(file + ":3:5: unknown operator 'decoed'"));
}

TEST(CommandLine, JsonIsADocumentForMistakesToo) {
  const ProgramEnd end = run_program({"run", pipeline(), "--json", "--workers", "0"});
  EXPECT_EQ(end.status, 2);
  const auto document = nlohmann::json::parse(end.out);
  EXPECT_EQ(document["error"]["kind"], "usage");
  EXPECT_EQ(document["error"]["where"], "--workers");
}

TEST(CommandLine, HelpAndTablesAreResults) {
  for (const Words& words :
       {Words{"help"}, Words{"--help"}, Words{"help", "run"}, Words{"run", "--help"},
        Words{"--version"}, Words{"operators"}, Words{"operators", "batch"}, Words{"policies"},
        Words{"policies", "balance"}, Words{"machine"}}) {
    const ProgramEnd end = run_program(words);
    EXPECT_EQ(end.status, 0) << words.front();
    EXPECT_EQ(end.err, "") << words.front();
    EXPECT_NE(end.out, "") << words.front();
  }
}

TEST(CommandLine, EveryOperatorIsListedWithItsParameters) {
  const auto document = nlohmann::json::parse(run_program({"operators", "--json"}).out);
  std::vector<std::string> names;
  for (const auto& row : document) names.push_back(row["name"]);
  for (const char* name : {"files", "shuffle", "read", "decode", "random_resized_crop", "normalize",
                           "hwc_to_chw", "batch", "emulate", "photos", "filter"})
    EXPECT_THAT(names, ::testing::Contains(name));
  for (const std::string& name : names)
    EXPECT_EQ(run_program({"operators", name}).status, 0) << name;
}

// What a policy decides by, apart from how all of them look.
TEST(CommandLine, PoliciesTellTheirOwnSettingsFromThoseOfAll) {
  const std::string text = run_program({"policies", "balance"}).out;
  const std::size_t looking = text.find("How it looks, as every policy does");
  ASSERT_NE(looking, std::string::npos);
  EXPECT_LT(text.find("  dead_band "), looking);
  EXPECT_GT(text.find("  alpha_fast "), looking);
  EXPECT_EQ(run_program({"policies", "share"}).out.find("  dead_band "), std::string::npos);
}

TEST(CommandLine, OutputThatNobodyReadsEndsQuietly) {
  const ProgramEnd end = run_program({"operators"}, Output::broken);
  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(end.err, "");
}

TEST(CommandLine, OutputThatCannotBeWrittenIsSaid) {
  const ProgramEnd full = run_program({"operators"}, Output::full);
  EXPECT_EQ(full.status, 3);
  EXPECT_THAT(full.err, HasSubstr("standard output: cannot be written: No space left"));
  const ProgramEnd closed = run_program({"operators"}, Output::closed);
  EXPECT_EQ(closed.status, 3);
  EXPECT_THAT(closed.err, HasSubstr("standard output: cannot be written"));
}

}  // namespace
}  // namespace weir::test
