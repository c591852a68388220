#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <weir/operators.hpp>
#include <weir/parameters.hpp>
#include <weir/tensor.hpp>

/// Geometry on images of rows x columns x channels, done by OpenCV behind plain values. Results are
/// written to tensors that the caller has made.
namespace weir::detail {

/// How pixels between pixels are made.
struct Filter {
  Interpolation interpolation = Interpolation::linear;
  bool antialias = false;  ///< the filter grows with the shrink; linear and cubic alone
};

/// `parameters` and, of what resamples, `interpolation` and `antialias`.
[[nodiscard]] std::vector<ParameterSpec> with_filter(std::vector<ParameterSpec> parameters);
[[nodiscard]] Filter filter_in(const Parameters& parameters);
/// The parameters `fill` and `mode` of what pads.
[[nodiscard]] std::vector<ParameterSpec> border_specs();
[[nodiscard]] BorderMode border_in(const Parameters& parameters);

/// A rectangle in pixels.
struct Region {
  std::int64_t top = 0;
  std::int64_t left = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
};

/// Resamples `region` of `source` to the whole of `target`. The neighbourhood of the filter ends at
/// the region. Requires: the region lies inside; equal channels and dtype; no shared memory.
void resample(const Tensor& source, const Region& region, Tensor& target, const Filter& filter);

/// The same with an antialiasing filter, computed as PIL does, for u8 to the last bit. Requires:
/// u8, u16 or f32; filter.antialias.
void resample_antialiased(const Tensor& source, const Region& region, Tensor& target,
                          const Filter& filter);

/// Copies `source` so that its first pixel lies at (top, left) of `target`, filling the rest;
/// negative values cut. `fill` has one value, or one a channel. Requires: equal channels and dtype;
/// no shared memory.
void place(const Tensor& source, std::int64_t top, std::int64_t left, Tensor& target,
           BorderMode border, std::span<const double> fill);

/// Mirrors left to right, or top to bottom. `target` may be `source`.
void mirror(const Tensor& source, Tensor& target, bool left_to_right);

/// Channels last to channels first.
void split_channels(const Tensor& source, Tensor& target);

/// Undoes an EXIF orientation from 2 to 8; from 5 on height and width change places.
void orient(const Tensor& source, int orientation, Tensor& target);

/// Tells the guard of nested thread pools about OpenCV's. May be called more than once.
void register_image_thread_pool();

}  // namespace weir::detail
