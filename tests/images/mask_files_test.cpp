#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/error.hpp>
#include <weir/load_pipeline.hpp>
#include <weir/mask_files.hpp>

#include "tests/images/pictures.hpp"
#include "tests/pipeline/folder.hpp"
#include "tests/pipeline/loader_run.hpp"

namespace weir::test {
namespace {

using testing::HasSubstr;

std::string text_of(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

/// Where a pixel lies, to the sixteenth of a picture, as the value of the picture and the mask.
Tensor tiles(std::int64_t channels) {
  Tensor image({64, 64, channels}, DType::u8);
  for (std::int64_t i = 0; i < image.shape().elements(); ++i) {
    const std::int64_t pixel = i / channels;
    image.data<std::uint8_t>()[i] =
        static_cast<std::uint8_t>(16 * (pixel / 64 / 16 * 4 + pixel % 64 / 16));
  }
  return image;
}

/// Eight images, and their masks in a folder of their own.
class MaskFiles : public testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 8; ++i) {
      const std::string name = (i < 4 ? "a/" : "b/") + std::to_string(i);
      folder_.write("photos/" + name + ".bmp", text_of(opencv_file(".bmp", tiles(3))));
      folder_.write("masks/" + name + ".png", text_of(opencv_file(".png", tiles(1))));
    }
  }
  [[nodiscard]] Pipeline pipeline() const {
    return parse_pipeline(
        "weir: 1\nseed: 5\npipeline:\n"
        "  - files: {root: photos, labels: parent_folder}\n"
        "  - shuffle: {}\n"
        "  - read: {masks: masks}\n"
        "  - decode: {}\n"
        "  - decode: {channels: 1}\n    columns: mask\n"
        "  - random_resized_crop: {size: 24, scale: [0.3, 0.9], interpolation: nearest}\n"
        "    columns: [image, mask]\n"
        "  - random_horizontal_flip: {}\n    columns: [image, mask]\n"
        "  - random_rotation: {degrees: 30}\n    columns: [image, mask]\n"
        "  - gaussian_blur: {kernel_size: 3, probability: 0}\n    columns: [image, mask]\n"
        "  - batch: {size: 4}\n",
        folder_.path("train.yaml"));
  }
  Folder folder_;
};

TEST_F(MaskFiles, StayTogetherWithTheirImages) {
  const Pipeline read = pipeline();
  std::string digest;
  for (const int count : {1, 8}) {
    Options options = workers(count);
    options.seed = 5;
    options.digest = true;
    options.epochs = 2;
    Loader<Batch<Sample>> loader = read.start(options);
    int rows = 0;
    for (std::uint32_t epoch = 0; epoch < 2; ++epoch)
      for (const Batch<Sample>& batch : loader.epoch(epoch)) {
        ASSERT_EQ(batch["mask"].shape(), (Shape{4, 24, 24, 1}));
        ASSERT_EQ(batch["image"].shape(), (Shape{4, 24, 24, 3}));
        for (std::int64_t i = 0; i < 4 * 24 * 24; ++i)
          ASSERT_EQ(batch["image"].data<std::uint8_t>()[3 * i],
                    batch["mask"].data<std::uint8_t>()[i]);
        rows += static_cast<int>(batch.size());
      }
    EXPECT_EQ(rows, 16);
    if (digest.empty()) digest = loader.summary().digest;
    EXPECT_EQ(loader.summary().digest, digest);
    EXPECT_THAT(loader.classes(), testing::ElementsAre("a", "b"));
  }
}

TEST_F(MaskFiles, ThatAreMissingAreBadSamples) {
  std::filesystem::remove(folder_.path("masks/b/6.png"));
  EXPECT_THAT(
      error_of([&] { (void)all_of(std::get<Pipeline::Batches>(pipeline().stream), workers(2)); }),
      HasSubstr("no mask: nothing below " + folder_.path("masks") + " is called 'b/6'"));
}

TEST_F(MaskFiles, OfWhichOneImageHasTwoAreRefusedAtOnce) {
  folder_.write("masks/a/1.tif", "another");
  try {
    (void)pipeline();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.where(), HasSubstr("train.yaml:6:5"));
    EXPECT_THAT(error.what(), HasSubstr("'a/1.png' and 'a/1.tif' are masks of one image"));
  }
}

}  // namespace
}  // namespace weir::test
