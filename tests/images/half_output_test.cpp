// Pictures as halves: by the operators and by the image kernel.
#include <bit>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/error.hpp>
#include <weir/operators.hpp>

#include "pipeline/operators/row_kernels.hpp"
#include "tests/images/image_chain.hpp"
#include "tests/images/pictures.hpp"

namespace weir::test {
namespace {

using testing::HasSubstr;

Written imagenet() {
  return {{"mean", list({0.485, 0.456, 0.406})}, {"std", list({0.229, 0.224, 0.225})}};
}

const ChainEntry kToHalves{"to_float", {{"type", text("f16")}}};

/// The usual chain, with and without what makes halves of its floats.
Chain training(bool halves, bool planes, const char* channels = "3") {
  Chain chain{{"decode", {{"channels", text(channels)}}},
              {"random_resized_crop", {{"size", whole(61)}}},
              {"random_horizontal_flip", {}}};
  if (std::string(channels) == "3") chain.push_back({"normalize", imagenet()});
  if (halves) chain.push_back(kToHalves);
  if (!halves && std::string(channels) == "1") chain.push_back({"to_float", {}});
  if (planes) chain.push_back({"hwc_to_chw", {}});
  return chain;
}

/// Each value of the floats, rounded.
Tensor rounded(const Tensor& floats) {
  Tensor halves(floats.shape(), DType::f16);
  for (std::int64_t i = 0; i < floats.shape().elements(); ++i)
    halves.data<Half>()[i] = half_of(floats.data<float>()[i]);
  return halves;
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() &&
         std::memcmp(a.bytes(), b.bytes(), a.size_bytes()) == 0;
}

std::size_t covered(const Chain& chain) {
  const std::vector<detail::ChainLink> links = links_of(chain);
  const std::vector<detail::ChainPart> parts = links.front().op->replace(links);
  return parts.empty() ? 0 : parts.front().count;
}

/// Each half, its neighbours among the floats, the middles, and what is special.
std::vector<float> trying_floats() {
  std::vector<float> floats;
  for (unsigned bits = 0; bits < 0x7c00; ++bits) {
    const float value = float_of({static_cast<std::uint16_t>(bits)});
    const float next = float_of({static_cast<std::uint16_t>(bits + 1)});
    const float middle = bits + 1 == 0x7c00 ? 65520.0F : (value + next) / 2;
    for (const float one : {value, middle, std::nextafter(middle, 0.0F), -middle})
      floats.push_back(one);
  }
  for (const std::uint32_t bits : {0x00000001U, 0x807fffffU, 0x7f800000U, 0xff800000U, 0x7fc00000U,
                                   0x7f800001U, 0xffa12345U, 0x7f7fffffU, 0x80000000U})
    floats.push_back(std::bit_cast<float>(bits));
  return floats;
}

TEST(HalfOutput, EveryVariantRoundsAsTheRuleDoes) {
  const std::vector<float> floats = trying_floats();
  std::vector<Half> halves(floats.size() + 1);
  for (const detail::RowKernels* variant : detail::row_kernel_variants()) {
    halves.back() = Half{0x1234};
    variant->to_halves(floats.data(), halves.data(), floats.size());
    for (std::size_t i = 0; i < floats.size(); ++i)
      ASSERT_EQ(halves[i].bits, half_of(floats[i]).bits)
          << variant->name << " of " << std::bit_cast<std::uint32_t>(floats[i]);
    EXPECT_EQ(halves.back().bits, 0x1234) << variant->name << " wrote behind its end";
  }
}

TEST(HalfOutput, OfTheKernelIsThatOfItsFloatsRoundedByEveryVariant) {
  const Tensor file = file_tensor(jpeg_file(photograph(151, 213)));
  for (const char* channels : {"3", "1"})
    for (const bool planes : {false, true}) {
      const Chain chain = training(true, planes, channels);
      EXPECT_EQ(covered(chain), chain.size());
      for (std::uint64_t id = 0; id < 6; ++id) {
        const Item item{.sample_id = id};
        const Tensor expected =
            rounded(kernel_image(training(false, planes, channels), file, item));
        for (const detail::RowKernels* variant : detail::row_kernel_variants()) {
          detail::choose_row_kernels(variant);
          EXPECT_TRUE(same_bytes(kernel_image(chain, file, item), expected))
              << variant->name << " channels " << channels << " planes " << planes;
        }
        detail::choose_row_kernels(nullptr);
      }
    }
}

TEST(HalfOutput, OfTheKernelIsThatOfThePlainOperators) {
  const Tensor file = file_tensor(jpeg_file(photograph(151, 213)));
  const Tensor other = file_tensor(opencv_file(".png", photograph(80, 90)));
  const ChainEntry converted{"convert_dtype", {{"dtype", text("f16")}}};
  const Chain cut{{"decode", {}}, {"random_crop", {{"size", whole(61)}}}};
  std::vector<Chain> chains(5, cut);
  chains[0].push_back(kToHalves);
  chains[1].push_back(converted);
  chains[2].push_back({"normalize", imagenet()});
  chains[2].push_back(converted);
  chains[3].push_back({"to_float", {{"scale", text("none")}, {"type", text("f16")}}});
  chains[3].push_back({"random_horizontal_flip", {}});
  chains[4].push_back({"convert_dtype", {{"dtype", text("f32")}}});
  for (Chain& chain : chains) chain.push_back({"hwc_to_chw", {}});
  for (std::size_t i = 0; i < chains.size(); ++i) {
    EXPECT_EQ(covered(chains[i]), chains[i].size()) << i;
    for (std::uint64_t id = 0; id < 4; ++id) {
      const Item item{.sample_id = id};
      for (const Tensor* one : {&file, &other})
        EXPECT_TRUE(
            same_bytes(plain_image(chains[i], *one, item), kernel_image(chains[i], *one, item)))
            << i << " id " << id;
    }
  }
}

TEST(HalfOutput, OfToFloatIsItsFloatRounded) {
  const Tensor bytes = picture(9, 7);
  Tensor words({1, 3, 1}, DType::u16);
  for (const int i : {0, 1, 2})
    words.data<std::uint16_t>()[i] = static_cast<std::uint16_t>(i * 32767);
  const SampleMap to_floats = make_operator("to_float");
  const SampleMap to_halves = to_float({.type = DType::f16});
  for (const Tensor* image : std::initializer_list<const Tensor*>{&bytes, &words}) {
    const Tensor floats = apply_to_image(to_floats, *image);
    const Tensor halves = apply_to_image(to_halves, *image);
    EXPECT_TRUE(same_bytes(halves, rounded(floats)));
    EXPECT_TRUE(same_bytes(apply_to_image(to_halves, floats), halves));
    // Twice is as once.
    EXPECT_TRUE(same_bytes(apply_to_image(to_halves, halves), halves));
  }
}

TEST(HalfOutput, ConvertsFromAndToEveryType) {
  const Tensor bytes = picture(16, 16, 1);
  const auto converted = [](const Tensor& from, const char* dtype, const char* scale = "unit") {
    return apply_to_image(
        make_operator("convert_dtype", {{"dtype", text(dtype)}, {"scale", text(scale)}}), from);
  };
  for (const char* dtype : {"u8", "u16", "f32", "f64"}) {
    const Tensor source = converted(bytes, dtype);
    const Tensor halves = converted(source, "f16");
    ASSERT_EQ(halves.dtype(), DType::f16);
    EXPECT_TRUE(same_bytes(converted(halves, "u8"), bytes)) << dtype;
  }
  const Tensor numbers = converted(converted(bytes, "i64", "none"), "f16", "none");
  EXPECT_EQ(float_of(numbers.data<Half>()[7]), bytes.data<std::uint8_t>()[7]);
}

TEST(HalfOutput, IsMovedButNotCountedWith) {
  const Tensor floats = apply_to_image(make_operator("to_float"), picture(9, 7));
  const Tensor halves = rounded(floats);
  for (const char* name : {"random_horizontal_flip", "random_vertical_flip"}) {
    const SampleMap flip = make_operator(name, {{"probability", number(1)}});
    EXPECT_TRUE(same_bytes(apply_to_image(flip, halves), rounded(apply_to_image(flip, floats))));
  }
  const SampleMap layout = make_operator("hwc_to_chw");
  EXPECT_TRUE(same_bytes(apply_to_image(layout, halves), rounded(apply_to_image(layout, floats))));
  EXPECT_THAT(failure_of([&] {
                (void)apply_to_image(make_operator("resize", {{"size", whole(5)}}), halves);
              }),
              HasSubstr("f16"));
  EXPECT_THAT(
      failure_of([&] { (void)apply_to_image(make_operator("normalize", imagenet()), halves); }),
      HasSubstr("holds f16, needed are u8, u16 or f32"));
  EXPECT_THAT(failure_of([] { (void)to_float({.type = DType::f64}); }), HasSubstr("f64"));
}

}  // namespace
}  // namespace weir::test
