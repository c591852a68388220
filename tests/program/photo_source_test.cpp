#include "src/photo_source.hpp"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::detail {
namespace {

PhotoSourceOptions small() {
  PhotoSourceOptions options;
  options.count = 200;
  options.width = 40;
  options.height = 30;
  return options;
}

bool is_jpeg(const std::vector<std::uint8_t>& bytes) {
  return bytes.size() > 4 && bytes[0] == 0xff && bytes[1] == 0xd8 &&
         bytes[bytes.size() - 2] == 0xff && bytes[bytes.size() - 1] == 0xd9;
}

TEST(PhotoSource, GivesTheSameBytesForTheSameOptions) {
  EXPECT_EQ(PhotoSource(small()).encoded(7), PhotoSource(small()).encoded(7));
  EXPECT_NE(PhotoSource(small()).encoded(7), PhotoSource(small()).encoded(8));
  PhotoSourceOptions other = small();
  other.seed = 1;
  EXPECT_NE(PhotoSource(small()).encoded(7), PhotoSource(other).encoded(7));
}

TEST(PhotoSource, EncodesWholeJpegs) {
  const PhotoSource source(small());
  for (std::uint64_t i = 0; i < 20; ++i) EXPECT_TRUE(is_jpeg(source.encoded(i))) << i;
}

TEST(PhotoSource, SpoilsTheShareThatIsAskedFor) {
  PhotoSourceOptions options = small();
  options.bad_share = 0.25;
  const PhotoSource source(options);
  int bad = 0;
  std::set<std::string> ways;
  for (std::uint64_t i = 0; i < options.count; ++i) {
    const std::vector<std::uint8_t> bytes = source.encoded(i);
    EXPECT_EQ(source.bad(i), !is_jpeg(bytes));
    if (!source.bad(i)) continue;
    ++bad;
    ways.insert(bytes.empty() ? "empty" : bytes[0] == 0xff ? "cut" : "other");
  }
  // 200 draws of a quarter: within five standard deviations.
  EXPECT_GT(bad, 20);
  EXPECT_LT(bad, 80);
  EXPECT_THAT(ways, ::testing::ElementsAre("cut", "empty", "other"));
}

TEST(PhotoSource, LabelsAreClasses) {
  const PhotoSource source(small());
  std::set<std::int32_t> seen;
  for (std::uint64_t i = 0; i < 200; ++i) seen.insert(source.label(i));
  EXPECT_EQ(seen.size(), source.classes().size());
  EXPECT_EQ(*seen.begin(), 0);
  EXPECT_EQ(*seen.rbegin(), 9);
}

}  // namespace
}  // namespace weir::detail
