#include <weir/random.hpp>

#include <cassert>
#include <cmath>
#include <numbers>

#include "pipeline/philox.hpp"

namespace weir {
namespace {

__extension__ typedef unsigned __int128 Wide;

std::uint32_t low_half(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high_half(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32U); }

}  // namespace

void Random::refill() {
  words_ = detail::philox4x32({low_half(position_), high_half(position_), block_, 0},
                              {low_half(key_), high_half(key_)});
  ++block_;
  used_ = 0;
}

Random::result_type Random::operator()() {
  if (used_ == words_.size()) refill();
  return words_[used_++];
}

std::uint64_t Random::bits() {
  const std::uint64_t low = (*this)();
  const std::uint64_t high = (*this)();
  return (high << 32U) | low;
}

double Random::uniform() { return static_cast<double>(bits() >> 11U) * 0x1p-53; }

double Random::uniform(double low, double high) {
  assert(low <= high);
  const double x = low + (high - low) * uniform();
  // Rounding can reach the open end.
  return x < high || low == high ? x : std::nextafter(high, low);
}

std::uint64_t Random::below(std::uint64_t count) {
  assert(count > 0);
  // Lemire, "Fast random integer generation in an interval", TOMACS 2019.
  Wide product = static_cast<Wide>(bits()) * count;
  if (static_cast<std::uint64_t>(product) < count) {
    const std::uint64_t threshold = (0 - count) % count;
    while (static_cast<std::uint64_t>(product) < threshold) {
      product = static_cast<Wide>(bits()) * count;
    }
  }
  return static_cast<std::uint64_t>(product >> 64U);
}

double Random::normal() {
  // 1 - uniform() lies in (0, 1], so that the logarithm is finite.
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace weir
