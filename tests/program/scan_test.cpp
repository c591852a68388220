// weir scan: what it finds, what it returns, and that a run can leave it out.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/images/file_zoo.hpp"
#include "tests/program/photo_folder.hpp"
#include "tests/program/program_run.hpp"

namespace weir::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Words = std::vector<std::string>;

void write(const fs::path& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

std::string text_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// A scan without a list of its own; its document.
json scan_json(const std::string& what, Words more = {}, int status = -1) {
  Words words{"scan", what, "--json", "--quiet"};
  if (std::find(more.begin(), more.end(), "--quarantine") == more.end())
    more.insert(more.end(), {"--quarantine", "none"});
  words.insert(words.end(), more.begin(), more.end());
  const ProgramEnd end = run_program(words);
  json document = json::parse(end.out, nullptr, false);
  EXPECT_FALSE(document.is_discarded()) << end.out << end.err;
  if (status < 0) status = document.value("bad", 0) > 0 ? 1 : 0;
  EXPECT_EQ(end.status, status) << end.err;
  return document;
}

std::map<std::string, json> by_path(const json& document) {
  std::map<std::string, json> entries;
  for (const json& entry : document["entries"])
    if (entry.contains("path")) entries[entry["path"]] = entry;
  return entries;
}

class Scan : public testing::Test {
 protected:
  Scan() : folder_(fresh_path("scan")) { fs::create_directories(folder_); }
  ~Scan() override { fs::remove_all(folder_); }
  [[nodiscard]] fs::path in(const std::string& name) const { return fs::path(folder_) / name; }

  const std::string folder_;
};

TEST_F(Scan, FindsEveryKindOfBadFileAndNothingElse) {
  const std::vector<ZooFile> zoo = file_zoo();
  for (const ZooFile& file : zoo) write(in(file.name), file.bytes);
  const json document = scan_json(folder_, {"--all"}, 1);
  const std::map<std::string, json> entries = by_path(document);
  ASSERT_EQ(entries.size(), zoo.size());
  std::map<std::string, int> counts;
  for (const ZooFile& file : zoo) {
    const json& entry = entries.at(file.name);
    const char* fate = file.fate == ZooFile::Fate::ok      ? "ok"
                       : file.fate == ZooFile::Fate::noted ? "noted"
                                                           : "bad";
    EXPECT_EQ(entry["status"], fate) << file.name << " " << entry;
    ++counts[fate];
    if (file.fate == ZooFile::Fate::bad) {
      EXPECT_THAT(std::string(entry["reason"]), HasSubstr(file.words)) << file.name;
    } else {
      EXPECT_GT(entry["width"], 0) << file.name;
    }
    if (file.fate == ZooFile::Fate::noted) {
      EXPECT_THAT(entry["notes"].dump(), HasSubstr(file.words)) << file.name;
    }
  }
  EXPECT_EQ(document["files"], zoo.size());
  EXPECT_EQ(document["ok"], counts["ok"]);
  EXPECT_EQ(document["noted"], counts["noted"]);
  EXPECT_EQ(document["bad"], counts["bad"]);
  EXPECT_EQ(document["formats"]["gif"]["files"], 5);
  EXPECT_EQ(entries.at("exif_6.jpg")["width"], 40);
  EXPECT_EQ(entries.at("exif_6.jpg")["height"], 56);
  EXPECT_EQ(entries.at("opacity.png")["channels"], 4);
  EXPECT_EQ(entries.at("grey.jpeg")["channels"], 1);
}

TEST_F(Scan, ListsExactlyTheDamagedOnesOfALargeFolder) {
  // WEIR_SCAN_FILES=10000 for more of them.
  const char* const asked = std::getenv("WEIR_SCAN_FILES");
  const int count = asked == nullptr ? 1500 : std::atoi(asked);
  const std::vector<ZooFile> zoo = file_zoo();
  const ZooFile& sound = zoo.front();
  std::set<std::string> expected;
  for (int i = 0; i < count; ++i) {
    // Every tenth is one of the zoo, the others are sound.
    const ZooFile& file = i % 10 == 0 ? zoo[static_cast<std::size_t>(i / 10) % zoo.size()] : sound;
    const std::string name =
        fmt::format("{}/{:05}{}", i % 7, i, fs::path(file.name).extension().string());
    fs::create_directories(in(name).parent_path());
    write(in(name), file.bytes);
    if (file.fate == ZooFile::Fate::bad) expected.insert(name);
  }
  const json document = scan_json(folder_, {"--workers", "2", "--oversubscribe"}, 1);
  std::set<std::string> found;
  for (const json& entry : document["entries"])
    if (entry["status"] == "bad") found.insert(entry["path"]);
  EXPECT_EQ(found, expected);
  EXPECT_EQ(document["files"], count);
  EXPECT_GE(expected.size(), 40U);
}

TEST_F(Scan, TakesAnyNameAndNeverOpensWhatIsNoFile) {
  const Bytes jpeg = file_zoo().front().bytes;
  const std::string cat = "-a cat, b\xc3\xa4r\n\ttwo.jpg";
  const std::string not_utf8 = "\xff\xfe.jpg";
  write(in(cat), jpeg);
  write(in(not_utf8), jpeg);
  write(in(".hidden.jpg"), {});
  ::mkfifo(in("pipe.jpg").c_str(), 0600);
  fs::create_symlink("nowhere", in("dangling.jpg"));
  fs::create_symlink("loop.jpg", in("loop.jpg"));
  fs::create_symlink(in(cat), in("link.jpg"));
  const json document = scan_json(folder_, {"--all"}, 1);
  const std::map<std::string, json> entries = by_path(document);
  EXPECT_EQ(entries.at(cat)["status"], "ok");
  EXPECT_EQ(entries.at("link.jpg")["status"], "ok");
  EXPECT_EQ(entries.at("pipe.jpg")["reason"], "not a regular file");
  EXPECT_EQ(entries.at("dangling.jpg")["reason"], "dangling link");
  EXPECT_EQ(entries.at("loop.jpg")["reason"], "looping link");
  EXPECT_EQ(document["skipped"], 1);
  EXPECT_EQ(document["files"], 6);
  bool hexadecimal = false;
  for (const json& entry : document["entries"])
    hexadecimal = hexadecimal || entry.value("path_hex", "") == "fffe2e6a7067";
  EXPECT_TRUE(hexadecimal);

  const ProgramEnd end = run_program({"scan", folder_, "--all", "--quarantine", "none"});
  EXPECT_EQ(end.status, 1);
  EXPECT_THAT(end.out, AllOf(HasSubstr("dangling.jpg: dangling link"),
                             HasSubstr("3 cannot be read"), HasSubstr("1 hidden")));
  EXPECT_EQ(end.err, "");
}

TEST_F(Scan, SaysWhichFileMayNotBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  write(in("secret.jpg"), file_zoo().front().bytes);
  ::chmod(in("secret.jpg").c_str(), 0);
  EXPECT_EQ(by_path(scan_json(folder_, {}, 1)).at("secret.jpg")["reason"],
            "open: Permission denied");
}

TEST_F(Scan, QuickLooksAtHeadersAlone) {
  for (const ZooFile& file : file_zoo())
    if (file.name == "middle.jpg" || file.name == "huge.jpg" || file.name == "grey.jpeg")
      write(in(file.name), file.bytes);
  const std::map<std::string, json> entries = by_path(scan_json(folder_, {"--quick", "--all"}, 1));
  EXPECT_EQ(entries.at("middle.jpg")["status"], "ok");
  EXPECT_EQ(entries.at("huge.jpg")["status"], "bad");
  EXPECT_EQ(entries.at("grey.jpeg")["width"], 56);
}

TEST_F(Scan, FindsDuplicatesByContentWhereAsked) {
  const std::vector<ZooFile> zoo = file_zoo();
  fs::create_directories(in("b"));
  for (const char* name : {"a.jpg", "b/c.jpg", "d.jpg"}) write(in(name), zoo[0].bytes);
  write(in("e.jpg"), zoo[1].bytes);
  EXPECT_EQ(scan_json(folder_)["duplicates"], json::array());
  EXPECT_EQ(scan_json(folder_, {"--duplicates"})["duplicates"],
            json::parse(R"([["a.jpg", "b/c.jpg", "d.jpg"]])"));
  EXPECT_THAT(run_program({"scan", folder_, "--duplicates"}).out,
              HasSubstr("of the same content:\n  a.jpg, b/c.jpg, d.jpg\n"));
}

// A pipeline is scanned by its own rules, and its runs can leave out what was found.

std::string pipeline_file(const std::string& decode, const std::string& quarantine) {
  return temporary_file("scan.yaml", fmt::format(R"(weir: 1
name: scanned
variables: {{data: photos, size: 32}}
pipeline:
  - files: {{root: "${{data}}", labels: parent_folder, quarantine: {}}}
  - shuffle: {{}}
  - read: {{}}
  - decode: {{{}}}
  - random_resized_crop: {{size: "${{size}}"}}
  - batch: {{size: 4}}
)",
                                                 quarantine, decode));
}

