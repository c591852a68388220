#include "tests/images/pictures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <stdexcept>

#include <jpeglib.h>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

namespace weir::test {
namespace {

void put_u32(Bytes* bytes, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes->push_back(static_cast<std::uint8_t>(value >> static_cast<unsigned>(shift)));
  }
}

std::uint32_t crc_of(const Bytes& bytes, std::size_t from) {
  std::uint32_t crc = 0xffffffffU;
  for (std::size_t i = from; i < bytes.size(); ++i) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
  }
  return ~crc;
}

void put_chunk(Bytes* file, const PngChunk& chunk) {
  put_u32(file, static_cast<std::uint32_t>(chunk.data.size()));
  const std::size_t begin = file->size();
  file->insert(file->end(), chunk.type.begin(), chunk.type.end());
  file->insert(file->end(), chunk.data.begin(), chunk.data.end());
  put_u32(file, crc_of(*file, begin));
}

/// zlib data in stored blocks.
Bytes stored(const Bytes& data) {
  Bytes out{0x78, 0x01};
  for (std::size_t at = 0; at < data.size() || at == 0;) {
    const std::size_t count = std::min<std::size_t>(65535, data.size() - at);
    out.push_back(at + count == data.size() ? 1 : 0);
    for (const std::size_t word : {count, ~count}) {
      out.push_back(static_cast<std::uint8_t>(word));
      out.push_back(static_cast<std::uint8_t>(word >> 8U));
    }
    out.insert(out.end(), data.begin() + static_cast<std::ptrdiff_t>(at),
               data.begin() + static_cast<std::ptrdiff_t>(at + count));
    at += std::max<std::size_t>(count, 1);
  }
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  for (const std::uint8_t byte : data) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  put_u32(&out, (b << 16U) | a);
  return out;
}

cv::Mat mat_of(const Tensor& image) {
  return {
      static_cast<int>(image.shape()[0]), static_cast<int>(image.shape()[1]),
      CV_MAKETYPE(image.dtype() == DType::u8 ? CV_8U : CV_16U, static_cast<int>(image.shape()[2])),
      image.bytes()};
}

}  // namespace

Tensor picture(std::int64_t height, std::int64_t width, std::int64_t channels, unsigned seed) {
  Tensor image({height, width, channels}, DType::u8);
  std::mt19937 random(seed);
  std::uint8_t* out = image.data<std::uint8_t>();
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      for (std::int64_t c = 0; c < channels; ++c) {
        const double wave =
            100.0 + 60.0 * std::sin(0.05 * static_cast<double>((c + 1) * x)) +
            50.0 * std::cos(0.07 * static_cast<double>(y) + static_cast<double>(seed));
        *out++ = static_cast<std::uint8_t>(
            std::clamp(wave + static_cast<double>(random() % 31), 0.0, 255.0));
      }
    }
  }
  return image;
}

Tensor photograph(std::int64_t height, std::int64_t width, std::int64_t channels, unsigned seed) {
  // Random values on ever finer grids, each half as strong as the one before.
  std::mt19937 random(seed);
  const auto levels = [&] {
    std::vector<float> sum(static_cast<std::size_t>(height * width), 0.0F);
    float strength = 70;
    for (std::int64_t cell = 128; cell >= 2; cell /= 2, strength *= 0.55F) {
      const std::int64_t columns = width / cell + 2;
      std::vector<float> grid(static_cast<std::size_t>(columns * (height / cell + 2)));
      for (float& value : grid) value = static_cast<float>(random() % 2001) / 1000.0F - 1.0F;
      for (std::int64_t y = 0; y < height; ++y) {
        const float down = static_cast<float>(y % cell) / static_cast<float>(cell);
        for (std::int64_t x = 0; x < width; ++x) {
          const float across = static_cast<float>(x % cell) / static_cast<float>(cell);
          const float* at = grid.data() + (y / cell) * columns + x / cell;
          const float above = at[0] + (at[1] - at[0]) * across;
          const float below = at[columns] + (at[columns + 1] - at[columns]) * across;
          sum[static_cast<std::size_t>(y * width + x)] +=
              strength * (above + (below - above) * down);
        }
      }
    }
    return sum;
  };
  const std::vector<float> brightness = levels();
  Tensor image({height, width, channels}, DType::u8);
  for (std::int64_t c = 0; c < channels; ++c) {
    const std::vector<float> colour = levels();
    for (std::int64_t i = 0; i < height * width; ++i) {
      const auto at = static_cast<std::size_t>(i);
      image.data<std::uint8_t>()[i * channels + c] = static_cast<std::uint8_t>(
          std::clamp(128.0F + brightness[at] + 0.3F * colour[at], 0.0F, 255.0F));
    }
  }
  return image;
}

