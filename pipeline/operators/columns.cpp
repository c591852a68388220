#include "pipeline/operators/columns.hpp"

#include <functional>
#include <limits>

#include <weir/error.hpp>

namespace weir::detail {

std::vector<std::string> columns_or(const std::vector<std::string>& columns,
                                    std::string_view fallback) {
  if (!columns.empty()) return columns;
  return {std::string(fallback)};
}

bool is_mask(std::string_view column) { return column.starts_with("mask"); }

std::string ImageSize::text() const { return std::to_string(width) + "x" + std::to_string(height); }

Tensor& column_of(Sample& sample, std::string_view operator_name, std::string_view column) {
  if (Tensor* tensor = sample.find(column)) return *tensor;
  std::string present;
  for (const Column& entry : sample.columns()) {
    present += (present.empty() ? "" : ", ") + entry.name;
  }
  throw Error(ErrorKind::usage, std::string(operator_name),
              "the sample has no column '" + std::string(column) + "'; its columns: " +
                  (present.empty() ? "none" : present) + "; name others with `columns:`");
}

ImageSize image_size(const Tensor& tensor, std::string_view operator_name,
                     std::string_view column) {
  const Shape& shape = tensor.shape();
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (shape.rank() == 3 && shape[0] >= 1 && shape[1] >= 1 && shape[0] <= kMost &&
      shape[1] <= kMost && shape[2] >= 1 && shape[2] <= 4) {
    return {shape[0], shape[1], shape[2]};
  }
  throw Error(ErrorKind::usage, std::string(operator_name),
              "column '" + std::string(column) + "' has shape " + shape.text() +
                  ", needed are rows x columns x 1 to 4 channels; place the operator behind "
                  "`decode` and before `hwc_to_chw`");
}

ImageSize common_size(Sample& sample, std::string_view operator_name,
                      const std::vector<std::string>& columns) {
  const ImageSize first =
      image_size(column_of(sample, operator_name, columns.front()), operator_name, columns.front());
  for (const std::string& column : columns) {
    const ImageSize size =
        image_size(column_of(sample, operator_name, column), operator_name, column);
    if (size.height != first.height || size.width != first.width) {
      throw BadSample("'" + column + "' is " + size.text() + " but '" + columns.front() + "' is " +
                      first.text() + "; columns that share a draw must agree in size");
    }
  }
  return first;
}

bool is_own(const Tensor& tensor) { return tensor.buffer().holders() == 1; }

Tensor result_for(Context& context, std::string_view column, const Shape& shape, DType dtype,
                  const Tensor& source) {
  Tensor result = context.allocate(column, shape, dtype);
  const std::less<const std::byte*> before;
  const std::byte* const source_end = source.bytes() + source.size_bytes();
  const std::byte* const result_end = result.bytes() + result.size_bytes();
  if (before(result.bytes(), source_end) && before(source.bytes(), result_end)) {
    return Tensor(shape, dtype);
  }
  return result;
}

}  // namespace weir::detail
