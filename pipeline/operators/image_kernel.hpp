#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <weir/sample_operator.hpp>

/// One kernel for the usual chains of operators on images: decode, what moves pixels (crop, resize,
/// flip), what makes floats of them (to_float, normalize), hwc_to_chw. `image_path: auto` puts it
/// in their place.
///
/// - Of a jpeg it decodes the part that the result needs, and reduces it by 2, 4 or 8 while
/// decoding
///   where the crop is at least so many times larger than the target (antialias: twice that, so
///   that the filter does the rest). Then rows are resampled, mirrored, made floats of and laid out
///   in one pass, in scratch of the worker's, and written to their place in the batch.
/// - Random draws are those of the plain operators, and so are the boxes. Pixels differ a little:
///   resampling counts in other fractions, and a picture reduced in the decoder is an average where
///   linear resampling takes two neighbours.
/// - What it cannot do (other formats, inks, rare samplings, a border around a small picture,
///   damage) the plain operators do for that sample, so that answers and reasons are theirs.
/// - Below the rows that a crop needs a file's markers are looked at and its pixels are not: a cut
///   file or a foreign marker is found, a flipped bit in pixels that nobody wants is not.
namespace weir::detail {

/// Finds the longest chain at the beginning of `chain` that a kernel can do, and says what does
/// which part of it. Operators that a hand setting keeps in stages of their own share the work:
/// decode's stage decodes the part, the stage of the first operator that moves pixels moves them.
/// So the pixels do not depend on how the chain is cut into stages. Empty: no such chain.
[[nodiscard]] std::vector<ChainPart> replace_image_chain(std::span<const ChainLink> chain);

}  // namespace weir::detail
