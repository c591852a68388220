#include "pipeline/operators/image_kernel.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <weir/error.hpp>

#include "pipeline/operators/columns.hpp"
#include "pipeline/operators/image_format.hpp"
#include "pipeline/operators/picture_part.hpp"
#include "pipeline/operators/row_renderer.hpp"

namespace weir::detail {
namespace {

/// One operator of the chain; `link` is `op` seen from its other side.
struct KernelLink {
  std::shared_ptr<const SampleOperator> op;
  const ImageLink* link = nullptr;
  std::uint32_t number = 0;
};

/// The chain, and what it comes to.
struct Recipe {
  std::vector<KernelLink> links;
  std::size_t moves_end = 1;  ///< links 1 to here move pixels and nothing else
  bool selects = false;       ///< some of them cut or resize
  std::string column;
  PixelLayout layout;
  /// A value operator behind the layout takes a picture that is as wide as it has channels for one
  /// with channels last.
  bool values_behind_layout = false;

  [[nodiscard]] const DecodeRules& rules() const { return *links.front().link->decode_rules(); }

  /// Adds what stands next in the chain; false where the kernel cannot do it there.
  [[nodiscard]] bool add(const ChainLink& written);
  /// The same chain, up to `end`.
  [[nodiscard]] static Recipe of(std::span<const ChainLink> chain, std::size_t end);
};

bool Recipe::add(const ChainLink& written) {
  const auto* link = dynamic_cast<const ImageLink*>(written.op.get());
  if (link == nullptr || link->image_columns().size() != 1) return false;
  const std::string& named = link->image_columns().front();
  const bool begins = links.empty();
  if (begins != (link->kind() == ImageLink::Kind::decode)) return false;
  if (!begins && named != column) return false;
  const auto resamples = [](const KernelLink& other) { return other.link->resamples(); };
  switch (link->kind()) {
    case ImageLink::Kind::decode: {
      const DecodeRules& own = *link->decode_rules();
      if ((own.channels != 1 && own.channels != 3) || own.accept_damaged || is_mask(named))
        return false;
      column = named;
      break;
    }
    case ImageLink::Kind::move:
      if (layout.planes || (layout.floats && !link->mirrors())) return false;
      if (link->resamples() && std::any_of(links.begin(), links.end(), resamples)) return false;
      if (moves_end == links.size()) {
        ++moves_end;
        selects = selects || !link->mirrors();
      }
      break;
    case ImageLink::Kind::value: {
      FloatRule next = layout.rule;
      if (!link->convert(next, !layout.floats, rules().channels)) return false;
      layout.rule = next;
      layout.floats = true;
      values_behind_layout = values_behind_layout || layout.planes;
      break;
    }
    case ImageLink::Kind::layout:
      if (layout.planes) return false;
      layout.planes = true;
      break;
  }
  links.push_back({written.op, link, written.number});
  return true;
}

Recipe Recipe::of(std::span<const ChainLink> chain, std::size_t end) {
  Recipe recipe;
  for (std::size_t i = 0; i < end && recipe.add(chain[i]); ++i) {
  }
  return recipe;
}

/// The frame that the first `count` links make; none where one of them cannot.
std::optional<ImageFrame> frame_of(const Recipe& recipe, std::size_t count, std::int64_t height,
                                   std::int64_t width, const Context& context) {
  ImageFrame frame;
  frame.height = height;
  frame.width = width;
  frame.region = {0, 0, height, width};
  for (std::size_t i = 1; i < count; ++i) {
    const KernelLink& one = recipe.links[i];
    if (one.link->kind() != ImageLink::Kind::move) continue;
    Random random = context.random_of(one.number);
    if (!one.link->move(frame, random)) return std::nullopt;
  }
  return frame;
}

/// The bytes of a jpeg that a kernel may try; none: the plain decoder's business.
std::optional<EncodedImage> encoded_in(const Tensor& file, const DecodeRules& rules) {
  if (file.shape().rank() != 1 || file.dtype() != DType::u8) return std::nullopt;
  if (file.size_bytes() > rules.max_bytes) return std::nullopt;
  if (sniff(file.span()) != ImageFormat::jpeg) return std::nullopt;
  EncodedImage image;
  image.bytes = file.span();
  return image;
}

/// Does the work of `first` to `end` by the operators themselves.
void run_plain(const Recipe& recipe, std::size_t first, std::size_t end, Sample& sample,
               Context& context, std::size_t lap_of_first) {
  for (std::size_t i = first; i < end; ++i) {
    Context own = context.of(recipe.links[i].number, i + 1 == end);
    recipe.links[i].op->apply(sample, own);
    context.lap(i < lap_of_first ? 0 : i - lap_of_first);
  }
}

/// Renders `part` into the place of `source`. `move_lap` and `value_lap`: whose time it is.
void render(const PicturePart& part, const RenderPlan& plan, const PixelLayout& layout,
            const std::string& column, Tensor& source, Context& context, std::size_t move_lap,
            std::size_t value_lap) {
  Tensor result =
      result_for(context, column, layout.shape(plan.out_height(), plan.out_width(), part.channels),
                 layout.dtype(), source);
  RowRenderer& renderer = RowRenderer::of_this_thread();
  renderer.begin(part, plan, layout, result);
  while (renderer.resample()) {
    context.lap(move_lap);
    renderer.write();
    context.lap(value_lap);
  }
  source = std::move(result);
}

/// The whole chain in one stage.
class WholeKernel final : public SampleOperator {
 public:
  explicit WholeKernel(Recipe recipe) : recipe_(std::move(recipe)) {}

