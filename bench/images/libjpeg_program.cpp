#include <cstdio>
#include <thread>
#include <vector>

#include <jpeglib.h>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "bench/images/program.hpp"

// Compiled for the very machine (see CMakeLists.txt): the ceiling may use all that it has.
namespace weir::bench {
namespace {

/// Decoder, buffers and the memory of one batch, of one thread.
class Straight {
 public:
  Straight() : batch_(kRows * kImageFloats) {
    decoder_.err = jpeg_std_error(&errors_);
    jpeg_create_decompress(&decoder_);
  }
  ~Straight() { jpeg_destroy_decompress(&decoder_); }
  Straight(const Straight&) = delete;
  Straight& operator=(const Straight&) = delete;

  void make(const std::string& path, std::uint64_t index) {
    read_file(path, bytes_);
    jpeg_mem_src(&decoder_, bytes_.data(), static_cast<unsigned long>(bytes_.size()));
    jpeg_read_header(&decoder_, TRUE);
    const Box box = draw_box(index, static_cast<int>(decoder_.image_width),
                             static_cast<int>(decoder_.image_height));
    int shrink = 8;
    while (shrink > 1 && (box.width < shrink * kSide || box.height < shrink * kSide)) shrink /= 2;
    decoder_.scale_num = 1;
    decoder_.scale_denom = static_cast<unsigned>(shrink);
    decoder_.out_color_space = JCS_RGB;
    jpeg_start_decompress(&decoder_);
    const int left = box.left / shrink;
    const int top = box.top / shrink;
    const int width = box.width / shrink;
    const int height = box.height / shrink;
    auto first = static_cast<JDIMENSION>(left > 2 ? left - 2 : 0);
    auto columns = static_cast<JDIMENSION>(left + width + 2) - first;
    if (first + columns > decoder_.output_width) columns = decoder_.output_width - first;
    if (columns < decoder_.output_width) jpeg_crop_scanline(&decoder_, &first, &columns);
    if (top > 0) jpeg_skip_scanlines(&decoder_, static_cast<JDIMENSION>(top));
    const std::size_t stride = std::size_t{3} * columns;
    pixels_.resize(stride * static_cast<std::size_t>(height));
    for (int y = 0; y < height; ++y) {
      JSAMPROW row = pixels_.data() + stride * static_cast<std::size_t>(y);
      jpeg_read_scanlines(&decoder_, &row, 1);
    }
    jpeg_abort_decompress(&decoder_);
    const cv::Mat part(height, width, CV_8UC3,
                       pixels_.data() + 3 * (static_cast<std::size_t>(left) - first), stride);
    cv::resize(part, small_, {kSide, kSide}, 0, 0, cv::INTER_LINEAR);
    finish(box.flipped, batch_.data() + (index % kRows) * kImageFloats);
  }
  [[nodiscard]] const std::vector<float>& batch() const { return batch_; }

 private:
  void finish(bool flipped, float* __restrict place) const {
    float factor[3];
    float offset[3];
    for (int c = 0; c < 3; ++c) {
      factor[c] = 1 / (255 * kDeviation[static_cast<std::size_t>(c)]);
      offset[c] = -kMean[static_cast<std::size_t>(c)] / kDeviation[static_cast<std::size_t>(c)];
    }
    for (int y = 0; y < kSide; ++y) {
      const std::uint8_t* __restrict in = small_.ptr<std::uint8_t>(y);
      for (std::size_t c = 0; c < 3; ++c) {
        float* __restrict out = place + c * kPlane + static_cast<std::size_t>(y) * kSide;
        if (flipped)
          for (int x = 0; x < kSide; ++x)
            out[x] = in[3 * (kSide - 1 - x) + static_cast<int>(c)] * factor[c] + offset[c];
        else
          for (int x = 0; x < kSide; ++x)
            out[x] = in[3 * x + static_cast<int>(c)] * factor[c] + offset[c];
      }
    }
  }

  jpeg_decompress_struct decoder_{};
  jpeg_error_mgr errors_{};
  std::vector<unsigned char> bytes_;
  std::vector<unsigned char> pixels_;
  cv::Mat small_;
  std::vector<float> batch_;
};

}  // namespace

std::uint64_t run_libjpeg(Meter& meter, const std::vector<std::string>& paths, int threads) {
  cv::setNumThreads(1);
  meter.start();
  std::vector<std::thread> running;
  for (int thread = 0; thread < threads; ++thread)
    running.emplace_back([&paths, threads, thread] {
      Straight straight;
      for (auto i = static_cast<std::size_t>(thread); i < paths.size();
           i += static_cast<std::size_t>(threads))
        straight.make(paths[i], i);
      look_at(straight.batch()[0]);
    });
  for (std::thread& thread : running) thread.join();
  meter.stop();
  return paths.size();
}

}  // namespace weir::bench
