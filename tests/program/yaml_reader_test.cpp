#include "src/yaml_reader.hpp"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/error.hpp>

#include "src/variables.hpp"

namespace weir::detail {
namespace {

using Kind = YamlNode::Kind;

TEST(YamlReader, KeepsKindsTextsAndPlaces) {
  const YamlNode root = read_yaml("a: 1\nb: [x, 'y']\nc: {d: ~}\ne:\n", "f");
  ASSERT_EQ(root.kind, Kind::map);
  ASSERT_EQ(root.keys.size(), 4U);
  EXPECT_EQ(root.find("a")->text, "1");
  EXPECT_TRUE(root.find("a")->plain);
  EXPECT_EQ(root.find("a")->location.text(), "f:1:4");
  EXPECT_EQ(root.find("b")->kind, Kind::list);
  EXPECT_FALSE(root.find("b")->items[1].plain);
  EXPECT_EQ(root.find("b")->items[1].location.text(), "f:2:8");
  EXPECT_TRUE(root.find("c")->find("d")->is_nothing());
  EXPECT_TRUE(root.find("e")->is_nothing());
  EXPECT_EQ(root.find("missing"), nullptr);
}

TEST(YamlReader, QuotedNullIsText) {
  EXPECT_FALSE(read_yaml("a: 'null'\n", "f").find("a")->is_nothing());
}

// Whatever is deep or long ends in an error at once: neither the stack nor the time runs out.
TEST(YamlReader, RefusesNestingInEveryForm) {
  const std::string forms[] = {
      std::string(1000000, '['),
      std::string(1000000, '{'),
      "a: " + std::string(500000, '[') + std::string(500000, ']'),
      [] {
        std::string text;
        for (int i = 0; i < 250000; ++i) text += "- ";
        return text;
      }(),
      [] {
        std::string text;
        for (int i = 0; i < 250000; ++i) text += "? ";
        return text;
      }(),
      [] {
        std::string text = "a: ";
        for (int i = 0; i < 200000; ++i) text += "{a: ";
        return text;
      }(),
      std::string(10U << 20U, '-'),
  };
  for (const std::string& form : forms) {
    const auto began = std::chrono::steady_clock::now();
    EXPECT_THROW(static_cast<void>(read_yaml(form, "f")), Error);
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(60));
  }
}

TEST(ScalarValue, FollowsTheCoreSchema) {
  const auto index = [](const char* text) { return scalar_value(text, true, {}).data.index(); };
  constexpr std::size_t kNothing = 0, kFlag = 1, kWhole = 2, kNumber = 3, kText = 4;
  for (const char* text : {"", "~", "null"}) EXPECT_EQ(index(text), kNothing) << text;
  for (const char* text : {"true", "False", "TRUE"}) EXPECT_EQ(index(text), kFlag) << text;
  for (const char* text : {"0", "-7", "+7", "010"}) EXPECT_EQ(index(text), kWhole) << text;
  for (const char* text : {"0.5", "1e3", "-.5", ".inf", "-.inf", ".nan"})
    EXPECT_EQ(index(text), kNumber) << text;
  for (const char* text :
       {"yes", "no", "inf", "nan", "1x", "18ms", "-", "1.2.3", "99999999999999999999x"})
    EXPECT_EQ(index(text), kText) << text;
  EXPECT_EQ(scalar_value("7", false, {}).data.index(), kText);
  EXPECT_EQ(std::get<std::int64_t>(scalar_value("010", true, {}).data), 10);
}

}  // namespace
}  // namespace weir::detail
