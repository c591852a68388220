#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <weir/sample.hpp>
#include <weir/step.hpp>

namespace weir::detail {

struct PhotoSourceOptions {
  std::uint64_t count = 1000;
  int width = 500;
  int height = 375;
  int quality = 92;
  int classes = 10;
  std::uint64_t seed = 0;
  double bad_share = 0;
};

/// Generated photographs as encoded JPEG bytes in the column `image`: a stand-in for a data set in
/// tests and demonstrations. Photograph i depends on the options and i alone.
///
/// A bad one is, by turns of its hash, cut short, no image at all, or empty.
///
/// **Thread safety**: immutable; make() is called by several workers at once.
class PhotoSource final : public Source {
 public:
  explicit PhotoSource(const PhotoSourceOptions& options);

  [[nodiscard]] const SlotType& type() const override { return slot_type<Sample>(); }
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return options_.count; }
  void make(std::uint64_t sample_id, SlotHeader* out) const override;
  [[nodiscard]] std::int32_t label(std::uint64_t sample_id) const override;
  [[nodiscard]] std::string describe(std::uint64_t sample_id) const override;
  [[nodiscard]] const std::vector<std::string>& classes() const override { return classes_; }

  /// The encoded bytes of photograph `sample_id`.
  [[nodiscard]] std::vector<std::uint8_t> encoded(std::uint64_t sample_id) const;
  [[nodiscard]] bool bad(std::uint64_t sample_id) const;

 private:
  [[nodiscard]] std::uint64_t key(std::uint64_t sample_id) const;

  PhotoSourceOptions options_;
  std::vector<std::string> classes_;
};

}  // namespace weir::detail
