#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <weir/batch_operator.hpp>

/// What mixup and cutmix are made of. Each row is mixed with the one before it, the first with the
/// last; one share holds for the whole batch, and labels are mixed by it.
namespace weir::detail {

/// What is drawn for each batch.
struct MixingRules {
  double mixup_alpha = 1;
  double cutmix_alpha = 1;
  double cutmix_share = 0;   ///< how often it is cutmix rather than mixup
  double probability = 1;    ///< how often anything is mixed
  std::int64_t classes = 0;  ///< 0: labels are mixed as they are, vectors of f32
  std::string labels = "label";
};

[[nodiscard]] std::shared_ptr<const BatchOperator> make_mixing(const char* name, MixingRules rules,
                                                               std::vector<std::string> columns);

/// A share between 0 and 1 from the distribution Beta(alpha, alpha), in 1/65536, so that the last
/// bit of a logarithm changes nothing.
[[nodiscard]] double drawn_share(double alpha, Random& random);

[[nodiscard]] ParameterSpec alpha_spec(const char* name);
/// The parameters `probability`, `classes` and `labels`.
[[nodiscard]] std::vector<ParameterSpec> mixing_specs(std::vector<ParameterSpec> own);
/// What those say, with the rest left as it is.
[[nodiscard]] MixingRules mixing_rules(const Parameters& parameters);

}  // namespace weir::detail
