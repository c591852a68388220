#include "pipeline/operators/jpeg_reader.hpp"

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include <jpeglib.h>
// After jpeglib.h, which it needs.
#include <jerror.h>

#include <weir/error.hpp>

namespace weir::detail {
namespace {

constexpr std::size_t kMostNotes = 4;
using Text = std::array<char, JMSG_LENGTH_MAX>;

enum class Judgement : std::uint8_t { note, damage };

/// The bytes that libjpeg passed over just before the marker that it found. They were scan data,
/// and thus a sign that the decoder lost its place, unless they are what programs leave between
/// parts of a file: zeros or a text. A few bytes may be printable by chance, so a text must have
/// some length.
bool look_like_padding(const JOCTET* begin, const JOCTET* end) {
  constexpr std::ptrdiff_t kShortestText = 16;
  const auto is_zero = [](JOCTET c) { return c == 0; };
  const auto is_text = [](JOCTET c) { return (c >= 0x20 && c < 0x7f) || (c >= '\t' && c <= '\r'); };
  return std::all_of(begin, end, is_zero) ||
         (end - begin >= kShortestText && std::all_of(begin, end, is_text));
}

/// `first` is the start of the file.
Judgement judge_extraneous(const jpeg_decompress_struct& decoder, const JOCTET* first) {
  const int skipped = decoder.err->msg_parm.i[0];
  const int marker = decoder.err->msg_parm.i[1];
  // Before the first scan nothing of the picture can be lost.
  if (decoder.input_scan_number == 0) return Judgement::note;
  if (marker >= JPEG_RST0 && marker <= JPEG_RST0 + 7) return Judgement::damage;
  // libjpeg passes over bytes one by one and moves the source with them; it has looked at the
  // marker, but moves behind it only after this message.
  const JOCTET* const end = decoder.src->next_input_byte;
  if (end - first < skipped) return Judgement::damage;
  return look_like_padding(end - skipped, end) ? Judgement::note : Judgement::damage;
}

Judgement judge(const jpeg_decompress_struct& decoder, const JOCTET* first) {
  switch (decoder.err->msg_code) {
    case JWRN_EXTRANEOUS_DATA:
      return judge_extraneous(decoder, first);
    case JWRN_ADOBE_XFORM:
    case JWRN_JFIF_MAJOR:
    case JWRN_BOGUS_ICC:
    case JWRN_NOT_SEQUENTIAL:
      return Judgement::note;
    default:
      return Judgement::damage;
  }
}

/// Errors that tell of a jpeg of a kind that this library does not read, rather than of damage.
bool means_unsupported(int code) {
  switch (code) {
    case JERR_ARITH_NOTIMPL:
    case JERR_BAD_PRECISION:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_SOF_UNSUPPORTED:
      return true;
    default:
      return false;
  }
}

/// How many scans the markers announce, up to `most`. Nothing is decoded: a picture of many scans
/// costs memory for all of its coefficients, and time for each scan, before its first row is there.
int count_scans(std::span<const std::byte> bytes, int most) {
  const JOCTET* at = reinterpret_cast<const JOCTET*>(bytes.data()) + 2;
  const JOCTET* const end = reinterpret_cast<const JOCTET*>(bytes.data()) + bytes.size();
  int scans = 0;
  while (at < end && scans < most) {
    at = static_cast<const JOCTET*>(std::memchr(at, 0xff, static_cast<std::size_t>(end - at)));
    if (at == nullptr || end - at < 4) break;
    const int marker = at[1];
    if (marker == JPEG_EOI) break;
    const bool in_scan = marker == 0 || (marker >= JPEG_RST0 && marker <= JPEG_RST0 + 7);
    constexpr int kStartOfScan = 0xda;
    if (marker == kStartOfScan) ++scans;
    if (in_scan || marker == 0xff)
      at += marker == 0xff ? 1 : 2;
    else
      at += std::min<std::ptrdiff_t>(end - at, 2 + (at[2] << 8) + at[3]);
  }
  return scans;
}

/// Adobe's programs store inks inverted (255 is no ink), and in practice so does everybody: the
/// product with black, as OpenCV and PIL compute it too.
void inks_to_rgb(const JOCTET* inks, std::uint8_t* out, JDIMENSION width, int channels) {
  for (JDIMENSION x = 0; x < width; ++x, inks += 4, out += channels) {
    std::array<unsigned, 3> rgb{};
    for (std::size_t i = 0; i < 3; ++i) rgb[i] = (unsigned{inks[i]} * inks[3] + 127) / 255;
    if (channels == 1) {
      out[0] = static_cast<std::uint8_t>((77 * rgb[0] + 150 * rgb[1] + 29 * rgb[2] + 128) >> 8U);
      continue;
    }
    for (std::size_t i = 0; i < 3; ++i) out[i] = static_cast<std::uint8_t>(rgb[i]);
    if (channels == 4) out[3] = 255;
  }
}

}  // namespace

/// libjpeg's structures and what its callbacks leave for us. Plain data: a longjmp passes over it.
struct JpegReader::Session {
  jpeg_decompress_struct decoder{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf escape{};
  const JOCTET* first = nullptr;
  bool stop_at_damage = true;
  bool is_damaged = false;
  bool is_unsupported = false;
  bool too_many_scans = false;
  int max_scans = 0;
  // As the first frame header has it: libjpeg takes over the numbers of a second one before it says
  // that there must be none.
  std::int64_t first_width = 0;
  std::int64_t first_height = 0;
  Text reason{};  ///< of the first damage or the error
  std::array<Text, kMostNotes> notes{};
  std::size_t note_count = 0;
  JpegPart part;

  static Session& of(j_common_ptr common) { return *static_cast<Session*>(common->client_data); }

  [[noreturn]] static void on_error(j_common_ptr common) {
    Session& session = of(common);
    session.is_unsupported = means_unsupported(common->err->msg_code);
    if (!session.is_damaged) common->err->format_message(common, session.reason.data());
    session.is_damaged = true;
    std::longjmp(session.escape, 1);
  }

  static void on_message(j_common_ptr common, int level) {
    if (level >= 0) return;  // A trace message.
    Session& session = of(common);
    ++common->err->num_warnings;
    if (judge(session.decoder, session.first) == Judgement::note) {
      if (session.note_count < kMostNotes) {
        common->err->format_message(common, session.notes[session.note_count++].data());
      }
      return;
    }
    if (!session.is_damaged) common->err->format_message(common, session.reason.data());
    session.is_damaged = true;
    if (session.stop_at_damage) std::longjmp(session.escape, 1);
  }

  static void on_progress(j_common_ptr common) {
    Session& session = of(common);
    if (session.decoder.input_scan_number <= session.max_scans) return;
    session.too_many_scans = true;
    std::longjmp(session.escape, 1);
  }

  // The functions that libjpeg may leave by longjmp hold nothing that needs a destructor.

  bool read_header(const JOCTET* bytes, unsigned long size) {
    if (setjmp(escape) != 0) return false;
    jpeg_create_decompress(&decoder);
    decoder.client_data = this;
    decoder.progress = &progress;
    jpeg_mem_src(&decoder, bytes, size);
    jpeg_read_header(&decoder, TRUE);
    first_width = decoder.image_width;
    first_height = decoder.image_height;
    return true;
  }

  /// Rows and columns beside the part: where a part ends, libjpeg makes colours as if the picture
  /// did.
  static constexpr std::int64_t kMargin = 2;

  bool begin_part(int channels) {
    if (setjmp(escape) != 0) return false;
    decoder.out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    decoder.scale_num = 1;
    decoder.scale_denom = static_cast<unsigned>(part.shrink);
    jpeg_start_decompress(&decoder);
    const std::int64_t whole = decoder.output_width;
    auto left = static_cast<JDIMENSION>(std::max<std::int64_t>(part.left - kMargin, 0));
    auto width = static_cast<JDIMENSION>(std::min(part.left + part.width + kMargin, whole) - left);
    if (width < decoder.output_width) jpeg_crop_scanline(&decoder, &left, &width);
    part.left = left;
    part.width = width;
    return true;
  }

  bool read_part(std::uint8_t* pixels, std::size_t row_bytes) {
    if (setjmp(escape) != 0) return false;
    const auto top = static_cast<JDIMENSION>(part.top);
    const auto end = static_cast<JDIMENSION>(part.top + part.height);
    if (top > 0) jpeg_skip_scanlines(&decoder, top);
    while (decoder.output_scanline < end) {
      JSAMPROW row = pixels + row_bytes * (decoder.output_scanline - top);
      jpeg_read_scanlines(&decoder, &row, 1);
    }
    if (decoder.output_scanline == decoder.output_height) {
      jpeg_finish_decompress(&decoder);
      return true;
    }
    // A picture of several scans was read to its end before its first row was made.
    return jpeg_input_complete(&decoder) != FALSE || rest_looks_sound();
  }

  /// True when what is left of the only scan holds no marker but restarts in their turn and ends
  /// with the end of the picture.
  [[nodiscard]] bool rest_looks_sound() const {
    const JOCTET* at = decoder.src->next_input_byte;
    const JOCTET* const end = at + decoder.src->bytes_in_buffer;
    int restart = -1;
    // The entropy decoder has seen the marker ahead of what it gave out.
    if (decoder.unread_marker == JPEG_EOI) return true;
    if (decoder.unread_marker >= JPEG_RST0 && decoder.unread_marker <= JPEG_RST0 + 7)
      restart = decoder.unread_marker - JPEG_RST0;
    else if (decoder.unread_marker != 0)
      return false;
    while (at < end) {
      at = static_cast<const JOCTET*>(std::memchr(at, 0xff, static_cast<std::size_t>(end - at)));
      if (at == nullptr || end - at < 2) return false;
      const JOCTET marker = at[1];
      if (marker == JPEG_EOI) return true;
      if (marker >= JPEG_RST0 && marker <= JPEG_RST0 + 7 && decoder.restart_interval > 0) {
        const int number = marker - JPEG_RST0;
        if (restart >= 0 && number != ((restart + 1) & 7)) return false;
        restart = number;
      } else if (marker != 0 && marker != 0xff) {
        return false;
      }
      at += marker == 0xff ? 1 : 2;
    }
    return false;
  }

  bool read_rows(std::uint8_t* pixels, int channels) {
    if (setjmp(escape) != 0) return false;
    const bool inks = decoder.jpeg_color_space == JCS_CMYK || decoder.jpeg_color_space == JCS_YCCK;
    if (inks) {
      decoder.out_color_space = JCS_CMYK;
    } else {
      decoder.out_color_space =
          channels == 1 ? JCS_GRAYSCALE : (channels == 3 ? JCS_RGB : JCS_EXT_RGBA);
    }
    jpeg_start_decompress(&decoder);
    const std::size_t stride =
        std::size_t{decoder.output_width} * static_cast<std::size_t>(channels);
    JSAMPARRAY ink_row = nullptr;
    if (inks) {
      ink_row = (*decoder.mem->alloc_sarray)(reinterpret_cast<j_common_ptr>(&decoder), JPOOL_IMAGE,
                                             decoder.output_width * 4, 1);
    }
    while (decoder.output_scanline < decoder.output_height) {
      std::uint8_t* target = pixels + stride * decoder.output_scanline;
      if (inks) {
        if (jpeg_read_scanlines(&decoder, ink_row, 1) == 1) {
          inks_to_rgb(ink_row[0], target, decoder.output_width, channels);
        }
      } else {
        JSAMPROW row = target;
        jpeg_read_scanlines(&decoder, &row, 1);
      }
    }
    // Reads to the end mark, whose absence is the last sign of a cut.
    jpeg_finish_decompress(&decoder);
    return true;
  }
};

namespace {

/// The session of a reader that has ended, for the thread's next one: a picture costs no allocation
/// but libjpeg's own.
template <class Session>
std::unique_ptr<Session>& spare_session() {
  thread_local std::unique_ptr<Session> spare;
  return spare;
}

}  // namespace

void JpegReader::Destroy::operator()(Session* session) const {
  spare_session<Session>().reset(session);
}

JpegReader::JpegReader(std::span<const std::byte> bytes, const JpegLimits& limits)
    : session_(spare_session<Session>().release()) {
  if (session_)
    *session_ = Session{};
  else
    session_.reset(new Session);
  Session& session = *session_;
  session.first = reinterpret_cast<const JOCTET*>(bytes.data());
  session.max_scans = limits.max_scans;
  session.decoder.err = jpeg_std_error(&session.errors);
  session.decoder.client_data = &session;
  session.errors.error_exit = &Session::on_error;
  session.errors.emit_message = &Session::on_message;
  session.progress.progress_monitor = &Session::on_progress;
  // A destructor does not run where a constructor throws.
  struct DestroyOnThrow {
    jpeg_decompress_struct* decoder;
    ~DestroyOnThrow() {
      if (decoder != nullptr) jpeg_destroy_decompress(decoder);
    }
  } guard{&session.decoder};
  if (!session.read_header(session.first, static_cast<unsigned long>(bytes.size()))) fail();

  const jpeg_decompress_struct& decoder = session.decoder;
  const std::uint64_t pixels = std::uint64_t{decoder.image_width} * decoder.image_height;
  if (pixels > limits.max_pixels) {
    throw BadSample("too many pixels: " + std::to_string(decoder.image_width) + "x" +
                    std::to_string(decoder.image_height) + " is above max_pixels " +
                    std::to_string(limits.max_pixels));
  }
  if (jpeg_has_multiple_scans(&session.decoder) != FALSE &&
      count_scans(bytes, limits.max_scans + 1) > limits.max_scans) {
    session.too_many_scans = true;
    fail();
  }
  switch (decoder.jpeg_color_space) {
    case JCS_GRAYSCALE:
    case JCS_RGB:
    case JCS_YCbCr:
    case JCS_CMYK:
    case JCS_YCCK:
      break;
    default:
      throw BadSample("not supported: a jpeg of " + std::to_string(decoder.num_components) +
                      " components of unknown colour");
  }
  collect_notes();
  guard.decoder = nullptr;
}

JpegReader::~JpegReader() { jpeg_destroy_decompress(&session_->decoder); }

std::int64_t JpegReader::width() const { return session_->first_width; }
std::int64_t JpegReader::height() const { return session_->first_height; }
int JpegReader::channels() const {
  return session_->decoder.jpeg_color_space == JCS_GRAYSCALE ? 1 : 3;
}

bool JpegReader::has_parts() const {
  const jpeg_decompress_struct& decoder = session_->decoder;
  if (decoder.jpeg_color_space == JCS_GRAYSCALE) return true;
  if (decoder.jpeg_color_space != JCS_RGB && decoder.jpeg_color_space != JCS_YCbCr) return false;
  // With brightness four times as wide as colour libjpeg's parts of reduced pictures are wrong.
  const jpeg_component_info* const of = decoder.comp_info;
  return of[0].h_samp_factor <= 2 && of[0].v_samp_factor <= 2 && of[1].h_samp_factor == 1 &&
         of[1].v_samp_factor == 1 && of[2].h_samp_factor == 1 && of[2].v_samp_factor == 1;
}

bool JpegReader::begin_part(JpegPart& part, int channels) {
  session_->part = part;
  if (!session_->begin_part(channels)) return false;
  part = session_->part;
  return true;
}

bool JpegReader::read_part(std::uint8_t* pixels, std::size_t row_bytes) {
  return session_->read_part(pixels, row_bytes) && !session_->is_damaged;
}

void JpegReader::read_pixels(std::uint8_t* pixels, int channels, bool accept_damaged) {
  Session& session = *session_;
  session.stop_at_damage = !accept_damaged;
  const bool finished = session.read_rows(pixels, channels);
  collect_notes();
  if (finished && !session.is_damaged) return;
  // An accepted picture needs something of it: an error before the first row is none.
  const std::int64_t rows = session.decoder.output_scanline;
  if (!accept_damaged || session.too_many_scans || rows == 0) fail();
  const std::size_t row_bytes =
      static_cast<std::size_t>(width()) * static_cast<std::size_t>(channels);
  std::memset(pixels + static_cast<std::size_t>(rows) * row_bytes, 0,
              static_cast<std::size_t>(height() - rows) * row_bytes);
  notes_.push_back(std::string("accepted although damaged: ") + session.reason.data());
}

void JpegReader::fail() const {
  const Session& session = *session_;
  if (session.too_many_scans) {
    throw BadSample("too many scans: the jpeg has more than max_scans " +
                    std::to_string(session.max_scans));
  }
  throw BadSample((session.is_unsupported ? "not supported: " : "damaged: ") +
                  std::string(session.reason.data()));
}

void JpegReader::collect_notes() {
  for (std::size_t i = 0; i < session_->note_count; ++i)
    notes_.emplace_back(session_->notes[i].data());
  session_->note_count = 0;
}

}  // namespace weir::detail
