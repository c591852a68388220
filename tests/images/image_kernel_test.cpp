#include <algorithm>
#include <cstring>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/error.hpp>

#include "pipeline/operators/row_kernels.hpp"
#include "tests/images/image_chain.hpp"
#include "tests/images/pictures.hpp"

namespace weir::test {
namespace {

Written imagenet() {
  return {{"mean", list({0.485, 0.456, 0.406})}, {"std", list({0.229, 0.224, 0.225})}};
}

Chain training(Written crop = {}) {
  if (crop.count("size") == 0) crop["size"] = whole(96);
  return {{"decode", {}},
          {"random_resized_crop", std::move(crop)},
          {"random_horizontal_flip", {}},
          {"normalize", imagenet()},
          {"hwc_to_chw", {}}};
}

Chain evaluation() {
  return {{"decode", {}},
          {"resize", {{"size", whole(110)}}},
          {"center_crop", {{"size", whole(96)}}},
          {"normalize", imagenet()},
          {"hwc_to_chw", {}}};
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() &&
         std::memcmp(a.bytes(), b.bytes(), a.size_bytes()) == 0;
}

/// Operators that the first part of what replaces the chain covers; 0: nothing replaces it.
std::size_t covered(const Chain& chain, const std::vector<std::string>& columns = {}) {
  const std::vector<detail::ChainLink> links = links_of(chain, columns);
  const std::vector<detail::ChainPart> parts = links.front().op->replace(links);
  return parts.empty() ? 0 : parts.front().count;
}

// What is replaced.

TEST(ImageChain, TheUsualOrdersAreReplacedWhole) {
  EXPECT_EQ(covered(training()), 5U);
  EXPECT_EQ(covered(evaluation()), 5U);
  Chain layout_first = training();
  std::swap(layout_first[3], layout_first[4]);
  EXPECT_EQ(covered(layout_first), 5U);
  Chain flipped_first = training();
  std::swap(flipped_first[1], flipped_first[2]);
  EXPECT_EQ(covered(flipped_first), 5U);
  Chain flipped_last = training();
  std::swap(flipped_last[2], flipped_last[3]);
  EXPECT_EQ(covered(flipped_last), 5U);
  Chain through_floats = training();
  through_floats.insert(through_floats.begin() + 3, {"to_float", {}});
  EXPECT_EQ(covered(through_floats), 6U);
  EXPECT_EQ(covered({{"decode", {}}, {"random_crop", {{"size", whole(32)}}}}), 2U);
  EXPECT_EQ(covered({{"decode", {}}, {"resize", {{"size", list({50, 60})}}}}), 2U);
}

TEST(ImageChain, EndsWhereTheKernelCannotGoOn) {
  Chain jitter = training();
  jitter.insert(jitter.begin() + 3, {"color_jitter", {{"brightness", number(0.2)}}});
  EXPECT_EQ(covered(jitter), 3U);
  Chain twice = evaluation();
  twice.insert(twice.begin() + 3, {"resize", {{"size", whole(20)}}});
  EXPECT_EQ(covered(twice), 3U);
  Chain crop_of_floats{{"decode", {}},
                       {"resize", {{"size", whole(50)}}},
                       {"to_float", {}},
                       {"center_crop", {{"size", whole(40)}}}};
  EXPECT_EQ(covered(crop_of_floats), 3U);
}

TEST(ImageChain, IsLeftAloneWhereNothingIsGained) {
  EXPECT_EQ(covered({{"decode", {}}, {"random_horizontal_flip", {}}, {"to_float", {}}}), 0U);
  EXPECT_EQ(covered({{"decode", {{"channels", text("keep")}}}, {"resize", {{"size", whole(9)}}}}),
            0U);
  EXPECT_EQ(
      covered({{"decode", {{"on_damaged", text("accept")}}}, {"resize", {{"size", whole(9)}}}}),
      0U);
  EXPECT_EQ(covered(training(), {"image", "mask"}), 0U);
  EXPECT_EQ(covered(training(), {"mask"}), 0U);
}

// What it gives.

TEST(ImageKernel, AgreesWithThePlainOperatorsOnEverySampling) {
  const Tensor image = photograph(150, 210);
  const int samplings[][2] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {4, 2}};
  for (const auto& [across, down] : samplings) {
    for (const bool progressive : {false, true}) {
      const Tensor file = file_tensor(jpeg_file(
          image,
          {.progressive = progressive, .brightness_across = across, .brightness_down = down}));
      for (std::uint64_t id = 0; id < 8; ++id) {
        const Item item{.sample_id = id};
        const Tensor plain = plain_image(training(), file, item);
        const Tensor kernel = kernel_image(training(), file, item);
        ASSERT_EQ(plain.shape(), kernel.shape());
        ASSERT_EQ(kernel.dtype(), DType::f32);
        // No crop of this picture is twice the target, so only roundings differ.
        const Distance apart = distance(plain, kernel, 1 / 255.0 / 0.225);
        EXPECT_LE(apart.most, 1.05) << across << "x" << down << " id " << id;
        EXPECT_LE(apart.mean, 0.15) << across << "x" << down << " id " << id;
      }
    }
  }
}

TEST(ImageKernel, AgreesWithinItsBoundsWhereTheDecoderReduces) {
  for (const char* interpolation : {"linear", "area", "cubic"}) {
    double worst_mean = 0;
    double worst_psnr = 99;
    for (unsigned seed = 1; seed <= 3; ++seed) {
      const Tensor file = file_tensor(jpeg_file(photograph(600, 800, 3, seed)));
      for (std::uint64_t id = 0; id < 6; ++id) {
        const Chain chain = training({{"size", whole(64)},
                                      {"interpolation", text(interpolation)},
                                      {"scale", list({0.2, 1})}});
        const Item item{.sample_id = id};
        const Distance apart = distance(plain_image(chain, file, item),
                                        kernel_image(chain, file, item), 1 / 255.0 / 0.225);
        worst_mean = std::max(worst_mean, apart.mean);
        worst_psnr = std::min(worst_psnr, apart.psnr);
      }
    }
    // Where the decoder averages, linear and cubic resampling alone would have taken few of many.
    const bool averages = std::string(interpolation) == "area";
    EXPECT_LE(worst_mean, averages ? 1.0 : 3.0) << interpolation;
    EXPECT_GE(worst_psnr, averages ? 42.0 : 36.0) << interpolation;
  }
}

TEST(ImageKernel, AgreesOnEveryChain) {
  const Tensor file = file_tensor(jpeg_file(photograph(150, 210)));
  std::vector<Chain> chains{evaluation(), training()};
  for (const char* interpolation : {"nearest", "linear", "area", "cubic"})
    for (const std::int64_t size : {40, 96, 300})
      chains.push_back({{"decode", {}},
                        {"resize", {{"size", whole(size)}, {"interpolation", text(interpolation)}}},
                        {"random_horizontal_flip", {}},
                        {"random_vertical_flip", {}}});
  for (const char* interpolation : {"linear", "cubic"})
    for (const std::int64_t size : {40, 96, 300})
      chains.push_back({{"decode", {}},
                        {"random_resized_crop",
                         {{"size", whole(size)},
                          {"interpolation", text(interpolation)},
                          {"antialias", flag(true)}}},
                        {"random_horizontal_flip", {}}});
  chains.push_back({{"decode", {}}, {"center_crop", {{"size", list({60, 70})}}}});
  chains.push_back({{"decode", {}},
                    {"random_vertical_flip", {}},
                    {"random_horizontal_flip", {}},
                    {"random_crop", {{"size", list({60, 70})}}},
                    {"hwc_to_chw", {}}});
  chains.push_back({{"decode", {}},
                    {"random_horizontal_flip", {}},
                    {"resize", {{"size", list({91, 83})}}},
                    {"random_vertical_flip", {}},
                    {"random_crop", {{"size", list({60, 70})}}},
                    {"random_horizontal_flip", {}},
                    {"to_float", {}}});
  chains.push_back({{"decode", {{"channels", text("1")}}},
                    {"center_crop", {{"size", whole(120)}}},
                    {"resize", {{"size", whole(77)}}},
                    {"to_float", {}},
                    {"normalize", {{"mean", number(0.5)}, {"std", number(0.25)}}},
                    {"hwc_to_chw", {}}});
  for (std::size_t i = 0; i < chains.size(); ++i) {
    ASSERT_EQ(covered(chains[i]), chains[i].size()) << i;
    for (std::uint64_t id = 0; id < 6; ++id) {
      const Item item{.sample_id = id};
      const Tensor plain = plain_image(chains[i], file, item);
      const Tensor kernel = kernel_image(chains[i], file, item);
      ASSERT_EQ(plain.shape(), kernel.shape()) << i;
      ASSERT_EQ(plain.dtype(), kernel.dtype()) << i;
      const double scale = plain.dtype() == DType::u8 ? 1 : i < 2 ? 1 / 255.0 / 0.225 : 1 / 255.0;
      const Distance apart = distance(plain, kernel, scale);
      EXPECT_LE(apart.mean, 3.0) << "chain " << i << " id " << id;
      EXPECT_GE(apart.psnr, 30.0) << "chain " << i << " id " << id;
    }
  }
}

TEST(ImageKernel, CutsPixelsThatAreNotResampledExactly) {
  const Tensor file = file_tensor(jpeg_file(photograph(150, 210)));
  const Chain chain{{"decode", {}},
                    {"random_horizontal_flip", {}},
                    {"random_crop", {{"size", list({61, 73})}}},
                    {"random_vertical_flip", {}}};
  for (std::uint64_t id = 0; id < 20; ++id) {
    const Item item{.sample_id = id};
    EXPECT_TRUE(same_bytes(plain_image(chain, file, item), kernel_image(chain, file, item))) << id;
  }
}

TEST(ImageKernel, TurnsAsExifSays) {
  const Tensor image = photograph(300, 420);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Tensor file = file_tensor(jpeg_file(image, {.app1 = exif_orientation(orientation)}));
    for (const std::int64_t size : {40, 96})
      for (std::uint64_t id = 0; id < 6; ++id) {
        const Item item{.sample_id = id};
        const Chain chain = training(
            {{"size", list({static_cast<double>(size), 70})}, {"interpolation", text("area")}});
        const Distance apart = distance(plain_image(chain, file, item),
                                        kernel_image(chain, file, item), 1 / 255.0 / 0.225);
        EXPECT_LE(apart.mean, 1.2) << orientation << " size " << size << " id " << id;
      }
  }
}

