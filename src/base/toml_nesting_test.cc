#include "base/toml_nesting.h"

#include <gtest/gtest.h>

#include <string>

namespace portolan {
namespace {

std::string Many(size_t count, std::string_view piece) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += piece;
  return out;
}

TEST(TomlNestingTest, WhatSettingsNeedIsAllowed) {
  EXPECT_TRUE(CheckTomlNesting(""));
  EXPECT_TRUE(CheckTomlNesting("[a]\nb = [\"x\", \"y\"]\nc.d = 1.5\n[e.f]\n"));
  EXPECT_TRUE(CheckTomlNesting(Many(100'000, "[a.b]\nc = [1]\n"))) << "brackets that close, dots of other lines";
  EXPECT_TRUE(CheckTomlNesting(Many(kMaxTomlNesting, "[")));
}

TEST(TomlNestingTest, DepthIsRefusedWithItsLine) {
  for (const std::string_view piece : {"[", "{", "[{", "{a=", "a.", ". "}) {
    const Status status = CheckTomlNesting("\n\nx = " + Many(200'000, piece));
    ASSERT_FALSE(status) << piece;
    EXPECT_EQ(status.error().message(), "line 3: nested more than 16 levels deep: not a file of settings") << piece;
  }
}

TEST(TomlNestingTest, StringsAndCommentsAreNotLookedInto) {
  const std::string deep = Many(100, "[.");
  EXPECT_TRUE(CheckTomlNesting("a = \"" + deep + "\\\"" + deep + "\"\n"));
  EXPECT_TRUE(CheckTomlNesting("a = '" + deep + "\\'\n"));
  EXPECT_TRUE(CheckTomlNesting("a = \"\"\"\n" + deep + "\n\"quoted\" \\\"\"\" " + deep + "\"\"\"\n"));
  EXPECT_TRUE(CheckTomlNesting("a = '''\n'" + deep + "'\n'''\n"));
  EXPECT_TRUE(CheckTomlNesting("# " + deep + "\na = 1 # " + deep));
  EXPECT_FALSE(CheckTomlNesting("a = \"x\" " + deep)) << "behind a string";
  EXPECT_FALSE(CheckTomlNesting("a = \"open\n" + deep)) << "a string without an end ends with its line";
  EXPECT_FALSE(CheckTomlNesting("a = \"\"\"x\"\"\"" + deep));
  EXPECT_FALSE(CheckTomlNesting("a = ''" + deep));
}

}  // namespace
}  // namespace portolan
