#include "url/byte_scan.h"

#include <gtest/gtest.h>

#include <string>

#include "io/rng.h"

namespace portolan::url_internal {
namespace {

constexpr ByteSet kSet = ByteSet::Of([](unsigned c) { return c < 0x21 || c == '#' || c == 'Z' || c == 0x7f; });

TEST(ByteScanTest, EveryByteIsInOrOut) {
  for (unsigned c = 0; c < 256; ++c) {
    std::string text(40, 'a');
    text[20] = static_cast<char>(c);
    text += std::string(kScanPadding, '#');
    const bool member = c < 0x21 || c == '#' || c == 'Z' || c >= 0x7f;
    EXPECT_EQ(kSet.Has(static_cast<char>(c)), member) << c;
    EXPECT_EQ(kSet.Find(text.data()) - text.data(), member ? 20 : 40) << c;
    EXPECT_EQ(kSet.FindOneByOne(text.data()), kSet.Find(text.data())) << c;
  }
}

TEST(ByteScanTest, WideAndNarrowScansAgree) {
  Rng rng(5);
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (uint64_t n = rng.Below(60); n > 0; --n) text += static_cast<char>(rng.Below(8) == 0 ? rng.Below(256) : 'a');
    text += std::string(kScanPadding + 1, '#');
    ASSERT_EQ(kSet.FindOneByOne(text.data()), kSet.Find(text.data()));
  }
}

}  // namespace
}  // namespace portolan::url_internal
