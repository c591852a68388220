#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/operators.hpp>

#include "tests/images/image_chain.hpp"
#include "tests/images/pictures.hpp"

namespace weir::test {
namespace {

using testing::HasSubstr;

bool same(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() &&
         std::memcmp(a.bytes(), b.bytes(), a.size_bytes()) == 0;
}

const Written& crop() {
  static const Written written{{"size", whole(48)}, {"scale", list({0.1, 0.6})}};
  return written;
}

/// The two operators, of which the crop has the number that the joined one has.
Chain apart(const Chain& behind) {
  Chain chain{{"decode", {}}, {"random_resized_crop", crop()}};
  chain.insert(chain.end(), behind.begin(), behind.end());
  return chain;
}
Chain joined(const Chain& behind, bool alone = false) {
  Chain chain{{"random_crop_decode_resize", crop(), alone}};
  chain.insert(chain.end(), behind.begin(), behind.end());
  return chain;
}

const Chain& training() {
  static const Chain chain{{"random_horizontal_flip", {}}, {"to_float", {}}, {"hwc_to_chw", {}}};
  return chain;
}

TEST(RandomCropDecodeResize, PlainIsDecodeAndThenTheCrop) {
  const Tensor file = file_tensor(jpeg_file(photograph(200, 260)));
  const SampleMap one = make_operator("random_crop_decode_resize", crop());
  const SampleMap decode = make_operator("decode");
  const SampleMap resized = make_operator("random_resized_crop", crop());
  for (std::uint64_t id = 0; id < 5; ++id) {
    const Item item{.sample_id = id};
    EXPECT_TRUE(same(apply_to_image(one, file, item),
                     apply_to_image(resized, apply_to_image(decode, file, item), item)));
  }
}

TEST(RandomCropDecodeResize, TheKernelDoesTheSameWorkAsForTheTwo) {
  const Tensor file = file_tensor(jpeg_file(photograph(200, 260)));
  // Numbers count operators, so that the draws are the same where the crop has the same number.
  for (std::uint64_t id = 0; id < 5; ++id) {
    for (const bool alone : {false, true}) {
      const std::vector<detail::ChainLink> one = links_of(joined(training(), alone));
      std::vector<detail::ChainLink> two = links_of(apart(training()));
      for (std::size_t i = 0; i < one.size(); ++i) two[i + 1].number = one[i].number;
      const std::vector<detail::ChainPart> parts = parts_of(one);
      EXPECT_EQ(parts.front().count, alone ? 1U : 4U);
      EXPECT_NE(parts.front().op, one.front().op);
      const Item item{.sample_id = id};
      const Sample a = run_parts(one, parts, sample_of(file.clone()), item);
      const Sample b = run_parts(two, parts_of(two), sample_of(file.clone()), item);
      EXPECT_TRUE(same(a["image"], b["image"])) << alone;
    }
  }
}

TEST(RandomCropDecodeResize, LeavesTheTimesOfOthersAlone) {
  const Tensor file = file_tensor(jpeg_file(photograph(100, 120)));
  const std::vector<detail::ChainLink> links = links_of(joined(training()));
  const std::vector<detail::ChainPart> parts = parts_of(links);
  ASSERT_EQ(parts.size(), 1U);
  // One place for each operator of the part, and one that nobody may touch.
  std::vector<std::int64_t> laps{0, 0, 0, 0, -7};
  SampleInfo info;
  Context context(1, 3, info, 0, {});
  context.count_laps(laps.data());
  Sample sample = sample_of(file.clone());
  parts.front().op->apply(sample, context);
  EXPECT_GT(laps[0], 0);
  EXPECT_EQ(laps[4], -7);
}

TEST(RandomCropDecodeResize, KnowsTheParametersOfBoth) {
  EXPECT_THAT(failure_of([] {
                (void)make_operator("random_crop_decode_resize",
                                    {{"size", whole(8)}, {"alpha", text("keep")}});
              }),
              HasSubstr("it needs `channels: 4` or `channels: keep`"));
  const Tensor file = file_tensor(jpeg_file(photograph(60, 60)));
  const Tensor grey = apply_to_image(
      random_crop_decode_resize({.size = 16, .decode = {.channels = Channels::grey}}), file);
  EXPECT_EQ(grey.shape(), (Shape{16, 16, 1}));
}

}  // namespace
}  // namespace weir::test
