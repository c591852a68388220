#include <sys/stat.h>

#include <algorithm>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/file_index.hpp>

#include "tests/pipeline/folder.hpp"
#include "tests/pipeline/loader_run.hpp"

namespace weir::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names_of(const FileIndex& index) {
  std::vector<std::string> names;
  for (std::uint64_t entry = 0; entry < index.size(); ++entry)
    names.emplace_back(index.relative(entry));
  return names;
}

std::vector<std::string> listed(const Folder& folder, const FilesOptions& options = {}) {
  return names_of(FileIndex::list(folder.path(), options));
}

TEST(FileIndexOrder, IsThatOfTheBytesOfWholePaths) {
  const Folder folder;
  std::vector<std::string> names{"a/x",  "a.b",  "a-b/y",      "a/b/c", "ab",
                                 "a0/z", "A/x",  "\xc3\xa9/x", "zz",    "a/x.y",
                                 "a b",  "a!/q", "b",          "a+",    "a~/x"};
  std::shuffle(names.begin(), names.end(), std::mt19937(3));
  for (const std::string& name : names) folder.write(name);
  std::sort(names.begin(), names.end());  // std::string compares unsigned bytes.
  EXPECT_EQ(listed(folder), names);
}

TEST(FileIndexOrder, HoldsForRandomTrees) {
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    const Folder folder;
    std::set<std::string> names;
    for (int i = 0; i < 40; ++i) {
      std::string name;
      const std::size_t parts = 1 + random() % 3;
      for (std::size_t part = 0; part < parts; ++part) {
        if (part > 0) name += '/';
        const std::size_t length = 1 + random() % 11;
        // A letter in front, then what sorts on either side of a slash.
        name += "ab"[random() % 2];
        for (std::size_t c = 1; c < length; ++c) name += "a-.0/ "[random() % 4];
      }
      std::error_code error;
      std::filesystem::create_directories(std::filesystem::path(folder.path(name)).parent_path(),
                                          error);
      if (error || std::filesystem::is_directory(folder.path(name))) continue;
      folder.write(name);
      names.insert(name);
    }
    EXPECT_EQ(listed(folder), std::vector<std::string>(names.begin(), names.end()));
  }
}

TEST(FileIndexNames, MayHoldAnyBytes) {
  const Folder folder;
  const std::vector<std::string> names{"-leading", "caf\xc3\xa9", "line\nbreak",
                                       "not utf8 \xff\xfe", "spa ce"};
  for (const std::string& name : names) folder.write(name, name);
  EXPECT_EQ(listed(folder), names);
  const FileIndex index = FileIndex::list(folder.path(), {});
  EXPECT_EQ(content_of(index.path(2)), "line\nbreak");
}

TEST(FileIndexPattern, OnTheNameMatchesInEveryFolder) {
  const Folder folder;
  for (const char* name : {"a.jpg", "b.png", "x/c.jpg", "x/y/d.jpg", "x/d.jpeg"})
    folder.write(name);
  EXPECT_THAT(listed(folder, {.pattern = "*.jpg"}), ElementsAre("a.jpg", "x/c.jpg", "x/y/d.jpg"));
  EXPECT_THAT(listed(folder, {.pattern = "?.png"}), ElementsAre("b.png"));
  EXPECT_THAT(listed(folder, {.pattern = "[ab].*"}), ElementsAre("a.jpg", "b.png"));
  EXPECT_THAT(listed(folder, {.pattern = "*.jpg", .recursive = false}), ElementsAre("a.jpg"));
}

TEST(FileIndexPattern, WithASlashMatchesThePathFolderByFolder) {
  const Folder folder;
  for (const char* name : {"train/a.png", "train/x/b.png", "train/x/y/c.png", "val/d.png",
                           "deep/train/e.png", "a.png"})
    folder.write(name);
  EXPECT_THAT(listed(folder, {.pattern = "train/*.png"}), ElementsAre("train/a.png"))
      << "a star stays inside one folder";
  EXPECT_THAT(listed(folder, {.pattern = "train/**/*.png"}),
              ElementsAre("train/a.png", "train/x/b.png", "train/x/y/c.png"));
  EXPECT_THAT(listed(folder, {.pattern = "**/train/*.png"}),
              ElementsAre("deep/train/e.png", "train/a.png"));
  EXPECT_THAT(listed(folder, {.pattern = "**/x/**/*.png"}),
              ElementsAre("train/x/b.png", "train/x/y/c.png"));
  EXPECT_THAT(listed(folder, {.pattern = "train/**"}),
              ElementsAre("train/a.png", "train/x/b.png", "train/x/y/c.png"));
  EXPECT_THAT(listed(folder, {.pattern = "*/x/*"}), ElementsAre("train/x/b.png"));
}

