#include "pipeline/operators/batch_mixing.hpp"
#include "pipeline/operators/columns.hpp"

namespace weir::detail {

BatchOperatorSpec cutmix_spec() {
  return {.name = "cutmix",
          .summary = "puts a box of the row before into each row of a batch, and mixes the labels",
          .parameters = mixing_specs({alpha_spec("alpha")}),
          .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
            MixingRules rules = mixing_rules(parameters);
            rules.cutmix_alpha = parameters.number("alpha");
            rules.cutmix_share = 1;
            return BatchMap(make_mixing("cutmix", std::move(rules), columns_or(columns, "image")));
          }};
}

}  // namespace weir::detail
