// Photographs to float batches: read, decode, random resized crop to 224, flip, normalise, CHW,
// batches of 64, against a plain program of std::thread and OpenCV that does the same.
//
// Equal: the files, the operators, the number of working threads, a consumer on the main thread
// that takes batches in order, OpenCV held to one thread a call. The plain program decodes with
// cv::imdecode and normalises with cv::subtract and cv::divide, as such programs do; it has no
// labels, no bad-sample policy, no telemetry, and draws from a generator a thread.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include <weir/operators.hpp>
#include <weir/weir.hpp>

#include "bench/support/rounds.hpp"

namespace {

namespace fs = std::filesystem;
using weir::bench::Meter;

constexpr int kSide = 224;
constexpr std::size_t kRows = 64;
constexpr std::size_t kImageFloats = std::size_t{3} * kSide * kSide;
const std::vector<double> kMean = {0.485, 0.456, 0.406};
const std::vector<double> kDeviation = {0.229, 0.224, 0.225};

/// Touches a batch as a consumer does, and keeps the work from being optimised away.
double glance(const float* batch) {
  double sum = 0;
  for (std::size_t row = 0; row < kRows; ++row)
    sum += static_cast<double>(batch[row * kImageFloats]);
  return sum;
}
volatile double sink = 0;

std::uint64_t run_weir(Meter& meter, const std::string& root, std::uint64_t images, int workers) {
  weir::Options options;
  options.workers = workers;
  options.oversubscribe = true;
  options.epochs = 1;
  auto loader = weir::files(root, {.labels = weir::Labels::parent_folder})
                    .take(images)
                    .read_samples()
                    .map("decode", weir::decode())
                    .map("random_resized_crop", weir::random_resized_crop({.size = kSide}))
                    .map("random_horizontal_flip", weir::random_horizontal_flip())
                    .map("normalize", weir::normalize({.mean = kMean, .std = kDeviation}))
                    .map("hwc_to_chw", weir::hwc_to_chw())
                    .batch(kRows, {.drop_remainder = true})
                    .start(options);
  meter.start();
  std::uint64_t count = 0;
  double sum = 0;
  while (const std::optional<weir::Batch<weir::Sample>> batch = loader.next()) {
    sum += glance((*batch)["image"].data<float>());
    count += kRows;
  }
  meter.stop();
  sink = sum;
  return count;
}

/// The plain program: threads take images one after another and write each into its place in one of
/// a few batches, which the consumer gives back.
class PlainProgram {
 public:
  PlainProgram(const std::vector<std::string>& paths, int threads)
      : paths_(paths), batches_(kDepth), filled_(kDepth, 0) {
    for (std::vector<float>& batch : batches_) batch.resize(kRows * kImageFloats);
    for (int i = 0; i < threads; ++i)
      threads_.emplace_back([this, i] { work(static_cast<unsigned>(i)); });
  }
  ~PlainProgram() {
    for (std::thread& thread : threads_) thread.join();
  }
  const float* take(std::size_t batch) {
    std::unique_lock<std::mutex> lock(mutex_);
    filled_changed_.wait(lock, [&] { return filled_[batch % kDepth] == kRows; });
    return batches_[batch % kDepth].data();
  }
  void give_back(std::size_t batch) {
    const std::lock_guard<std::mutex> lock(mutex_);
    filled_[batch % kDepth] = 0;
    ++consumed_;
    room_.notify_all();
  }

 private:
  static constexpr std::size_t kDepth = 4;

  void work(unsigned thread) {
    std::mt19937 random(thread + 1);
    while (true) {
      const std::size_t i = next_.fetch_add(1);
      if (i >= paths_.size()) return;
      const std::size_t batch = i / kRows;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        room_.wait(lock, [&] { return batch < consumed_ + kDepth; });
      }
      make(paths_[i], random, batches_[batch % kDepth].data() + (i % kRows) * kImageFloats);
      const std::lock_guard<std::mutex> lock(mutex_);
      if (++filled_[batch % kDepth] == kRows) filled_changed_.notify_one();
    }
  }