TEST(ImageKernel, EveryVariantGivesTheSameBytes) {
  const Tensor file = file_tensor(jpeg_file(photograph(251, 337)));
  std::vector<Chain> chains{training(), evaluation()};
  for (const char* interpolation : {"nearest", "linear", "area", "cubic"})
    chains.push_back(training({{"interpolation", text(interpolation)}, {"size", whole(45)}}));
  chains.push_back(training({{"antialias", flag(true)}, {"size", whole(45)}}));
  chains.push_back({{"decode", {{"channels", text("1")}}}, {"resize", {{"size", whole(77)}}}});
  chains.push_back({{"decode", {}}, {"resize", {{"size", whole(77)}}}, {"hwc_to_chw", {}}});
  chains.push_back({{"decode", {}}, {"resize", {{"size", whole(77)}}}, {"to_float", {}}});
  ASSERT_FALSE(detail::row_kernel_variants().empty());
  for (std::size_t i = 0; i < chains.size(); ++i) {
    for (std::uint64_t id = 0; id < 4; ++id) {
      const Item item{.sample_id = id};
      detail::choose_row_kernels(detail::row_kernel_variants().back());
      const Tensor baseline = kernel_image(chains[i], file, item);
      for (const detail::RowKernels* variant : detail::row_kernel_variants()) {
        detail::choose_row_kernels(variant);
        EXPECT_TRUE(same_bytes(kernel_image(chains[i], file, item), baseline))
            << variant->name << " differs in chain " << i;
      }
      detail::choose_row_kernels(nullptr);
    }
  }
}

