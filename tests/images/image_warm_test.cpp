#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <weir/loader.hpp>
#include <weir/operators.hpp>
#include <weir/sources.hpp>

#include "tests/images/counted_malloc.hpp"
#include "tests/images/pictures.hpp"

namespace weir::test {
namespace {

namespace fs = std::filesystem;

/// Pictures as in ImageNet: 500x375, mostly baseline; gone with the object.
class Pictures {
 public:
  Pictures() : path_(fs::temp_directory_path() / ("weir_warm_" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
    for (unsigned i = 0; i < 16; ++i) {
      const Bytes bytes =
          jpeg_file(photograph(375, 500, i % 8 == 7 ? 1 : 3, i), {.progressive = false});
      std::ofstream file(path_ / (std::to_string(i) + ".jpg"), std::ios::binary);
      file.write(reinterpret_cast<const char*>(bytes.data()),
                 static_cast<std::streamsize>(bytes.size()));
    }
  }
  ~Pictures() { fs::remove_all(path_); }
  Pictures(const Pictures&) = delete;
  Pictures& operator=(const Pictures&) = delete;
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

TEST(ImageWarm, APictureAllocatesNothing) {
  if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer counts its own";
  const Pictures pictures;
  const auto counted = [&](std::uint64_t rows) {
    Options options;
    options.workers = 2;
    options.oversubscribe = true;
    Loader<Batch<Sample>> loader =
        files(pictures.path())
            .repeat(1000)
            .read_samples()
            .map("decode", decode())
            .map("random_resized_crop", random_resized_crop({.size = 64}))
            .map("random_horizontal_flip", random_horizontal_flip())
            .map("normalize", normalize({.mean = {0.485, 0.456, 0.406}, .std = {0.2, 0.2, 0.2}}))
            .map("hwc_to_chw", hwc_to_chw())
            .batch(rows)
            .start(options);
    for (int i = 0; i < 40; ++i) (void)loader.next();
    const AllocationCounts before = allocation_counts();
    for (int i = 0; i < 20; ++i) (void)loader.next();
    const AllocationCounts after = allocation_counts();
    return AllocationCounts{after.by_new - before.by_new, after.large - before.large};
  };
  const AllocationCounts few = counted(4);
  const AllocationCounts many = counted(32);
  EXPECT_LT(static_cast<double>(many.by_new), static_cast<double>(few.by_new) + 20 * 28 * 0.1)
      << "pictures allocate";
  EXPECT_EQ(many.large, 0U);
}

}  // namespace
}  // namespace weir::test