Tensor file_tensor(const Bytes& bytes) {
  Tensor tensor({static_cast<std::int64_t>(bytes.size())}, DType::u8);
  if (!bytes.empty()) std::memcpy(tensor.bytes(), bytes.data(), bytes.size());
  return tensor;
}

Bytes jpeg_file(const Tensor& image, const JpegWriting& writing) {
  jpeg_compress_struct encoder{};
  jpeg_error_mgr errors{};
  encoder.err = jpeg_std_error(&errors);
  jpeg_create_compress(&encoder);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&encoder, &memory, &size);
  encoder.image_height = static_cast<JDIMENSION>(image.shape()[0]);
  encoder.image_width = static_cast<JDIMENSION>(image.shape()[1]);
  encoder.input_components = static_cast<int>(image.shape()[2]);
  encoder.in_color_space = encoder.input_components == 1
                               ? JCS_GRAYSCALE
                               : (encoder.input_components == 3 ? JCS_RGB : JCS_CMYK);
  jpeg_set_defaults(&encoder);
  jpeg_set_quality(&encoder, writing.quality, TRUE);
  if (encoder.input_components == 3) {
    encoder.comp_info[0].h_samp_factor = writing.brightness_across;
    encoder.comp_info[0].v_samp_factor = writing.brightness_down;
  }
  if (writing.rgb) jpeg_set_colorspace(&encoder, JCS_RGB);
  if (writing.ycck) jpeg_set_colorspace(&encoder, JCS_YCCK);
  if (encoder.input_components == 4)
    encoder.write_Adobe_marker = writing.adobe_marker ? TRUE : FALSE;
  if (writing.progressive) jpeg_simple_progression(&encoder);
  if (writing.arithmetic) encoder.arith_code = TRUE;
  encoder.restart_in_rows = writing.restart_rows;
  jpeg_start_compress(&encoder, TRUE);
  if (!writing.app1.empty()) {
    jpeg_write_marker(&encoder, JPEG_APP0 + 1, writing.app1.data(),
                      static_cast<unsigned>(writing.app1.size()));
  }
  const std::size_t stride = static_cast<std::size_t>(image.shape()[1] * image.shape()[2]);
  while (encoder.next_scanline < encoder.image_height) {
    JSAMPROW row = image.data<std::uint8_t>() + stride * encoder.next_scanline;
    jpeg_write_scanlines(&encoder, &row, 1);
  }
  jpeg_finish_compress(&encoder);
  Bytes bytes(memory, memory + size);
  jpeg_destroy_compress(&encoder);
  std::free(memory);
  return bytes;
}

Bytes exif_orientation(int orientation, bool big_endian) {
  Bytes bytes{'E', 'x', 'i', 'f', 0, 0};
  const auto put = [&](std::uint32_t value, int count) {
    for (int i = 0; i < count; ++i) {
      const int place = big_endian ? count - 1 - i : i;
      bytes.push_back(static_cast<std::uint8_t>(value >> static_cast<unsigned>(8 * place)));
    }
  };
  bytes.insert(bytes.end(), 2, big_endian ? 'M' : 'I');
  put(42, 2);
  put(8, 4);
  put(1, 2);    // one entry
  put(274, 2);  // orientation
  put(3, 2);    // short
  put(1, 4);
  put(static_cast<std::uint32_t>(orientation), 2);
  put(0, 2);
  put(0, 4);
  return bytes;
}

