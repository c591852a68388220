#pragma once

#include <cstdint>
#include <ostream>

#include <weir/tensor.hpp>

/// Comparison with pictures that Pillow made, by sums that stand in the tests.
namespace weir::test {

/// The picture that the figures were made of.
///
/// In numpy: y, x, c = np.mgrid[0:40, 0:56, 0:3]; i = ((x*7 + y*13 + c*29 + (x*y)%31 + (x*x)//5 +
/// (y*y*(c+1))//7) % 256).astype(np.uint8)
inline Tensor formula_picture() {
  Tensor image({40, 56, 3}, DType::u8);
  std::uint8_t* out = image.data<std::uint8_t>();
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 56; ++x)
      for (int c = 0; c < 3; ++c)
        *out++ = static_cast<std::uint8_t>(
            (x * 7 + y * 13 + c * 29 + (x * y) % 31 + (x * x) / 5 + (y * y * (c + 1)) / 7) % 256);
  return image;
}

struct Sums {
  std::uint64_t sum = 0;
  std::uint64_t weighted = 0;
  bool operator==(const Sums&) const = default;
};
inline std::ostream& operator<<(std::ostream& out, const Sums& sums) {
  return out << sums.sum << ' ' << sums.weighted;
}

/// The sum of all values, and the sum of each times its place from 1 on (modulo 65521) modulo
/// 1000003: two pictures with both the same are the same for all that a mistake can do.
///
/// In numpy: r = np.asarray(picture).astype(np.uint64).ravel(); r.sum(), (r * (np.arange(r.size,
/// dtype=np.uint64) % 65521 + 1)).sum() % 1000003
inline Sums sums_of(const Tensor& image) {
  Sums sums;
  for (std::int64_t i = 0; i < image.shape().elements(); ++i) {
    const std::uint64_t value = image.data<std::uint8_t>()[i];
    sums.sum += value;
    sums.weighted += value * (static_cast<std::uint64_t>(i) % 65521 + 1);
  }
  sums.weighted %= 1000003;
  return sums;
}

}  // namespace weir::test
