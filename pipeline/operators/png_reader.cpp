#include "pipeline/operators/png_reader.hpp"

#include <array>
#include <bit>
#include <csetjmp>
#include <cstring>

#include <png.h>

#include <weir/error.hpp>

namespace weir::detail {
namespace {

constexpr std::size_t kMostNotes = 4;
using Text = std::array<char, 120>;

void copy_text(Text& to, const char* from) {
  std::strncpy(to.data(), from == nullptr ? "" : from, to.size() - 1);
}

/// Chunks that say nothing about pixels, or about how to show them. Left unread, so that what is
/// odd about them is nobody's business; every other file has a profile that libpng would warn
/// about.
constexpr png_byte kIgnored[] =
    "bKGD\0cHRM\0eXIf\0gAMA\0hIST\0iCCP\0iTXt\0oFFs\0pCAL\0pHYs\0sBIT\0sCAL\0sPLT\0sRGB\0"
    "tEXt\0tIME\0zTXt";
constexpr int kIgnoredCount = static_cast<int>(sizeof kIgnored / 5);

/// libpng's structures and what its callbacks leave for us. Plain data: a longjmp passes over it.
struct Session {
  png_structp png = nullptr;
  png_infop info = nullptr;
  const std::byte* at = nullptr;
  const std::byte* end = nullptr;
  std::jmp_buf escape{};
  Text reason{};
  std::array<Text, kMostNotes> notes{};
  std::size_t note_count = 0;
  int passes = 1;

  [[noreturn]] static void on_error(png_structp png, png_const_charp text) {
    Session& session = *static_cast<Session*>(png_get_error_ptr(png));
    copy_text(session.reason, text);
    std::longjmp(session.escape, 1);
  }

  static void on_warning(png_structp png, png_const_charp text) {
    Session& session = *static_cast<Session*>(png_get_error_ptr(png));
    if (session.note_count < kMostNotes) copy_text(session.notes[session.note_count++], text);
  }

  static void on_read(png_structp png, png_bytep to, std::size_t count) {
    Session& session = *static_cast<Session*>(png_get_io_ptr(png));
    if (count > static_cast<std::size_t>(session.end - session.at))
      png_error(png, "the data ends too early");
    std::memcpy(to, session.at, count);
    session.at += count;
  }

  // The functions that libpng may leave by longjmp hold nothing that needs a destructor.

  bool read_header() {
    if (setjmp(escape) != 0) return false;
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, &on_error, &on_warning);
    if (png == nullptr) return false;
    info = png_create_info_struct(png);
    if (info == nullptr) return false;
    png_set_read_fn(png, this, &on_read);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, kIgnored, kIgnoredCount);
    png_read_info(png, info);
    const int type = png_get_color_type(png, info);
    const int bits = png_get_bit_depth(png, info);
    const bool has_chunk = png_get_valid(png, info, PNG_INFO_tRNS) != 0;
    if (type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
    if (type == PNG_COLOR_TYPE_GRAY && bits < 8) png_set_expand_gray_1_2_4_to_8(png);
    if (has_chunk) png_set_tRNS_to_alpha(png);
    if (type == PNG_COLOR_TYPE_GRAY_ALPHA || (type == PNG_COLOR_TYPE_GRAY && has_chunk))
      png_set_gray_to_rgb(png);
    png_set_bgr(png);
    if (bits == 16 && std::endian::native == std::endian::little) png_set_swap(png);
    passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    return true;
  }

  bool read_rows(std::uint8_t* pixels, std::size_t row_bytes, std::uint32_t rows) {
    if (setjmp(escape) != 0) return false;
    for (int pass = 0; pass < passes; ++pass)
      for (std::uint32_t row = 0; row < rows; ++row)
        png_read_row(png, pixels + row * row_bytes, nullptr);
    png_read_end(png, nullptr);
    return true;
  }
};

struct DestroySession {
  Session& session;
  ~DestroySession() { png_destroy_read_struct(&session.png, &session.info, nullptr); }
};

[[noreturn]] void fail(const Session& session) {
  throw BadSample(std::string("damaged: the png data cannot be decoded: ") + session.reason.data());
}

}  // namespace

PngPicture read_png(std::span<const std::byte> bytes) {
  Session session;
  const DestroySession guard{session};
  session.at = bytes.data();
  session.end = bytes.data() + bytes.size();
  if (!session.read_header()) fail(session);
  PngPicture picture;
  picture.height = png_get_image_height(session.png, session.info);
  picture.width = png_get_image_width(session.png, session.info);
  picture.channels = png_get_channels(session.png, session.info);
  picture.bits = png_get_bit_depth(session.png, session.info);
  const std::size_t row_bytes = png_get_rowbytes(session.png, session.info);
  picture.pixels.resize(row_bytes * static_cast<std::size_t>(picture.height));
  if (!session.read_rows(picture.pixels.data(), row_bytes,
                         static_cast<std::uint32_t>(picture.height)))
    fail(session);
  for (std::size_t i = 0; i < session.note_count; ++i)
    picture.notes.emplace_back(std::string("png: ") + session.notes[i].data());
  return picture;
}

}  // namespace weir::detail
