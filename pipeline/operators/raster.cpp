#include "pipeline/operators/raster.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <weir/error.hpp>

#include "machine/nested_pools.hpp"

namespace weir::detail {
namespace {

int as_int(std::int64_t x) { return static_cast<int>(x); }

/// Of pixels that are moved or counted with. `moved`: only moved, which any two bytes can be.
int depth_of(DType dtype, bool moved) {
  switch (dtype) {
    case DType::u8:
      return CV_8U;
    case DType::u16:
      return CV_16U;
    case DType::i32:
      return CV_32S;
    case DType::f32:
      return CV_32F;
    case DType::f64:
      return CV_64F;
    case DType::f16:
      if (moved) return CV_16U;
      break;
    case DType::i64:
      break;
  }
  throw Error(ErrorKind::usage, "",
              std::string("images of ") + name_of(dtype) + " are not " +
                  (dtype == DType::f16 ? "resampled or padded" : "supported") +
                  "; use u8, u16, f32 or f64");
}

/// OpenCV's view of a tensor of rows x columns x channels.
cv::Mat mat_of(const Tensor& tensor, bool moved = false) {
  const Shape& shape = tensor.shape();
  const int type = CV_MAKETYPE(depth_of(tensor.dtype(), moved), as_int(shape[2]));
  return {as_int(shape[0]), as_int(shape[1]), type, tensor.bytes()};
}

/// Throws if OpenCV wrote to memory of its own: the target's size or type was wrong.
void check_written(const cv::Mat& mat, const Tensor& target) {
  if (mat.data != reinterpret_cast<const uchar*>(target.bytes())) {
    throw Error(ErrorKind::data, "", "an image operation did not write to its target");
  }
}

int flag_of(Interpolation interpolation) {
  switch (interpolation) {
    case Interpolation::nearest:
      return cv::INTER_NEAREST;
    case Interpolation::linear:
      return cv::INTER_LINEAR;
    case Interpolation::area:
      return cv::INTER_AREA;
    case Interpolation::cubic:
      return cv::INTER_CUBIC;
  }
  return cv::INTER_LINEAR;
}

int flag_of(BorderMode border) {
  switch (border) {
    case BorderMode::constant:
      return cv::BORDER_CONSTANT;
    case BorderMode::edge:
      return cv::BORDER_REPLICATE;
    case BorderMode::reflect:
      return cv::BORDER_REFLECT_101;
    case BorderMode::symmetric:
      return cv::BORDER_REFLECT;
  }
  return cv::BORDER_CONSTANT;
}

}  // namespace

void resample(const Tensor& source, const Region& region, Tensor& target, const Filter& filter) {
  if (filter.antialias) return resample_antialiased(source, region, target, filter);
  const cv::Mat whole = mat_of(source);
  const cv::Mat part = whole(cv::Rect(as_int(region.left), as_int(region.top), as_int(region.width),
                                      as_int(region.height)));
  cv::Mat result = mat_of(target);
  if (part.size() == result.size()) {
    part.copyTo(result);
  } else {
    cv::resize(part, result, result.size(), 0.0, 0.0, flag_of(filter.interpolation));
  }
  check_written(result, target);
}

void place(const Tensor& source, std::int64_t top, std::int64_t left, Tensor& target,
           BorderMode border, std::span<const double> fill) {
  const cv::Mat from = mat_of(source);
  cv::Mat result = mat_of(target);
  // What lies outside of the target is cut first, unless a border mirrors it.
  const std::int64_t cut_top = std::clamp<std::int64_t>(-top, 0, from.rows);
  const std::int64_t cut_left = std::clamp<std::int64_t>(-left, 0, from.cols);
  const std::int64_t rows = std::clamp<std::int64_t>(result.rows - std::max<std::int64_t>(top, 0),
                                                     0, from.rows - cut_top);
  const std::int64_t columns = std::clamp<std::int64_t>(
      result.cols - std::max<std::int64_t>(left, 0), 0, from.cols - cut_left);
  cv::Scalar value;
  for (std::size_t i = 0; i < 4; ++i) {
    value[static_cast<int>(i)] = fill.empty() ? 0.0 : fill[std::min(i, fill.size() - 1)];
  }
  if (rows == 0 || columns == 0) {
    result.setTo(value);
    return;
  }
  const cv::Mat part =
      from(cv::Rect(as_int(cut_left), as_int(cut_top), as_int(columns), as_int(rows)));
  const int above = as_int(std::max<std::int64_t>(top, 0));
  const int before = as_int(std::max<std::int64_t>(left, 0));
  cv::copyMakeBorder(part, result, above, result.rows - above - as_int(rows), before,
                     result.cols - before - as_int(columns), flag_of(border) | cv::BORDER_ISOLATED,
                     value);
  check_written(result, target);
}

void mirror(const Tensor& source, Tensor& target, bool left_to_right) {
  cv::Mat result = mat_of(target, true);
  cv::flip(mat_of(source, true), result, left_to_right ? 1 : 0);
  check_written(result, target);
}

void split_channels(const Tensor& source, Tensor& target) {
  const cv::Mat from = mat_of(source, true);
  const std::size_t plane_bytes = static_cast<std::size_t>(from.total()) * size_of(target.dtype());
  std::array<cv::Mat, 4> planes;
  const std::size_t channels = static_cast<std::size_t>(from.channels());
  for (std::size_t i = 0; i < channels; ++i) {
    planes[i] = cv::Mat(from.rows, from.cols, from.depth(), target.bytes() + i * plane_bytes);
  }
  cv::split(from, planes.data());
}

void orient(const Tensor& source, int orientation, Tensor& target) {
  const cv::Mat from = mat_of(source);
  cv::Mat result = mat_of(target);
  cv::Mat turned;
  switch (orientation) {
    case 2:
      cv::flip(from, result, 1);
      break;
    case 3:
      cv::flip(from, result, -1);
      break;
    case 4:
      cv::flip(from, result, 0);
      break;
    case 5:
      cv::transpose(from, result);
      break;
    case 6:
      cv::transpose(from, turned);
      cv::flip(turned, result, 1);
      break;
    case 7:
      cv::transpose(from, turned);
      cv::flip(turned, result, -1);
      break;
    case 8:
      cv::transpose(from, turned);
      cv::flip(turned, result, 0);
      break;
    default:
      from.copyTo(result);
  }
  check_written(result, target);
}

void register_image_thread_pool() {
  register_nested_pool(
      "opencv", [] { return cv::getNumThreads(); },
      [](int threads) { cv::setNumThreads(threads); });
}

}  // namespace weir::detail
