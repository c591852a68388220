#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "bench/images/program.hpp"

namespace weir::bench {
namespace {

/// Threads take images one after another and write each into its place in one of a few batches,
/// which the consumer gives back.
class OpenCvProgram {
 public:
  OpenCvProgram(const std::vector<std::string>& paths, int threads)
      : paths_(paths), batches_(kDepth), filled_(kDepth, 0) {
    for (std::vector<float>& batch : batches_) batch.resize(kRows * kImageFloats);
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }
  ~OpenCvProgram() {
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

  void work() {
    while (true) {
      const std::size_t i = next_.fetch_add(1);
      if (i >= paths_.size()) return;
      const std::size_t batch = i / kRows;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        room_.wait(lock, [&] { return batch < consumed_ + kDepth; });
      }
      make(paths_[i], i, batches_[batch % kDepth].data() + (i % kRows) * kImageFloats);
      const std::lock_guard<std::mutex> lock(mutex_);
      if (++filled_[batch % kDepth] == kRows) filled_changed_.notify_one();
    }
  }

  static void make(const std::string& path, std::uint64_t index, float* place) {
    std::vector<unsigned char> bytes;
    read_file(path, bytes);
    const cv::Mat image = cv::imdecode(bytes, cv::IMREAD_COLOR);
    const Box box = draw_box(index, image.cols, image.rows);
    cv::Mat crop;
    cv::resize(image(cv::Rect(box.left, box.top, box.width, box.height)), crop, {kSide, kSide}, 0,
               0, cv::INTER_LINEAR);
    if (box.flipped) cv::flip(crop, crop, 1);
    cv::Mat floats;
    crop.convertTo(floats, CV_32FC3, 1.0 / 255);
    // OpenCV's channels are blue, green, red; the planes below are put the other way round.
    cv::subtract(floats, cv::Scalar(kMean[2], kMean[1], kMean[0]), floats);
    cv::divide(floats, cv::Scalar(kDeviation[2], kDeviation[1], kDeviation[0]), floats);
    cv::Mat planes[3] = {{kSide, kSide, CV_32F, place + 2 * kPlane},
                         {kSide, kSide, CV_32F, place + kPlane},
                         {kSide, kSide, CV_32F, place}};
    cv::split(floats, planes);
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

}  // namespace

std::uint64_t run_opencv(Meter& meter, const std::vector<std::string>& paths, int threads) {
  cv::setNumThreads(1);
  meter.start();
  const std::size_t batches = paths.size() / kRows;
  {
    OpenCvProgram program(paths, threads);
    for (std::size_t batch = 0; batch < batches; ++batch) {
      look_at(program.take(batch)[0]);
      program.give_back(batch);
    }
  }
  meter.stop();
  return batches * kRows;
}

}  // namespace weir::bench
