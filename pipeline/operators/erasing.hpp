#pragma once

#include <span>
#include <string>

#include <weir/random.hpp>
#include <weir/tensor.hpp>

#include "pipeline/operators/raster.hpp"

/// Rectangles of images with channels last, or first as `hwc_to_chw` gives them.
namespace weir::detail {

/// How the pixels of an image lie in its tensor.
struct PixelPlaces {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  bool channels_last = true;
};

/// The places in a tensor of rank 3; `first_axis` 1 looks at the images of a batch. An axis of 1 to
/// 4 is that of the channels, the last one where both are. Throws Error naming the operator for
/// anything else.
[[nodiscard]] PixelPlaces pixel_places(const Tensor& image, const char* operator_name,
                                       const std::string& column, std::size_t first_axis = 0);

/// Fills `region` with `value`, one or one a channel. Takes u8, u16 and f32.
void erase(Tensor& image, const PixelPlaces& places, const Region& region,
           std::span<const double> value);

/// Fills `region` with noise: of f32 with standard deviation 1 around 0, of whole numbers any value
/// as likely as the next. The same on every machine.
void erase_with_noise(Tensor& image, const PixelPlaces& places, const Region& region,
                      Random random);

}  // namespace weir::detail