TEST(FileIndexHidden, EntriesAreSkippedCountedAndMentioned) {
  const Folder folder;
  for (const char* name : {"a", ".DS_Store", "x/.hidden", "x/b", ".git/config", ".git/HEAD"})
    folder.write(name);
  const FileIndex index = FileIndex::list(folder.path(), {});
  EXPECT_THAT(names_of(index), ElementsAre("a", "x/b"));
  EXPECT_EQ(index.hidden_skipped(),
            3U);  // A hidden folder is one entry; what is inside is not seen.
  std::vector<std::string> said;
  Options options = workers(1);
  options.say = [&said](const std::string& text) { said.push_back(text); };
  const auto loader = files(folder.path()).start(options);
  EXPECT_THAT(said, testing::Contains(AllOf(HasSubstr("3 hidden"), HasSubstr("skipped"))));
  EXPECT_EQ(loader.remarks(), said);
}

TEST(FileIndexLinks, ThatLoopAreSurvived) {
  const Folder folder;
  folder.write("a/file");
  namespace fs = std::filesystem;
  fs::create_directory_symlink(folder.path(), folder.path("a/up"));
  fs::create_directory_symlink(".", folder.path("a/self"));
  fs::create_symlink("loop", folder.path("loop"));
  fs::create_symlink("two", folder.path("one"));
  fs::create_symlink("one", folder.path("two"));
  fs::create_symlink("nowhere", folder.path("dangling"));
  // The links that lead nowhere are entries like others: the read says what they are.
  EXPECT_THAT(listed(folder), ElementsAre("a/file", "dangling", "loop", "one", "two"));
}

TEST(FileIndexLinks, ToFilesAndFoldersAreFollowed) {
  const Folder outside;
  outside.write("inner/picture", "here");
  const Folder folder;
  std::filesystem::create_symlink(outside.path("inner/picture"), folder.path("file"));
  std::filesystem::create_directory_symlink(outside.path("inner"), folder.path("folder"));
  const FileIndex index = FileIndex::list(folder.path(), {});
  EXPECT_THAT(names_of(index), ElementsAre("file", "folder/picture"));
  EXPECT_EQ(content_of(index.path(1)), "here");
}

TEST(FileIndexErrors, SayWhatWasLookedForAndWhatWasSeen) {
  const Folder folder;
  const auto list = [&](const std::string& root, const FilesOptions& options = {}) {
    return error_of([&] { (void)FileIndex::list(root, options); });
  };
  EXPECT_THAT(list(folder.path("missing")),
              AllOf(HasSubstr(folder.path("missing")), HasSubstr("no such folder"),
                    HasSubstr("No such file")));
  EXPECT_THAT(list(folder.path()),
              AllOf(HasSubstr(folder.path()), HasSubstr("no file at all"), HasSubstr("0 files")));
  folder.write("x/.hidden");
  EXPECT_THAT(list(folder.path()), AllOf(HasSubstr("1 folders"), HasSubstr("1 hidden")));
  const std::string file = folder.write("x/photo.JPG");
  EXPECT_THAT(list(folder.path(), {.pattern = "*.jpg"}),
              AllOf(HasSubstr("'*.jpg'"), HasSubstr("1 files"), HasSubstr("x/photo.JPG")));
  EXPECT_THAT(list(folder.path(), {.recursive = false}), HasSubstr("recursive is off"));
  EXPECT_THAT(list(file), AllOf(HasSubstr("not a folder"), HasSubstr(file)));
  EXPECT_THAT(list(""), HasSubstr("no such folder"));
}

TEST(FileIndexErrors, NameAFolderThatCannotBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const Folder folder;
  folder.write("shut/file");
  ASSERT_EQ(::chmod(folder.path("shut").c_str(), 0), 0);
  EXPECT_THAT(error_of([&] { (void)FileIndex::list(folder.path(), {}); }),
              AllOf(HasSubstr(folder.path("shut")), HasSubstr("Permission denied")));
  ASSERT_EQ(::chmod(folder.path("shut").c_str(), 0700), 0);
}