  void apply(Sample& sample, Context& context) const override {
    Tensor* file = sample.find(recipe_.column);
    if (file == nullptr || !try_fused(*file, context))
      run_plain(recipe_, 0, recipe_.links.size(), sample, context, 0);
  }

 private:
  bool try_fused(Tensor& file, Context& context) const {
    const std::optional<EncodedImage> image = encoded_in(file, recipe_.rules());
    if (!image) return false;
    PartDecoder decoder(*image, recipe_.rules());
    if (!decoder.has_parts()) return false;
    const std::optional<ImageFrame> frame =
        frame_of(recipe_, recipe_.links.size(), decoder.height(), decoder.width(), context);
    if (!frame) return false;
    const RenderPlan plan(*frame, 8);
    const int channels = recipe_.rules().channels;
    if (recipe_.values_behind_layout && plan.out_width() == channels) return false;
    PartScratch& scratch = PartScratch::of_this_thread();
    const std::optional<PicturePart> part = decoder.decode(plan, channels, scratch);
    context.lap(0);
    if (part)
      render(*part, plan, recipe_.layout, recipe_.column, file, context, 1,
             recipe_.links.size() - 1);
    scratch.give_back_what_is_large();
    return part.has_value();
  }

  Recipe recipe_;
};

/// What stands in front of the pixels where a part of a picture travels from the stage that decodes
/// to the one that goes on: a tensor of bytes.
struct PackedPart {
  std::int64_t picture_height;
  std::int64_t picture_width;
  std::int64_t height;
  std::int64_t width;
  std::int64_t top;
  std::int64_t left;
  std::int64_t shrink;
  std::int64_t channels;
};

/// The first half, where decode has a stage of its own: a part of the picture, packed.
class DecodePart final : public SampleOperator {
 public:
  explicit DecodePart(Recipe recipe) : recipe_(std::move(recipe)) {}

  void apply(Sample& sample, Context& context) const override {
    Tensor* file = sample.find(recipe_.column);
    if (file == nullptr || !try_part(*file, context)) run_plain(recipe_, 0, 1, sample, context, 0);
  }

