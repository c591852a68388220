#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "machine/read_ring.hpp"
#include "tests/program/photo_folder.hpp"
#include "tests/program/program_run.hpp"

namespace weir::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using Words = std::vector<std::string>;

/// A pipeline over a folder of files of several lengths, with `run` under `run:`.
class ReadingRuns : public testing::Test {
 public:
  ReadingRuns() : folder_(fresh_path("reading")) {
    std::filesystem::create_directories(folder_);
    for (int i = 0; i < 120; ++i)
      std::ofstream(folder_ + "/" + std::to_string(1000 + i))
          << std::string(static_cast<std::size_t>(500 * i), static_cast<char>('a' + i % 26));
  }
  ~ReadingRuns() override { std::filesystem::remove_all(folder_); }

 protected:
  std::string pipeline(const std::string& run) const {
    return temporary_file(
        "reading.yaml", "weir: 1\nname: reading\npipeline: [files: {root: \"" + folder_ +
                            "\"}, shuffle: {}, read: {}, batch: {size: 1}]\nrun: {" + run + "}\n");
  }
  static Words words(const std::string& file, const Words& more) {
    Words all{"run", file, "--json", "--digest", "--progress", "never"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::string folder_;
};

TEST_F(ReadingRuns, GiveTheSameByEveryReader) {
  const std::string plain = pipeline("epochs: 2");
  std::string digest;
  for (const char* reader : {"auto", "pread", "io_uring"}) {
    const ProgramEnd end = run_program(words(plain, {"--reader", reader}));
    ASSERT_EQ(end.status, 0) << end.err;
    const json run = json::parse(end.out);
    if (digest.empty()) digest = run["digest"];
    EXPECT_EQ(run["digest"], digest) << reader;
    EXPECT_EQ(run["reading"]["files"], 240);
    EXPECT_EQ(run["reading"]["bytes"], 2 * 500 * (120 * 119 / 2));
    for (const char* key : {"read_bytes", "hit_share", "late_files", "wait_seconds", "window"})
      EXPECT_TRUE(run["reading"].contains(key)) << key;
  }
  const ProgramEnd by_file = run_program(words(pipeline("epochs: 2, reader: pread"), {}));
  EXPECT_EQ(json::parse(by_file.out)["digest"], digest);
}

TEST_F(ReadingRuns, ARefusedRingIsSaidOnceAndChangesNothing) {
  const std::string file = pipeline("epochs: 3, reader: io_uring");
  const json allowed = json::parse(run_program(words(file, {})).out);
  for (const char* number : {"1", "38"}) {
    Words limits{"--refuse", std::string("io_uring_setup=") + number, "--", WEIR_TEST_PROGRAM};
    const Words arguments = words(file, {});
    limits.insert(limits.end(), arguments.begin(), arguments.end());
    const ProgramEnd end = run_command(WEIR_TEST_CONFINE, limits);
    ASSERT_EQ(end.status, 0) << end.err;
    const json run = json::parse(end.out);
    EXPECT_EQ(run["digest"], allowed["digest"]);
    EXPECT_EQ(run["reading"]["reader"], "pread");
    EXPECT_THAT(end.err, HasSubstr("io_uring is not to be had here"));
    EXPECT_EQ(end.err.find("io_uring is not"), end.err.rfind("io_uring is not")) << end.err;
  }
  std::string refusal;
  if (open_read_ring(8, refusal) == nullptr) GTEST_SKIP() << "no io_uring here: " << refusal;
  EXPECT_EQ(allowed["reading"]["reader"], "io_uring");
}

TEST_F(ReadingRuns, AnUnknownReaderIsNamedWithItsPlace) {
  ProgramEnd end = run_program(words(pipeline("epochs: 1"), {"--reader", "mmap"}));
  EXPECT_EQ(end.status, 2);
  EXPECT_THAT(end.err, HasSubstr("must be one of auto, pread, io_uring"));
  end = run_program(words(pipeline("reader: mmap"), {}));
  EXPECT_EQ(end.status, 2);
  EXPECT_THAT(end.err, HasSubstr("reading.yaml:4:15: "));
}

TEST_F(ReadingRuns, AColdRunSaysWhatIsOutOfTheCache) {
  std::ofstream(folder_ + "/0999") << "fresh, and not on the disk yet";
  const ProgramEnd end = run_program(words(pipeline("epochs: 1"), {"--cold"}));
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("drop the pages of 121 files; "));
  EXPECT_THAT(end.err, HasSubstr("out of the page cache"));
}

}  // namespace
}  // namespace weir::test
