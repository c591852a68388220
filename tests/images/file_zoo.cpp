#include "tests/images/file_zoo.hpp"

#include <algorithm>

#include "tests/images/hand_made_files.hpp"

namespace weir::test {
namespace {

using Fate = ZooFile::Fate;

constexpr std::uint8_t kFrame = 0xc0;
constexpr std::uint8_t kProgressiveFrame = 0xc2;
constexpr std::uint8_t kStartOfScan = 0xda;

Bytes bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

Bytes cut(Bytes bytes, std::size_t size) {
  bytes.resize(size);
  return bytes;
}

Bytes with_inserted(Bytes bytes, std::size_t at, const Bytes& inserted) {
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), inserted.begin(), inserted.end());
  return bytes;
}

std::size_t find_marker(const Bytes& bytes, std::uint8_t code, std::size_t from = 0) {
  for (std::size_t i = from; i + 1 < bytes.size(); ++i)
    if (bytes[i] == 0xff && bytes[i + 1] == code) return i;
  return bytes.size();
}

/// The same jpeg with another size in its frame header.
Bytes claiming(Bytes jpeg, std::uint8_t frame, std::uint16_t size) {
  const std::size_t at = find_marker(jpeg, frame);
  for (const std::size_t i : {at + 5, at + 7}) {
    jpeg[i] = static_cast<std::uint8_t>(size >> 8U);
    jpeg[i + 1] = static_cast<std::uint8_t>(size);
  }
  return jpeg;
}

Bytes of_many_scans(const Bytes& progressive) {
  std::size_t last = 0;
  for (std::size_t i = 0; (i = find_marker(progressive, kStartOfScan, i)) < progressive.size(); ++i)
    last = i;
  Bytes many = progressive;
  for (int i = 0; i < 500; ++i)
    many.insert(many.end() - 2, progressive.begin() + static_cast<std::ptrdiff_t>(last),
                progressive.end() - 2);
  return many;
}

class Zoo {
 public:
  std::vector<ZooFile> files;

  void add_jpegs() {
    struct Sampling {
      const char* name;
      int across, down;
    };
    for (const auto& [name, across, down] :
         {Sampling{"444", 1, 1}, Sampling{"422", 2, 1}, Sampling{"440", 1, 2},
          Sampling{"420", 2, 2}, Sampling{"411", 4, 1}})
      good(std::string("sampling_") + name + ".jpg",
           jpeg_file(photo_, {.brightness_across = across, .brightness_down = down}));
    good("progressive.jpg", jpeg_file(photo_, {.progressive = true}));
    good("restarts.jpg", jpeg_file(photo_, {.restart_rows = 1}));
    good("rgb.jpg", jpeg_file(photo_, {.rgb = true}));
    good("grey.jpeg", jpeg_file(photograph(40, 56, 1)));
    const Tensor inks = photograph(40, 56, 4);
    good("cmyk.jpg", jpeg_file(inks));
    good("cmyk_bare.jpg", jpeg_file(inks, {.adobe_marker = false}));
    good("ycck.jpg", jpeg_file(inks, {.ycck = true}));
    for (int orientation = 1; orientation <= 8; ++orientation)
      good("exif_" + std::to_string(orientation) + ".jpg",
           jpeg_file(photo_, {.app1 = exif_orientation(orientation, orientation % 2 == 0)}));
    noted("odd_header.jpg", with_inserted(jpeg_, 2 + 18, {1, 2, 3, 4, 5}), "extraneous bytes");
    noted("padded.jpg", with_inserted(jpeg_, jpeg_.size() - 2, Bytes(200, 0)), "extraneous bytes");
  }

  void add_damaged_jpegs() {
    const Bytes progressive = jpeg_file(photo_, {.progressive = true});
    const Bytes restarts = jpeg_file(photo_, {.restart_rows = 1});
    const std::size_t scan = find_marker(jpeg_, kStartOfScan);
    const std::size_t mid_scan = (scan + jpeg_.size()) / 2;
    bad("cut.jpg", cut(jpeg_, mid_scan), "damaged: Premature end");
    bad("without_end.jpg", cut(jpeg_, jpeg_.size() - 2), "damaged: Premature end");
    bad("cut_in_header.jpg", cut(jpeg_, 100), "damaged: ");
    bad("progressive_cut.jpg", cut(progressive, progressive.size() / 2), "damaged: Premature end");
    Bytes middle = jpeg_;
    for (std::size_t i = mid_scan; i < mid_scan + (jpeg_.size() - mid_scan) / 2; ++i)
      middle[i] = static_cast<std::uint8_t>(i * 89 % 255);
    bad("middle.jpg", middle, "damaged: Corrupt JPEG data");
    Bytes halved = jpeg_;
    halved[find_marker(jpeg_, kFrame) + 6] = 16;
    bad("rows_left_over.jpg", halved, "damaged: Corrupt JPEG data");
    Bytes turn = restarts;
    turn[find_marker(restarts, 0xd1) + 1] = 0xd5;
    bad("restart_out_of_turn.jpg", turn, "damaged: Corrupt JPEG data");
    bad("before_restart.jpg", with_inserted(restarts, find_marker(restarts, 0xd1), Bytes(20, 0)),
        "damaged: Corrupt JPEG data");
    bad("end_in_scan.jpg", with_inserted(jpeg_, mid_scan, {0xff, 0xd9}),
        "damaged: Corrupt JPEG data");
    bad("huge.jpg", claiming(jpeg_, kFrame, 65278), "too many pixels");
    bad("huge_progressive.jpg", claiming(progressive, kProgressiveFrame, 65278), "too many pixels");
    bad("many_scans.jpg", of_many_scans(progressive), "too many scans");
    Bytes deep = jpeg_;
    deep[find_marker(jpeg_, kFrame) + 4] = 12;
    bad("deep.jpg", deep, "not supported: ");
    Bytes lossless = jpeg_;
    lossless[find_marker(jpeg_, kFrame) + 1] = 0xc3;
    bad("lossless.jpg", lossless, "not supported: ");
  }