TEST(FileIndexLabels, AreTheParentFoldersInSortedOrder) {
  const Folder folder;
  for (const char* name : {"dog/1", "cat/2", "dog/puppy/3", "ant/4"}) folder.write(name);
  const FileIndex index = FileIndex::list(folder.path(), {.labels = Labels::parent_folder});
  EXPECT_THAT(index.classes(), ElementsAre("ant", "cat", "dog", "puppy"));
  EXPECT_THAT(names_of(index), ElementsAre("ant/4", "cat/2", "dog/1", "dog/puppy/3"));
  std::vector<int> labels;
  for (std::uint64_t entry = 0; entry < index.size(); ++entry) labels.push_back(index.label(entry));
  EXPECT_THAT(labels, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(FileIndex::list(folder.path(), {}).label(0), -1);
}

TEST(FileIndexLabels, KeepTheirNumbersByAClassesFile) {
  const Folder folder;
  folder.write("train/b/1");
  folder.write("train/c/2");
  folder.write("val/c/3");
  const std::string classes = folder.path("classes.txt");
  const auto list = [&](const std::string& part) {
    return FileIndex::list(folder.path(part),
                           {.labels = Labels::parent_folder, .classes_file = classes});
  };
  EXPECT_THAT(list("train").classes(), ElementsAre("b", "c"));
  EXPECT_EQ(content_of(classes), "b\nc\n");
  EXPECT_EQ(list("val").label(0), 1) << "not 0, as it would be by itself";
  folder.write("val/a/4");
  EXPECT_THAT(error_of([&] { (void)list("val"); }),
              AllOf(HasSubstr(classes), HasSubstr("'a'"), HasSubstr("add it")));
}

TEST(FileIndexSize, IsSmallBesideTheNames) {
  const Folder folder;
  for (int i = 0; i < 500; ++i)
    folder.write("f" + std::to_string(i / 50) + "/n" + std::to_string(i));
  const FileIndex index = FileIndex::list(folder.path(), {.labels = Labels::parent_folder});
  EXPECT_EQ(index.size(), 500U);
  EXPECT_LE(index.overhead_bytes(), 500U * 16);
}

TEST(ListFile, NamesFilesInItsOwnOrder) {
  const Folder folder;
  const std::string list =
      folder.write("lists/train.txt", "# a remark\n\n../b.jpg,1\r\n../a, b.jpg,0\n/abs/c.jpg,2\n");
  const FileIndex index = FileIndex::read_list(list);
  EXPECT_THAT(names_of(index), ElementsAre("../b.jpg", "../a, b.jpg", "/abs/c.jpg"));
  EXPECT_EQ(index.path(0), folder.path("lists") + "/../b.jpg");
  EXPECT_EQ(index.path(2), "/abs/c.jpg");
  EXPECT_EQ(index.label(0), 1);
  EXPECT_EQ(index.label(1), 0);
  EXPECT_THAT(index.classes(), testing::IsEmpty());
}

TEST(ListFile, TakesClassNames) {
  const Folder folder;
  const std::string list = folder.write("list", "x,dog\ny,cat\nz,dog\n");
  const FileIndex index = FileIndex::read_list(list);
  EXPECT_THAT(index.classes(), ElementsAre("cat", "dog"));
  EXPECT_EQ(index.label(0), 1);
  EXPECT_EQ(index.label(1), 0);
  EXPECT_EQ(FileIndex::read_list(folder.write("plain", "x\ny\n")).label(0), -1);
}

TEST(ListFile, WithNumbersTakesTheNamesOfAClassesFile) {
  const Folder folder;
  const std::string classes = folder.write("classes", "ant\nbee\n");
  const FileIndex index = FileIndex::read_list(folder.write("list", "x,1\ny,0\n"), classes);
  EXPECT_THAT(index.classes(), ElementsAre("ant", "bee"));
  EXPECT_EQ(index.label(0), 1);
  const std::string beyond = folder.write("beyond", "x,1\ny,2\n");
  EXPECT_THAT(error_of([&] { (void)FileIndex::read_list(beyond, classes); }),
              AllOf(HasSubstr(beyond + ":2"), HasSubstr("2"), HasSubstr(classes)));
  // Numbers give no names, so that there is nothing to save.
  (void)FileIndex::read_list(folder.path("list"), folder.path("new"));
  EXPECT_FALSE(std::filesystem::exists(folder.path("new")));
}

TEST(ListFile, NamesTheLineThatIsWrong) {
  const Folder folder;
  const auto read = [&](const std::string& text) {
    const std::string list = folder.write("list", text);
    return error_of([&] { (void)FileIndex::read_list(list); });
  };
  EXPECT_THAT(read("a,1\nb\n"), AllOf(HasSubstr("list:2"), HasSubstr("no label")));
  EXPECT_THAT(read("a\nb,1\n"), AllOf(HasSubstr("list:2"), HasSubstr("a label")));
  EXPECT_THAT(read(",1\n"), AllOf(HasSubstr("list:1"), HasSubstr("no path")));
  EXPECT_THAT(read("# nothing\n"), HasSubstr("names no file"));
  EXPECT_THAT(error_of([&] { (void)FileIndex::read_list(folder.path("missing")); }),
              AllOf(HasSubstr("missing"), HasSubstr("No such file")));
}

}  // namespace
}  // namespace weir::test
