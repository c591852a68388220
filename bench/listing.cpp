// A tree of a million empty files: listing it against `find`, the memory of the index, and how long
// after the listing the first batch is there. The tree is made in $TMPDIR (else /var/tmp), which
// should be a real file system, and removed afterwards.

#include <fcntl.h>
#include <malloc.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <weir/file_index.hpp>
#include <weir/weir.hpp>

#include "bench/support/rounds.hpp"

namespace {

namespace fs = std::filesystem;
using weir::bench::Meter;

/// The tree, for as long as the object lives.
class Tree {
 public:
  Tree(int folders, int files_each) {
    const char* given = std::getenv("TMPDIR");
    std::string name = std::string(given != nullptr ? given : "/var/tmp") + "/weir_listing_XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) {
      std::perror("listing: no folder for the tree");
      std::exit(3);
    }
    root_ = name;
    for (int folder = 0; folder < folders; ++folder) {
      const std::string path = root_ + "/class_" + number(folder);
      bool made = ::mkdir(path.c_str(), 0755) == 0;
      const int directory = ::open(path.c_str(), O_RDONLY | O_DIRECTORY);
      for (int file = 0; made && file < files_each; ++file) {
        const std::string base = "image_" + number(file) + ".jpg";
        made = ::mknodat(directory, base.c_str(), S_IFREG | 0644, 0) == 0;
      }
      ::close(directory);
      if (!made) {
        std::perror("listing: the tree could not be made");
        fs::remove_all(root_);
        std::exit(3);
      }
    }
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  ~Tree() { fs::remove_all(root_); }
  [[nodiscard]] const std::string& root() const { return root_; }

 private:
  static std::string number(int n) { return std::to_string(1'000'000 + n).substr(1); }
  std::string root_;
};

std::uint64_t heap_bytes() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The seconds from a listed stream to its first batch, and those of them that its reads took.
struct FirstBatch {
  double seconds = 0;
  double own_seconds = 0;
};

FirstBatch first_batch(const weir::Stream<weir::Path>& listed) {
  weir::Options options;
  options.workers = 1;
  FirstBatch result;
  const auto begin = std::chrono::steady_clock::now();
  auto loader = listed.shuffle()
                    .read()
                    .map("size", [](const weir::File& file) { return file.bytes().size(); })
                    .batch(32)
                    .start(options);
  if (!loader.next()) std::exit(1);
  result.seconds = seconds_since(begin);
  loader.close();
  const weir::Summary summary = loader.summary();
  for (const weir::StageSummary& stage : summary.stages)
    if (stage.items_in > 0)
      result.own_seconds += 32 * stage.service_time.mean_seconds * (stage.name == "batch" ? 0 : 1);
  return result;
}

}  // namespace

int main(int count, char** values) {
  const weir::bench::Arguments arguments = weir::bench::read_arguments(count, values);
  const int folders = arguments.quick ? 10 : 1000;
  constexpr int kFilesEach = 1000;
  const Tree tree(folders, kFilesEach);
  struct statfs system {};
  constexpr decltype(system.f_type) kTmpfs = 0x01021994;
  if (::statfs(tree.root().c_str(), &system) == 0 && system.f_type == kTmpfs)
    std::printf("  (on tmpfs, which is no disk: name another folder in TMPDIR)\n");

  const auto files = static_cast<std::uint64_t>(folders) * kFilesEach;
  const std::string find = "find '" + tree.root() + "' -type f >/dev/null";
  weir::bench::Rounds rounds({.rounds = std::min(arguments.rounds, 3)});
  rounds.add("find -type f", [&](Meter& meter) {
    meter.start();
    if (std::system(find.c_str()) != 0) std::exit(1);
    meter.stop();
    return files;
  });
  std::uint64_t overhead = 0;
  std::uint64_t measured = 0;
  rounds.add("weir::FileIndex, sorted", [&](Meter& meter) {
    const std::uint64_t before = heap_bytes();
    meter.start();
    const weir::FileIndex index = weir::FileIndex::list(tree.root(), {});
    meter.stop();
    std::uint64_t names = 0;
    for (std::uint64_t i = 0; i < index.size(); ++i) names += index.relative(i).size();
    overhead = index.overhead_bytes();
    measured = heap_bytes() - before - names;
    if (index.size() != files) std::exit(1);
    return files;
  });
  std::printf("%llu empty files in %d folders\n", static_cast<unsigned long long>(files), folders);
  rounds.run_and_print();
  weir::bench::print_goal("listing to find, wall", rounds.result(1).wall_ratio, "at most", 2.0);
  weir::bench::print_goal("index beside the names, bytes a file, as it says",
                          static_cast<double>(overhead) / static_cast<double>(files), "at most",
                          100.0);
  weir::bench::print_goal("index beside the names, bytes a file, by the heap",
                          static_cast<double>(measured) / static_cast<double>(files), "at most",
                          100.0);

  const weir::Stream<weir::Path> listed =
      weir::files(tree.root(), {.labels = weir::Labels::parent_folder});
  std::vector<double> extra;
  for (int round = 0; round < std::max(1, std::min(arguments.rounds, 5)); ++round) {
    const FirstBatch first = first_batch(listed);
    extra.push_back(1e3 * (first.seconds - first.own_seconds));
  }
  weir::bench::print_goal("first batch after the listing, beside its own reads, ms",
                          weir::bench::median(extra), "at most", 50.0);
  return 0;
}
