#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <weir/loader.hpp>
#include <weir/operators.hpp>
#include <weir/sources.hpp>

#include "tests/images/counted_malloc.hpp"
#include "tests/images/image_chain.hpp"
#include "tests/images/pictures.hpp"

namespace weir::test {
namespace {

namespace fs = std::filesystem;

/// Pictures as in ImageNet: 500x375, a few grey; gone with the object.
class Pictures {
 public:
  explicit Pictures(bool progressive = false)
      : path_(fs::temp_directory_path() / ("weir_warm_" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
    for (unsigned i = 0; i < 16; ++i) {
      const Bytes bytes =
          jpeg_file(photograph(375, 500, i % 8 == 7 ? 1 : 3, i), {.progressive = progressive});
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

/// The chains that the image kernel takes, up to the batch.
using MakeChain = Stream<Sample> (*)(Stream<Sample>);

Stream<Sample> to_f32_planes(Stream<Sample> files) {
  return std::move(files)
      .map("decode", decode())
      .map("random_resized_crop", random_resized_crop({.size = 64}))
      .map("random_horizontal_flip", random_horizontal_flip())
      .map("normalize", normalize({.mean = {0.485, 0.456, 0.406}, .std = {0.2, 0.2, 0.2}}))
      .map("hwc_to_chw", hwc_to_chw());
}

Stream<Sample> to_f16_planes(Stream<Sample> files) {
  return std::move(files)
      .map("decode", decode())
      .map("random_resized_crop", random_resized_crop({.size = 64, .antialias = true}))
      .map("to_float", to_float({.type = DType::f16}))
      .map("hwc_to_chw", hwc_to_chw());
}

Stream<Sample> to_bytes(Stream<Sample> files) {
  return std::move(files)
      .map("decode", decode())
      .map("resize", resize({.size = 72}))
      .map("center_crop", center_crop({.size = 64}));
}

struct Counts {
  std::uint64_t by_new = 0;
  std::uint64_t large = 0;
  std::uint64_t blocks = 0;  ///< of the buffer pool, asked of the system
};

/// While a warm loader gives `batches` batches of `rows`; `workers` 0: on this thread, where
/// nothing else allocates meanwhile.
Counts counted(const Pictures& pictures, MakeChain chain, std::uint64_t rows, int batches,
               int workers = 0) {
  Options options;
  options.run_inline = workers == 0;
  if (workers > 0) {
    options.workers = workers;
    options.oversubscribe = true;
  }
  Loader<Batch<Sample>> loader =
      chain(files(pictures.path()).repeat(1000).read_samples()).batch(rows).start(options);
  for (int i = 0; i < 2 * batches; ++i) (void)loader.next();
  const AllocationCounts before = allocation_counts();
  const std::uint64_t blocks_before = buffer_pool_use().allocations;
  for (int i = 0; i < batches; ++i) (void)loader.next();
  const std::uint64_t blocks_after = buffer_pool_use().allocations;
  const AllocationCounts after = allocation_counts();
  return {after.by_new - before.by_new, after.large - before.large, blocks_after - blocks_before};
}

constexpr int kBatches = 12;
constexpr std::uint64_t kFew = 4;
constexpr std::uint64_t kMany = 20;

TEST(ImageWarm, APictureAllocatesNothing) {
  if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer counts its own";
  const Pictures pictures;
  const struct {
    const char* name;
    MakeChain chain;
  } cases[] = {{"f32", to_f32_planes}, {"f16", to_f16_planes}, {"u8", to_bytes}};
  for (const auto& one : cases) {
    const Counts few = counted(pictures, one.chain, kFew, kBatches);
    const Counts many = counted(pictures, one.chain, kMany, kBatches);
    // What a batch allocates is in both; a list may still grow once.
    EXPECT_LE(many.by_new, few.by_new + 4) << one.name << ": pictures allocate";
    EXPECT_EQ(many.large, 0U) << one.name;
    EXPECT_EQ(many.blocks, 0U) << one.name << ": pictures take blocks from the system";
  }
  // A worker that came late may still grow its scratch to the largest crop.
  EXPECT_LE(counted(pictures, to_f32_planes, kMany, kBatches, 2).large, 4U) << "with two workers";
}

/// libjpeg asks for the coefficients of a progressive picture by itself, a block a component, and
/// gives them back.
TEST(ImageWarm, AProgressivePictureHasNothingAllocatedButItsCoefficients) {
  if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer counts its own";
  const Pictures pictures(true);
  const Counts few = counted(pictures, to_f32_planes, kFew, kBatches);
  const Counts many = counted(pictures, to_f32_planes, kMany, kBatches);
  EXPECT_LE(many.by_new, few.by_new + 4);
  EXPECT_LE(many.large, 3 * kMany * kBatches);
  EXPECT_EQ(many.blocks, 0U);
}

/// 12 million pixels in several scans, whose coefficients alone take 36 MB.
Bytes huge_file() {
  Tensor image({3000, 4000, 3}, DType::u8);
  const auto row = static_cast<std::size_t>(4000 * 3);
  for (std::size_t y = 0; y < 3000; ++y)
    std::memset(image.data<std::uint8_t>() + y * row, static_cast<int>(y / 8 % 256), row);
  return jpeg_file(image, {.progressive = true});
}

std::int64_t held_bytes() {
  const BufferPoolUse pool = buffer_pool_use();
  return allocation_counts().live_bytes +
         static_cast<std::int64_t>(pool.in_use_bytes + pool.kept_bytes);
}

TEST(ImageWarm, AHugePictureRaisesMemoryOnlyWhileItIsDecoded) {
  if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer counts its own";
  const Chain chain{{"decode", {}},
                    {"random_resized_crop", {{"size", whole(96)}}},
                    {"random_horizontal_flip", {}},
                    {"to_float", {}}};
  const Tensor ordinary = file_tensor(jpeg_file(photograph(375, 500)));
  const Tensor huge = file_tensor(huge_file());
  const auto run = [&](const Tensor& file) {
    for (std::uint64_t id = 0; id < 4; ++id) (void)kernel_image(chain, file, Item{.sample_id = id});
  };
  run(ordinary);
  const std::int64_t before = held_bytes();
  run(huge);
  run(ordinary);
  EXPECT_LE(held_bytes() - before, std::int64_t{9} << 20);
}

/// The most memory that the process held since the last reset, in bytes; 0: the system does not
/// say.
std::uint64_t peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (std::uint64_t kib = 0; word == "VmHWM:" && status >> kib) return kib * 1024;
  return 0;
}
bool reset_peak_resident() {
  std::ofstream file("/proc/self/clear_refs");
  file << '5' << std::flush;
  return file.good();
}

TEST(ImageWarm, ALoaderStaysBelow200MegabytesPlusItsBatches) {
  if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer has memory of its own";
  const Pictures pictures;
  trim_buffer_pool();
  if (!reset_peak_resident()) GTEST_SKIP() << "the system does not say what the most was";
  Options options;
  options.workers = 2;
  options.oversubscribe = true;
  Loader<Batch<Sample>> loader =
      to_f32_planes(files(pictures.path()).repeat(1000).read_samples()).batch(32).start(options);
  for (int i = 0; i < 10; ++i) (void)loader.next();
  const std::uint64_t batches = loader.summary().peak_bytes;
  EXPECT_LT(peak_resident_bytes(), (std::uint64_t{200} << 20) + batches);
}

}  // namespace
}  // namespace weir::test
