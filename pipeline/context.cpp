#include <weir/context.hpp>

#include <chrono>

#include "pipeline/batch_arena.hpp"

namespace weir {

Random& Context::random() {
  if (!random_) random_.emplace(random_of(operator_index_));
  return *random_;
}

Random Context::random_of(std::uint32_t operator_index) const {
  std::uint64_t key = mix_bits(seed_ ^ (std::uint64_t{operator_index} << 40U));
  key = mix_bits(key ^ ((std::uint64_t{info_->epoch} << 32U) | info_->repeat));
  key = mix_bits(key ^ info_->split);
  return {key, info_->sample_id};
}

Context Context::of(std::uint32_t operator_index, bool places) const {
  Context own(seed_, operator_index, *info_, worker_, stop_);
  if (places && arena_ != nullptr) own.place_in(arena_, ordinal_);
  return own;
}

namespace {

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

void Context::lap(std::size_t part) {
  if (laps_ == nullptr) return;
  const std::int64_t now = now_ns();
  laps_[part] += now - lap_began_ns_;
  lap_began_ns_ = now;
}

void Context::count_laps(std::int64_t* laps) {
  laps_ = laps;
  if (laps != nullptr) lap_began_ns_ = now_ns();
}

Tensor Context::allocate(std::string_view column, const Shape& shape, DType dtype) {
  if (arena_ == nullptr) return Tensor(shape, dtype);
  return arena_->allocate(info_->epoch, ordinal_, column, shape, dtype);
}

}  // namespace weir
