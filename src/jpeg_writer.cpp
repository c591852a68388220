#include "src/jpeg_writer.hpp"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include <jpeglib.h>

#include <weir/error.hpp>

namespace weir::detail {
namespace {

struct ErrorHandler {
  jpeg_error_mgr base;
  std::jmp_buf jump;
  char text[JMSG_LENGTH_MAX];
};

/// libjpeg's own handler ends the process.
[[noreturn]] void jump_out(j_common_ptr info) {
  auto* handler = reinterpret_cast<ErrorHandler*>(info->err);
  info->err->format_message(info, handler->text);
  std::longjmp(handler->jump, 1);
}

void say_nothing(j_common_ptr, int) {}

/// The part between setjmp and longjmp, without objects that have destructors. False on an error.
bool encode(ErrorHandler& handler, jpeg_compress_struct& info, const std::uint8_t* rgb, int width,
            int height, int quality, unsigned char** bytes, unsigned long* size) {
  info.err = jpeg_std_error(&handler.base);
  handler.base.error_exit = jump_out;
  handler.base.emit_message = say_nothing;
  if (setjmp(handler.jump) != 0) {
    jpeg_destroy_compress(&info);
    return false;
  }
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, bytes, size);
  info.image_width = static_cast<JDIMENSION>(width);
  info.image_height = static_cast<JDIMENSION>(height);
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  info.dct_method = JDCT_ISLOW;
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    // libjpeg takes rows as not const, but only reads them.
    JSAMPROW row = const_cast<JSAMPROW>(rgb + std::size_t{info.next_scanline} *
                                                  static_cast<std::size_t>(width) * 3);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  return true;
}

}  // namespace

std::vector<std::uint8_t> write_jpeg(const std::uint8_t* rgb, int width, int height, int quality) {
  ErrorHandler handler{};
  jpeg_compress_struct info{};
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  const bool done = encode(handler, info, rgb, width, height, quality, &bytes, &size);
  const std::unique_ptr<unsigned char, decltype(&std::free)> owner(bytes, &std::free);
  if (!done) throw Error(ErrorKind::cannot, "write_jpeg", handler.text);
  return {bytes, bytes + size};
}

}  // namespace weir::detail
