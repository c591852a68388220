#include "pipeline/operators/batch_mixing.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include <weir/error.hpp>

#include "pipeline/operators/columns.hpp"
#include "pipeline/operators/erasing.hpp"

namespace weir::detail {
namespace {

constexpr std::uint32_t kWhole = 1U << 16U;

/// The logarithm of a draw from the gamma distribution of this shape (Marsaglia and Tsang, TOMS
/// 2000); by logarithms, since for small shapes the draws themselves vanish.
double log_gamma_draw(double shape, Random& random) {
  if (shape < 1)
    return log_gamma_draw(shape + 1, random) + std::log(1.0 - random.uniform()) / shape;
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  while (true) {
    const double x = random.normal();
    const double v = 1.0 + c * x;
    if (v <= 0) continue;
    const double log_cube = 3.0 * std::log(v);
    if (std::log(1.0 - random.uniform()) < 0.5 * x * x + d - d * std::exp(log_cube) + d * log_cube)
      return std::log(d) + log_cube;
  }
}

/// What one batch is mixed by.
struct Mix {
  std::uint32_t share = kWhole;  ///< of the row itself, in 1/65536
  bool cuts = false;             ///< exchanges `region` rather than mixing all pixels
  Region region;
};

float as_factor(std::uint32_t share) {
  return static_cast<float>(share) / static_cast<float>(kWhole);
}

template <class T>
void mix_row(T* own, const T* other, std::size_t count, std::uint32_t share) {
  if constexpr (std::is_same_v<T, float>) {
    const float mine = as_factor(share);
    const float its = as_factor(kWhole - share);
    for (std::size_t i = 0; i < count; ++i) own[i] = own[i] * mine + other[i] * its;
  } else {
    const std::uint64_t mine = share;
    const std::uint64_t its = kWhole - share;
    for (std::size_t i = 0; i < count; ++i)
      own[i] = static_cast<T>((own[i] * mine + other[i] * its + kWhole / 2) >> 16U);
  }
}

/// Copies the region of one image over that of another.
void cut_row(std::byte* own, const std::byte* other, std::size_t element, const PixelPlaces& places,
             const Region& region) {
  const auto copy = [&](std::int64_t first, std::int64_t count) {
    const auto begin = static_cast<std::size_t>(first) * element;
    std::memcpy(own + begin, other + begin, static_cast<std::size_t>(count) * element);
  };
  const std::int64_t planes = places.channels_last ? 1 : places.channels;
  const std::int64_t depth = places.channels_last ? places.channels : 1;
  for (std::int64_t plane = 0; plane < planes; ++plane)
    for (std::int64_t y = region.top; y < region.top + region.height; ++y)
      copy(((plane * places.height + y) * places.width + region.left) * depth,
           region.width * depth);
}

/// Calls `f(own, other)` for each row and the one before it, so that no row is read once changed.
template <class F>
void for_each_pair(Tensor& rows, F&& f) {
  const std::int64_t count = rows.shape()[0];
  if (count < 2) return;
  const Tensor last = rows.row(count - 1).clone();
  for (std::int64_t i = count - 1; i > 0; --i) f(rows.row(i), rows.row(i - 1));
  f(rows.row(0), last);
}

void mix_rows(Tensor& rows, std::uint32_t share, const char* name, const std::string& column) {
  const auto mix_as = [&]<class T>(T) {
    for_each_pair(rows, [&](const Tensor& own, const Tensor& other) {
      mix_row(own.data<T>(), other.data<T>(), static_cast<std::size_t>(own.shape().elements()),
              share);
    });
  };
  switch (rows.dtype()) {
    case DType::u8:
      return mix_as(std::uint8_t{});
    case DType::u16:
      return mix_as(std::uint16_t{});
    case DType::f32:
      return mix_as(float{});
    default:
      throw Error(
          ErrorKind::usage, name,
          "column '" + column + "' holds " + name_of(rows.dtype()) + ", needed are u8, u16 or f32");
  }
}

class Mixing final : public BatchOperator {
 public:
  Mixing(const char* name, MixingRules rules, std::vector<std::string> columns)
      : name_(name), rules_(std::move(rules)), columns_(std::move(columns)) {}

  void apply(Batch<Sample>& batch, Context& context) const override {
    if (batch.empty()) return;
    Sample& columns = batch.storage();
    Tensor& labels = soft_labels(batch);
    const PixelPlaces places =
        pixel_places(column_of(columns, name_, columns_.front()), name_, columns_.front(), 1);
    const Mix mix = draw(places, context.random());
    for (const std::string& column : columns_) {
      Tensor& images = column_of(columns, name_, column);
      const PixelPlaces own = pixel_places(images, name_, column, 1);
      if (own.height != places.height || own.width != places.width)
        throw Error(ErrorKind::usage, name_,
                    "column '" + column + "' has shape " + images.shape().text() +
                        ", which is another height or width than the columns before it have");
      if (mix.share == kWhole) continue;
      if (!is_own(images)) images = images.clone();
      if (mix.cuts) {
        const std::size_t element = size_of(images.dtype());
        for_each_pair(images, [&](const Tensor& row, const Tensor& other) {
          cut_row(row.bytes(), other.bytes(), element, own, mix.region);
        });
      } else {
        mix_rows(images, mix.share, name_, column);
      }
    }
    if (mix.share != kWhole) mix_rows(labels, mix.share, name_, rules_.labels);
  }

