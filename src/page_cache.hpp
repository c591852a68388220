#pragma once

#include <cstdint>
#include <string>

#include <weir/load_pipeline.hpp>

namespace weir::program {

/// What became of the pages of a data set's files.
struct DroppedPages {
  std::uint64_t files = 0;
  std::uint64_t unopened = 0;  ///< reading them will say why
  std::uint64_t kept = 0;      ///< files of which pages are still in the cache
  std::uint64_t untold = 0;    ///< the kernel does not say, as of files of others
};

/// Asks the kernel to drop the pages of every file that the pipeline reads, so that a run shows the
/// disk, and then looks what is left. What is not on the disk yet is written there first. Pages
/// that others have mapped or locked stay, and all of a file system without a disk.
[[nodiscard]] DroppedPages drop_pages(const Pipeline& pipeline);
/// For the user, one line.
[[nodiscard]] std::string to_text(const DroppedPages& dropped);

}  // namespace weir::program