 private:
  bool try_part(Tensor& file, Context& context) const {
    const std::optional<EncodedImage> image = encoded_in(file, recipe_.rules());
    if (!image) return false;
    PartDecoder decoder(*image, recipe_.rules());
    if (!decoder.has_parts()) return false;
    const std::optional<ImageFrame> frame =
        frame_of(recipe_, recipe_.moves_end, decoder.height(), decoder.width(), context);
    if (!frame) return false;
    PartScratch& scratch = PartScratch::of_this_thread();
    const std::optional<PicturePart> part =
        decoder.decode(RenderPlan(*frame, 8), recipe_.rules().channels, scratch);
    if (part) {
      const PackedPart head{decoder.height(), decoder.width(), part->height, part->width,
                            part->top,        part->left,      part->shrink, part->channels};
      const std::size_t bytes = part->row_bytes * static_cast<std::size_t>(part->height);
      Tensor packed({static_cast<std::int64_t>(sizeof head + bytes)}, DType::u8);
      std::memcpy(packed.bytes(), &head, sizeof head);
      std::memcpy(packed.bytes() + sizeof head, part->pixels, bytes);
      file = std::move(packed);
    }
    scratch.give_back_what_is_large();
    context.lap(0);
    return part.has_value();
  }

  Recipe recipe_;
};

/// The second half: moves the pixels of a packed part, or of a picture that was decoded whole, and
/// does what stands behind in its stage.
class MovePart final : public SampleOperator {
 public:
  /// `first`: the first link of this stage.
  MovePart(Recipe recipe, std::size_t first) : recipe_(std::move(recipe)), first_(first) {}

  void apply(Sample& sample, Context& context) const override {
    Tensor& image = column_of(sample, "image_path", recipe_.column);
    if (image.shape().rank() != 1) {
      run_plain(recipe_, 1, recipe_.links.size(), sample, context, first_);
      return;
    }
    PackedPart head{};
    std::memcpy(&head, image.bytes(), sizeof head);
    PicturePart part;
    part.pixels = image.data<std::uint8_t>() + sizeof head;
    part.height = head.height;
    part.width = head.width;
    part.top = head.top;
    part.left = head.left;
    part.shrink = static_cast<int>(head.shrink);
    part.channels = static_cast<int>(head.channels);
    part.row_bytes = static_cast<std::size_t>(head.width * head.channels);
    const std::optional<ImageFrame> frame =
        frame_of(recipe_, recipe_.links.size(), head.picture_height, head.picture_width, context);
    if (!frame) throw Error(ErrorKind::data, "image_path", "a part of a picture has no frame");
    render(part, RenderPlan(*frame, part.shrink), recipe_.layout, recipe_.column, image, context, 0,
           recipe_.links.size() - 1 - first_);
  }

 private:
  Recipe recipe_;
  std::size_t first_;
};

/// Stands where an earlier stage has done the work.
class DoneBefore final : public SampleOperator {
 public:
  void apply(Sample&, Context&) const override {}
  [[nodiscard]] bool cheap() const override { return true; }
};

/// Behind the link where the stage that `first` begins ends.
std::size_t segment_end(std::span<const ChainLink> chain, std::size_t first, std::size_t end) {
  std::size_t at = first + 1;
  while (at < end && !chain[at - 1].alone && !chain[at - 1].last && !chain[at].alone) ++at;
  return at;
}

}  // namespace

std::vector<ChainPart> replace_image_chain(std::span<const ChainLink> chain) {
  const Recipe whole = Recipe::of(chain, chain.size());
  if (!whole.selects) return {};
  const std::size_t end = whole.links.size();
  const std::size_t moves_end = whole.moves_end;
  const std::size_t first_end = segment_end(chain, 0, end);
  if (first_end >= moves_end)
    return {{first_end, std::make_shared<const WholeKernel>(Recipe::of(chain, first_end))}};

  std::vector<ChainPart> parts;
  parts.push_back({first_end, std::make_shared<const DecodePart>(Recipe::of(chain, moves_end))});
  const std::size_t second_end = segment_end(chain, first_end, end);
  // Its moves are all of them, also those that stand in later stages.
  const std::size_t covered = std::max(second_end, moves_end);
  parts.push_back({second_end - first_end,
                   std::make_shared<const MovePart>(Recipe::of(chain, covered), first_end)});
  for (std::size_t at = second_end; at < moves_end;) {
    const std::size_t next = std::min(segment_end(chain, at, end), moves_end);
    parts.push_back({next - at, std::make_shared<const DoneBefore>()});
    at = next;
  }
  return parts;
}

}  // namespace weir::detail
