#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/operators/raster.hpp"
#include "pipeline/operators/row_kernels.hpp"

namespace weir::detail {

/// How output samples lie on the cells of one axis. A cell is a pixel, or what stands for several
/// in a picture that was reduced while it was decoded.
struct AxisPlan {
  double start = 0;        ///< where the region begins, in cells
  double step = 1;         ///< cells from one output sample to the next
  std::int64_t low = 0;    ///< first cell of the region
  std::int64_t high = 1;   ///< behind its last
  std::int64_t first = 0;  ///< first output sample that is wanted
  std::int64_t count = 0;  ///< how many
  bool mirrored = false;   ///< the last of them comes first
};

/// Which filter an axis takes.
enum class AxisKind : std::uint8_t {
  nearest,
  linear,
  area,           ///< shares of the cells covered
  enlarged_area,  ///< what OpenCV's INTER_AREA does where it enlarges
  cubic,          ///< OpenCV's, a = -0.75
  wide_linear,    ///< PIL's, widened by the shrink
  wide_cubic,     ///< PIL's, a = -0.5, widened by the shrink
};

/// The kinds for both axes by the filter asked for and the shrink of each.
[[nodiscard]] AxisKind axis_kind(const Filter& filter, double rows_step, double columns_step);

/// How far beyond its sample a filter reaches, in cells.
[[nodiscard]] double axis_reach(AxisKind kind, double step);

/// The weights of output sample `at` (counted in the whole target), written to `weights`; returns
/// the first cell. They add up to 1.
std::int64_t axis_weights(AxisKind kind, const AxisPlan& plan, std::int64_t at,
                          std::vector<double>& weights);

/// The weights of all output samples of an axis as whole numbers, for RowKernels. Kept by a worker
/// and built anew for each picture, without an allocation once it has been as large.
///
/// Thread safety: belongs to one thread.
class AxisFilter {
 public:
  void build(AxisKind kind, const AxisPlan& plan);

  /// Two neighbours each: first() and pair_weights(); else places() and tap_weights().
  [[nodiscard]] bool pairs() const { return pairs_; }
  [[nodiscard]] const std::int32_t* first() const { return first_.data(); }
  [[nodiscard]] const std::int16_t* pair_weights() const { return weights_.data(); }
  [[nodiscard]] const TapPlace* places() const { return places_.data(); }
  [[nodiscard]] const std::int16_t* tap_weights() const { return weights_.data(); }

 private:
  void add_pair(std::int64_t cell, double share);
  void add_taps(std::int64_t first);

  bool pairs_ = true;
  std::vector<std::int32_t> first_;
  std::vector<TapPlace> places_;
  std::vector<std::int16_t> weights_;
  std::vector<double> shares_;
};

}  // namespace weir::detail
