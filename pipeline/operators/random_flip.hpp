#pragma once

#include <string>
#include <vector>

#include <weir/sample_operator.hpp>

#include "pipeline/operators/image_link.hpp"

namespace weir::detail {

/// Mirrors all its columns with a probability, by one draw.
class RandomFlip final : public SampleOperator, public ImageLink {
 public:
  RandomFlip(const char* name, bool left_to_right, double probability,
             std::vector<std::string> columns);

  void apply(Sample& sample, Context& context) const override;
  [[nodiscard]] bool cheap() const override { return true; }

  [[nodiscard]] Kind kind() const override { return Kind::move; }
  [[nodiscard]] const std::vector<std::string>& image_columns() const override { return columns_; }
  [[nodiscard]] bool mirrors() const override { return true; }
  [[nodiscard]] bool move(ImageFrame& frame, Random& random) const override;

  /// The parameter `probability`.
  static ParameterSpec probability_spec();

 private:
  const char* name_;
  bool left_to_right_;
  double probability_;
  std::vector<std::string> columns_;
};

}  // namespace weir::detail
