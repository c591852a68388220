#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <weir/tensor.hpp>

#include "pipeline/operators/axis_filter.hpp"
#include "pipeline/operators/image_link.hpp"
#include "pipeline/operators/jpeg_reader.hpp"

namespace weir::detail {

/// The bytes of a jpeg, and what part of a picture they hold. The whole one where `height` is 0; a
/// part where a data set was packed so that parts can be read alone.
struct EncodedImage {
  std::span<const std::byte> bytes;
  std::int64_t height = 0;  ///< of the whole picture, as stored
  std::int64_t width = 0;
  std::int64_t top = 0;  ///< where the part begins
  std::int64_t left = 0;
};

/// How an ImageFrame is carried out: the filter of each axis, in pixels of the upright picture, and
/// by how much the decoder may reduce the picture first.
struct RenderPlan {
  RenderPlan(const ImageFrame& frame, int most_shrink);

  [[nodiscard]] std::int64_t out_height() const { return rows.count; }
  [[nodiscard]] std::int64_t out_width() const { return columns.count; }

  AxisKind kind = AxisKind::nearest;
  int shrink = 1;
  AxisPlan rows;
  AxisPlan columns;
};

/// Decoded pixels that hold what a RenderPlan needs: rows of cells, each of which stands for
/// `shrink` x `shrink` pixels of the upright picture.
struct PicturePart {
  const std::uint8_t* pixels = nullptr;
  std::size_t row_bytes = 0;
  std::int64_t height = 0;  ///< in cells
  std::int64_t width = 0;
  std::int64_t top = 0;  ///< where the first cell begins, in pixels of the picture
  std::int64_t left = 0;
  int shrink = 1;
  int channels = 3;

  /// `axis` in cells of this part.
  [[nodiscard]] AxisPlan in_cells(const AxisPlan& axis, bool is_rows) const;
};

/// What a worker keeps from picture to picture. A huge one does not raise it for good.
struct PartScratch {
  std::vector<std::uint8_t> stored;
  Tensor turned;

  [[nodiscard]] static PartScratch& of_this_thread();
  void give_back_what_is_large();
};

/// A jpeg of which a part can be decoded.
///
/// Thread safety: belongs to one thread. The bytes must outlive it.
class PartDecoder {
 public:
  /// Reads the header; throws BadSample as the plain decoder does.
  PartDecoder(const EncodedImage& image, const DecodeRules& rules);
  ~PartDecoder();
  PartDecoder(const PartDecoder&) = delete;
  PartDecoder& operator=(const PartDecoder&) = delete;

  /// False where parts of this picture are not to be had.
  [[nodiscard]] bool has_parts() const;
  /// Of the upright picture.
  [[nodiscard]] std::int64_t height() const;
  [[nodiscard]] std::int64_t width() const;
  /// Decodes what `plan` needs into `scratch`. None: damage, or signs that may mean some. Called
  /// once.
  [[nodiscard]] std::optional<PicturePart> decode(const RenderPlan& plan, int channels,
                                                  PartScratch& scratch);

 private:
  /// Pixels of one axis of the stored picture, and the cells that hold them.
  struct Span {
    std::int64_t first = 0;
    std::int64_t end = 0;
  };
  [[nodiscard]] Span needed(const RenderPlan& plan, bool rows) const;

  EncodedImage image_;
  JpegReader reader_;
  int orientation_;
};

}  // namespace weir::detail
