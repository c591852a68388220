#include <weir/digest.hpp>

#include <cstdio>

#include <xxhash.h>

namespace weir {

std::string Hash128::text() const {
  char digits[40];
  std::snprintf(digits, sizeof digits, "xxh3:%016llx%016llx", static_cast<unsigned long long>(high),
                static_cast<unsigned long long>(low));
  return digits;
}

struct DeliveryDigest::State {
  XXH3_state_t* row = XXH3_createState();
  XXH3_state_t* delivery = XXH3_createState();
  bool delivering = false;
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    XXH3_freeState(row);
    XXH3_freeState(delivery);
  }
};

DeliveryDigest::DeliveryDigest() : state_(std::make_unique<State>()) {}
DeliveryDigest::~DeliveryDigest() = default;
DeliveryDigest::DeliveryDigest(DeliveryDigest&&) noexcept = default;
DeliveryDigest& DeliveryDigest::operator=(DeliveryDigest&&) noexcept = default;

void DeliveryDigest::restore(const Hash128& chain, std::uint64_t set) {
  chain_ = chain;
  set_ = set;
}

void DeliveryDigest::begin_row(std::uint32_t epoch, std::uint64_t id, std::uint32_t split) {
  if (!state_->delivering) {
    state_->delivering = true;
    XXH3_128bits_reset(state_->delivery);
    XXH3_128bits_update(state_->delivery, &chain_, sizeof chain_);
  }
  XXH3_128bits_reset(state_->row);
  const std::uint64_t key[2] = {id, (std::uint64_t{epoch} << 32U) | split};
  XXH3_128bits_update(state_->row, key, sizeof key);
}

void DeliveryDigest::add(const void* data, std::size_t bytes) {
  if (bytes > 0) XXH3_128bits_update(state_->row, data, bytes);
}

void DeliveryDigest::end_row() {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_->row);
  set_ += hash.low64;
  XXH3_128bits_update(state_->delivery, &hash, sizeof hash);
}

void DeliveryDigest::end_delivery() {
  if (!state_->delivering) return;
  state_->delivering = false;
  const XXH128_hash_t hash = XXH3_128bits_digest(state_->delivery);
  chain_ = {hash.low64, hash.high64};
}

namespace detail {
namespace {

void digest_form(DeliveryDigest& digest, const Shape& shape, DType dtype) {
  digest.add(&dtype, sizeof dtype);
  for (const std::int64_t extent : shape.extents()) digest.add(&extent, sizeof extent);
}

}  // namespace

void digest_value(DeliveryDigest& digest, const Tensor& tensor) {
  digest_form(digest, tensor.shape(), tensor.dtype());
  if (tensor) digest.add(tensor.bytes(), tensor.size_bytes());
}

void digest_value(DeliveryDigest& digest, const Sample& sample) {
  for (const Column& column : sample.columns()) {
    digest_value(digest, column.name);
    digest_value(digest, column.tensor);
  }
}

void digest_row(DeliveryDigest& digest, const Batch<Sample>& batch, std::size_t row) {
  for (const Column& column : batch.columns()) {
    digest_value(digest, column.name);
    const Shape shape = column.tensor.shape().row();
    digest_form(digest, shape, column.tensor.dtype());
    const std::size_t bytes =
        static_cast<std::size_t>(shape.elements()) * size_of(column.tensor.dtype());
    digest.add(column.tensor.bytes() + row * bytes, bytes);
  }
}

}  // namespace detail
}  // namespace weir
