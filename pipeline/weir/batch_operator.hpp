#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/batch.hpp>
#include <weir/context.hpp>
#include <weir/export.hpp>
#include <weir/parameters.hpp>

namespace weir {

/// One built-in operator on a batch of samples. Immutable once made: several workers call apply()
/// at once, each with a batch of its own.
///
/// Its draws depend on seed, epoch and the first row of the batch. So they are the same for any
/// number of workers and after a resume, as the batches themselves are under `order: input`.
class WEIR_EXPORT BatchOperator {
 public:
  virtual ~BatchOperator();
  /// Changes `batch` in place.
  virtual void apply(Batch<Sample>& batch, Context& context) const = 0;
};

/// A built-in operator as a function for Stream<Batch<Sample>>::map:
/// `.batch(32).map("mixup", weir::mixup({.classes = 1000}))`.
class WEIR_EXPORT BatchMap {
 public:
  explicit BatchMap(std::shared_ptr<const BatchOperator> op) : operator_(std::move(op)) {}
  [[nodiscard]] Batch<Sample> operator()(Batch<Sample> batch, Context& context) const {
    operator_->apply(batch, context);
    return batch;
  }
  [[nodiscard]] const BatchOperator& op() const { return *operator_; }

 private:
  std::shared_ptr<const BatchOperator> operator_;
};

/// One line of the table of operators on batches.
struct BatchOperatorSpec {
  std::string name;
  std::string summary;
  std::vector<ParameterSpec> parameters;
  BatchMap (*make)(const Parameters& parameters, const std::vector<std::string>& columns);
};

/// All built-in operators on batches, sorted by name.
[[nodiscard]] WEIR_EXPORT std::span<const BatchOperatorSpec> batch_operator_table();
[[nodiscard]] WEIR_EXPORT const BatchOperatorSpec* find_batch_operator(std::string_view name);

}  // namespace weir
