#pragma once

#include <memory>
#include <string>

#include <weir/context.hpp>
#include <weir/export.hpp>
#include <weir/file.hpp>
#include <weir/sample.hpp>

namespace weir {

/// Reads a file and the mask that belongs to it, as columns `image`, `mask` and `label`:
/// `weir::files("photos").map("read", weir::MaskedRead("masks"))`, in a pipeline file
/// `read: {masks: masks}`.
///
/// The mask of `train/a.jpg` is the file below the masks' folder that is called `train/a`, whatever
/// its extension.
///
/// Thread safety: as a const function; several workers call it at once.
class WEIR_EXPORT MaskedRead {
 public:
  /// Lists the folder. Throws Error(usage) for a missing one, and where two files are the mask of
  /// one image.
  explicit MaskedRead(const std::string& root);
  /// Throws BadSample for a file that cannot be read or has no mask.
  [[nodiscard]] Sample operator()(Path path, Context& context) const;

 private:
  struct Files;
  /// Shared by the copies that the stream and its runs hold of the function.
  std::shared_ptr<const Files> files_;
};

}  // namespace weir