/// Results do not depend on how hand settings cut the chain into stages.
TEST(ImageKernel, GivesTheSameBytesHoweverTheChainIsCut) {
  std::vector<Tensor> files;
  files.push_back(file_tensor(jpeg_file(photograph(300, 420))));
  files.push_back(file_tensor(jpeg_file(photograph(300, 420), {.app1 = exif_orientation(6)})));
  files.push_back(file_tensor(opencv_file(".png", photograph(100, 120))));
  files.push_back(file_tensor(jpeg_file(photograph(300, 420, 4))));
  Chain mixed = evaluation();
  mixed.insert(mixed.begin() + 1, {"random_horizontal_flip", {}});
  mixed.insert(mixed.begin() + 4, {"random_vertical_flip", {}});
  for (const Chain& chain : {training(), evaluation(), mixed}) {
    for (std::size_t f = 0; f < files.size(); ++f) {
      const Item item{.sample_id = f};
      const Tensor whole_chain = kernel_image(chain, files[f], item);
      for (unsigned cuts = 1; cuts < 1U << chain.size(); ++cuts) {
        Chain cut = chain;
        for (std::size_t i = 0; i < cut.size(); ++i) cut[i].alone = (cuts >> i & 1U) != 0;
        ASSERT_TRUE(same_bytes(kernel_image(cut, files[f], item), whole_chain))
            << "file " << f << " cuts " << cuts;
      }
    }
  }
}

// Files that are no ordinary jpeg.

TEST(ImageKernel, LeavesOtherFilesToThePlainOperators) {
  std::vector<Tensor> files;
  files.push_back(file_tensor(opencv_file(".png", picture(120, 140))));
  files.push_back(file_tensor(opencv_file(".bmp", picture(120, 140))));
  files.push_back(file_tensor(opencv_file(".webp", picture(120, 140))));
  files.push_back(file_tensor(jpeg_file(picture(120, 140, 4))));
  files.push_back(file_tensor(jpeg_file(picture(120, 140, 4), {.ycck = true})));
  for (std::size_t f = 0; f < files.size(); ++f)
    EXPECT_TRUE(same_bytes(plain_image(training(), files[f]), kernel_image(training(), files[f])))
        << f;
  // A border is added around a picture that is smaller than the crop.
  const Tensor small = file_tensor(jpeg_file(picture(50, 60)));
  const Chain crop{{"decode", {}}, {"center_crop", {{"size", whole(80)}}}};
  EXPECT_TRUE(same_bytes(plain_image(crop, small), kernel_image(crop, small)));
}

