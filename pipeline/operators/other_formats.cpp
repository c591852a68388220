#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include <weir/error.hpp>

#include "pipeline/operators/gif_reader.hpp"
#include "pipeline/operators/image_decoder.hpp"
#include "pipeline/operators/png_reader.hpp"

namespace weir::detail {
namespace {

/// Lays BGRA pixels over the background; the result is BGR.
template <class T>
void composite(const cv::Mat& from, cv::Mat& to, const std::array<double, 3>& background) {
  constexpr std::uint64_t kOpaque = std::numeric_limits<T>::max();
  std::array<std::uint64_t, 3> under{};  // in the file's order, blue first
  for (std::size_t i = 0; i < 3; ++i) {
    under[i] = static_cast<std::uint64_t>(std::lround(background[2 - i])) * (kOpaque / 255);
  }
  for (int y = 0; y < from.rows; ++y) {
    const T* in = from.ptr<T>(y);
    T* out = to.ptr<T>(y);
    for (int x = 0; x < from.cols; ++x, in += 4, out += 3) {
      const std::uint64_t alpha = in[3];
      for (std::size_t i = 0; i < 3; ++i) {
        out[i] =
            static_cast<T>((in[i] * alpha + under[i] * (kOpaque - alpha) + kOpaque / 2) / kOpaque);
      }
    }
  }
}

/// 65535 becomes 255: the nearest of 256 equal steps, where dropping the low byte would darken.
cv::Mat as_u8(const cv::Mat& from) {
  cv::Mat to(from.rows, from.cols, CV_MAKETYPE(CV_8U, from.channels()));
  const int row_values = from.cols * from.channels();
  for (int y = 0; y < from.rows; ++y) {
    const std::uint16_t* in = from.ptr<std::uint16_t>(y);
    std::uint8_t* out = to.ptr<std::uint8_t>(y);
    for (int i = 0; i < row_values; ++i) out[i] = static_cast<std::uint8_t>((in[i] + 128U) / 257U);
  }
  return to;
}

cv::Mat read_file(std::span<const std::byte> bytes, const std::string& format) {
  // OpenCV reads from this view and does not write to it.
  const cv::Mat file(1, static_cast<int>(bytes.size()), CV_8U,
                     const_cast<std::byte*>(bytes.data()));
  cv::Mat mat;
  try {
    mat = cv::imdecode(file, cv::IMREAD_UNCHANGED);
  } catch (const cv::Exception& error) {
    throw BadSample("damaged: the " + format + " data cannot be decoded: " + error.err);
  }
  if (mat.empty()) throw BadSample("damaged: the " + format + " data cannot be decoded");
  return mat;
}

/// A gif's picture in the order of OpenCV, with an opacity only where something is transparent.
cv::Mat read_first_of_gif(std::span<const std::byte> bytes, const ImageHeader& header) {
  GifPicture picture = read_gif(bytes, header);
  const cv::Mat whole(static_cast<int>(picture.height), static_cast<int>(picture.width), CV_8UC4,
                      picture.pixels.data());
  cv::Mat mat;
  if (picture.transparent)
    whole.copyTo(mat);
  else
    cv::cvtColor(whole, mat, cv::COLOR_BGRA2BGR);
  return mat;
}

cv::Mat read_whole_png(std::span<const std::byte> bytes, PngPicture* picture) {
  *picture = read_png(bytes);
  const int depth = picture->bits == 16 ? CV_16U : CV_8U;
  return {static_cast<int>(picture->height), static_cast<int>(picture->width),
          CV_MAKETYPE(depth, picture->channels), picture->pixels.data()};
}

/// The conversion from what OpenCV read to `channels`, -1 for none.
int conversion(int from_channels, int channels) {
  switch (from_channels * 10 + channels) {
    case 13:
      return cv::COLOR_GRAY2RGB;
    case 14:
      return cv::COLOR_GRAY2RGBA;
    case 31:
      return cv::COLOR_BGR2GRAY;
    case 33:
      return cv::COLOR_BGR2RGB;
    case 34:
      return cv::COLOR_BGR2RGBA;
    case 44:
      return cv::COLOR_BGRA2RGBA;
    default:
      return -1;
  }
}

}  // namespace

DecodedImage decode_other(std::span<const std::byte> bytes, ImageFormat file_format,
                          const ImageHeader& header, const DecodeRules& rules,
                          const AllocateImage& allocate) {
  const std::string format = name_of(file_format);
  PngPicture png;  // holds the pixels of its matrix
  cv::Mat mat;
  if (file_format == ImageFormat::png)
    mat = read_whole_png(bytes, &png);
  else if (file_format == ImageFormat::gif)
    mat = read_first_of_gif(bytes, header);
  else
    mat = read_file(bytes, format);
  if (mat.depth() == CV_16U) {
    if (rules.depth == Depth::refuse) {
      throw BadSample("16 bits a channel: say `depth: u8` or `depth: keep`");
    }
    if (rules.depth == Depth::u8) mat = as_u8(mat);
  } else if (mat.depth() != CV_8U) {
    throw BadSample("not supported: a " + format +
                    " whose pixels are not whole numbers of 8 or 16 bits");
  }
  if (mat.channels() == 2 || mat.channels() > 4) {
    throw BadSample("not supported: a " + format + " of " + std::to_string(mat.channels()) +
                    " channels");
  }
  if (mat.channels() == 4 && rules.alpha != Alpha::keep) {
    cv::Mat opaque(mat.rows, mat.cols, CV_MAKETYPE(mat.depth(), 3));
    if (rules.alpha == Alpha::drop) {
      cv::cvtColor(mat, opaque, cv::COLOR_BGRA2BGR);
    } else if (mat.depth() == CV_8U) {
      composite<std::uint8_t>(mat, opaque, rules.background);
    } else {
      composite<std::uint16_t>(mat, opaque, rules.background);
    }
    mat = opaque;
  }
  int channels = rules.channels;
  if (channels == 0) channels = rules.alpha == Alpha::keep ? 4 : mat.channels();

  Tensor tensor =
      allocate(Shape{mat.rows, mat.cols, channels}, mat.depth() == CV_8U ? DType::u8 : DType::u16);
  cv::Mat result(mat.rows, mat.cols, CV_MAKETYPE(mat.depth(), channels), tensor.bytes());
  const int code = conversion(mat.channels(), channels);
  if (code < 0) {
    mat.copyTo(result);
  } else {
    cv::cvtColor(mat, result, code);
  }
  return {std::move(tensor), std::move(png.notes)};
}

}  // namespace weir::detail