Bytes png_file(std::uint32_t width, std::uint32_t height, int bits, int colour_type,
               const Bytes& rows, const std::vector<PngChunk>& extra, bool interlaced) {
  Bytes file{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  Bytes header;
  put_u32(&header, width);
  put_u32(&header, height);
  for (const int byte : {bits, colour_type, 0, 0, interlaced ? 1 : 0})
    header.push_back(static_cast<std::uint8_t>(byte));
  put_chunk(&file, {"IHDR", header});
  for (const PngChunk& chunk : extra) put_chunk(&file, chunk);
  put_chunk(&file, {"IDAT", stored(rows)});
  put_chunk(&file, {"IEND", {}});
  return file;
}

Bytes tiff_file(std::uint32_t width, std::uint32_t height, const Bytes& pixels, int orientation,
                bool big_endian) {
  Bytes file(2, big_endian ? 'M' : 'I');
  const auto put = [&](std::uint32_t value, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      file.push_back(static_cast<std::uint8_t>(value >> 8U * (big_endian ? count - 1 - i : i)));
    }
  };
  constexpr std::uint32_t kEntries = 10;
  constexpr std::uint32_t kPixelsAt = 8 + 2 + 12 * kEntries + 4;
  const std::uint32_t size = static_cast<std::uint32_t>(pixels.size());
  put(42, 2);
  put(8, 4);
  put(kEntries, 2);
  // Width, height, bits, no compression, black is 0, strip, orientation, channels, rows, bytes.
  const std::uint32_t entries[kEntries][2] = {{256, width},
                                              {257, height},
                                              {258, 8},
                                              {259, 1},
                                              {262, 1},
                                              {273, kPixelsAt},
                                              {274, static_cast<std::uint32_t>(orientation)},
                                              {277, 1},
                                              {278, height},
                                              {279, size}};
  for (const auto& [tag, value] : entries) {
    put(tag, 2);
    put(3, 2);  // short
    put(1, 4);
    put(value, 2);
    put(0, 2);
  }
  put(0, 4);
  file.insert(file.end(), pixels.begin(), pixels.end());
  return file;
}

Bytes opencv_file(const std::string& extension, const Tensor& image) {
  cv::Mat mat;
  switch (image.shape()[2]) {
    case 3:
      cv::cvtColor(mat_of(image), mat, cv::COLOR_RGB2BGR);
      break;
    case 4:
      cv::cvtColor(mat_of(image), mat, cv::COLOR_RGBA2BGRA);
      break;
    default:
      mat = mat_of(image).clone();
  }
  Bytes bytes;
  std::vector<int> options;
  if (extension == ".webp") options = {cv::IMWRITE_WEBP_QUALITY, 101};  // without loss
  if (!cv::imencode(extension, mat, bytes, options)) throw std::runtime_error("imencode failed");
  return bytes;
}

Tensor opencv_read(const Bytes& bytes) {
  cv::Mat mat = cv::imdecode(bytes, cv::IMREAD_UNCHANGED);
  if (mat.empty()) throw std::runtime_error("imdecode failed");
  if (mat.channels() == 3) cv::cvtColor(mat, mat, cv::COLOR_BGR2RGB);
  if (mat.channels() == 4) cv::cvtColor(mat, mat, cv::COLOR_BGRA2RGBA);
  Tensor tensor({mat.rows, mat.cols, mat.channels()},
                mat.depth() == CV_8U ? DType::u8 : DType::u16);
  std::memcpy(tensor.bytes(), mat.data, tensor.size_bytes());
  return tensor;
}

}  // namespace weir::test
