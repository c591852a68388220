#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <weir/error.hpp>
#include <weir/sample_operator.hpp>

#include "pipeline/operators/columns.hpp"

namespace weir::detail {
namespace {

constexpr const char* kName = "one_hot";

class OneHot final : public SampleOperator {
 public:
  OneHot(std::int64_t classes, double smoothing, std::vector<std::string> columns)
      : classes_(classes),
        off_(static_cast<float>(smoothing / static_cast<double>(classes))),
        on_(static_cast<float>(1.0 - smoothing + smoothing / static_cast<double>(classes))),
        columns_(std::move(columns)) {}

  void apply(Sample& sample, Context& context) const override {
    for (const std::string& column : columns_) {
      const std::int64_t label = label_of(sample, column, context);
      if (label < 0 || label >= classes_) {
        throw BadSample(label == -1 ? "the sample has no label"
                                    : "label " + std::to_string(label) + " is outside 0 to " +
                                          std::to_string(classes_ - 1));
      }
      Tensor result = context.allocate(column, Shape{classes_}, DType::f32);
      float* values = result.data<float>();
      std::fill_n(values, classes_, off_);
      values[label] = on_;
      sample.set(column, std::move(result));
    }
  }

  [[nodiscard]] bool cheap() const override { return true; }

 private:
  static std::int64_t label_of(const Sample& sample, const std::string& column,
                               const Context& context) {
    const Tensor* label = sample.find(column);
    // The label also travels beside the sample.
    if (label == nullptr && column == "label") return context.label();
    const Tensor& present = sample[column];
    if (present.shape().elements() != 1 || present.dtype() != DType::i64) {
      throw Error(ErrorKind::usage, kName,
                  "column '" + column + "' has shape " + present.shape().text() + " of " +
                      name_of(present.dtype()) + ", needed is one i64, a class number");
    }
    return *present.data<std::int64_t>();
  }

  std::int64_t classes_;
  float off_;
  float on_;
  std::vector<std::string> columns_;
};

}  // namespace

OperatorSpec one_hot_spec() {
  return {.name = kName,
          .summary = "turns the class number in `label` into a vector of zeros and a one",
          .parameters = {{.name = "classes",
                          .type = ParameterType::integer,
                          .low = 1,
                          .high = 1 << 24,
                          .meaning = "number of classes"},
                         {.name = "smoothing",
                          .type = ParameterType::share,
                          .fallback = "0",
                          .low = 0,
                          .high = 1,
                          .meaning = "label smoothing: the share that all classes get alike"}},
          .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
            return SampleMap(std::make_shared<const OneHot>(parameters.integer("classes"),
                                                            parameters.number("smoothing"),
                                                            columns_or(columns, "label")));
          }};
}

}  // namespace weir::detail
