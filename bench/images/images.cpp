// Photographs to float batches: weir by its image kernel and by its plain operators, against a
// straight loop over libjpeg-turbo, which is the ceiling, and against the usual program of
// std::thread and OpenCV. Two sets: tiles of 500x375 as in ImageNet, and large pictures.
//
// Equal: the files, the boxes that are cut, the size, the number of working threads, OpenCV held to
// one thread a call. weir alone keeps the order, judges damage and counts.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weir/operators.hpp>
#include <weir/weir.hpp>

#include "bench/images/program.hpp"

namespace weir::bench {
namespace {

namespace fs = std::filesystem;

/// Operator numbers in the stream below, which draws depend on: files, take, read, decode, crop,
/// flip.
constexpr std::uint32_t kCropNumber = 4;
constexpr std::uint32_t kFlipNumber = 5;

volatile float seen = 0;

std::vector<std::string> files_in(const std::string& root) {
  std::vector<std::string> paths;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root, none))
    if (entry.is_regular_file()) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string folder_of(const char* variable, const char* otherwise) {
  const char* const folder = std::getenv(variable);
  return folder != nullptr ? folder : otherwise;
}

}  // namespace

Box draw_box(std::uint64_t index, int width, int height) {
  SampleInfo info;
  info.sample_id = index;
  const Context context(0, 0, info, 0, {});
  Random random = context.random_of(kCropNumber);
  Random coin = context.random_of(kFlipNumber);
  Box box;
  box.flipped = coin.chance(0.5);
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double area = static_cast<double>(width) * height * random.uniform(0.08, 1.0);
    const double aspect = std::exp(random.uniform(std::log(3.0 / 4.0), std::log(4.0 / 3.0)));
    box.width = static_cast<int>(std::llrint(std::sqrt(area * aspect)));
    box.height = static_cast<int>(std::llrint(std::sqrt(area / aspect)));
    if (box.width < 1 || box.height < 1 || box.width > width || box.height > height) continue;
    box.top = static_cast<int>(random.below(static_cast<std::uint64_t>(height - box.height) + 1));
    box.left = static_cast<int>(random.below(static_cast<std::uint64_t>(width - box.width) + 1));
    return box;
  }
  box.width = box.height = std::min(width, height);
  box.left = (width - box.width) / 2;
  box.top = (height - box.height) / 2;
  return box;
}

void read_file(const std::string& path, std::vector<unsigned char>& bytes) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) std::abort();
  bytes.resize(static_cast<std::size_t>(::lseek(file, 0, SEEK_END)));
  const ssize_t got = ::pread(file, bytes.data(), bytes.size(), 0);
  ::close(file);
  if (got != static_cast<ssize_t>(bytes.size())) std::abort();
}

void look_at(float value) { seen = value; }

std::uint64_t run_weir(Meter& meter, const std::string& root, std::uint64_t images, int workers,
                       bool kernel, std::uint64_t* peak_bytes) {
  Options options;
  options.workers = workers;
  options.oversubscribe = true;
  options.epochs = 1;
  options.image_path = kernel ? ImagePath::automatic : ImagePath::plain;
  const std::vector<double> mean(kMean.begin(), kMean.end());
  const std::vector<double> deviation(kDeviation.begin(), kDeviation.end());
  auto loader = files(root, {.labels = Labels::parent_folder})
                    .take(images)
                    .read_samples()
                    .map("decode", decode())
                    .map("random_resized_crop", random_resized_crop({.size = kSide}))
                    .map("random_horizontal_flip", random_horizontal_flip())
                    .map("normalize", normalize({.mean = mean, .std = deviation}))
                    .map("hwc_to_chw", hwc_to_chw())
                    .batch(kRows, {.drop_remainder = true})
                    .start(options);
  meter.start();
  std::uint64_t count = 0;
  while (const std::optional<Batch<Sample>> batch = loader.next()) {
    look_at((*batch)["image"].data<float>()[0]);
    count += kRows;
  }
  meter.stop();
  if (peak_bytes != nullptr) *peak_bytes = loader.summary().peak_bytes;
  return count;
}

