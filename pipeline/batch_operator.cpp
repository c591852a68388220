#include <weir/batch_operator.hpp>

namespace weir {
namespace detail {

BatchOperatorSpec cutmix_spec();
BatchOperatorSpec mixup_spec();
BatchOperatorSpec mixup_or_cutmix_spec();

}  // namespace detail

BatchOperator::~BatchOperator() = default;

std::span<const BatchOperatorSpec> batch_operator_table() {
  static const std::vector<BatchOperatorSpec> table{detail::cutmix_spec(), detail::mixup_spec(),
                                                    detail::mixup_or_cutmix_spec()};
  return table;
}

const BatchOperatorSpec* find_batch_operator(std::string_view name) {
  for (const BatchOperatorSpec& spec : batch_operator_table())
    if (spec.name == name) return &spec;
  return nullptr;
}

}  // namespace weir
