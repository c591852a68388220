#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace weir::detail {

/// What a jpeg may cost.
struct JpegLimits {
  std::uint64_t max_pixels = 0;
  int max_scans = 0;
};

/// Decodes one jpeg by libjpeg, judging every warning of it.
///
/// libjpeg goes on after most damage and delivers a picture with grey or shifted parts; the warning
/// is the only sign. Warnings that mean lost picture data make the file damaged, the others are
/// notes. The object is made for one file and not kept: libjpeg's decoder carries tables from one
/// file to the next, so that a file that lacks its own would decode differently on each worker.
///
/// Thread safety: belongs to one thread.
class JpegReader {
 public:
  /// Reads the header; throws BadSample where it is damaged, not supported or above a limit. The
  /// bytes must outlive the reader.
  JpegReader(std::span<const std::byte> bytes, const JpegLimits& limits);
  ~JpegReader();
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  [[nodiscard]] std::int64_t width() const;
  [[nodiscard]] std::int64_t height() const;
  /// 1 for a grey picture, else 3.
  [[nodiscard]] int channels() const;

  /// Decodes to rows x columns x `channels`: 1 grey, 3 RGB, 4 RGB and opaque alpha. Throws
  /// BadSample for damage, unless `accept_damaged`: then what was not decoded is 0. Requires: room
  /// for the whole picture; called once.
  void read_pixels(std::uint8_t* pixels, int channels, bool accept_damaged);

  /// What was odd about the file but cost no pixel.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Session;
  [[noreturn]] void fail() const;
  void collect_notes();

  std::unique_ptr<Session> session_;
  std::vector<std::string> notes_;
};

}  // namespace weir::detail
