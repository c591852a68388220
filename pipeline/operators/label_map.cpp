#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <weir/error.hpp>
#include <weir/sample_operator.hpp>

#include "pipeline/operators/columns.hpp"

namespace weir::detail {
namespace {

constexpr const char* kName = "label_map";

std::vector<std::int64_t> whole_in(const Parameters& parameters, std::string_view name) {
  std::vector<std::int64_t> whole;
  for (const double number : parameters.numbers(name)) {
    if (number != std::floor(number)) parameters.reject(name, "class numbers are whole");
    whole.push_back(static_cast<std::int64_t>(number));
  }
  return whole;
}

class LabelMap final : public SampleOperator {
 public:
  LabelMap(const Parameters& parameters, std::vector<std::string> columns)
      : columns_(std::move(columns)) {
    const std::vector<std::int64_t> to = whole_in(parameters, "to");
    std::vector<std::int64_t> from;
    if (parameters.has("from")) {
      from = whole_in(parameters, "from");
    } else {
      for (std::size_t i = 0; i < to.size(); ++i) from.push_back(static_cast<std::int64_t>(i));
    }
    if (from.size() != to.size())
      parameters.reject("to", "it has " + std::to_string(to.size()) + " entries but `from` has " +
                                  std::to_string(from.size()));
    for (std::size_t i = 0; i < from.size(); ++i)
      if (!map_.emplace(from[i], to[i]).second)
        parameters.reject("from", "class " + std::to_string(from[i]) + " stands twice");
    if (parameters.has("other")) other_ = parameters.integer("other");
  }

  void apply(Sample& sample, Context& context) const override {
    for (const std::string& column : columns_) {
      Tensor* present = sample.find(column);
      if (present == nullptr && column == "label") {
        // The label also travels beside the sample.
        if (context.label() < 0) throw BadSample("the sample has no label");
        Tensor label(Shape{}, DType::i64);
        *label.data<std::int64_t>() = mapped(context.label(), column);
        sample.set(column, std::move(label));
        continue;
      }
      Tensor& source = column_of(sample, kName, column);
      Tensor result = result_for(context, column, source.shape(), source.dtype(), source);
      switch (source.dtype()) {
        case DType::u8:
          change<std::uint8_t>(source, result, column);
          break;
        case DType::u16:
          change<std::uint16_t>(source, result, column);
          break;
        case DType::i32:
          change<std::int32_t>(source, result, column);
          break;
        case DType::i64:
          change<std::int64_t>(source, result, column);
          break;
        default:
          throw Error(ErrorKind::usage, kName,
                      "column '" + column + "' holds " + name_of(source.dtype()) +
                          ", which are no class numbers; needed are u8, u16, i32 or i64");
      }
      source = std::move(result);
    }
  }

  [[nodiscard]] bool cheap() const override { return true; }

 private:
  [[nodiscard]] std::int64_t mapped(std::int64_t label, const std::string& column) const {
    const auto found = map_.find(label);
    if (found != map_.end()) return found->second;
    if (other_) return *other_;
    throw BadSample("'" + column + "' holds class " + std::to_string(label) +
                    ", which the map does not name; give it a place, or `other`");
  }

  template <class T>
  void change(const Tensor& source, Tensor& target, const std::string& column) const {
    const T* in = source.data<T>();
    T* out = target.data<T>();
    const std::int64_t count = source.shape().elements();
    std::optional<T> last;
    T last_mapped{};
    for (std::int64_t i = 0; i < count; ++i) {
      // Neighbours in a mask mostly are of one class.
      if (last != in[i]) {
        const std::int64_t value = mapped(static_cast<std::int64_t>(in[i]), column);
        last_mapped = static_cast<T>(value);
        if (static_cast<std::int64_t>(last_mapped) != value)
          throw Error(ErrorKind::usage, kName,
                      "class " + std::to_string(value) + " does not fit into column '" + column +
                          "' of " + name_of(source.dtype()) + "; convert it first");
        last = in[i];
      }
      out[i] = last_mapped;
    }
  }

  std::map<std::int64_t, std::int64_t> map_;
  std::optional<std::int64_t> other_;
  std::vector<std::string> columns_;
};

}  // namespace

OperatorSpec label_map_spec() {
  constexpr double kMost = 2147483647;
  return {.name = kName,
          .summary = "gives class numbers other numbers, in `label` or in the pixels of a mask",
          .parameters = {{.name = "to",
                          .type = ParameterType::numbers,
                          .low = -1,
                          .high = kMost,
                          .meaning = "the new numbers, in the order of `from`"},
                         {.name = "from",
                          .type = ParameterType::numbers,
                          .fallback = "none",
                          .low = -1,
                          .high = kMost,
                          .meaning = "the old numbers; none: 0, 1, 2 and so on"},
                         {.name = "other",
                          .type = ParameterType::integer,
                          .fallback = "none",
                          .low = -1,
                          .high = kMost,
                          .meaning = "what every other number becomes; none: a bad sample"}},
          .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
            return SampleMap(
                std::make_shared<const LabelMap>(parameters, columns_or(columns, "label")));
          }};
}

}  // namespace weir::detail
