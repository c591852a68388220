#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weir/export.hpp>

namespace weir {

/// Where a consumer stands in the stream, exactly: what `options.resume` continues from.
struct Position {
  std::uint32_t epoch = 0;
  std::uint64_t source_index = 0;  ///< first item of the epoch's source that is not yet delivered
  std::uint32_t split = 0;         ///< items of it that are (behind flat_map)
  std::uint64_t delivered_in_epoch = 0;  ///< what next() handed over in this epoch
  std::uint64_t delivered = 0;           ///< and since the first start
  std::uint64_t samples = 0;             ///< rows among them
  std::uint64_t bad = 0;                 ///< bad samples so far
  std::uint64_t bad_in_epoch = 0;
  std::uint64_t good_in_epoch = 0;
  std::uint64_t digest_low = 0;  ///< the running digest, see Options::digest
  std::uint64_t digest_high = 0;
  std::uint64_t set_digest = 0;
  std::uint64_t seed = 0;
  std::uint64_t structure = 0;  ///< hash of the operators; another pipeline refuses the position

  /// Bad samples that count against the limit of one stage with a policy of its own.
  struct StageBad {
    std::string stage;
    std::uint64_t bad = 0;
    std::uint64_t bad_in_epoch = 0;
  };
  std::vector<StageBad> stages_bad;  ///< those of `bad` that do not count against the run's limit

  /// One line of text, and back; parse throws Error(usage) for anything else.
  [[nodiscard]] WEIR_EXPORT std::string text() const;
  [[nodiscard]] WEIR_EXPORT static Position parse(const std::string& text);
};

}  // namespace weir
