#include "pipeline/operators/batch_mixing.hpp"
#include "pipeline/operators/columns.hpp"

namespace weir::detail {

BatchOperatorSpec mixup_spec() {
  return {.name = "mixup",
          .summary = "mixes each row of a batch with the one before it, labels too",
          .parameters = mixing_specs({alpha_spec("alpha")}),
          .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
            MixingRules rules = mixing_rules(parameters);
            rules.mixup_alpha = parameters.number("alpha");
            return BatchMap(make_mixing("mixup", std::move(rules), columns_or(columns, "image")));
          }};
}

}  // namespace weir::detail
