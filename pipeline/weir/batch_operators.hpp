#pragma once

#include <cstdint>
#include <string>

#include <weir/batch_operator.hpp>
#include <weir/export.hpp>
#include <weir/operators.hpp>

/// The built-in operators on batches as C++ functions:
/// `.batch(32).map("mixup", weir::mixup({.classes = 1000}))`. Options as in <weir/operators.hpp>.
///
/// Labels become vectors of f32: class numbers by `classes`, or `one_hot` before the batch.
namespace weir {

struct MixupOptions {
  double alpha = 1.0;
  double probability = 1.0;
  std::int64_t classes = 0;  ///< 0: labels are vectors already
  std::string labels = "label";
  Columns columns = {};
};
using CutmixOptions = MixupOptions;
struct MixupOrCutmixOptions {
  double mixup_alpha = 1.0;
  double cutmix_alpha = 1.0;
  double cutmix_share = 0.5;
  double probability = 1.0;
  std::int64_t classes = 0;
  std::string labels = "label";
  Columns columns = {};
};

[[nodiscard]] WEIR_EXPORT BatchMap mixup(const MixupOptions& options = {});
[[nodiscard]] WEIR_EXPORT BatchMap cutmix(const CutmixOptions& options = {});
[[nodiscard]] WEIR_EXPORT BatchMap mixup_or_cutmix(const MixupOrCutmixOptions& options = {});

}  // namespace weir