  static void make(const std::string& path, std::mt19937& random, float* place) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    std::vector<unsigned char> bytes(static_cast<std::size_t>(file.tellg()));
    file.seekg(0);
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    const cv::Mat image = cv::imdecode(bytes, cv::IMREAD_COLOR);
    cv::Mat crop;
    cv::resize(image(draw_crop(image.size(), random)), crop, {kSide, kSide}, 0, 0,
               cv::INTER_LINEAR);
    if (random() % 2 == 0) cv::flip(crop, crop, 1);
    cv::Mat floats;
    crop.convertTo(floats, CV_32FC3, 1.0 / 255);
    // OpenCV's channels are blue, green, red; the planes below are put the other way round.
    cv::subtract(floats, cv::Scalar(kMean[2], kMean[1], kMean[0]), floats);
    cv::divide(floats, cv::Scalar(kDeviation[2], kDeviation[1], kDeviation[0]), floats);
    constexpr std::size_t kPlane = std::size_t{kSide} * kSide;
    cv::Mat planes[3] = {{kSide, kSide, CV_32F, place + 2 * kPlane},
                         {kSide, kSide, CV_32F, place + kPlane},
                         {kSide, kSide, CV_32F, place}};
    cv::split(floats, planes);
  }

  static cv::Rect draw_crop(cv::Size size, std::mt19937& random) {
    std::uniform_real_distribution<double> scale(0.08, 1.0);
    std::uniform_real_distribution<double> log_ratio(std::log(3.0 / 4), std::log(4.0 / 3));
    for (int attempt = 0; attempt < 10; ++attempt) {
      const double area = scale(random) * size.area();
      const double ratio = std::exp(log_ratio(random));
      const int width = static_cast<int>(std::lround(std::sqrt(area * ratio)));
      const int height = static_cast<int>(std::lround(std::sqrt(area / ratio)));
      if (width < 1 || height < 1 || width > size.width || height > size.height) continue;
      const auto below = [&](int count) {
        return std::uniform_int_distribution<int>(0, count)(random);
      };
      return {below(size.width - width), below(size.height - height), width, height};
    }
    const int side = std::min(size.width, size.height);
    return {(size.width - side) / 2, (size.height - side) / 2, side, side};
  }

  const std::vector<std::string>& paths_;
  std::vector<std::vector<float>> batches_;
  std::vector<std::thread> threads_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable filled_changed_;
  std::vector<std::size_t> filled_;
  std::size_t consumed_ = 0;
};

std::uint64_t run_plain(Meter& meter, const std::vector<std::string>& paths, int threads) {
  cv::setNumThreads(1);
  meter.start();
  double sum = 0;
  const std::size_t batches = paths.size() / kRows;
  {
    PlainProgram program(paths, threads);
    for (std::size_t batch = 0; batch < batches; ++batch) {
      sum += glance(program.take(batch));
      program.give_back(batch);
    }
  }
  meter.stop();
  sink = sum;
  return batches * kRows;
}

}  // namespace

int main(int count, char** values) {
  const weir::bench::Arguments arguments = weir::bench::read_arguments(count, values);
  const char* folder = std::getenv("WEIR_BENCH_PHOTOS");
  const std::string root = folder != nullptr ? folder : "build/demo/photos";
  std::vector<std::string> paths;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root, none))
    if (entry.is_regular_file()) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  const std::size_t images = arguments.quick ? kRows : 6 * kRows;
  if (paths.size() < images) {
    std::fprintf(
        stderr,
        "photographs: %s holds %zu photographs of the %zu needed; run tools/make_photos.sh "
        "or name another folder in WEIR_BENCH_PHOTOS\n",
        root.c_str(), paths.size(), images);
    return 3;
  }
  paths.resize(images);
  for (const int threads : {1, 2}) {
    const std::string with = threads == 1 ? ", 1 thread" : ", 2 threads";
    weir::bench::Rounds rounds(
        {.rounds = arguments.rounds, .unit = "images/s", .scale = 1e6, .rate = true});
    rounds.add("std::thread + OpenCV" + with,
               [&](Meter& meter) { return run_plain(meter, paths, threads); });
    rounds.add("weir" + with, [&](Meter& meter) { return run_weir(meter, root, images, threads); });
    std::printf("photographs to float batches%s\n", with.c_str());
    rounds.run_and_print();
    weir::bench::print_goal("weir's time to the plain program's, wall", rounds.result(1).wall_ratio,
                            "at most", 1.0);
    weir::bench::print_goal("weir's time to the plain program's, CPU", rounds.result(1).cpu_ratio,
                            "at most", 1.0);
  }
  return 0;
}
