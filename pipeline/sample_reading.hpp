#pragma once

#include <weir/context.hpp>
#include <weir/file.hpp>
#include <weir/sample.hpp>

namespace weir::detail {

/// The file's bytes as column `image`, and `label` where there is one.
[[nodiscard]] Sample read_sample(Path path, Context& context);
/// The file's bytes as a column.
[[nodiscard]] Tensor read_column(Path& path);

}  // namespace weir::detail