namespace {

/// What a process of its own holds at most while it does the work once, in MB; `batches`: of it,
/// what `run` says. Called before there are threads.
struct Peak {
  double whole = 0;
  double batches = 0;
};
Peak peak_of(const std::function<std::uint64_t(Meter&)>& run) {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  const pid_t child = ::fork();
  if (child == 0) {
    Meter meter;
    const std::uint64_t batches = run(meter);
    ::_exit(::write(ends[1], &batches, sizeof batches) == sizeof batches ? 0 : 1);
  }
  ::close(ends[1]);
  std::uint64_t batches = 0;
  const bool told = ::read(ends[0], &batches, sizeof batches) == sizeof batches;
  ::close(ends[0]);
  rusage used{};
  if (child < 0 || ::wait4(child, nullptr, 0, &used) != child || !told) std::abort();
  return {static_cast<double>(used.ru_maxrss) * 1024 / 1e6, static_cast<double>(batches) / 1e6};
}

/// The memory of each candidate on `images` tiles with two threads.
void print_memory(const std::string& root, std::size_t images) {
  std::vector<std::string> paths = files_in(root);
  if (paths.size() < kRows) return;
  images = std::min(images, paths.size() / kRows * kRows);
  paths.resize(images);
  constexpr int kThreads = 2;
  const auto weir = [&](Meter& meter, bool kernel) {
    std::uint64_t batches = 0;
    run_weir(meter, root, images, kThreads, kernel, &batches);
    return batches;
  };
  const Peak kernel = peak_of([&](Meter& meter) { return weir(meter, true); });
  const Peak plain = peak_of([&](Meter& meter) { return weir(meter, false); });
  const Peak straight = peak_of([&](Meter& meter) {
    run_libjpeg(meter, paths, kThreads);
    return std::uint64_t{0};
  });
  const Peak opencv = peak_of([&](Meter& meter) {
    run_opencv(meter, paths, kThreads);
    return std::uint64_t{0};
  });
  std::printf(
      "peak memory, %zu tiles, %d threads, MB: weir %.0f (batches %.0f), plain %.0f (batches "
      "%.0f), straight %.0f, OpenCV %.0f\n",
      images, kThreads, kernel.whole, kernel.batches, plain.whole, plain.batches, straight.whole,
      opencv.whole);
  print_goal("peak memory besides the batches, MB", kernel.whole - kernel.batches, "at most", 200);
}

/// One set of files with one number of threads. False: there are too few.
bool compare(const std::string& name, const std::string& root, std::size_t images, int threads,
             const Arguments& arguments, double least_gain) {
  std::vector<std::string> paths = files_in(root);
  if (paths.size() < images) {
    std::fprintf(stderr,
                 "images: %s holds %zu photographs of the %zu needed; bench/run.sh cuts them\n",
                 root.c_str(), paths.size(), images);
    return false;
  }
  paths.resize(images);
  Rounds rounds({.rounds = arguments.rounds, .unit = "images/s", .scale = 1e6, .rate = true});
  rounds.add("libjpeg-turbo, straight",
             [&](Meter& meter) { return run_libjpeg(meter, paths, threads); });
  rounds.add("weir", [&](Meter& meter) { return run_weir(meter, root, images, threads, true); });
  rounds.add("weir, image_path: plain",
             [&](Meter& meter) { return run_weir(meter, root, images, threads, false); });
  rounds.add("std::thread + OpenCV",
             [&](Meter& meter) { return run_opencv(meter, paths, threads); });
  std::printf("%s, %d thread%s\n", name.c_str(), threads, threads == 1 ? "" : "s");
  rounds.run_and_print();
  const Rounds::Result& weir = rounds.result(1);
  std::printf("  CPU seconds for 1,000 images: weir %.2f, straight %.2f, plain %.2f, OpenCV %.2f\n",
              weir.cpu / 1e3, rounds.result(0).cpu / 1e3, rounds.result(2).cpu / 1e3,
              rounds.result(3).cpu / 1e3);
  print_goal("images a second, as a share of the straight loop's", 1 / weir.wall_ratio, "at least",
             0.95);
  print_goal("images a second, as a multiple of the OpenCV program's",
             rounds.result(3).wall_ratio / weir.wall_ratio, "at least", least_gain);
  print_goal("the same by CPU time", rounds.result(3).cpu_ratio / weir.cpu_ratio, "at least",
             least_gain);
  return true;
}

/// For bench/peers: one candidate once, told as JSON. The first batches, which pay for what is made
/// at first use, are not counted.
int run_once(const std::string& name, const std::string& root, std::size_t images, int threads) {
  std::vector<std::string> paths = files_in(root);
  if (paths.size() < images) return 3;
  const auto run = [&](Meter& meter, std::size_t count) {
    if (name == "weir" || name == "plain")
      return run_weir(meter, root, count, threads, name == "weir");
    paths.resize(count);
    return name == "libjpeg" ? run_libjpeg(meter, paths, threads)
                             : run_opencv(meter, paths, threads);
  };
  const std::vector<std::string> all = paths;
  Meter first;
  (void)run(first, 2 * kRows);
  paths = all;
  Meter meter;
  const std::uint64_t count = run(meter, images);
  std::printf("{\"images\": %llu, \"seconds\": %.6f, \"cpu_seconds\": %.6f}\n",
              static_cast<unsigned long long>(count), meter.wall_seconds(), meter.cpu_seconds());
  return 0;
}

}  // namespace
}  // namespace weir::bench

int main(int count, char** values) {
  using weir::bench::kRows;
  if (count == 6 && std::string(values[1]) == "--once")
    return weir::bench::run_once(values[2], values[3], std::stoul(values[4]), std::stoi(values[5]));
  const weir::bench::Arguments arguments = weir::bench::read_arguments(count, values);
  const std::string tiles = weir::bench::folder_of("WEIR_BENCH_PHOTOS", "build/demo/photos");
  const std::string large = weir::bench::folder_of("WEIR_BENCH_LARGE", "build/bench/large_photos");
  weir::bench::print_memory(tiles, arguments.quick ? kRows : 2000);
  bool whole = true;
  for (const int threads : {1, 2}) {
    whole = weir::bench::compare("tiles", tiles, arguments.quick ? kRows : 6 * kRows, threads,
                                 arguments, 1.9) &&
            whole;
    whole = weir::bench::compare("large pictures", large, kRows, threads, arguments, 2.0) && whole;
  }
  return whole ? 0 : 3;
}
