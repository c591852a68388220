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

/// A rectangle of a picture that is reduced by `shrink` while it is decoded; in pixels of the
/// reduced picture.
struct JpegPart {
  int shrink = 1;  ///< 1, 2, 4 or 8
  std::int64_t top = 0;
  std::int64_t left = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
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

  /// True where parts are exact: not for pictures of inks, nor for rare samplings of colour.
  [[nodiscard]] bool has_parts() const;
  /// Goes to the first row of a part and sets `left` and `width` to the columns that rows will
  /// really hold, which are some more. False: the picture is damaged. Requires: the part lies
  /// inside of the reduced picture; channels 1 or 3; called once, and then read_part().
  [[nodiscard]] bool begin_part(JpegPart& part, int channels);
  /// Reads the rows of the part begun, `row_bytes` apart. What lies below the part is not decoded:
  /// its markers alone are looked at. False: damage, or markers that may mean some; who decodes the
  /// whole picture then learns what it is.
  [[nodiscard]] bool read_part(std::uint8_t* pixels, std::size_t row_bytes);

  /// What was odd about the file but cost no pixel.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Session;
  struct Destroy {
    void operator()(Session* session) const;
  };
  [[noreturn]] void fail() const;
  void collect_notes();

  std::unique_ptr<Session, Destroy> session_;
  std::vector<std::string> notes_;
};

}  // namespace weir::detail
