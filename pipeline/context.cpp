#include <weir/context.hpp>

#include "pipeline/batch_arena.hpp"

namespace weir {

Random& Context::random() {
  if (!random_) {
    std::uint64_t key = mix_bits(seed_ ^ (std::uint64_t{operator_index_} << 40U));
    key = mix_bits(key ^ ((std::uint64_t{info_->epoch} << 32U) | info_->repeat));
    key = mix_bits(key ^ info_->split);
    random_.emplace(key, info_->sample_id);
  }
  return *random_;
}

Tensor Context::allocate(std::string_view column, const Shape& shape, DType dtype) {
  if (arena_ == nullptr) return Tensor(shape, dtype);
  return arena_->allocate(info_->epoch, ordinal_, column, shape, dtype);
}

}  // namespace weir
