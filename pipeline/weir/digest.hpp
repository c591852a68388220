#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <weir/batch.hpp>
#include <weir/export.hpp>
#include <weir/sample.hpp>

namespace weir {

/// 128 bits of XXH3.
struct Hash128 {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const Hash128&, const Hash128&) = default;
  /// "xxh3:0123…", 32 digits.
  [[nodiscard]] WEIR_EXPORT std::string text() const;
};

/// Digests what a loader delivers, row by row. The chain depends on the order and on where batches
/// end; the set does not, and adds up to the same for the same rows in another order.
///
/// Thread safety: none; the consumer's.
class WEIR_EXPORT DeliveryDigest {
 public:
  DeliveryDigest();
  ~DeliveryDigest();
  DeliveryDigest(DeliveryDigest&&) noexcept;
  DeliveryDigest& operator=(DeliveryDigest&&) noexcept;

  /// Continues from a saved position.
  void restore(const Hash128& chain, std::uint64_t set);
  void begin_row(std::uint32_t epoch, std::uint64_t id, std::uint32_t split);
  void add(const void* data, std::size_t bytes);
  void end_row();
  /// The end of what one next() handed over.
  void end_delivery();

  [[nodiscard]] Hash128 chain() const { return chain_; }
  [[nodiscard]] std::uint64_t set() const { return set_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  Hash128 chain_;
  std::uint64_t set_ = 0;
};

namespace detail {

inline void digest_value(DeliveryDigest& digest, const std::string& text) {
  const std::uint64_t size = text.size();
  digest.add(&size, sizeof size);
  digest.add(text.data(), text.size());
}
template <class T>
requires std::is_arithmetic_v<T> || std::is_enum_v<T>
void digest_value(DeliveryDigest& digest, const T& value) { digest.add(&value, sizeof value); }
WEIR_EXPORT void digest_value(DeliveryDigest& digest, const Tensor& tensor);
WEIR_EXPORT void digest_value(DeliveryDigest& digest, const Sample& sample);
template <class T>
void digest_value(DeliveryDigest& digest, const std::vector<T>& values);

template <class T>
concept Digestible = requires(DeliveryDigest& digest, const T& value) {
  digest_value(digest, value);
};

template <class T>
void digest_value(DeliveryDigest& digest, const std::vector<T>& values) {
  const std::uint64_t size = values.size();
  digest.add(&size, sizeof size);
  for (const T& value : values) digest_value(digest, value);
}

WEIR_EXPORT void digest_row(DeliveryDigest& digest, const Batch<Sample>& batch, std::size_t row);
template <Digestible T>
void digest_row(DeliveryDigest& digest, const Batch<T>& batch, std::size_t row) {
  digest_value(digest, batch[row]);
}

template <class T>
concept DigestibleRows = requires(DeliveryDigest& digest, const T& batch) {
  digest_row(digest, batch, std::size_t{0});
};

}  // namespace detail
}  // namespace weir
