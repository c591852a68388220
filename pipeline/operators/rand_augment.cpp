#include <memory>
#include <utility>

#include <weir/sample_operator.hpp>

#include "pipeline/operators/augmentation.hpp"

namespace weir::detail {
namespace {

constexpr const char* kName = "rand_augment";

/// As torchvision has it: of a picture 331 wide, a shift goes up to 150 pixels.
constexpr AugmentationReach kReach{.shear = 0.3,
                                   .translate_share = 150.0 / 331.0,
                                   .rotate_degrees = 30,
                                   .factor = 0.9,
                                   .posterize_bits = 4};

class RandAugment final : public SampleOperator {
 public:
  RandAugment(const Parameters& parameters, std::vector<std::string> columns)
      : operations_(parameters.integer("num_ops")),
        magnitude_(parameters.integer("magnitude")),
        bins_(parameters.integer("num_magnitude_bins")),
        look_(look_in(parameters)),
        columns_(std::move(columns)) {
    if (magnitude_ >= bins_)
      parameters.reject("magnitude",
                        "it counts from 0, and `num_magnitude_bins` is " + std::to_string(bins_));
  }

  void apply(Sample& sample, Context& context) const override {
    const ImageSize size = augmentable_size(sample, kName, columns_);
    Random& random = context.random();
    for (std::int64_t i = 0; i < operations_; ++i) {
      const auto kind = static_cast<AugmentationKind>(random.below(kAugmentationKinds));
      augment(sample, context, columns_,
              drawn_augmentation(kind, magnitude_, bins_, kReach, size, random), look_);
    }
  }

 private:
  std::int64_t operations_;
  std::int64_t magnitude_;
  std::int64_t bins_;
  AugmentationLook look_;
  std::vector<std::string> columns_;
};

}  // namespace

OperatorSpec rand_augment_spec() {
  std::vector<ParameterSpec> parameters{
      {.name = "num_ops",
       .type = ParameterType::integer,
       .fallback = "2",
       .low = 1,
       .high = 100,
       .meaning = "how many changes, one after another"},
      {.name = "magnitude",
       .type = ParameterType::integer,
       .fallback = "9",
       .low = 0,
       .high = 1000,
       .meaning = "how strong they are, below `num_magnitude_bins`"},
      {.name = "num_magnitude_bins",
       .type = ParameterType::integer,
       .fallback = "31",
       .low = 2,
       .high = 1000,
       .meaning = "how many magnitudes there are"}};
  for (ParameterSpec& spec : look_specs()) parameters.push_back(std::move(spec));
  return {.name = kName,
          .summary = "makes some random changes of fixed strength (RandAugment), of u8",
          .parameters = std::move(parameters),
          .make = [](const Parameters& checked, const std::vector<std::string>& columns) {
            return SampleMap(
                std::make_shared<const RandAugment>(checked, columns_or(columns, "image")));
          }};
}

}  // namespace weir::detail
