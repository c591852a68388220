#include <sys/resource.h>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/pipeline/folder.hpp"
#include "tests/pipeline/loader_run.hpp"

namespace weir::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Action = BadSamplePolicy::Action;

std::string text_of(const File& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

Stream<std::string> texts(const Stream<Path>& paths) {
  return paths.read().map("text", [](const File& file) {
    return std::filesystem::path(file.path().string()).filename().string() + "=" + text_of(file);
  });
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

/// A folder with n files "0000" and so on, each holding its name.
void fill(const Folder& folder, int n) {
  for (int i = 0; i < n; ++i) {
    char name[16];
    std::snprintf(name, sizeof name, "%04d", i);
    folder.write(name, name);
  }
}

TEST(FilesSource, ReadsEachFileWhole) {
  const Folder folder;
  folder.write("empty", "");
  folder.write("large", std::string(3'000'000, 'l'));
  folder.write("small", "s");
  // The calling thread keeps some for its own clocks and counters once it has worked (run_inline).
  for (const Options& way : every_way(workers(1)))
    (void)all_of(weir::files(folder.path()).read(), way);
  const std::size_t before = open_descriptors();
  for (const Options& way : every_way(workers(1))) {
    const std::vector<File> files = all_of(weir::files(folder.path()).read(), way);
    ASSERT_EQ(files.size(), 3U);
    EXPECT_EQ(text_of(files[0]), "");
    EXPECT_EQ(text_of(files[1]), std::string(3'000'000, 'l'));
    EXPECT_EQ(text_of(files[2]), "s");
    EXPECT_EQ(files[2].path().relative(), "small");
    EXPECT_EQ(files[2].path().string(), folder.path("small"));
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(FilesSource, GivesPathsThatOutliveTheLoader) {
  const Folder folder;
  fill(folder, 3);
  const std::vector<Path> paths = all_of(files(folder.path()), workers(2));
  ASSERT_EQ(paths.size(), 3U);
  EXPECT_EQ(paths[2].string(), folder.path("0002"));
}

TEST(FilesSource, KeepsFilesAndNamesTogetherUnderEveryOrder) {
  const Folder folder;
  fill(folder, 150);
  const auto most = [](const std::string& text) { return text.back() != '3'; };
  const Stream<Path> all = files(folder.path());
  for (const Stream<std::string>& stream :
       {texts(all), texts(all.shuffle()), texts(all.shuffle().repeat(2)),
        texts(all.shuffle({.buffer = 10})), texts(all.shard({.rank = 1, .world = 3})),
        // A pass that ends early must not hand the files asked for ahead to the next one.
        texts(all).filter("most", most).take(20), texts(all.shuffle()).filter("most", most).take(7),
        texts(all.shuffle()).filter("most", most).take(30).repeat(3)}) {
    for (Options way : every_way(workers(1))) {
      way.epochs = 3;
      const std::vector<std::string> given = all_of(stream, way);
      EXPECT_GE(given.size(), 21U);
      for (const std::string& text : given)
        ASSERT_EQ(text.substr(0, 4), text.substr(5)) << describe(way);
    }
  }
}

TEST(FilesSource, ClosesWhatItAskedForAheadWhenTheLoaderCloses) {
  const Folder folder;
  fill(folder, 200);
  const std::size_t before = open_descriptors();
  for (int round = 0; round < 20; ++round) {
    Loader<File> loader = files(folder.path()).shuffle().read().start(workers(4));
    for (int i = 0; i < round; ++i) ASSERT_TRUE(loader.next());
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(FilesSource, GivesLabelsBesideTheValue) {
  const Folder folder;
  for (const char* name : {"cat/1", "dog/2", "cat/3", "ant/4"}) folder.write(name, name);
  const auto stream = files(folder.path(), {.labels = Labels::parent_folder})
                          .read()
                          .map("label", [](const File&, Context& c) { return c.label(); })
                          .batch(4);
  Loader<Batch<std::int32_t>> loader = stream.start(workers(2));
  EXPECT_THAT(loader.classes(), ElementsAre("ant", "cat", "dog"));
  const auto batch = loader.next();
  ASSERT_TRUE(batch);
  EXPECT_THAT(batch->labels(), ElementsAre(0, 1, 1, 2));
  EXPECT_THAT(batch->items(), ElementsAre(0, 1, 1, 2));
}

TEST(FilesSource, ReadsSamplesWithTheirLabel) {
  const Folder folder;
  folder.write("cat/1", "abc");
  folder.write("dog/2", "defg");
  const auto labelled =
      all_of(files(folder.path(), {.labels = Labels::parent_folder}).read_samples(), workers(2));
  ASSERT_EQ(labelled.size(), 2U);
  EXPECT_EQ(labelled[1]["image"].shape(), (Shape{4}));
  EXPECT_EQ(labelled[1]["image"].data<std::uint8_t>()[3], 'g');
  EXPECT_EQ(*labelled[1]["label"].data<std::int64_t>(), 1);
  EXPECT_EQ(all_of(files(folder.path()).read_samples(), workers(1))[0].find("label"), nullptr);
}

TEST(FilesSource, ListFileKeepsItsOrder) {
  const Folder folder;
  fill(folder, 3);
  const std::string list = folder.write("list.txt", "0002\n0000\n0001\n");
  EXPECT_THAT(all_of(texts(list_file(list)), workers(2)),
              ElementsAre("0002=0002", "0000=0000", "0001=0001"));
}

/// What happens to the files between listing and reading.
class ChangedFile : public testing::Test {
 public:
  ChangedFile() { fill(folder_, 6); }
  /// The files that are read with the bad ones skipped, and the message without.
  std::pair<std::vector<std::string>, std::string> outcome() {
    const Stream<std::string> stream = texts(files(folder_.path()));
    change_();
    Options skip = workers(2);
    skip.on_bad_sample.action = Action::skip;
    std::vector<std::string> given = all_of(stream, skip);
    return {std::move(given), error_of([&] { (void)all_of(stream, workers(2)); })};
  }

 protected:
  const std::vector<std::string> others_{"0000=0000", "0001=0001", "0003=0003", "0004=0004",
                                         "0005=0005"};
  Folder folder_;
  std::function<void()> change_;
};

TEST_F(ChangedFile, ThatVanishedIsABadSample) {
  change_ = [this] { std::filesystem::remove(folder_.path("0002")); };
  const auto [given, message] = outcome();
  EXPECT_EQ(given, others_);
  EXPECT_THAT(message, AllOf(HasSubstr("stage 'read"), HasSubstr("sample 2"),
                             HasSubstr(folder_.path("0002")), HasSubstr("No such file")));
}

TEST_F(ChangedFile, ThatBecameAFifoHoldsNobodyUp) {
  change_ = [this] {
    std::filesystem::remove(folder_.path("0002"));
    ASSERT_EQ(::mkfifo(folder_.path("0002").c_str(), 0600), 0);
  };
  const auto [given, message] = outcome();
  EXPECT_EQ(given, others_);
  EXPECT_THAT(message, AllOf(HasSubstr(folder_.path("0002")), HasSubstr("not a regular file")));
}

TEST_F(ChangedFile, ThatBecameAFolderOrALoopIsABadSample) {
  change_ = [this] {
    std::filesystem::remove(folder_.path("0002"));
    std::filesystem::create_directory(folder_.path("0002"));
  };
  EXPECT_EQ(outcome().first, others_);
  change_ = [this] {
    std::filesystem::remove(folder_.path("0002"));
    std::filesystem::create_symlink("0002", folder_.path("0002"));
  };
  std::filesystem::remove(folder_.path("0002"));
  folder_.write("0002");
  const auto [given, message] = outcome();
  EXPECT_EQ(given, others_);
  EXPECT_THAT(message, HasSubstr("Too many levels of symbolic links"));
}

TEST_F(ChangedFile, ThatMayNotBeReadIsABadSample) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  change_ = [this] { ASSERT_EQ(::chmod(folder_.path("0002").c_str(), 0), 0); };
  const auto [given, message] = outcome();
  EXPECT_EQ(given, others_);
  EXPECT_THAT(message, AllOf(HasSubstr(folder_.path("0002")), HasSubstr("Permission denied")));
}

TEST_F(ChangedFile, ThatGrewOrShrankGivesWhatItHolds) {
  change_ = [this] { folder_.write("0002", std::string(100'000, 'z')); };
  const auto [given, message] = outcome();
  ASSERT_EQ(given.size(), 6U);
  EXPECT_EQ(given[2], "0002=" + std::string(100'000, 'z'));
  EXPECT_EQ(message, "");
}

/// Holds the process to a few descriptors.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t more) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit few = before_;
    few.rlim_cur = open_descriptors() - 1 + more;  // Without that of the count itself.
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;
  ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(FewDescriptorsLeft, AreEnoughForTheLookAheadAndTheWorkers) {
  const Folder folder;
  fill(folder, 400);
  Options options = workers(2);
  Loader<std::string> loader = texts(files(folder.path()).shuffle()).start(options);
  const FewDescriptors few(100);
  for (int i = 0; i < 400; ++i) ASSERT_TRUE(loader.next());
  EXPECT_FALSE(loader.next());
}

TEST(FewDescriptorsLeft, NoneAtAllEndTheRunWhateverThePolicyAndNothingLeaks) {
  const Folder folder;
  fill(folder, 50);
  // A thread that has read keeps the descriptor by which it counts what comes from the disk.
  Options inline_once;
  inline_once.run_inline = true;
  (void)all_of(texts(files(folder.path())), inline_once);
  const std::size_t before = open_descriptors();
  {
    const Stream<std::string> stream = texts(files(folder.path()));
    Options options;
    options.run_inline = true;
    options.on_bad_sample.action = Action::skip;  // Skipping good files would lose them silently.
    Loader<std::string> loader = stream.start(options);
    const FewDescriptors none(0);
    try {
      (void)loader.next();
      ADD_FAILURE() << "read without a descriptor";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::cannot);
      EXPECT_THAT(error.what(),
                  AllOf(HasSubstr(folder.path("0000")), HasSubstr("Too many open files")));
    }
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Quarantine, ListsEachBadFileOnceOnALineOfItsOwn) {
  const Folder folder;
  const Folder elsewhere;
  for (const char* name : {"a", "new\nline", "tab\there", "back\\slash"}) folder.write(name, name);
  const std::string list = elsewhere.path("bad.txt");
  const auto stream = files(folder.path()).read().map("check", [](const File& file) {
    if (file.bytes().size() > 1) throw BadSample("first line\nsecond line");
    return 1;
  });
  Options options = workers(2);
  options.epochs = 2;
  options.on_bad_sample.action = Action::skip;
  options.quarantine = list;
  Loader<int> loader = stream.start(options);
  for (std::uint32_t epoch = 0; epoch < 2; ++epoch)
    for ([[maybe_unused]] const int value : loader.epoch(epoch)) {
    }
  EXPECT_EQ(loader.summary().bad_count, 6U);
  EXPECT_EQ(loader.summary().quarantine, list);
  const std::string reason = "\tcheck\tfirst line\\nsecond line\n";
  std::string stage = content_of(list);
  EXPECT_EQ(stage, folder.path("back\\\\slash") + reason + folder.path("new\\nline") + reason +
                       folder.path("tab\\there") + reason);
}

TEST(Quarantine, IsNotWrittenWithoutABadSampleAndGoesOnAfterAResume) {
  const Folder folder;
  const auto stream = range(30).map("check", [](std::int64_t value) {
    if (value % 10 == 5) throw BadSample("five");
    return value;
  });
  Options options = workers(1);
  options.on_bad_sample.action = Action::skip;
  options.quarantine = folder.path("none");
  EXPECT_EQ(all_of(stream.take(4), options).size(), 4U);
  EXPECT_FALSE(std::filesystem::exists(options.quarantine));

  options.quarantine = folder.path("bad");
  Position middle;
  {
    Loader<std::int64_t> loader = stream.start(options);
    for (int i = 0; i < 12; ++i) ASSERT_TRUE(loader.next());
    middle = loader.position();
  }
  options.resume = middle;
  (void)all_of(stream, options);
  const std::string list = content_of(options.quarantine);
  for (const char* sample : {"sample 5\t", "sample 15\t", "sample 25\t"})
    EXPECT_THAT(list, HasSubstr(sample));
}

TEST(Quarantine, ThatCannotBeWrittenEndsTheRun) {
  const Folder folder;
  Options options = workers(1);
  options.on_bad_sample.action = Action::skip;
  options.quarantine = folder.path("missing/bad");
  const auto stream =
      range(3).map("check", [](std::int64_t) -> std::int64_t { throw BadSample("no"); });
  EXPECT_THAT(error_of([&] { (void)all_of(stream, options); }),
              AllOf(HasSubstr("missing/bad"), HasSubstr("No such file")));
}

}  // namespace
}  // namespace weir::test
