#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <weir/error.hpp>

#include "pipeline/operators/axis_filter.hpp"

/// Resampling with a filter that grows with the shrink, as Image.resize of PIL does it: columns
/// first, then rows, and of bytes whole numbers in between.
namespace weir::detail {
namespace {

/// Fractional bits of PIL's weights for bytes.
constexpr int kBits = 22;

/// The weights of one axis.
template <class Weight>
struct Axis {
  struct Place {
    std::int64_t first;
    std::size_t count;
    std::size_t weights;
  };
  std::vector<Place> places;
  std::vector<Weight> weights;
};

template <class Weight>
Axis<Weight> make_axis(AxisKind kind, std::int64_t from, std::int64_t size, std::int64_t target) {
  AxisPlan plan;
  plan.start = static_cast<double>(from);
  plan.low = from;
  plan.high = from + size;
  plan.step = static_cast<double>(size) / static_cast<double>(target);
  plan.count = target;
  Axis<Weight> axis;
  std::vector<double> shares;
  for (std::int64_t at = 0; at < target; ++at) {
    const std::int64_t first = axis_weights(kind, plan, at, shares);
    axis.places.push_back({first, shares.size(), axis.weights.size()});
    for (const double share : shares) {
      if constexpr (std::is_integral_v<Weight>) {
        const double scaled = share * (1 << kBits);
        axis.weights.push_back(static_cast<Weight>(scaled + (scaled < 0 ? -0.5 : 0.5)));
      } else {
        axis.weights.push_back(share);
      }
    }
  }
  return axis;
}

std::uint8_t from_sum(std::int64_t sum) {
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(sum >> kBits, 0, 255));
}

template <class T, class Weight>
T filtered(const T* in, std::size_t stride, std::size_t count, const Weight* weights) {
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    std::int64_t sum = std::int64_t{1} << (kBits - 1);
    for (std::size_t k = 0; k < count; ++k) sum += in[k * stride] * weights[k];
    return from_sum(sum);
  } else {
    double sum = 0;
    for (std::size_t k = 0; k < count; ++k) sum += static_cast<double>(in[k * stride]) * weights[k];
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(std::clamp(std::nearbyint(sum), 0.0, 65535.0));
    else
      return static_cast<T>(sum);
  }
}

template <class T>
void resample_as(const Tensor& source, const Region& region, Tensor& target, AxisKind kind) {
  using Weight = std::conditional_t<std::is_same_v<T, std::uint8_t>, std::int32_t, double>;
  const auto channels = static_cast<std::size_t>(source.shape()[2]);
  const auto width = static_cast<std::size_t>(target.shape()[1]);
  const std::int64_t rows = target.shape()[0];
  const auto source_row = static_cast<std::size_t>(source.shape()[1]) * channels;
  const T* const in = source.data<T>();

  // What is not resized along an axis is copied, as PIL does.
  const bool narrows = region.width != target.shape()[1];
  const Axis<Weight> across = make_axis<Weight>(kind, region.left, region.width, target.shape()[1]);
  std::vector<T> middle(static_cast<std::size_t>(region.height) * width * channels);
  for (std::int64_t y = 0; y < region.height; ++y) {
    const T* row = in + static_cast<std::size_t>(region.top + y) * source_row;
    T* out = middle.data() + static_cast<std::size_t>(y) * width * channels;
    for (std::size_t x = 0; x < width; ++x) {
      const auto& place = across.places[x];
      for (std::size_t c = 0; c < channels; ++c)
        *out++ = narrows ? filtered(row + static_cast<std::size_t>(place.first) * channels + c,
                                    channels, place.count, across.weights.data() + place.weights)
                         : row[(static_cast<std::size_t>(region.left) + x) * channels + c];
    }
  }

  T* out = target.data<T>();
  if (rows == region.height) {
    std::copy(middle.begin(), middle.end(), out);
    return;
  }
  const Axis<Weight> down = make_axis<Weight>(kind, 0, region.height, rows);
  for (const auto& place : down.places) {
    const T* first = middle.data() + static_cast<std::size_t>(place.first) * width * channels;
    for (std::size_t i = 0; i < width * channels; ++i)
      *out++ =
          filtered(first + i, width * channels, place.count, down.weights.data() + place.weights);
  }
}

}  // namespace

void resample_antialiased(const Tensor& source, const Region& region, Tensor& target,
                          const Filter& filter) {
  const AxisKind kind = axis_kind(filter, 1, 1);
  switch (source.dtype()) {
    case DType::u8:
      return resample_as<std::uint8_t>(source, region, target, kind);
    case DType::u16:
      return resample_as<std::uint16_t>(source, region, target, kind);
    case DType::f32:
      return resample_as<float>(source, region, target, kind);
    default:
      throw Error(ErrorKind::usage, "",
                  std::string("antialias: images of ") + name_of(source.dtype()) +
                      " are not supported; use u8, u16 or f32");
  }
}

}  // namespace weir::detail
