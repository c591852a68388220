#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weir/context.hpp>
#include <weir/sample.hpp>

/// What the operators on images share: which columns they act on, and where results lie.
namespace weir::detail {

/// `columns`, or `fallback` alone where none are named.
[[nodiscard]] std::vector<std::string> columns_or(const std::vector<std::string>& columns,
                                                  std::string_view fallback);

/// True for `mask`, `mask_left` and so on: class numbers as pixels, which may not be mixed.
[[nodiscard]] bool is_mask(std::string_view column);

/// The extents of an image: rows x columns x channels.
struct ImageSize {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  [[nodiscard]] std::string text() const;  ///< "width x height"
};

/// The tensor of `column`; throws Error naming the operator where there is none.
[[nodiscard]] Tensor& column_of(Sample& sample, std::string_view operator_name,
                                std::string_view column);

/// The extents of an image column; throws Error naming the operator for anything but rows x columns
/// x 1 to 4 channels: that is a mistake in the pipeline, not a bad sample.
[[nodiscard]] ImageSize image_size(const Tensor& tensor, std::string_view operator_name,
                                   std::string_view column);

/// Throws BadSample unless all `columns` have the height and width of the first, which a shared
/// draw needs. Returns that size.
ImageSize common_size(Sample& sample, std::string_view operator_name,
                      const std::vector<std::string>& columns);

/// True when nobody else sees the tensor's memory, so that it may be changed in place.
[[nodiscard]] bool is_own(const Tensor& tensor);

/// Memory for a result that is computed from `source`: the context's, unless that is the memory of
/// `source` itself, which happens when two operators of one stage write to the same place of a
/// batch.
[[nodiscard]] Tensor result_for(Context& context, std::string_view column, const Shape& shape,
                                DType dtype, const Tensor& source);

}  // namespace weir::detail
