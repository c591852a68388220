#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <weir/digest.hpp>
#include <weir/file.hpp>
#include <weir/file_index.hpp>

#include "pipeline/operators/image_decoder.hpp"

namespace weir::program {

enum class ScanStatus : std::uint8_t {
  ok,
  noted,  ///< it can be used, but something about it is odd
  bad,    ///< a run would end with it, or pass over it
};

/// What was found out about one file.
struct ScanEntry {
  std::uint64_t file = 0;  ///< the entry of the listing
  ScanStatus status = ScanStatus::ok;
  detail::ImageFormat format = detail::ImageFormat::unknown;
  std::int64_t width = 0;  ///< upright, as the header has it; 0: it has none
  std::int64_t height = 0;
  int channels = 0;  ///< in the file
  std::uint64_t bytes = 0;
  std::string reason;  ///< of a bad one
  std::vector<std::string> notes;
  Hash128 content;  ///< where asked for
};

/// What a scan looks at.
struct ScanRules {
  detail::DecodeRules decode;
  bool quick = false;    ///< headers alone
  bool content = false;  ///< digest what the file holds
};

/// A file that is there: open, and asked of the kernel ahead of its turn. What is not a regular
/// file is never opened.
struct FoundFile {
  Path path;
  std::string reason;  ///< why it is none; empty: it is there
};

[[nodiscard]] FoundFile find_file(const std::shared_ptr<const FileIndex>& index,
                                  std::uint64_t file);
/// Reads and decodes. Throws Error where the machine and not the file is at fault.
[[nodiscard]] ScanEntry scan_file(FoundFile found, const ScanRules& rules);

/// The class that a reason belongs to: "damaged", "not an image", "above a limit", "not supported",
/// "needs a setting", "cannot be read".
[[nodiscard]] std::string kind_of_reason(const std::string& reason);

}  // namespace weir::program
