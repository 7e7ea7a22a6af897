#include "content/capture_table.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <string>

#include "base/hash.h"
#include "io/rng.h"

namespace portolan {
namespace {

PayloadKey KeyOf(uint64_t n) { return {Mix64(n), Mix64(n + 1'000'000'007)}; }

TEST(CaptureTableTest, GivesBackWhatWasAdded) {
  CaptureTable table(CaptureTable::kMinMemory);
  EXPECT_EQ(table.Find(KeyOf(1)), nullptr);
  table.Add({.payload = KeyOf(1), .url = "https://a.example/x", .unix_ms = 77, .depth = 5, .type = 9});
  const CaptureTable::Entry* const entry = table.Find(KeyOf(1));
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->url(), "https://a.example/x");
  EXPECT_EQ(entry->unix_ms, 77);
  EXPECT_EQ(entry->depth, 5);
  EXPECT_EQ(entry->type, 9);
}

// Keys that differ only in the 64 bits of the SHA-1 are different payloads.
TEST(CaptureTableTest, TheCheckTellsPayloadsApart) {
  CaptureTable table(CaptureTable::kMinMemory);
  table.Add({.payload = {7, 1}, .url = "a"});
  EXPECT_EQ(table.Find({7, 2}), nullptr);
  table.Add({.payload = {7, 2}, .url = "b"});
  EXPECT_EQ(table.Find({7, 1})->url(), "a");
  EXPECT_EQ(table.Find({7, 2})->url(), "b");
}

// Against a deque and a map, through thousands of turns of the ring, with URLs of all lengths and removals.
TEST(CaptureTableTest, AgreesWithAModelAtItsBound) {
  struct Modelled {
    PayloadKey payload;
    std::string url;
    bool removal = false;
    bool live = true;
  };
  CaptureTable table(CaptureTable::kMinMemory);
  std::deque<Modelled> ring;
  std::map<std::pair<uint64_t, uint64_t>, std::string> live;
  Rng rng(5);
  uint64_t evicted = 0;
  for (uint64_t i = 0; i < 40'000; ++i) {
    // Few keys, so that many are taken back and come again; their low bits meet in few slots.
    PayloadKey payload = KeyOf(rng.Below(3000));
    payload.key &= ~uint64_t{0xff0};
    const auto known = live.find({payload.key, payload.check});
    const CaptureTable::Entry* const found = table.Find(payload);
    ASSERT_EQ(found != nullptr, known != live.end()) << i;
    if (found != nullptr) {
      ASSERT_EQ(found->url(), known->second);
    }
    const bool removal = known != live.end();
    if (removal && rng.Chance(0.5)) continue;
    const std::string url =
        removal ? known->second : std::string(rng.Below(rng.Chance(0.02) ? kMaxFirstUrl + 1 : 120), 'u');
    size_t now = 0;
    for (; !table.Fits(url.size()); ++now) {
      const CaptureTable::Oldest oldest = table.oldest();
      ASSERT_EQ(oldest.capture.payload, ring.front().payload);
      ASSERT_EQ(oldest.capture.url, ring.front().url);
      ASSERT_EQ(oldest.live, ring.front().live);
      ASSERT_EQ(oldest.capture.removal, ring.front().removal);
      if (oldest.live) live.erase({oldest.capture.payload.key, oldest.capture.payload.check});
      ring.pop_front();
      table.RemoveOldest();
    }
    ASSERT_LE(now, CaptureTable::kMostEvicted);
    evicted += now;
    table.Add({.payload = payload, .url = url, .removal = removal});
    if (removal) {
      for (Modelled& one : ring) {
        if (one.live && one.payload == payload) one.live = false;
      }
      live.erase({payload.key, payload.check});
    } else {
      live[{payload.key, payload.check}] = url;
    }
    ring.push_back({payload, url, removal, !removal});
    ASSERT_EQ(table.live(), live.size());
    ASSERT_EQ(table.entries(), ring.size());
  }
  EXPECT_GT(evicted, 20'000U);
  EXPECT_LE(table.memory(), CaptureTable::kMinMemory);
}

TEST(CaptureTableTest, HoldsWhatTheHeaderSays) {
  constexpr uint64_t kMemory = 4 << 20;
  CaptureTable table(kMemory);
  uint64_t count = 0;
  const std::string url(60, 'u');
  for (; table.Fits(url.size()); ++count) table.Add({.payload = KeyOf(count), .url = url});
  EXPECT_LE(kMemory / count, 125U);
}

TEST(FirstCaptureTest, RecordsAreReadAsTheyWereWritten) {
  for (const FirstCapture& capture :
       {FirstCapture{
            .payload = {1, 2}, .url = "https://a.example/", .unix_ms = 1, .depth = 3, .type = 4, .ours = false},
        FirstCapture{.payload = {~0ULL, 2}, .url = "", .unix_ms = 1LL << 50, .removal = true}}) {
    std::string bytes;
    EncodeFirstCapture(capture, bytes);
    const auto read = DecodeFirstCapture(bytes);
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, capture);
  }
}

TEST(FirstCaptureTest, TheBytesAreThoseOfTheFormat) {
  std::string bytes;
  EncodeFirstCapture(
      {.payload = {0x1122334455667788, 0x99}, .url = "http://a/", .unix_ms = 258, .depth = 513, .type = 7}, bytes);
  EXPECT_EQ(bytes, std::string("http://a/"
                               "\x88\x77\x66\x55\x44\x33\x22\x11"
                               "\x99\0\0\0\0\0\0\0"
                               "\x02\x01\0\0\0\0\0\0"
                               "\x01\x02"
                               "\x07"
                               "\x01",
                               9 + kFirstTrailer));
}

TEST(FirstCaptureTest, OtherBytesAreNoRecord) {
  std::string bytes;
  EncodeFirstCapture({.payload = {1, 2}, .url = "u"}, bytes);
  EXPECT_FALSE(DecodeFirstCapture(bytes.substr(2)));
  std::string flags = bytes;
  flags.back() = 4;
  EXPECT_FALSE(DecodeFirstCapture(flags));
  std::string time = bytes;
  time.replace(1 + 16, 8, 8, '\0');
  EXPECT_FALSE(DecodeFirstCapture(time));
  EXPECT_FALSE(DecodeFirstCapture(std::string(kMaxFirstUrl + kFirstTrailer + 1, '\1')));
}

// The key is secret, the check is not.
TEST(FirstCaptureTest, PayloadKeysDependOnTheSecret) {
  std::array<char, 20> sha1{};
  sha1[0] = 5;
  const PayloadKey one = PayloadKeyOf(sha1, HashKey({1, 2, 3, 4}));
  const PayloadKey two = PayloadKeyOf(sha1, HashKey({1, 2, 3, 5}));
  EXPECT_NE(one.key, two.key);
  EXPECT_EQ(one.check, two.check);
  EXPECT_EQ(one.check, 5U);
}

}  // namespace
}  // namespace portolan
