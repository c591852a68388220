#include <weir/tuned_file.hpp>

#include <weir/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <sys/stat.h>
#include <unistd.h>

namespace weir {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

TunedFile example() {
  TunedFile file;
  file.pipeline = PipelineIdentity{"resnet50_train", "5f1c"};
  file.machine = MachineIdentity{"Some CPU: 8 cores, \"fast\"", 8, 4, 1, "none", "24GiB", "91ab"};
  file.budget = {8, 7, "1GiB", false};
  file.stages = {{"read", 1, 0.4, 4, 1},
                 {"decode+random_resized_crop", 6, 5.9, 8, std::nullopt},
                 {"batch", 1, 0.7, 2, 1}};
  file.queues = {{"decode+random_resized_crop", 16}};
  file.placement_mode = "cache_domain";
  file.placement_workers = {"0-1", "2-3"};
  file.evidence.consumer_rate_per_second = 55.5;
  file.evidence.consumer_wait_share = 0.01;
  file.evidence.items_per_second = 55.4;
  file.evidence.bound_shared = 118.5;
  file.evidence.bound_whole = 100.4;
  file.evidence.label = "stage:decode+random_resized_crop";
  file.evidence.disk_share = 0.02;
  file.evidence.host = HostFigures{};
  file.evidence.host->cpu_wait_share = 0.11;
  file.evidence.host->others_cores = 1.5;
  file.evidence.host->contended_shares["others"] = 0.25;
  file.evidence.stages = {
      {"read", 50, 0.2, 1000, 32, {{1, 50}, {2, 55.5}}, 110000},
      {"decode+random_resized_crop", 2800, 0.1, 999, 32, {}, 150528, 0.05, "locks"},
      {"batch", 31.25, 0, 31, 32, {{1, 31.25}}, 4816896}};
  file.written = TunedFile::Written{"weir 0.1.0", "balance", "2026-11-30T12:00:00Z", true, 4.2, 1};
  return file;
}

std::string read_text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::string message_of(const std::string& text) {
  try {
    (void)parse_tuned_file(text, "t.yaml");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  ADD_FAILURE() << "accepted:\n" << text;
  return {};
}

TEST(TunedFile, WhatIsWrittenIsRead) {
  const TunedFile file = example();
  const std::string text = tuned_file_text(file);
  const TunedFile again = parse_tuned_file(text, "t.yaml");
  EXPECT_EQ(tuned_file_text(again), text);
  EXPECT_EQ(again.pipeline->structure, "5f1c");
  EXPECT_EQ(again.machine->cpu, file.machine->cpu);
  EXPECT_EQ(*again.budget.active, 7);
  EXPECT_FALSE(*again.budget.strict);
  ASSERT_EQ(again.stages.size(), 3u);
  EXPECT_EQ(again.stages[1].name, "decode+random_resized_crop");
  EXPECT_DOUBLE_EQ(*again.stages[1].target, 5.9);
  EXPECT_FALSE(again.stages[1].packet_items);
  EXPECT_EQ(again.queues[0].items, 16);
  EXPECT_EQ(again.placement_workers, file.placement_workers);
  EXPECT_EQ(again.evidence.stages[0].levels, file.evidence.stages[0].levels);
  EXPECT_EQ(again.evidence.stages[2].bytes_out, 4816896u);
  EXPECT_FALSE(again.evidence.stages[0].blocked_share);
  EXPECT_DOUBLE_EQ(*again.evidence.stages[1].blocked_share, 0.05);
  EXPECT_EQ(again.evidence.stages[1].hint, "locks");
  ASSERT_TRUE(again.evidence.host);
  EXPECT_DOUBLE_EQ(again.evidence.host->cpu_wait_share, 0.11);
  EXPECT_DOUBLE_EQ(again.evidence.host->others_cores, 1.5);
  EXPECT_DOUBLE_EQ(again.evidence.host->contended_shares.at("others"), 0.25);
  EXPECT_EQ(again.written->at, "2026-11-30T12:00:00Z");
  EXPECT_TRUE(*again.written->settled);
}

TEST(TunedFile, LooksAsPromised) {
  const std::string text = tuned_file_text(example());
  EXPECT_THAT(text,
              StartsWith("weir_tuned: 1\npipeline: {name: resnet50_train, structure: 5f1c}\n"));
  EXPECT_THAT(text, HasSubstr("\nbudget: {threads: 8, active: 7, memory: 1GiB, strict: false}\n"));
  EXPECT_THAT(text, HasSubstr("\n  read: {workers: 1, target: 0.4, cap: 4, packet: 1}\n"));
  EXPECT_THAT(text, HasSubstr("\ngroups: []\n"));
  EXPECT_THAT(text, HasSubstr("levels: [[1, 50], [2, 55.5]]"));
  EXPECT_THAT(text, HasSubstr("contended_shares: {others: 0.25}}\n"));
  EXPECT_THAT(text, HasSubstr("\n  decode+random_resized_crop: {items: 16}\n"));
}

TEST(TunedFile, GroupsAndOddNamesSurvive) {
  TunedFile file = example();
  file.stages = {{"a: b", 1, 1.0, 1, {}}, {"- c #d", 1, 1.0, 1, {}}, {"true", 1, 1.0, 1, {}}};
  file.groups = {{{"a: b", "- c #d"}, 1}};
  file.queues.clear();
  const TunedFile again = parse_tuned_file(tuned_file_text(file), "t.yaml");
  EXPECT_EQ(again.stages[0].name, "a: b");
  EXPECT_EQ(again.stages[1].name, "- c #d");
  EXPECT_EQ(again.stages[2].name, "true");
  ASSERT_EQ(again.groups.size(), 1u);
  EXPECT_EQ(again.groups[0].stages[1], "- c #d");
}

TEST(TunedFile, WorkersQueuesAndBudgetAreEnough) {
  const TunedFile file = parse_tuned_file(
      "weir_tuned: 1\n"
      "budget: {threads: 4}\n"
      "stages:\n"
      "  read: {workers: 1}\n"
      "  decode: {workers: 3}\n"
      "queues: {decode: {items: 8}}\n",
      "t.yaml");
  EXPECT_FALSE(file.pipeline);
  EXPECT_FALSE(file.machine);
  EXPECT_EQ(*file.stages[1].workers, 3);
  EXPECT_FALSE(file.stages[1].target);
}

TEST(TunedFile, MistakesAreAnsweredWithPlaceAndNearest) {
  EXPECT_THAT(message_of("weir_tuned: 1\nstages:\n  a: {worker: 2}\n"),
              StartsWith("t.yaml:3:7: stage 'a' has no key 'worker'; did you mean 'workers'? "
                         "Allowed are: workers, target, cap, packet"));
  EXPECT_THAT(message_of("weir_tuned: 1\nstage: {}\n"),
              StartsWith("t.yaml:2:1: a tuned file has no key 'stage'; did you mean 'stages'?"));
  EXPECT_THAT(message_of("weir_tuned: 1\nstages:\n  a: {workers: two}\n"),
              StartsWith("t.yaml:3:16: workers is 'two'; allowed is a whole number from 1"));
  EXPECT_THAT(message_of("weir_tuned: 1\nstages:\n  a: {workers: 0}\n"), HasSubstr("from 1"));
  EXPECT_THAT(message_of("weir_tuned: 1\nstages:\n  a: {workers: -3}\n"), HasSubstr("from 1"));
  EXPECT_THAT(message_of("weir_tuned: 1\nstages:\n  a: {workers: 99999999999999999999}\n"),
              HasSubstr("t.yaml:3:16"));
  EXPECT_THAT(message_of("weir_tuned: 1\nstages:\n  a: {target: nan}\n"), HasSubstr("target is"));
  EXPECT_THAT(message_of("weir_tuned: 1\nstages:\n  a: {cap: 3}\n"),
              HasSubstr("neither 'workers' nor 'target'"));
  EXPECT_THAT(message_of("weir_tuned: 1\nstages:\n  a: {workers: 1}\n  a: {workers: 2}\n"),
              StartsWith("t.yaml:4:3: 'a' stands twice"));
  EXPECT_THAT(message_of("weir_tuned: 1\nstages: [a, b]\n"),
              StartsWith("t.yaml:2:9: stages is a list; allowed is a map"));
  EXPECT_THAT(message_of("weir_tuned: 1\nbudget: {strict: maybe}\nstages: {a: {workers: 1}}\n"),
              HasSubstr("allowed is true or false"));
  EXPECT_THAT(message_of("weir_tuned: 2\nstages: {a: {workers: 1}}\n"),
              HasSubstr("the file has version 2; this weir reads version 1"));
}

TEST(TunedFile, OtherFilesAreNoTunedFiles) {
  EXPECT_THAT(message_of(""), HasSubstr("t.yaml:1:1: the file is empty"));
  EXPECT_THAT(message_of("weir: 1\nname: x\n"), HasSubstr("no key 'weir'"));
  EXPECT_THAT(message_of("hello"), HasSubstr("a tuned file is 'hello'; allowed is a map"));
  EXPECT_THAT(message_of("{[}"), HasSubstr("t.yaml:1:"));
  EXPECT_THAT(message_of("stages: {a: {workers: 1}}\n"), HasSubstr("it has no 'weir_tuned: 1'"));
  EXPECT_THAT(message_of("weir_tuned: 1\n"), HasSubstr("'stages' is missing"));
  EXPECT_THAT(message_of(std::string("\xff\xd8\xff\xe0 binary\0 stuff", 18)), HasSubstr("t.yaml"));
  EXPECT_THAT(message_of(std::string(std::size_t{2} << 20, '[')), HasSubstr("at most 1048576"));
  EXPECT_THAT(message_of(std::string(100000, '[')), HasSubstr("t.yaml:1:"));
}

TEST(TunedFile, NoTruncationPasses) {
  const std::string text = tuned_file_text(example());
  for (std::size_t length = 0; length + 2 < text.size(); ++length)
    EXPECT_THROW((void)parse_tuned_file(text.substr(0, length), "t.yaml"), Error) << length;
}

class TunedFileOnDisk : public testing::Test {
 protected:
  TunedFileOnDisk()
      : folder_(fs::path(testing::TempDir()) / ("tuned_" + std::to_string(getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~TunedFileOnDisk() override { fs::remove_all(folder_); }
  std::string why_not(const fs::path& path) {
    try {
      write_tuned_file(example(), path);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::cannot);
      return error.what();
    }
    ADD_FAILURE() << "written: " << path;
    return {};
  }
  const fs::path folder_;
};

TEST_F(TunedFileOnDisk, ReplacesTheOldOneAndLeavesNothingElse) {
  const fs::path path = folder_ / "tuned.yaml";
  std::ofstream(path) << "old";
  write_tuned_file(example(), path);
  EXPECT_EQ(read_text(path), tuned_file_text(example()));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
  EXPECT_EQ(read_tuned_file(path).path, path.string());
}

TEST_F(TunedFileOnDisk, MissingFileIsNamed) {
  try {
    (void)read_tuned_file(folder_ / "none.yaml");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(),
                HasSubstr("none.yaml: the tuned file cannot be opened: No such file"));
  }
}

TEST_F(TunedFileOnDisk, FolderIsNoFile) {
  EXPECT_THROW((void)read_tuned_file(folder_), Error);
  EXPECT_THAT(why_not(folder_), HasSubstr(folder_.string()));
  EXPECT_TRUE(fs::is_directory(folder_));
  EXPECT_THAT(why_not(folder_ / "missing" / "t.yaml"), HasSubstr("No such file or directory"));
}

TEST_F(TunedFileOnDisk, FullDiskLeavesTheOldFile) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  EXPECT_THAT(why_not("/dev/full"),
              HasSubstr("/dev/full: the tuned file cannot be written (write): "
                        "No space left on device"));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(TunedFileOnDisk, UnwritableFolderIsNamed) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_THAT(why_not(folder_ / "t.yaml"), HasSubstr("Permission denied"));
  fs::permissions(folder_, fs::perms::owner_all);
}

}  // namespace
}  // namespace weir
