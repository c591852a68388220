#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <weir/sample_operator.hpp>

namespace weir::detail {

OperatorSpec decode_spec();
OperatorSpec random_resized_crop_spec();

namespace {

constexpr const char* kName = "random_crop_decode_resize";

/// Does the work of a part that begins with both operators inside this one. All time is the first
/// one's: the part would count one operator more than there are.
class JoinedPart final : public SampleOperator {
 public:
  explicit JoinedPart(std::shared_ptr<const SampleOperator> part) : part_(std::move(part)) {}

  void apply(Sample& sample, Context& context) const override {
    Context uncounted = context;
    uncounted.count_laps(nullptr);
    part_->apply(sample, uncounted);
    context.lap(0);
  }
  [[nodiscard]] bool cheap() const override { return part_->cheap(); }

 private:
  std::shared_ptr<const SampleOperator> part_;
};

/// `decode` and `random_resized_crop` under one name: the same draws, boxes and pixels, whether
/// they do it themselves or the image kernel does it for them.
class RandomCropDecodeResize final : public SampleOperator {
 public:
  RandomCropDecodeResize(SampleMap decode, SampleMap crop)
      : decode_(std::move(decode)), crop_(std::move(crop)) {}

  void apply(Sample& sample, Context& context) const override {
    // Draws nothing, and its result is not the one that may lie in the batch.
    Context decoding = context.of(0, false);
    decode_.op().apply(sample, decoding);
    crop_.op().apply(sample, context);
  }

  [[nodiscard]] std::vector<ChainPart> replace(std::span<const ChainLink> chain) const override {
    const ChainLink& own = chain.front();
    std::vector<ChainLink> written;
    written.push_back({decode_.shared(), own.number, false, false});
    // What keeps this operator alone ends the stage behind the crop.
    written.push_back({crop_.shared(), own.number, false, own.last || own.alone});
    written.insert(written.end(), chain.begin() + 1, chain.end());
    std::vector<ChainPart> parts = decode_.op().replace(written);
    if (parts.empty()) return parts;
    ChainPart& first = parts.front();
    --first.count;
    if (first.count > 1) first.op = std::make_shared<const JoinedPart>(first.op);
    return parts;
  }

 private:
  SampleMap decode_;
  SampleMap crop_;
};

}  // namespace

OperatorSpec random_crop_decode_resize_spec() {
  std::vector<ParameterSpec> parameters = random_resized_crop_spec().parameters;
  for (ParameterSpec& spec : decode_spec().parameters) parameters.push_back(std::move(spec));
  return {.name = kName,
          .summary = "decodes no more than a part of random area and aspect, and resizes it",
          .parameters = std::move(parameters),
          .make = [](const Parameters& checked, const std::vector<std::string>& columns) {
            return SampleMap(std::make_shared<const RandomCropDecodeResize>(
                decode_spec().make(checked, columns),
                random_resized_crop_spec().make(checked, columns)));
          }};
}

}  // namespace weir::detail