  void add_others() {
    const Tensor rgba = photograph(24, 20, 4);
    for (const char* ending : {".png", ".webp", ".bmp", ".tiff", ".ppm"}) {
      const Bytes file = opencv_file(ending, photo_);
      good(std::string("colour") + ending, file);
      if (std::string(ending) != ".bmp")
        noted(std::string("other") + ending + ".jpg", file, "content named .jpg");
      bad(std::string("cut") + ending, cut(file, file.size() / 2), "damaged: the ");
    }
    good("opacity.png", opencv_file(".png", rgba));
    good("opacity.webp", opencv_file(".webp", rgba));
    good("grey.pgm", opencv_file(".pgm", photograph(24, 20, 1)));
    const auto samples = [](std::uint32_t y, std::uint32_t x, std::uint32_t c) {
      return (y * 7 + x * 3 + c) & 0xffffU;
    };
    for (const int bits : {1, 2, 4, 8}) {
      const auto few = [&](std::uint32_t y, std::uint32_t x, std::uint32_t c) {
        return samples(y, x, c) & ((1U << static_cast<unsigned>(bits)) - 1);
      };
      good("grey_" + std::to_string(bits) + ".png", png_of(9, 9, bits, 0, few));
      good("palette_" + std::to_string(bits) + ".png",
           png_of(9, 9, bits, 3, few, {{"PLTE", Bytes(768, 77)}, {"tRNS", {0, 128}}}, true));
    }
    good("shade.png", png_of(9, 9, 8, 0, samples, {{"tRNS", {0, 9}}}));
    good("grey_opacity.png", png_of(9, 9, 8, 4, samples, {}, true));
    noted("deep.png", png_of(9, 9, 16, 2, samples), "16 bits");
    noted("deep_opacity.png", png_of(9, 9, 16, 6, samples, {}, true), "16 bits");
    Bytes wrong_sum = opencv_file(".png", photo_);
    wrong_sum[wrong_sum.size() / 2] ^= 1U;
    bad("wrong_sum.png", wrong_sum, "damaged: ");
    bad("huge.png", png_file(65535, 65535, 8, 2, {0}), "too many pixels");
    bad("empty.png", png_file(0, 5, 8, 2, {0}), "damaged: the png header gives 0x5");
    good("turned.tiff", tiff_file(3, 2, {0, 10, 20, 30, 40, 50}, 6, true));
    bad("huge.tiff", tiff_file(65535, 65535, {1}, 1, false), "too many pixels");
    good("palette.bmp", bmp_file(3, 1, 8, {1, 0, 1, 0}, {0, 0, 255, 0, 0, 255, 0, 0}));
    good("runs.bmp", bmp_file(3, 1, 8, {3, 1, 0, 0, 0, 1}, {0, 0, 255, 0, 0, 255, 0, 0}, 1));
    bad("huge.bmp", bmp_file(65535, 65535, 8, {0, 0, 0, 0}, {0, 0, 0, 0}, 1), "too many pixels");
    const Bytes colours{0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255};
    const GifFrame frame{1, 0, 5, 4, std::vector<std::uint8_t>(20, 2), true, 3};
    good("still.gif", gif_file(7, 4, colours, {frame}));
    noted("moving.gif", gif_file(7, 4, colours, {frame, frame}), "an animation");
    const Bytes gif = gif_file(7, 4, colours, {frame});
    bad("cut.gif", cut(gif, gif.size() - 1), "damaged: the gif data ends");
    bad("empty.gif", gif_file(7, 4, colours, {}), "damaged: the gif holds no picture");
    bad("huge.gif", gif_file(65535, 65535, colours, {frame}), "too many pixels");
  }

  void add_foreign() {
    bad("empty.jpg", {}, "not an image: an empty file");
    bad("zipped.jpg", {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3}, "not an image: gzip data");
    bad("page.jpg", bytes_of("<html><body>404 not found</body></html>"), "not an image: text");
    bad("readme.txt", bytes_of("What these pictures show.\n"), "not an image: text");
    bad("archive.zip", {'P', 'K', 3, 4, 0, 0}, "not an image: a zip archive");
    bad("phone.heic", {0, 0, 0, 0x18, 'f', 't', 'y', 'p', 'h', 'e', 'i', 'c'}, "a heif picture");
    bad("drawing.svg", bytes_of("<?xml version=\"1.0\"?>\n<svg width=\"1\"/>\n"), "an svg drawing");
    bad("noise.jpg", {0xde, 0xad, 0xbe, 0xef, 1}, "not an image: unknown data");
  }

 private:
  void good(const std::string& name, Bytes bytes) {
    files.push_back({name, std::move(bytes), Fate::ok});
  }
  void noted(const std::string& name, Bytes bytes, const std::string& words) {
    files.push_back({name, std::move(bytes), Fate::noted, words});
  }
  void bad(const std::string& name, Bytes bytes, const std::string& words) {
    files.push_back({name, std::move(bytes), Fate::bad, words});
  }

  const Tensor photo_ = photograph(40, 56);
  const Bytes jpeg_ = jpeg_file(photo_);
};

}  // namespace

std::vector<ZooFile> file_zoo() {
  Zoo zoo;
  zoo.add_jpegs();
  zoo.add_damaged_jpegs();
  zoo.add_others();
  zoo.add_foreign();
  return zoo.files;
}

}  // namespace weir::test
