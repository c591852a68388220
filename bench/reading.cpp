// Files per second: weir against a loop written by hand, pread behind hints for the next sixteen
// files, and against `find | xargs cat`. Warm from the page cache and cold from the disk, with one
// and two threads, in turns. The files are made in $TMPDIR (else /var/tmp), which should lie on a
// disk, and removed afterwards.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <weir/weir.hpp>

#include "bench/support/rounds.hpp"

namespace {

namespace fs = std::filesystem;
using weir::bench::Meter;

/// A folder of files of 60 to 160 KB, as photographs have, for as long as the object lives.
class Files {
 public:
  explicit Files(int count) {
    const char* given = std::getenv("TMPDIR");
    std::string name = std::string(given != nullptr ? given : "/var/tmp") + "/weir_reading_XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) cannot();
    root_ = name;
    std::mt19937 random(7);
    std::vector<char> bytes(160'000);
    for (char& byte : bytes) byte = static_cast<char>(random());
    for (int i = 0; i < count; ++i) {
      paths_.push_back(root_ + "/image_" + std::to_string(1'000'000 + i));
      const std::size_t size = 60'000 + random() % 100'000;
      const int file = ::open(paths_.back().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
      if (file < 0 || ::write(file, bytes.data(), size) != static_cast<ssize_t>(size)) cannot();
      ::close(file);
    }
    ::sync();
    shuffled_ = paths_;
    std::shuffle(shuffled_.begin(), shuffled_.end(), random);
  }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  ~Files() { fs::remove_all(root_); }

  /// As --cold does it.
  void drop() const {
    for (const std::string& path : paths_) {
      const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
      (void)::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
      ::close(file);
    }
  }
  [[nodiscard]] const std::string& root() const { return root_; }
  [[nodiscard]] const std::vector<std::string>& shuffled() const { return shuffled_; }

 private:
  void cannot() const {
    std::perror("reading: the files could not be made");
    if (!root_.empty()) fs::remove_all(root_);
    std::exit(3);
  }

  std::string root_;
  std::vector<std::string> paths_;
  std::vector<std::string> shuffled_;
};

/// One thread of the loop by hand: every `stride`-th file from `first` on.
void read_by_hand(const std::vector<std::string>& paths, std::size_t first, std::size_t stride,
                  std::atomic<std::uint64_t>& sum) {
  constexpr std::size_t kAhead = 16;
  std::array<int, kAhead> open{};
  const auto hint = [&](std::size_t i) {
    if (i >= paths.size()) return;
    const int file = ::open(paths[i].c_str(), O_RDONLY | O_CLOEXEC);
    (void)::posix_fadvise(file, 0, 0, POSIX_FADV_WILLNEED);
    open[i / stride % kAhead] = file;
  };
  for (std::size_t ahead = 0; ahead < kAhead; ++ahead) hint(first + ahead * stride);
  std::vector<char> bytes;
  std::uint64_t own = 0;
  for (std::size_t i = first; i < paths.size(); i += stride) {
    const int file = open[i / stride % kAhead];
    struct stat status {};
    if (::fstat(file, &status) != 0) std::exit(1);
    const auto size = static_cast<std::size_t>(status.st_size);
    if (bytes.size() < size) bytes.resize(size);
    std::size_t filled = 0;
    while (filled < size) {
      const ssize_t count =
          ::pread(file, bytes.data() + filled, size - filled, static_cast<off_t>(filled));
      if (count <= 0) std::exit(1);
      filled += static_cast<std::size_t>(count);
    }
    ::close(file);
    hint(i + kAhead * stride);
    own += size + static_cast<unsigned char>(bytes[size / 2]);
  }
  sum += own;
}

std::uint64_t by_hand(Meter& meter, const Files& files, int threads, std::uint64_t& sum) {
  std::atomic<std::uint64_t> found{0};
  meter.start();
  {
    std::vector<std::jthread> team;
    for (int i = 0; i < threads; ++i)
      team.emplace_back([&, i] {
        read_by_hand(files.shuffled(), static_cast<std::size_t>(i),
                     static_cast<std::size_t>(threads), found);
      });
  }
  meter.stop();
  sum = found;
  return files.shuffled().size();
}

std::uint64_t by_weir(Meter& meter, const weir::Stream<weir::Path>& listed, int threads,
                      weir::Reader reader, std::uint64_t& sum) {
  weir::Options options;
  options.workers = threads;
  options.oversubscribe = true;
  options.epochs = 1;
  options.reader = reader;
  auto loader = listed.shuffle()
                    .read()
                    .map("sum",
                         [](const weir::File& file) {
                           const std::size_t size = file.bytes().size();
                           return size + static_cast<std::uint64_t>(file.bytes()[size / 2]);
                         })
                    .batch(64)
                    .start(options);
  sum = 0;
  std::uint64_t files = 0;
  meter.start();
  while (const auto batch = loader.next()) {
    files += batch->items().size();
    for (const std::uint64_t value : batch->items()) sum += value;
  }
  meter.stop();
  return files;
}

std::uint64_t by_cat(Meter& meter, const Files& files, int threads) {
  const std::string line = "find '" + files.root() + "' -type f -print0 | xargs -0 -n 200 -P " +
                           std::to_string(threads) + " cat >/dev/null";
  meter.start();
  if (std::system(line.c_str()) != 0) std::exit(1);
  meter.stop();
  return files.shuffled().size();
}

}  // namespace

int main(int count, char** values) {
  const weir::bench::Arguments arguments = weir::bench::read_arguments(count, values);
  const Files files(arguments.quick ? 60 : 4000);
  struct statfs system {};
  constexpr decltype(system.f_type) kTmpfs = 0x01021994;
  const bool on_disk = ::statfs(files.root().c_str(), &system) != 0 || system.f_type != kTmpfs;
  if (!on_disk) std::printf("  (on tmpfs, which is no disk: name another folder in TMPDIR)\n");
  const weir::Stream<weir::Path> listed = weir::files(files.root());

  std::printf("%zu files of 60 to 160 KB, in a random order\n", files.shuffled().size());
  for (const bool cold : {false, true}) {
    for (const int threads : {1, 2}) {
      weir::bench::Rounds rounds(
          {.rounds = arguments.rounds, .unit = "files/s", .scale = 1e6, .rate = true});
      std::uint64_t expected = 0;
      std::uint64_t sum = 0;
      const auto prepared = [&files, cold](const auto& run) {
        return [&files, cold, run](Meter& meter) {
          if (cold) files.drop();
          return run(meter);
        };
      };
      const auto checked = [&](std::uint64_t read) {
        if (sum == expected && read == files.shuffled().size()) return read;
        std::fprintf(stderr, "reading: the bytes are not the same\n");
        std::exit(1);
      };
      rounds.add("pread behind hints, by hand",
                 prepared([&](Meter& meter) { return by_hand(meter, files, threads, expected); }));
      rounds.add("weir", prepared([&](Meter& meter) {
                   return checked(by_weir(meter, listed, threads, weir::Reader::automatic, sum));
                 }));
      rounds.add("weir, reader: io_uring", prepared([&](Meter& meter) {
                   return checked(by_weir(meter, listed, threads, weir::Reader::io_uring, sum));
                 }));
      rounds.add("find | xargs cat",
                 prepared([&](Meter& meter) { return by_cat(meter, files, threads); }));
      const std::string words = std::string(cold ? "cold" : "warm") + ", " +
                                (threads == 1 ? "one thread" : "two threads");
      std::printf("%s\n", words.c_str());
      rounds.run_and_print();
      weir::bench::print_goal(words + ", rate to the loop by hand", 1 / rounds.result(1).wall_ratio,
                              "at least", 0.95);
    }
  }
  return 0;
}
