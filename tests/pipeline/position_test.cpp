#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/error.hpp>
#include <weir/position.hpp>

namespace weir::test {
namespace {

Position full() {
  Position at;
  at.epoch = 4294967295U;
  at.source_index = 2;
  at.split = 3;
  at.delivered_in_epoch = 4;
  at.delivered = 18446744073709551615U;
  at.samples = 6;
  at.bad = 7;
  at.bad_in_epoch = 8;
  at.good_in_epoch = 9;
  at.digest_low = 0x00000000000000aaU;
  at.digest_high = 0xffffffffffffffffU;
  at.set_digest = 12;
  at.seed = 13;
  at.structure = 14;
  return at;
}

TEST(PositionText, IsOneLineAndComesBack) {
  const std::string text = full().text();
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const Position back = Position::parse(text);
  EXPECT_EQ(back.epoch, 4294967295U);
  EXPECT_EQ(back.source_index, 2U);
  EXPECT_EQ(back.split, 3U);
  EXPECT_EQ(back.delivered_in_epoch, 4U);
  EXPECT_EQ(back.delivered, 18446744073709551615U);
  EXPECT_EQ(back.samples, 6U);
  EXPECT_EQ(back.bad, 7U);
  EXPECT_EQ(back.bad_in_epoch, 8U);
  EXPECT_EQ(back.good_in_epoch, 9U);
  EXPECT_EQ(back.digest_low, 0xaaU);
  EXPECT_EQ(back.digest_high, 0xffffffffffffffffU);
  EXPECT_EQ(back.set_digest, 12U);
  EXPECT_EQ(back.seed, 13U);
  EXPECT_EQ(back.structure, 14U);
}

TEST(PositionText, MayEndInALineBreak) {
  EXPECT_EQ(Position::parse(full().text() + "\n").text(), full().text());
  EXPECT_EQ(Position::parse(full().text() + "\r\n").text(), full().text());
}

TEST(PositionText, AnythingElseIsRefused) {
  const std::string good = full().text();
  const auto with = [&good](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  for (const std::string& text :
       {std::string(), std::string("weir_position 1"), good.substr(0, good.size() - 4), good + " x",
        good + good, " " + good, with("weir_position 1", "weir_position 2"),
        with("epoch 4294967295", "epoch 4294967296"), with("split 3", "split -3"),
        with("samples 6", "samples six"), with("seed 13", "seed  13"),
        with("bad 7", "bad 99999999999999999999"), std::string(4096, 'x'),
        good + std::string(1, '\0') + "more"}) {
    try {
      (void)Position::parse(text);
      ADD_FAILURE() << "taken: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_THAT(error.what(), testing::HasSubstr("weir_position 1"));
    }
  }
}

}  // namespace
}  // namespace weir::test
