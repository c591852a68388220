#include <weir/error.hpp>

#include "pipeline/operators/image_decoder.hpp"
#include "pipeline/operators/raster.hpp"

/// Stands in for other_formats.cpp and raster.cpp in a build without OpenCV.
namespace weir::detail {
namespace {

[[noreturn]] void refuse(const char* what) {
  throw Error(ErrorKind::cannot, what,
              "this build of weir is without OpenCV; configure with WEIR_WITH_OPENCV=ON");
}

}  // namespace

void resample(const Tensor&, const Region&, Tensor&, const Filter&) { refuse("resize"); }
void place(const Tensor&, std::int64_t, std::int64_t, Tensor&, BorderMode,
           std::span<const double>) {
  refuse("crop and pad");
}
void mirror(const Tensor&, Tensor&, bool) { refuse("flip"); }
void split_channels(const Tensor&, Tensor&) { refuse("hwc_to_chw"); }
void orient(const Tensor&, int, Tensor&) { refuse("EXIF orientation"); }
void register_image_thread_pool() {}

DecodedImage decode_other(std::span<const std::byte>, ImageFormat, const ImageHeader&,
                          const DecodeRules&, const AllocateImage&) {
  refuse("decoding of other formats than jpeg");
}

}  // namespace weir::detail
