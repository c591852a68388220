#include "pipeline/operators/batch_mixing.hpp"
#include "pipeline/operators/columns.hpp"

namespace weir::detail {

BatchOperatorSpec mixup_or_cutmix_spec() {
  return {.name = "mixup_or_cutmix",
          .summary = "either mixup or cutmix, drawn for each batch",
          .parameters = mixing_specs({alpha_spec("mixup_alpha"),
                                      alpha_spec("cutmix_alpha"),
                                      {.name = "cutmix_share",
                                       .type = ParameterType::share,
                                       .fallback = "0.5",
                                       .low = 0,
                                       .high = 1,
                                       .meaning = "how often it is cutmix"}}),
          .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
            MixingRules rules = mixing_rules(parameters);
            rules.mixup_alpha = parameters.number("mixup_alpha");
            rules.cutmix_alpha = parameters.number("cutmix_alpha");
            rules.cutmix_share = parameters.number("cutmix_share");
            return BatchMap(
                make_mixing("mixup_or_cutmix", std::move(rules), columns_or(columns, "image")));
          }};
}

}  // namespace weir::detail
