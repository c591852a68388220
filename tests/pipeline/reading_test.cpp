#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/read_counters.hpp"
#include "pipeline/file_reader.hpp"
#include "pipeline/file_source.hpp"
#include "tests/pipeline/folder.hpp"
#include "tests/pipeline/loader_run.hpp"
#include "tests/pipeline/slow_storage.hpp"

namespace weir::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// A folder with n files "0000" and so on, of different lengths, one of them empty.
void fill(const Folder& folder, int n) {
  for (int i = 0; i < n; ++i) {
    char name[16];
    std::snprintf(name, sizeof name, "%04d", i);
    folder.write(name, std::string(static_cast<std::size_t>(i * 37 % 9000), static_cast<char>(i)));
  }
}

Stream<Path> paths_in(const Folder& folder, std::shared_ptr<detail::Storage> storage) {
  return detail::stream_of_files("files", FileIndex::list(folder.path(), {}), std::move(storage));
}

Stream<std::string> texts(const Stream<Path>& paths) {
  return paths.read().map("text", [](const File& file) {
    return file.path().relative() +
           std::string(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  });
}

/// The shuffled files of `epochs` epochs, and what the loader said and counted at the end.
struct Outcome {
  std::vector<std::string> given;
  std::vector<std::string> remarks;
  ReadingSnapshot reading;
};

Outcome read_all(const Stream<Path>& paths, Options options, std::uint32_t epochs = 1) {
  options.epochs = epochs;
  Outcome outcome;
  Loader<std::string> loader = texts(paths.shuffle()).start(options);
  for (std::uint32_t epoch = 0; epoch < epochs; ++epoch)
    for (std::string& text : loader.epoch(epoch)) outcome.given.push_back(std::move(text));
  outcome.reading = loader.telemetry().loaders.at(0).reading;
  loader.close();
  outcome.remarks = loader.remarks();
  return outcome;
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

Options with(Reader reader, int count = 2) {
  Options options = workers(count);
  options.reader = reader;
  return options;
}

std::shared_ptr<SlowStorage> slow(std::chrono::microseconds latency, bool takes_hints = true,
                                  bool has_rings = true) {
  auto storage = std::make_shared<SlowStorage>();
  storage->latency = latency;
  storage->takes_hints = takes_hints;
  storage->has_rings = has_rings;
  return storage;
}

TEST(Reading, GivesTheSameWhateverReads) {
  const Folder folder;
  fill(folder, 150);
  const std::vector<std::string> expected =
      read_all(files(folder.path()), with(Reader::pread, 1), 2).given;
  ASSERT_EQ(expected.size(), 300U);
  using std::chrono::microseconds;
  for (const auto& storage :
       {detail::kernel_storage(), std::shared_ptr<detail::Storage>(slow(microseconds(300))),
        std::shared_ptr<detail::Storage>(slow(microseconds(300), false)),
        std::shared_ptr<detail::Storage>(slow(microseconds(300), false, false))}) {
    const Stream<Path> paths = paths_in(folder, storage);
    for (const Reader reader : {Reader::automatic, Reader::pread, Reader::io_uring})
      for (const int count : {1, 3})
        EXPECT_EQ(read_all(paths, with(reader, count), 2).given, expected)
            << to_string(reader) << " " << count;
  }
  Options on_the_caller = with(Reader::io_uring);
  on_the_caller.run_inline = true;
  EXPECT_EQ(read_all(files(folder.path()), on_the_caller, 2).given, expected);
}

TEST(Reading, CountsFilesAndBytes) {
  const Folder folder;
  fill(folder, 100);
  const Outcome outcome = read_all(files(folder.path()), with(Reader::pread));
  std::uint64_t bytes = 0;
  for (const std::string& text : outcome.given) bytes += text.size() - 4;
  EXPECT_EQ(outcome.reading.files, 100U);
  EXPECT_EQ(outcome.reading.bytes, bytes);
  EXPECT_EQ(outcome.reading.backend, Reader::pread);
  EXPECT_EQ(outcome.reading.open_files, 0U);
  EXPECT_GT(outcome.reading.most_open_files, 0U);
}

TEST(Reading, LooksFurtherAheadWhereTheStorageIsSlow) {
  const Folder folder;
  fill(folder, 400);
  const Outcome outcome =
      read_all(paths_in(folder, slow(std::chrono::milliseconds(20))), with(Reader::pread));
  EXPECT_GT(outcome.reading.window_files, detail::LookAheadWindow::kLeast);
  EXPECT_GT(outcome.reading.late_files, 0U);
  EXPECT_GT(outcome.reading.wait_seconds, 0.01);
}

TEST(Reading, GoesToARingWhereHintsDoNotHideTheLatency) {
  const Folder folder;
  fill(folder, 500);
  const auto storage = slow(std::chrono::milliseconds(2), false);
  const Outcome outcome = read_all(paths_in(folder, storage), with(Reader::automatic), 2);
  EXPECT_EQ(outcome.given.size(), 1000U);
  EXPECT_GE(storage->rings_asked_for, 1);
  EXPECT_EQ(outcome.reading.backend, Reader::io_uring);
  EXPECT_THAT(outcome.remarks, Contains(HasSubstr("reader: io_uring, since")));
}

TEST(Reading, StaysWithHintsAndAsksForNoRingWhereTheyAreEnough) {
  const Folder folder;
  fill(folder, 400);
  for (const auto& storage :
       {slow(std::chrono::microseconds(0)), slow(std::chrono::microseconds(0), false)}) {
    const Outcome outcome = read_all(paths_in(folder, storage), with(Reader::automatic));
    EXPECT_EQ(storage->rings_asked_for, 0);
    EXPECT_EQ(outcome.reading.backend, Reader::pread);
    EXPECT_THAT(outcome.remarks, Not(Contains(HasSubstr("reader:"))));
  }
}

TEST(Reading, SaysOnceThatARingIsRefusedAndGoesOn) {
  const Folder folder;
  fill(folder, 300);
  for (const Reader reader : {Reader::io_uring, Reader::automatic}) {
    const auto storage = slow(std::chrono::milliseconds(1), false, false);
    const Outcome outcome = read_all(paths_in(folder, storage), with(reader), 2);
    EXPECT_EQ(outcome.given.size(), 600U);
    EXPECT_EQ(storage->rings_asked_for, 1);
    EXPECT_EQ(outcome.reading.backend, Reader::pread);
    EXPECT_EQ(std::count_if(outcome.remarks.begin(), outcome.remarks.end(),
                            [](const std::string& text) {
                              return text.find("not in this test") != std::string::npos;
                            }),
              1);
  }
}

TEST(Reading, HoldsAFewOpenFilesWhateverTheWindow) {
  const Folder folder;
  fill(folder, 400);
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  for (const rlim_t more : {rlim_t{60}, rlim_t{200}}) {
    Options options = with(Reader::pread);
    (void)all_of(range(1), options);
    rlimit few = before;
    const std::size_t open = open_descriptors();
    few.rlim_cur = open + more;
    ::setrlimit(RLIMIT_NOFILE, &few);
    const Outcome outcome =
        read_all(paths_in(folder, slow(std::chrono::milliseconds(10))), options);
    ::setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_EQ(outcome.given.size(), 400U);
    EXPECT_LE(outcome.reading.most_open_files, more / 2);
    EXPECT_EQ(open_descriptors(), open);
  }
}

TEST(Reading, KeepsNothingWhenItClosesEarly) {
  const Folder folder;
  fill(folder, 200);
  for (const Reader reader : {Reader::pread, Reader::io_uring}) {
    for (const bool own : {false, true}) {
      const Stream<Path> paths =
          own ? paths_in(folder, slow(std::chrono::milliseconds(5))) : files(folder.path());
      (void)all_of(range(1), with(reader));
      const std::size_t before = open_descriptors();
      const std::size_t bytes_before = buffer_pool_use().in_use_bytes;
      for (int round = 0; round < 5; ++round) {
        Loader<std::string> loader = texts(paths.shuffle()).start(with(reader));
        for (int i = 0; i < round; ++i) ASSERT_TRUE(loader.next());
        loader.close();
      }
      EXPECT_EQ(open_descriptors(), before);
      EXPECT_EQ(buffer_pool_use().in_use_bytes, bytes_before);
    }
  }
}

TEST(Reading, AheadThroughARingStaysWithinTheBytesOfTheRun) {
  const Folder folder;
  for (int i = 0; i < 60; ++i)
    folder.write(std::to_string(100 + i), std::string(100'000, static_cast<char>(i)));
  Options options = with(Reader::io_uring);
  options.memory_bytes = 2 << 20;
  Loader<File> loader =
      paths_in(folder, slow(std::chrono::milliseconds(1))).shuffle().read().start(options);
  int count = 0;
  while (loader.next()) ++count;
  EXPECT_EQ(count, 60);
  const Snapshot end = loader.telemetry();
  EXPECT_EQ(end.loaders.at(0).reading.backend, Reader::io_uring);
  EXPECT_LE(end.memory_peak_bytes, end.memory_bound_bytes);
  EXPECT_EQ(end.memory_bytes, 0U);
}

/// Changes file 0002 when its bytes are asked for: it is open by then.
class ChangingStorage final : public detail::Storage {
 public:
  ChangingStorage(std::string path, std::function<void()> change)
      : path_(std::move(path)), change_(std::move(change)) {}
  int open(const char* path) override {
    const int descriptor = files_->open(path);
    if (path == path_) watched_ = descriptor;
    return descriptor;
  }
  void will_need(int descriptor) override { files_->will_need(descriptor); }
  std::ptrdiff_t read(int descriptor, std::byte* to, std::size_t bytes,
                      std::uint64_t offset) override {
    return files_->read(descriptor, to, bytes, offset);
  }
  std::ptrdiff_t read_cached(int descriptor, std::byte* to, std::size_t bytes) override {
    change(descriptor);
    return files_->read_cached(descriptor, to, bytes);
  }
  std::unique_ptr<ReadRing> open_ring(unsigned, std::string&) override {
    return std::make_unique<Ring>(*this);
  }

 private:
  /// Reads at once.
  class Ring final : public ReadRing {
   public:
    explicit Ring(ChangingStorage& storage) : storage_(storage) {}
    bool start(Operation& operation, int descriptor, std::byte* to, std::size_t bytes) override {
      storage_.change(descriptor);
      operation.result = static_cast<int>(storage_.files_->read(descriptor, to, bytes, 0));
      operation.done = true;
      return true;
    }
    void wait(Operation&) override {}

   private:
    ChangingStorage& storage_;
  };
  void change(int descriptor) {
    int watched = descriptor;
    if (watched_.compare_exchange_strong(watched, -1)) change_();
  }

  const std::shared_ptr<detail::Storage> files_ = detail::kernel_storage();
  const std::string path_;
  const std::function<void()> change_;
  std::atomic<int> watched_{-1};
};

TEST(Reading, OfAFileThatChangesBetweenHintAndReadGivesWhatItHoldsThen) {
  for (const Reader reader : {Reader::pread, Reader::io_uring}) {
    const Folder folder;
    for (const char* name : {"0001", "0002", "0003"}) folder.write(name, "as listed");
    const std::string path = folder.path("0002");
    const auto outcome = [&](const std::function<void()>& change) {
      folder.write("0002", "as listed");
      Options options = with(reader, 1);
      std::vector<std::string> given =
          all_of(texts(paths_in(folder, std::make_shared<ChangingStorage>(path, change))), options);
      return given.size() == 3 ? given[1] : std::string("not all came");
    };
    EXPECT_EQ(outcome([] {}), "0002as listed");
    EXPECT_EQ(outcome([&] { std::filesystem::resize_file(path, 2); }), "0002as");
    EXPECT_EQ(outcome([&] { std::filesystem::resize_file(path, 0); }), "0002");
    EXPECT_EQ(outcome([&] { std::ofstream(path, std::ios::app) << std::string(50'000, '+'); }),
              "0002as listed" + std::string(50'000, '+'));
    // Its bytes are there as long as it is open.
    EXPECT_EQ(outcome([&] { std::filesystem::remove(path); }), "0002as listed");
  }
}

TEST(Reading, TellsTheDiskFromThePageCache) {
  const Folder folder;
  for (int i = 0; i < 64; ++i) {
    const std::string path = folder.write(std::to_string(100 + i), std::string(50'000, 'd'));
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    ::fdatasync(descriptor);
    ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
    ::close(descriptor);
  }
  const auto before = read_read_counters();
  const Outcome cold = read_all(files(folder.path()), with(Reader::pread));
  const auto after = read_read_counters();
  if (!before || !after || after->disk_bytes - before->disk_bytes < 64 * 50'000)
    GTEST_SKIP() << "the temporary folder is on no disk, or the kernel does not count";
  EXPECT_TRUE(cold.reading.source_known);
  EXPECT_EQ(cold.reading.disk_files, 64U);
  EXPECT_GE(cold.reading.disk_bytes, 64U * 50'000U);
  EXPECT_LT(cold.reading.hit_share(), 0.01);
  const Outcome warm = read_all(files(folder.path()), with(Reader::pread));
  EXPECT_EQ(warm.reading.disk_files, 0U);
  EXPECT_EQ(warm.reading.hit_share(), 1.0);
}

TEST(Reading, TheKernelsRingReadsOrIsRefusedWithAReason) {
  const Folder folder;
  fill(folder, 300);
  const Outcome outcome = read_all(files(folder.path()), with(Reader::io_uring, 3), 2);
  EXPECT_EQ(outcome.given.size(), 600U);
  std::string refusal;
  if (open_read_ring(8, refusal) == nullptr) {
    EXPECT_EQ(outcome.reading.backend, Reader::pread);
    EXPECT_THAT(outcome.remarks, Contains(HasSubstr(refusal)));
    GTEST_SKIP() << "no io_uring here: " << refusal;
  }
  EXPECT_EQ(outcome.reading.backend, Reader::io_uring);
}

}  // namespace
}  // namespace weir::test
