#pragma once

#include <string>
#include <vector>

#include <weir/sample_operator.hpp>

namespace weir::detail {

/// Mirrors all its columns with a probability, by one draw.
class RandomFlip final : public SampleOperator {
 public:
  RandomFlip(const char* name, bool left_to_right, double probability,
             std::vector<std::string> columns);

  void apply(Sample& sample, Context& context) const override;
  [[nodiscard]] bool cheap() const override { return true; }

  /// The parameter `probability`.
  static ParameterSpec probability_spec();

 private:
  const char* name_;
  bool left_to_right_;
  double probability_;
  std::vector<std::string> columns_;
};

}  // namespace weir::detail
