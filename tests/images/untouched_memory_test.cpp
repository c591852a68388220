// Files that lie about their size, or are too large, are refused before memory is taken for them.
// Part of the program that counts allocations.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/images/counted_malloc.hpp"
#include "tests/images/hand_made_files.hpp"
#include "tests/images/image_chain.hpp"

namespace weir::test {
namespace {

/// A jpeg that claims 65278x65278 pixels.
Bytes huge_jpeg(bool progressive) {
  Bytes file = jpeg_file(photograph(40, 56), {.progressive = progressive});
  for (std::size_t i = 0; i + 9 < file.size(); ++i) {
    if (file[i] != 0xff || file[i + 1] != (progressive ? 0xc2 : 0xc0)) continue;
    for (std::size_t at = 5; at < 9; ++at) file[i + at] = 0xfe;
    break;
  }
  return file;
}

/// A picture of many scans that is within `max_pixels`: its coefficients alone would be 90 MB.
Bytes jpeg_of_many_scans() {
  const Bytes small = jpeg_file(photograph(40, 56), {.progressive = true});
  Bytes file = small;
  std::size_t last = 0;
  for (std::size_t i = 0; i + 1 < small.size(); ++i)
    if (small[i] == 0xff && small[i + 1] == 0xda) last = i;
  for (std::size_t i = 0; i + 9 < file.size(); ++i) {
    if (file[i] != 0xff || file[i + 1] != 0xc2) continue;
    for (std::size_t at = 5; at < 9; at += 2) {
      file[i + at] = 4000 >> 8;
      file[i + at + 1] = static_cast<std::uint8_t>(4000 & 255);
    }
    break;
  }
  for (int scan = 0; scan < 500; ++scan)
    file.insert(file.end() - 2, small.begin() + static_cast<std::ptrdiff_t>(last), small.end() - 2);
  return file;
}

TEST(UntouchedMemory, ByFilesAboveALimitOnBothPaths) {
  if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer counts its own";
  Bytes bmp = bmp_file(65535, 65535, 8, {0, 0, 0, 0}, {0, 0, 0, 0}, 1);
  const GifFrame dot{0, 0, 1, 1, {0}};
  const std::string pnm = "P2\n65535 65535\n255\n1 2 3";
  struct Case {
    const char* name;
    Bytes file;
    const char* reason;
  };
  const Case cases[] = {
      {"jpeg", huge_jpeg(false), "too many pixels: 65278x65278"},
      {"progressive jpeg", huge_jpeg(true), "too many pixels: 65278x65278"},
      {"jpeg of many scans", jpeg_of_many_scans(), "too many scans"},
      {"png", png_file(65535, 65535, 8, 2, {0}), "too many pixels: 65535x65535"},
      {"bmp", bmp, "too many pixels: 65535x65535"},
      {"tiff", tiff_file(65535, 65535, {1}, 1, false), "too many pixels: 65535x65535"},
      {"gif", gif_file(65535, 65535, {0, 0, 0, 1, 1, 1}, {dot}), "too many pixels: 65535x65535"},
      {"pnm", Bytes(pnm.begin(), pnm.end()), "too many pixels: 65535x65535"},
  };
  const Chain chain{{"decode", {}}, {"random_resized_crop", {{"size", whole(24)}}}};
  for (const Case& one : cases) {
    const Tensor file = file_tensor(one.file);
    for (const bool fused : {false, true}) {
      // Once, so that what is made at first use is there.
      const auto reason = [&] {
        return failure_of(
            [&] { (void)(fused ? kernel_image(chain, file) : plain_image(chain, file)); });
      };
      (void)reason();
      const std::uint64_t before = allocation_counts().large;
      const std::string said = reason();
      const std::uint64_t after = allocation_counts().large;
      EXPECT_THAT(said, testing::StartsWith(one.reason)) << one.name;
      // The tests hand over a copy of the file, which may be large itself.
      const std::uint64_t copies = one.file.size() >= 64 * 1024 ? 1 : 0;
      EXPECT_LE(after - before, copies) << one.name << (fused ? ", fused" : ", plain");
    }
  }
}

TEST(UntouchedMemory, ByAFileOfTooManyBytes) {
  if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer counts its own";
  const Bytes file = jpeg_file(photograph(40, 56));
  const std::string reason = failure_of([&] {
    (void)apply_to_image(make_operator("decode", {{"max_bytes", text("100B")}}), file_tensor(file));
  });
  EXPECT_THAT(reason, testing::HasSubstr("is above max_bytes 100"));
}

}  // namespace
}  // namespace weir::test
