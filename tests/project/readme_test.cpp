// README.md says nothing that does not hold: its two programs run as printed, its tables and its
// guide name what there is, and every path in it leads somewhere.
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weir/policy.hpp>

#include "tests/program/photo_folder.hpp"
#include "tests/program/program_run.hpp"

namespace weir::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Names = std::set<std::string>;

std::string text_of(const fs::path& path) {
  std::ifstream stream(path);
  EXPECT_TRUE(stream) << path;
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

const std::string& readme() {
  static const std::string text = text_of(fs::path(WEIR_TEST_SOURCE_DIR) / "README.md");
  return text;
}

/// The part under the heading that begins so, up to the next heading of that level.
std::string section(const std::string& heading) {
  const std::size_t begin = readme().find("\n## " + heading);
  EXPECT_NE(begin, std::string::npos) << heading;
  if (begin == std::string::npos) return {};
  return readme().substr(begin, readme().find("\n## ", begin + 1) - begin);
}

/// The first group of every match.
Names matches(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  Names names;
  for (std::sregex_iterator match(text.begin(), text.end(), expression), end; match != end; ++match)
    names.insert((*match)[1].str());
  return names;
}

/// A folder in which `photos` lies, as the README has it.
class ReadmeExample : public ::testing::Test {
 protected:
  ReadmeExample() : photos_(fresh_path("readme") + "/photos", 64, 0) {}
  ~ReadmeExample() override { fs::remove_all(folder()); }
  [[nodiscard]] fs::path folder() const { return fs::path(photos_.path()).parent_path(); }

  PhotoFolder photos_;
};

TEST_F(ReadmeExample, ProgramRunsAsPrinted) {
  const std::string command = "cd '" + folder().string() + "' && '" WEIR_README_PROGRAM "' > out";
  ASSERT_EQ(WEXITSTATUS(std::system(command.c_str())), 0);
  const std::string out = text_of(folder() / "out");
  EXPECT_THAT(out, HasSubstr("[32, 224, 224, 3]"));
  EXPECT_THAT(out, HasSubstr(" in 2 batches"));
}

TEST_F(ReadmeExample, PipelineFileRunsAsPrinted) {
  fs::copy_file(WEIR_README_PIPELINE, folder() / "photos.yaml");
  const ProgramEnd end = run_program({"run", "photos.yaml"}, Output::read, folder().string());
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_THAT(end.out, HasSubstr("64 items in 2 batches"));
}

TEST_F(ReadmeExample, TunedFileByHandLoads) {
  fs::copy_file(WEIR_README_PIPELINE, folder() / "photos.yaml");
  fs::copy_file(WEIR_README_TUNED, folder() / "photos.tuned.yaml");
  const ProgramEnd end = run_program({"run", "photos.yaml", "--workers", "2", "--oversubscribe",
                                      "--tuned", "photos.tuned.yaml", "--json"},
                                     Output::read, folder().string());
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_THAT(end.out, HasSubstr("\"target\": 1.5,"));
}

TEST(Readme, TableOfOptionsIsThatOfTheProgram) {
  Names there;
  for (const char* verb : {"run", "tune", "check", "preview", "scan", "policies", "sim"})
    there.merge(matches(run_program({"help", verb}).out, R"((--[a-z][-a-z]*))"));
  there.erase("--help");
  Names planned;
  std::istringstream help(run_program({"help", "run"}).out + run_program({"help", "sim"}).out);
  std::string option;
  for (std::string line; std::getline(help, line);) {
    const Names named = matches(line, R"(^ +(--[a-z][-a-z]*))");
    if (!named.empty()) option = *named.begin();
    if (line.find("not in this version") != std::string::npos) planned.insert(option);
  }
  Names missing;
  const Names written = matches(section("Options"), R"((--[a-z][-a-z]*))");
  for (const std::string& name : there)
    if (!written.contains(name) && !planned.contains(name)) missing.insert(name);
  EXPECT_THAT(missing, ::testing::IsEmpty()) << "options without a line in README.md";
  for (const std::string& name : written)
    EXPECT_TRUE(there.contains(name)) << name << " is in README.md and not in the program";
  for (const std::string& name : planned)
    EXPECT_THAT(section("Not in this version"), HasSubstr(name));
}

TEST(Readme, TableOfOptionsNamesEveryMemberOfOptions) {
  const std::string header = text_of(fs::path(WEIR_TEST_SOURCE_DIR) / "tuner/weir/options.hpp");
  const std::string body = header.substr(header.find("struct Options {"));
  const Names members = matches(body, R"(\n  [^/=\n]*[ >]([a-z_]+)(?: = [^;]*)?;)");
  ASSERT_GT(members.size(), 20U);
  const std::string table = section("Options");
  for (const std::string& member : members)
    EXPECT_THAT(table, HasSubstr("`" + member + "`")) << "Options::" << member;
}

TEST(Readme, GuideNamesEveryPublicHeader) {
  const Names named = matches(section("Guide to the public headers"), R"(<weir/([a-z_]+\.hpp)>)");
  Names there;
  for (const char* part : {"machine", "pipeline", "policies", "tuner", "src"})
    for (const auto& entry : fs::directory_iterator(fs::path(WEIR_TEST_SOURCE_DIR) / part / "weir"))
      there.insert(entry.path().filename().string());
  EXPECT_EQ(named, there);
}

TEST(Readme, NamesEveryExample) {
  const std::string text = text_of(fs::path(WEIR_TEST_SOURCE_DIR) / "examples/README.md");
  for (const auto& entry : fs::directory_iterator(fs::path(WEIR_TEST_SOURCE_DIR) / "examples")) {
    if (entry.path().extension() != ".cpp") continue;
    EXPECT_THAT(text, HasSubstr("`" + entry.path().stem().string() + "`"));
  }
}

TEST(Readme, PathsLeadSomewhere) {
  Names paths = matches(readme(), R"(\]\(([^):#]+)\))");
  paths.merge(matches(readme(), R"([` ]((?:configs|examples|tests|bench|machine|pipeline|policies|)"
                                R"(tuner|src|tools)/[A-Za-z0-9_./]*[A-Za-z0-9_/]))"));
  ASSERT_GT(paths.size(), 8U);
  for (const std::string& path : paths)
    EXPECT_TRUE(fs::exists(fs::path(WEIR_TEST_SOURCE_DIR) / path)) << path;
}

/// Each test that a promise is pinned to is there under that name.
TEST(Readme, TestsOfThePromisesExist) {
  std::string sources;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(WEIR_TEST_SOURCE_DIR) / "tests"))
    if (entry.path().extension() == ".cpp") sources += text_of(entry.path());
  const std::regex name(R"(`([A-Z][A-Za-z0-9]+)\.([A-Z][A-Za-z0-9]+)`)");
  const std::string text = section("What it promises");
  int count = 0;
  for (std::sregex_iterator match(text.begin(), text.end(), name), end; match != end; ++match) {
    ++count;
    const std::regex test("TEST(_[FP])?\\(" + (*match)[1].str() + ",\\s*" + (*match)[2].str() +
                          "\\)");
    EXPECT_TRUE(std::regex_search(sources, test)) << match->str();
  }
  EXPECT_GT(count, 5);
}

}  // namespace
}  // namespace weir::test
