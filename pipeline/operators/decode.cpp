#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <weir/error.hpp>
#include <weir/sample_operator.hpp>

#include "pipeline/operators/columns.hpp"
#include "pipeline/operators/image_decoder.hpp"
#include "pipeline/operators/image_kernel.hpp"
#include "pipeline/operators/image_link.hpp"

namespace weir::detail {
namespace {

constexpr const char* kName = "decode";

DecodeRules rules_in(const Parameters& parameters) {
  DecodeRules rules;
  const std::string& channels = parameters.text("channels");
  rules.channels = channels == "keep" ? 0 : channels.front() - '0';
  const std::string& alpha = parameters.text("alpha");
  if (alpha == "drop") rules.alpha = Alpha::drop;
  if (alpha == "keep") rules.alpha = Alpha::keep;
  if (rules.alpha == Alpha::keep && rules.channels != 4 && rules.channels != 0) {
    parameters.reject("alpha", "it needs `channels: 4` or `channels: keep`");
  }
  const std::vector<double> background = parameters.numbers("background");
  if (background.size() != 1 && background.size() != 3) {
    parameters.reject("background", "give one value, or red, green and blue");
  }
  for (std::size_t i = 0; i < 3; ++i) {
    rules.background[i] = background[background.size() == 3 ? i : 0];
  }
  const std::string& depth = parameters.text("depth");
  if (depth == "u8") rules.depth = Depth::u8;
  if (depth == "keep") rules.depth = Depth::keep;
  rules.apply_exif = parameters.text("exif") == "apply";
  rules.accept_damaged = parameters.text("on_damaged") == "accept";
  rules.max_pixels = static_cast<std::uint64_t>(parameters.integer("max_pixels"));
  rules.max_bytes = static_cast<std::uint64_t>(parameters.number("max_bytes"));
  rules.max_scans = static_cast<int>(parameters.integer("max_scans"));
  return rules;
}

class Decode final : public SampleOperator, public ImageLink {
 public:
  Decode(const DecodeRules& rules, std::vector<std::string> columns)
      : rules_(rules), columns_(std::move(columns)) {}

  void apply(Sample& sample, Context& context) const override {
    for (const std::string& column : columns_) {
      Tensor& file = column_of(sample, kName, column);
      if (file.shape().rank() != 1 || file.dtype() != DType::u8) {
        throw Error(ErrorKind::usage, kName,
                    "column '" + column + "' has shape " + file.shape().text() + " of " +
                        name_of(file.dtype()) +
                        ", needed are the bytes of a file; place the "
                        "operator behind `read`, and once only");
      }
      DecodedImage image = decode_image(file.span(), rules_, [&](const Shape& shape, DType dtype) {
        return result_for(context, column, shape, dtype, file);
      });
      file = std::move(image.tensor);
    }
  }

  [[nodiscard]] std::vector<ChainPart> replace(std::span<const ChainLink> chain) const override {
    return replace_image_chain(chain);
  }

  [[nodiscard]] Kind kind() const override { return Kind::decode; }
  [[nodiscard]] const std::vector<std::string>& image_columns() const override { return columns_; }
  [[nodiscard]] const DecodeRules* decode_rules() const override { return &rules_; }

 private:
  DecodeRules rules_;
  std::vector<std::string> columns_;
};

}  // namespace

OperatorSpec decode_spec() {
  return {
      .name = kName,
      .summary = "decodes the bytes of a jpeg, png, webp, bmp, tiff, gif or pnm into pixels, RGB",
      .parameters = {{.name = "channels",
                      .type = ParameterType::choice,
                      .fallback = "3",
                      .choices = {"1", "3", "4", "keep"},
                      .meaning = "grey is replicated where 3 are asked for; keep takes the file's"},
                     {.name = "alpha",
                      .type = ParameterType::choice,
                      .fallback = "composite",
                      .choices = {"composite", "drop", "keep"},
                      .meaning =
                          "transparency: laid over `background`, left away, or kept as channel 4"},
                     {.name = "background",
                      .type = ParameterType::numbers,
                      .fallback = "0",
                      .low = 0,
                      .high = 255,
                      .meaning = "colour under transparent pixels, one value or red, green, blue"},
                     {.name = "depth",
                      .type = ParameterType::choice,
                      .fallback = "refuse",
                      .choices = {"refuse", "u8", "keep"},
                      .meaning = "16 bits a channel: a bad sample, rounded to 8, or kept as u16"},
                     {.name = "exif",
                      .type = ParameterType::choice,
                      .fallback = "apply",
                      .choices = {"apply", "ignore"},
                      .meaning = "whether the picture is turned as its EXIF orientation says"},
                     {.name = "on_damaged",
                      .type = ParameterType::choice,
                      .fallback = "fail",
                      .choices = {"fail", "accept"},
                      .meaning = "a damaged jpeg: a bad sample, or what could be decoded of it"},
                     {.name = "max_pixels",
                      .type = ParameterType::integer,
                      .fallback = "64000000",
                      .low = 1,
                      .meaning = "most pixels, judged from the header before memory is taken"},
                     {.name = "max_bytes",
                      .type = ParameterType::size,
                      .fallback = "256MiB",
                      .low = 1,
                      .meaning = "most bytes of a file"},
                     {.name = "max_scans",
                      .type = ParameterType::integer,
                      .fallback = "500",
                      .low = 1,
                      .high = 100000,
                      .meaning = "most scans of a progressive jpeg"}},
      .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
        return SampleMap(
            std::make_shared<const Decode>(rules_in(parameters), columns_or(columns, "image")));
      }};
}

}  // namespace weir::detail