TEST_F(Scan, ListCanBeLeftOutOfARun) {
  for (const char* name : {"cat", "dog", "eel"}) fs::create_directories(in(name));
  for (const ZooFile& file : file_zoo()) {
    if (file.name == "grey.jpeg" || file.name == "cut.jpg")
      write(in("cat/" + file.name), file.bytes);
    if (file.name == "progressive.jpg") write(in("eel/a\tb.jpg"), file.bytes);
    // The only one of its class, so that a class without files keeps the others' numbers.
    if (file.name == "zipped.jpg") write(in("dog/a\tb.jpg"), file.bytes);
  }
  const std::string list = fresh_path("bad.txt");
  const std::string file = pipeline_file("", list);
  const Words data{"--data", folder_};
  EXPECT_EQ(run_program({"run", file, "--data", folder_, "--quiet"}).status, 1);

  const json first = scan_json(file, {"--data", folder_, "--quarantine", list}, 1);
  EXPECT_EQ(first["bad"], 2);
  EXPECT_EQ(first["quarantine"], list);
  EXPECT_THAT(text_of(list),
              AllOf(HasSubstr("/cat/cut.jpg\tscan\tdamaged: Premature end of JPEG file\n"),
                    HasSubstr("/dog/a\\tb.jpg\tscan\tnot an image: gzip data\n")));
  const ProgramEnd run = run_program({"run", file, "--data", folder_, "--json"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(json::parse(run.out)["items"], 2);
  EXPECT_THAT(run.err, HasSubstr("leaves out 2 bad files"));

  // What is left out of runs is scanned all the same, and mended files come back.
  EXPECT_EQ(scan_json(file, {"--data", folder_, "--quarantine", list}, 1)["files"], 4);
  write(in("cat/cut.jpg"), file_zoo().front().bytes);
  write(in("dog/a\tb.jpg"), file_zoo().front().bytes);
  EXPECT_EQ(scan_json(file, {"--data", folder_, "--quarantine", list}, 0)["bad"], 0);
  EXPECT_EQ(text_of(list), "");
  const ProgramEnd mended = run_program({"run", file, "--data", folder_, "--json"});
  EXPECT_EQ(json::parse(mended.out)["items"], 4);
}

TEST_F(Scan, TakesTheRulesOfThePipelinesOwnDecode) {
  for (const ZooFile& file : file_zoo())
    if (file.name == "deep.png" || file.name == "cut.jpg" || file.name == "grey.jpeg")
      write(in(file.name), file.bytes);
  const auto reason = [&](const std::string& decode, const std::string& name) {
    const json entries =
        scan_json(pipeline_file(decode, "none"), {"--data", folder_, "--all"})["entries"];
    for (const json& entry : entries)
      if (entry["path"] == name)
        return entry["reason"].is_null() ? "" : std::string(entry["reason"]);
    return std::string("not there");
  };
  EXPECT_THAT(reason("", "deep.png"), StartsWith("16 bits a channel"));
  EXPECT_EQ(reason("depth: u8", "deep.png"), "");
  EXPECT_EQ(reason("on_damaged: accept", "cut.jpg"), "");
  EXPECT_THAT(reason("max_pixels: 100", "grey.jpeg"), StartsWith("too many pixels: 56x40"));
}

TEST_F(Scan, SaysWhatItCannotDo) {
  write(in("a.jpg"), file_zoo().front().bytes);
  const std::string numbers =
      temporary_file("numbers.yaml", "weir: 1\npipeline: [range: {count: 3}, batch: {size: 1}]\n");
  ProgramEnd end = run_program({"scan", numbers});
  EXPECT_EQ(end.status, 2);
  EXPECT_THAT(end.err, HasSubstr("range: no files to scan"));
  const std::string bare = temporary_file(
      "bare.yaml",
      "weir: 1\nvariables: {data: x}\npipeline: [files: {root: \"${data}\"}, read: {}]\n");
  end = run_program({"scan", bare, "--data", folder_});
  EXPECT_EQ(end.status, 2);
  EXPECT_THAT(end.err, HasSubstr("has no 'decode'"));
  EXPECT_EQ(run_program({"scan"}).status, 2);
  EXPECT_EQ(run_program({"scan", folder_ + "/nothing"}).status, 2);
  end = run_program({"scan", folder_, "--data", "x"});
  EXPECT_EQ(end.status, 2);
  EXPECT_THAT(end.err, HasSubstr("is a folder"));
  fs::create_directories(in("empty"));
  end = run_program({"scan", in("empty").string()});
  EXPECT_EQ(end.status, 2);
  EXPECT_THAT(end.err, HasSubstr("no file at all; seen: 0 files"));
  end = run_program({"scan", folder_, "--quarantine", in("none/list").string()});
  EXPECT_EQ(end.status, 3);
}

TEST_F(Scan, EndsCleanlyAtASignalAndWritesNoHalfList) {
  // A folder of which the scan takes a while, and whose files are all bad.
  const Bytes jpeg = jpeg_file(photograph(700, 900));
  const Bytes bad(jpeg.begin(), jpeg.end() - 2);
  write(in("00000.jpg"), bad);
  for (int i = 1; i < 400; ++i)
    fs::create_hard_link(in("00000.jpg"), in(fmt::format("{:05}.jpg", i)));
  const std::string list = fresh_path("bad.txt");
  const ProgramEnd end = interrupt_program(
      {"scan", folder_, "--json", "--progress", "always", "--quarantine", list, "--workers", "1"},
      {SIGTERM});
  EXPECT_EQ(end.status, 128 + SIGTERM);
  EXPECT_THAT(end.err, HasSubstr("/400 ["));
  const json document = json::parse(end.out, nullptr, false);
  EXPECT_EQ(document["stopped"], true);
  EXPECT_LT(document["files"], 400);
  EXPECT_FALSE(fs::exists(list));
}

}  // namespace
}  // namespace weir::test
