#include <memory>
#include <utility>

#include <weir/sample_operator.hpp>

#include "pipeline/operators/augmentation.hpp"

namespace weir::detail {
namespace {

constexpr const char* kName = "trivial_augment_wide";

/// The wide ranges of Müller and Hutter, "TrivialAugment" (ICCV 2021), as torchvision has them.
constexpr AugmentationReach kReach{.shear = 0.99,
                                   .translate_pixels = 32,
                                   .rotate_degrees = 135,
                                   .factor = 0.99,
                                   .posterize_bits = 6};

class TrivialAugmentWide final : public SampleOperator {
 public:
  TrivialAugmentWide(const Parameters& parameters, std::vector<std::string> columns)
      : bins_(parameters.integer("num_magnitude_bins")),
        look_(look_in(parameters)),
        columns_(std::move(columns)) {}

  void apply(Sample& sample, Context& context) const override {
    const ImageSize size = augmentable_size(sample, kName, columns_);
    Random& random = context.random();
    const auto kind = static_cast<AugmentationKind>(random.below(kAugmentationKinds));
    const auto bin = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(bins_)));
    augment(sample, context, columns_, drawn_augmentation(kind, bin, bins_, kReach, size, random),
            look_);
  }

 private:
  std::int64_t bins_;
  AugmentationLook look_;
  std::vector<std::string> columns_;
};

}  // namespace

OperatorSpec trivial_augment_wide_spec() {
  std::vector<ParameterSpec> parameters{{.name = "num_magnitude_bins",
                                         .type = ParameterType::integer,
                                         .fallback = "31",
                                         .low = 2,
                                         .high = 1000,
                                         .meaning = "how many magnitudes there are to draw from"}};
  for (ParameterSpec& spec : look_specs()) parameters.push_back(std::move(spec));
  return {.name = kName,
          .summary = "makes one random change of random strength (TrivialAugment), of u8",
          .parameters = std::move(parameters),
          .make = [](const Parameters& checked, const std::vector<std::string>& columns) {
            return SampleMap(
                std::make_shared<const TrivialAugmentWide>(checked, columns_or(columns, "image")));
          }};
}

}  // namespace weir::detail
