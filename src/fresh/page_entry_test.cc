#include "fresh/page_entry.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/bytes.h"

namespace portolan {
namespace {

PageEntry Full() {
  PageEntry entry;
  entry.visited_s = 1'780'000'000;
  entry.visits = 7;
  entry.changes = 3;
  entry.strikes = 2;
  entry.gone = true;
  entry.hub = true;
  entry.importance = 2.5F;
  entry.change = {.shape = 3, .rate = 17};
  entry.links = {.shape = 40, .rate = 9};
  entry.last.validators = {.etag = "W/\"x\"", .last_modified = "Sun, 06 Nov 1994 08:49:37 GMT"};
  entry.last.payload_sha1.fill('s');
  entry.last.captured_unix_ms = 1'780'000'000'123;
  entry.last.similarity = 0x123456789abcdef0;
  entry.record = "record";
  return entry;
}

TEST(PageEntryTest, BytesAreThoseOfTheFormat) {
  PageEntry entry;
  entry.visited_s = 100;
  entry.visits = 2;
  entry.changes = 1;
  entry.change = {.shape = 0.5F, .rate = 3};
  entry.last.validators.etag = "\"e\"";
  entry.record = "R";
  std::string bytes;
  EncodePageEntry(entry, bytes);
  const unsigned char golden[] = {0x10, 0, 0x64, 0, 0, 0,    2,    0, 1, 0,    0, 0,   0x80, 0x3f, 0,
                                  0,    0, 0x3f, 0, 0, 0x40, 0x40, 5, 0, 0x10, 3, '"', 'e',  '"',  'R'};
  EXPECT_EQ(bytes, std::string(reinterpret_cast<const char*>(golden), sizeof golden));
}

TEST(PageEntryTest, IsReadAsItWasWritten) {
  std::string bytes;
  for (const PageEntry& entry : {Full(), PageEntry()}) {
    EncodePageEntry(entry, bytes);
    const auto read = DecodePageEntry(bytes);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(*read, entry);
  }
}

TEST(PageEntryTest, WhatIsNoValidatorIsLeftOut) {
  PageEntry entry;
  entry.last.validators.etag = std::string(kMaxValidator + 1, 'e');
  entry.last.validators.last_modified = "a\nb";
  std::string bytes;
  EncodePageEntry(entry, bytes);
  EXPECT_TRUE(DecodePageEntry(bytes)->last.validators == Validators());
}

TEST(PageEntryTest, DamagedBytesAreNoEntry) {
  std::string bytes;
  EncodePageEntry(Full(), bytes);
  const size_t head = bytes.size() - Full().record.size();
  for (size_t length = 0; length < head; ++length) {
    EXPECT_FALSE(DecodePageEntry(bytes.substr(0, length)).has_value()) << length;
  }
  std::string unknown = bytes;
  unknown[1] = 1;
  EXPECT_FALSE(DecodePageEntry(unknown).has_value());
  for (const float bad :
       {-1.0F, 2e9F, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (const size_t at : {10U, 14U, 18U}) {
      std::string broken = bytes;
      StoreLe(broken.data() + at, std::bit_cast<uint32_t>(bad));
      EXPECT_FALSE(DecodePageEntry(broken).has_value()) << bad << " at " << at;
    }
  }
}

}  // namespace
}  // namespace portolan
