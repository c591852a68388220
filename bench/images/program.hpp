#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/support/rounds.hpp"

/// The work that every candidate does: read, decode, random resized crop to 224 by linear
/// resampling, flip, normalise, channels first, floats, batches of 64. All of them cut the same
/// boxes of the same files.
namespace weir::bench {

inline constexpr int kSide = 224;
inline constexpr std::size_t kRows = 64;
inline constexpr std::size_t kPlane = std::size_t{kSide} * kSide;
inline constexpr std::size_t kImageFloats = 3 * kPlane;
inline constexpr std::array<float, 3> kMean = {0.485F, 0.456F, 0.406F};
inline constexpr std::array<float, 3> kDeviation = {0.229F, 0.224F, 0.225F};

/// What is drawn for image `index` of `width` x `height`: as weir draws it.
struct Box {
  int top = 0;
  int left = 0;
  int height = 0;
  int width = 0;
  bool flipped = false;
};
[[nodiscard]] Box draw_box(std::uint64_t index, int width, int height);

/// The whole file, in `bytes`, which is reused.
void read_file(const std::string& path, std::vector<unsigned char>& bytes);

/// Keeps the work from being optimised away.
void look_at(float value);

/// A loop over the files on each thread and nothing else: libjpeg-turbo decodes the part that the
/// crop needs, reduced by powers of two, OpenCV resamples, one loop flips, normalises and lays out.
/// No order, no batches handed over, no telemetry, no check of damage: the ceiling.
std::uint64_t run_libjpeg(Meter& meter, const std::vector<std::string>& paths, int threads);

/// What a C++ user writes: std::thread, cv::imdecode, cv::resize, cv::subtract, cv::divide,
/// cv::split, and batches handed over in order.
std::uint64_t run_opencv(Meter& meter, const std::vector<std::string>& paths, int threads);

/// weir, by its image kernel or by the operators as written. `peak_bytes`: if given, what its
/// batches and what else it counts took at most.
std::uint64_t run_weir(Meter& meter, const std::string& root, std::uint64_t images, int workers,
                       bool kernel, std::uint64_t* peak_bytes = nullptr);

}  // namespace weir::bench