TEST(ImageKernel, TakesGreyRestartsAndPicturesOfOnePixel) {
  std::vector<Bytes> files;
  files.push_back(jpeg_file(photograph(150, 210, 1)));
  files.push_back(jpeg_file(photograph(150, 210), {.restart_rows = 1}));
  files.push_back(jpeg_file(photograph(1, 1)));
  files.push_back(jpeg_file(photograph(1, 300)));
  files.push_back(jpeg_file(photograph(300, 1)));
  files.push_back(jpeg_file(photograph(8, 17)));
  for (std::size_t f = 0; f < files.size(); ++f)
    for (std::uint64_t id = 0; id < 8; ++id) {
      const Item item{.sample_id = id};
      const Tensor file = file_tensor(files[f]);
      const Distance apart = distance(plain_image(training(), file, item),
                                      kernel_image(training(), file, item), 1 / 255.0 / 0.225);
      EXPECT_LE(apart.most, 1.05) << f << " id " << id;
    }
}

/// The reason that a chain ends with, "" for none.
std::string reason_of(const Chain& chain, const Bytes& bytes, bool kernel, std::uint64_t id) {
  const Item item{.sample_id = id};
  try {
    const Tensor file = file_tensor(bytes);
    (void)(kernel ? kernel_image(chain, file, item) : plain_image(chain, file, item));
  } catch (const BadSample& bad) {
    return bad.what();
  }
  return "";
}

TEST(ImageKernel, GivesTheReasonsOfThePlainOperators) {
  const Bytes good = jpeg_file(photograph(200, 300));
  std::vector<Bytes> files;
  files.push_back({});
  files.push_back({'t', 'e', 'x', 't'});
  for (const std::size_t size : {std::size_t{3}, std::size_t{300}, good.size() / 4, good.size() / 2,
                                 good.size() - 2, good.size() - 1}) {
    Bytes cut = good;
    cut.resize(size);
    files.push_back(cut);
  }
  std::mt19937 random(3);
  Bytes noise = good;
  for (std::size_t i = 0; i < 1500; ++i)
    noise[good.size() / 2 + i] = static_cast<std::uint8_t>(random());
  files.push_back(noise);
  Bytes progressive = jpeg_file(photograph(200, 300), {.progressive = true});
  progressive.resize(progressive.size() / 2);
  files.push_back(progressive);
  Bytes restarts = jpeg_file(photograph(200, 300), {.restart_rows = 1});
  std::size_t marker = restarts.size() * 3 / 4;
  while (restarts[marker] != 0xff || restarts[marker + 1] < 0xd0 || restarts[marker + 1] > 0xd7)
    ++marker;
  Bytes swapped = restarts;
  swapped[marker + 1] = static_cast<std::uint8_t>(0xd0 + ((restarts[marker + 1] + 3) & 7));
  files.push_back(swapped);
  for (std::size_t f = 0; f < files.size(); ++f)
    for (std::uint64_t id = 0; id < 12; ++id)
      EXPECT_EQ(reason_of(training(), files[f], true, id),
                reason_of(training(), files[f], false, id))
          << f << " id " << id;

  Chain limited = training();
  limited[0].written = {{"max_pixels", whole(1000)}};
  EXPECT_EQ(reason_of(limited, good, true, 0), reason_of(limited, good, false, 0));
  EXPECT_THAT(reason_of(limited, good, true, 0), testing::StartsWith("too many pixels"));
  limited[0].written = {{"max_bytes", whole(1000)}};
  EXPECT_THAT(reason_of(limited, good, true, 0), testing::StartsWith("too many bytes"));
  const Chain crop{{"decode", {}}, {"random_crop", {{"size", whole(500)}}}};
  EXPECT_THAT(reason_of(crop, good, true, 0), testing::HasSubstr("too small for a crop"));
}

TEST(ImageKernel, WritesIntoMemoryOfItsOwnWhenThePictureIsShared) {
  const Tensor file = file_tensor(jpeg_file(photograph(60, 60)));
  const Bytes before(file.data<std::uint8_t>(), file.data<std::uint8_t>() + file.size_bytes());
  (void)kernel_image(training(), file);
  EXPECT_EQ(std::memcmp(before.data(), file.bytes(), before.size()), 0);
}

}  // namespace
}  // namespace weir::test
