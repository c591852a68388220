#include "pipeline/operators/picture_part.hpp"

#include <algorithm>
#include <cmath>

#include "pipeline/operators/image_format.hpp"

namespace weir::detail {
namespace {

/// Scratch up to this size is kept for the next picture.
constexpr std::size_t kKeptBytes = std::size_t{8} << 20;

/// How EXIF's orientations lie: upright rows are stored columns, and which upright axes run
/// backwards.
bool is_turned(int orientation) { return orientation >= 5; }
bool columns_run_back(int orientation) {
  return orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
}
bool rows_run_back(int orientation) {
  return orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
}

AxisPlan axis_of(std::int64_t from, std::int64_t size, std::int64_t target, std::int64_t first,
                 std::int64_t count, bool mirrored) {
  AxisPlan axis;
  axis.start = static_cast<double>(from);
  axis.step = static_cast<double>(size) / static_cast<double>(target);
  axis.low = from;
  axis.high = from + size;
  axis.first = first;
  axis.count = count;
  axis.mirrored = mirrored;
  return axis;
}

int shrink_for(const ImageFrame& frame, AxisKind kind, int most) {
  if (kind == AxisKind::nearest) return 1;
  // A wide filter does the last half itself, or the picture would not be what its users know.
  const int spare = frame.filter.antialias ? 2 : 1;
  for (int shrink = most; shrink > 1; shrink /= 2) {
    const std::int64_t least = std::int64_t{shrink} * spare;
    if (frame.region.height >= least * frame.target.height &&
        frame.region.width >= least * frame.target.width)
      return shrink;
  }
  return 1;
}

}  // namespace

RenderPlan::RenderPlan(const ImageFrame& made, int most_shrink) {
  ImageFrame frame = made;
  if (!frame.resampled) frame.resample_to({frame.region.height, frame.region.width}, {});
  // The rectangles were counted in the mirrored picture.
  const bool left_right = frame.left_right;
  const bool upside_down = frame.upside_down;
  if (left_right) frame.mirror_left_right();
  if (upside_down) frame.mirror_upside_down();
  rows = axis_of(frame.region.top, frame.region.height, frame.target.height, frame.window.top,
                 frame.window.height, upside_down);
  columns = axis_of(frame.region.left, frame.region.width, frame.target.width, frame.window.left,
                    frame.window.width, left_right);
  if (!made.resampled || (rows.step == 1 && columns.step == 1)) return;  // Pixels as they are.
  kind = axis_kind(frame.filter, rows.step, columns.step);
  shrink = shrink_for(frame, kind, most_shrink);
}

AxisPlan PicturePart::in_cells(const AxisPlan& axis, bool is_rows) const {
  const auto origin = static_cast<double>(is_rows ? top : left);
  const std::int64_t cells = is_rows ? height : width;
  AxisPlan own = axis;
  own.start = (axis.start - origin) / shrink;
  own.step = axis.step / shrink;
  const double low = std::floor((static_cast<double>(axis.low) - origin) / shrink);
  const double high = std::ceil((static_cast<double>(axis.high) - origin) / shrink);
  own.low = std::clamp<std::int64_t>(static_cast<std::int64_t>(low), 0, cells - 1);
  own.high = std::clamp<std::int64_t>(static_cast<std::int64_t>(high), own.low + 1, cells);
  return own;
}

PartScratch& PartScratch::of_this_thread() {
  thread_local PartScratch scratch;
  return scratch;
}

void PartScratch::give_back_what_is_large() {
  turned = Tensor();
  if (stored.capacity() <= kKeptBytes) return;
  stored.clear();
  stored.shrink_to_fit();
}

PartDecoder::PartDecoder(const EncodedImage& image, const DecodeRules& rules)
    : image_(image),
      reader_(image.bytes, {.max_pixels = rules.max_pixels, .max_scans = rules.max_scans}),
      orientation_(rules.apply_exif ? jpeg_orientation(image.bytes) : 1) {
  if (image_.height > 0) return;
  image_.height = reader_.height();
  image_.width = reader_.width();
}

PartDecoder::~PartDecoder() = default;

bool PartDecoder::has_parts() const { return reader_.has_parts(); }
std::int64_t PartDecoder::height() const {
  return is_turned(orientation_) ? image_.width : image_.height;
}
std::int64_t PartDecoder::width() const {
  return is_turned(orientation_) ? image_.height : image_.width;
}

PartDecoder::Span PartDecoder::needed(const RenderPlan& plan, bool rows) const {
  const AxisPlan& axis = rows ? plan.rows : plan.columns;
  const double reach = axis_reach(plan.kind, axis.step / plan.shrink) * plan.shrink;
  const double from = axis.start + static_cast<double>(axis.first) * axis.step - reach;
  const double to = axis.start + static_cast<double>(axis.first + axis.count) * axis.step + reach;
  Span span{std::max(axis.low, static_cast<std::int64_t>(std::floor(from))),
            std::min(axis.high, static_cast<std::int64_t>(std::ceil(to)))};
  const bool back = rows ? rows_run_back(orientation_) : columns_run_back(orientation_);
  const std::int64_t size = rows ? height() : width();
  if (back) span = {size - span.end, size - span.first};
  return span;
}

std::optional<PicturePart> PartDecoder::decode(const RenderPlan& plan, int channels,
                                               PartScratch& scratch) {
  const bool turned = is_turned(orientation_);
  const std::int64_t shrink = plan.shrink;
  Span rows = needed(plan, !turned);
  Span columns = needed(plan, turned);
  // From here on in cells of what the bytes hold.
  const auto to_cells = [shrink](Span& span, std::int64_t begin, std::int64_t size) {
    if (span.first < begin || span.end > begin + size || span.first >= span.end) return false;
    span.first = (span.first - begin) / shrink;
    span.end = (span.end - begin + shrink - 1) / shrink;
    return true;
  };
  if (!to_cells(rows, image_.top, reader_.height()) ||
      !to_cells(columns, image_.left, reader_.width()))
    return std::nullopt;

  JpegPart part{plan.shrink, rows.first, columns.first, rows.end - rows.first,
                columns.end - columns.first};
  if (!reader_.begin_part(part, channels)) return std::nullopt;
  const std::size_t row_bytes =
      static_cast<std::size_t>(part.width) * static_cast<std::size_t>(channels);
  const std::size_t bytes = row_bytes * static_cast<std::size_t>(part.height);
  if (scratch.stored.size() < bytes) scratch.stored.resize(bytes);
  if (!reader_.read_part(scratch.stored.data(), row_bytes)) return std::nullopt;

  PicturePart result;
  result.shrink = plan.shrink;
  result.channels = channels;
  // Where the first cell of each upright axis begins; an axis that runs back begins with the last.
  const auto origin = [&](bool is_rows) {
    const bool stored_rows = is_rows != turned;
    const std::int64_t begin = stored_rows ? image_.top : image_.left;
    const std::int64_t first = stored_rows ? part.top : part.left;
    const std::int64_t end = first + (stored_rows ? part.height : part.width);
    const bool back = is_rows ? rows_run_back(orientation_) : columns_run_back(orientation_);
    if (!back) return begin + first * shrink;
    return (is_rows ? height() : width()) - begin - end * shrink;
  };
  result.top = origin(true);
  result.left = origin(false);
  result.height = turned ? part.width : part.height;
  result.width = turned ? part.height : part.width;
  result.row_bytes = static_cast<std::size_t>(result.width) * static_cast<std::size_t>(channels);
  result.pixels = scratch.stored.data();
  if (orientation_ != 1) {
    Tensor stored({part.height, part.width, channels}, DType::u8);
    std::copy_n(scratch.stored.data(), bytes, stored.data<std::uint8_t>());
    scratch.turned = Tensor({result.height, result.width, channels}, DType::u8);
    orient(stored, orientation_, scratch.turned);
    result.pixels = scratch.turned.data<std::uint8_t>();
  }
  return result;
}

}  // namespace weir::detail