 private:
  [[nodiscard]] Mix draw(const PixelPlaces& places, Random& random) const {
    Mix mix;
    if (!random.chance(rules_.probability)) return mix;
    mix.cuts = random.chance(rules_.cutmix_share);
    const double share = drawn_share(mix.cuts ? rules_.cutmix_alpha : rules_.mixup_alpha, random);
    mix.share = static_cast<std::uint32_t>(share * kWhole);
    if (!mix.cuts) return mix;
    // A box of the other share's area around any pixel, as far as it lies in the picture; labels
    // are mixed by what is left of it. So torchvision, after Yun et al., ICCV 2019.
    const double half_side = 0.5 * std::sqrt(1.0 - share);
    const auto span_of = [&](std::int64_t extent) {
      const auto middle =
          static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(extent)));
      const auto half = static_cast<std::int64_t>(half_side * static_cast<double>(extent));
      return std::pair{std::max<std::int64_t>(middle - half, 0), std::min(middle + half, extent)};
    };
    const auto [left, right] = span_of(places.width);
    const auto [top, bottom] = span_of(places.height);
    mix.region = {top, left, bottom - top, right - left};
    const std::int64_t cut = mix.region.height * mix.region.width;
    const std::int64_t all = places.height * places.width;
    mix.share = static_cast<std::uint32_t>((all - cut) * std::int64_t{kWhole} / all);
    // A box without a pixel changes nothing, nor does the share.
    return mix;
  }

  /// The labels as vectors of f32, made of class numbers where they are no vectors yet.
  Tensor& soft_labels(Batch<Sample>& batch) const {
    Sample& columns = batch.storage();
    Tensor* present = columns.find(rules_.labels);
    if (present != nullptr && present->dtype() == DType::f32 && present->shape().rank() == 2) {
      if (rules_.classes > 0 && present->shape()[1] != rules_.classes)
        throw Error(ErrorKind::usage, name_,
                    "column '" + rules_.labels + "' has shape " + present->shape().text() +
                        ", which is not `classes: " + std::to_string(rules_.classes) + "`");
      if (!is_own(*present)) *present = present->clone();
      return *present;
    }
    const bool numbers =
        present != nullptr && present->dtype() == DType::i64 && present->shape().rank() == 1;
    if (present != nullptr ? !numbers : rules_.labels != "label")
      throw Error(ErrorKind::usage, name_,
                  present == nullptr
                      ? "the batch has no column '" + rules_.labels + "'; name it with `labels`"
                      : "column '" + rules_.labels + "' has shape " + present->shape().text() +
                            " of " + name_of(present->dtype()) +
                            ", needed are class numbers, or vectors of f32 as `one_hot` gives");
    if (rules_.classes == 0)
      throw Error(ErrorKind::usage, name_,
                  "column '" + rules_.labels +
                      "' holds class numbers, which cannot be mixed; give `classes`, or put "
                      "`one_hot` before `batch`");
    const auto rows = static_cast<std::int64_t>(batch.size());
    Tensor soft({rows, rules_.classes}, DType::f32);
    std::memset(soft.bytes(), 0, soft.size_bytes());
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::int64_t label = numbers ? present->data<std::int64_t>()[i] : batch.labels()[at];
      // What stands for a bad sample may be of no class.
      if (batch.replaced(at) && label < 0) continue;
      if (label < 0 || label >= rules_.classes)
        throw Error(
            ErrorKind::data, name_,
            "sample " + std::to_string(batch.ids()[at]) +
                (label == -1 ? " has no label"
                             : " has label " + std::to_string(label) + ", which is outside 0 to " +
                                   std::to_string(rules_.classes - 1)));
      soft.data<float>()[i * rules_.classes + label] = 1.0F;
    }
    columns.set(rules_.labels, std::move(soft));
    return columns[rules_.labels];
  }

  const char* name_;
  MixingRules rules_;
  std::vector<std::string> columns_;
};

}  // namespace

double drawn_share(double alpha, Random& random) {
  const double own = log_gamma_draw(alpha, random);
  const double other = log_gamma_draw(alpha, random);
  const double share = 1.0 / (1.0 + std::exp(other - own));
  return std::nearbyint(share * kWhole) / kWhole;
}

std::shared_ptr<const BatchOperator> make_mixing(const char* name, MixingRules rules,
                                                 std::vector<std::string> columns) {
  return std::make_shared<const Mixing>(name, std::move(rules), std::move(columns));
}

ParameterSpec alpha_spec(const char* name) {
  return {.name = name,
          .type = ParameterType::number,
          .fallback = "1",
          .low = 1e-3,
          .high = 1e3,
          .meaning = "shares are drawn from Beta(alpha, alpha): small is mostly all or nothing"};
}

std::vector<ParameterSpec> mixing_specs(std::vector<ParameterSpec> own) {
  own.push_back({.name = "probability",
                 .type = ParameterType::share,
                 .fallback = "1",
                 .low = 0,
                 .high = 1,
                 .meaning = "how often a batch is mixed"});
  own.push_back({.name = "classes",
                 .type = ParameterType::integer,
                 .fallback = "none",
                 .low = 1,
                 .high = 1 << 24,
                 .meaning = "number of classes, where labels are class numbers; none: they are "
                            "vectors already"});
  own.push_back({.name = "labels",
                 .type = ParameterType::text,
                 .fallback = "label",
                 .meaning = "the column of the labels"});
  return own;
}

MixingRules mixing_rules(const Parameters& parameters) {
  MixingRules rules;
  rules.probability = parameters.number("probability");
  if (parameters.has("classes")) rules.classes = parameters.integer("classes");
  rules.labels = parameters.text("labels");
  return rules;
}

}  // namespace weir::detail
