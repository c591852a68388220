// The image kernel takes every file that the plain operators take, and gives the same shape.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <weir/error.hpp>

#include "fuzz/requirement.hpp"
#include "tests/images/image_chain.hpp"

namespace weir::fuzz {
namespace {

using test::Chain;
using test::Item;
using test::Written;

const Written& limits() {
  static const Written written{{"max_pixels", test::whole(100'000)},
                               {"max_scans", test::whole(20)}};
  return written;
}

std::vector<Chain> chains() {
  const Written statistics{{"mean", test::list({0.4, 0.5, 0.6})},
                           {"std", test::list({0.2, 0.2, 0.2})}};
  Written turned = limits();
  turned["exif"] = test::text("ignore");
  return {{{"decode", limits()},
           {"random_resized_crop", {{"size", test::whole(24)}}},
           {"random_horizontal_flip", {}},
           {"normalize", statistics},
           {"hwc_to_chw", {}}},
          {{"decode", turned},
           {"resize", {{"size", test::whole(20)}, {"antialias", test::flag(true)}}},
           {"center_crop", {{"size", test::whole(16)}}}}};
}

template <class Run>
std::optional<Tensor> result_of(Run&& run) {
  try {
    return run();
  } catch (const BadSample& bad) {
    require(bad.what() != std::string(), "a bad sample has a reason");
    return std::nullopt;
  }
}

}  // namespace
}  // namespace weir::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace fuzz = weir::fuzz;
  namespace test = weir::test;
  static const std::vector<test::Chain> all = fuzz::chains();
  weir::Tensor file({static_cast<std::int64_t>(size)}, weir::DType::u8);
  if (size > 0) std::memcpy(file.bytes(), data, size);
  const test::Item item{.sample_id = size};
  for (const test::Chain& chain : all) {
    const auto plain = fuzz::result_of([&] { return test::plain_image(chain, file, item); });
    const auto fused = fuzz::result_of([&] { return test::kernel_image(chain, file, item); });
    if (!plain) continue;  // The kernel may pass over damage that lies outside of the crop.
    fuzz::require(fused.has_value(), "the kernel takes what the plain operators take");
    fuzz::require(fused->shape() == plain->shape() && fused->dtype() == plain->dtype(),
                  "both give the same shape");
  }
  return 0;
}
