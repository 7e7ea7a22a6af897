#include "disk/record_block.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "base/hash.h"
#include "disk/gap_code.h"
#include "disk/z_file.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

Block AsBlock(const BlockParts& parts, std::string& payload) {
  payload = std::string(parts.plain) + std::string(parts.compressible);
  Block block;
  block.records = parts.records;
  block.plain = static_cast<uint32_t>(parts.plain.size());
  block.payload = payload;
  return block;
}

TEST(RecordBlockTest, RecordsAndTagsComeBack) {
  for (const size_t width : {0U, 1U, 2U}) {
    Rng rng(width + 1);
    RecordBlockBuilder builder(width);
    std::vector<std::pair<std::string, uint32_t>> expected;
    for (int i = 0; i < 2000; ++i) {
      std::string record = i % 7 == 0 ? "" : "http://example.com/" + std::string(rng.Below(300), 'p');
      record += std::to_string(rng.Below(1000));
      const auto tag = static_cast<uint32_t>(rng.Below(width == 0 ? 1 : uint64_t{1} << (8 * width)));
      builder.Add(record, tag);
      expected.emplace_back(record, tag);
    }
    std::string payload;
    const Block block = AsBlock(builder.Finish(1), payload);
    RecordBlockReader reader;
    reader.Start(block, width);
    for (const auto& [record, tag] : expected) {
      ASSERT_TRUE(reader.Next());
      ASSERT_EQ(reader.record(), record);
      ASSERT_EQ(reader.tag(), tag);
    }
    EXPECT_FALSE(reader.Next());
    EXPECT_TRUE(reader.ok());
  }
}

// docs/formats/blocks.md: tags, then (shared × 2, rest length) per record, then the rests.
TEST(RecordBlockTest, GoldenBytes) {
  RecordBlockBuilder builder(1);
  builder.Add("http://example.com/a", 5);
  builder.Add("http://example.com/b", 6);
  const BlockParts parts = builder.Finish(1);
  EXPECT_EQ(parts.plain, std::string("\x05\x06\x00\x14\x26\x01", 6));
  EXPECT_EQ(parts.compressible, "http://example.com/ab");
}

TEST(RecordBlockTest, LeansOnAnEarlierRecordThatBeganAlike) {
  RecordBlockBuilder builder;
  builder.Add("http://www.example.com/first/page");
  builder.Add("http://elsewhere.example.net/other");
  builder.Add("http://www.example.com/first/leaf");
  const BlockParts parts = builder.Finish(1);
  EXPECT_TRUE(parts.compressible.ends_with("leaf"));
  EXPECT_FALSE(parts.compressible.ends_with("/leaf")) << "all but the last word comes from two records before";
  std::string payload;
  const Block block = AsBlock(parts, payload);
  RecordBlockReader reader;
  reader.Start(block, 0);
  while (reader.left() > 0) ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.record(), "http://www.example.com/first/leaf");
}

TEST(RecordBlockTest, NeighboursShareTheirBeginning) {
  RecordBlockBuilder builder;
  for (int i = 0; i < 100; ++i) builder.Add("http://example.com/a/long/path/" + std::to_string(i));
  EXPECT_LT(builder.size(), 100 * 6U);
}

TEST(RecordBlockTest, LongRecordsShareWhatIsRememberedAndBoundTheBlock) {
  const std::string alike(10'000, 'x');
  RecordBlockBuilder builder;
  std::vector<std::string> expected;
  for (int i = 0; i < 40; ++i) builder.Add(expected.emplace_back(alike + std::to_string(i)));
  EXPECT_GE(builder.size(), 40 * alike.size() / 8) << "the reader holds them in full";
  std::string payload;
  const Block block = AsBlock(builder.Finish(1), payload);
  EXPECT_LT(payload.size(), 40 * 6000U + alike.size()) << "4,096 bytes of each are shared";
  RecordBlockReader reader;
  reader.Start(block, 0);
  for (const std::string& record : expected) {
    ASSERT_TRUE(reader.Next());
    ASSERT_EQ(reader.record(), record);
  }
  EXPECT_FALSE(reader.Next());
  builder.Clear();
  builder.Add("a");
  EXPECT_LT(builder.size(), 10U) << "a new block begins with nothing";
}

TEST(RecordBlockTest, AnyBytesEndTheWalkWithoutHarm) {
  Rng rng(5);
  RecordBlockBuilder builder(1);
  for (int i = 0; i < 50; ++i) builder.Add("record " + std::to_string(i), 3);
  std::string good;
  const Block whole = AsBlock(builder.Finish(1), good);
  int broken = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string payload = good;
    for (uint64_t edits = 1 + rng.Below(3); edits > 0; --edits)
      payload[rng.Below(payload.size())] = static_cast<char>(rng.Next());
    payload.resize(payload.size() - rng.Below(3));
    Block block = whole;
    block.plain = static_cast<uint32_t>(std::min<size_t>(block.plain, payload.size()));
    block.payload = payload;
    RecordBlockReader reader;
    reader.Start(block, 1);
    while (reader.Next()) ASSERT_LE(reader.record().size(), payload.size() * 60);
    broken += reader.ok() ? 0 : 1;
  }
  EXPECT_GT(broken, 1000);
}

std::vector<uint64_t> SortedKeys(size_t count, uint64_t seed) {
  std::set<uint64_t> keys;
  for (uint64_t i = 0; keys.size() < count; ++i) keys.insert(Mix64(seed * 1'000'000'007 + i));
  return {keys.begin(), keys.end()};
}

TEST(GapCodeTest, KeysComeBackAndTakeFewBits) {
  for (const size_t count : {1U, 2U, 3U, 100U, 4096U}) {
    const std::vector<uint64_t> keys = SortedKeys(count, count);
    std::string bytes;
    AppendGapCoded(keys, bytes);
    std::vector<uint64_t> back(count);
    ASSERT_EQ(DecodeGapCoded(bytes, count, back.data()), bytes.size());
    EXPECT_EQ(back, keys);
  }
}

// docs/formats/drum.md: gaps less 1 are 2 and 6; one remainder bit each (0, 0), quotients 1 and 3 in unary.
TEST(GapCodeTest, GoldenBytes) {
  const uint64_t keys[] = {10, 13, 20};
  std::string bytes;
  AppendGapCoded(keys, bytes);
  EXPECT_EQ(bytes, std::string("\x0a\0\0\0\0\0\0\0\x01\0\x22", 11) + std::string(16, '\0'));
}

TEST(GapCodeTest, WithinTwoBitsOfTheGapItself) {
  // A slice of 4096 keys out of n: gaps as in a Z of n keys.
  for (const double n : {1e4, 1e6, 1e8, 1e10}) {
    Rng rng(static_cast<uint64_t>(n));
    std::vector<uint64_t> keys = {0};
    while (keys.size() < 4096) {
      keys.push_back(keys.back() + 1 + static_cast<uint64_t>(-std::log(1 - rng.Uniform()) * 0x1p64 / n / 5000));
    }
    // Scaled by 5000 so that 4096 gaps of n = 10^4 fit into 64 bits.
    std::string bytes;
    AppendGapCoded(keys, bytes);
    const double bits = static_cast<double>(bytes.size() + kBlockHeaderSize) * 8 / 4096;
    EXPECT_LT(bits, std::log2(0x1p64 / n / 5000) + 2) << n;
  }
}

TEST(GapCodeTest, ExtremeKeysComeBack) {
  const std::vector<std::vector<uint64_t>> cases = {{0, ~0ULL}, {~0ULL - 1, ~0ULL}, {0, 1, 2, 3}, {0, 1, ~0ULL}, {5}};
  for (const auto& keys : cases) {
    std::string bytes;
    AppendGapCoded(keys, bytes);
    std::vector<uint64_t> back(keys.size());
    ASSERT_EQ(DecodeGapCoded(bytes, keys.size(), back.data()), bytes.size());
    EXPECT_EQ(back, keys);
  }
}

TEST(GapCodeTest, AnyBytesGiveRisingKeysOrNothing) {
  Rng rng(8);
  const std::vector<uint64_t> keys = SortedKeys(200, 1);
  std::string good;
  AppendGapCoded(keys, good);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = good;
    bytes[rng.Below(bytes.size())] = static_cast<char>(rng.Next());
    bytes.resize(rng.Below(4) == 0 ? rng.Below(bytes.size()) : bytes.size());
    const auto exact = std::make_unique<char[]>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), exact.get());
    std::vector<uint64_t> back(200);
    if (DecodeGapCoded(std::string_view(exact.get(), bytes.size()), 200, back.data()) != 0) {
      ASSERT_TRUE(std::is_sorted(back.begin(), back.end(), std::less_equal<>()));
    }
  }
}

TEST(ZFileTest, WhatIsPushedIsRead) {
  MemEnv env;
  const std::vector<uint64_t> keys = SortedKeys(10'000, 3);
  auto writer = ZWriter::Create(env, "z", 2).value();
  for (const uint64_t key : keys) {
    writer.Push(key, std::to_string(key % 90 + 10));
    if (writer.full()) {
      ASSERT_TRUE(writer.WriteBlock()) << key;
    }
  }
  ASSERT_TRUE(writer.Finish(true));
  auto reader = ZReader::Open(env, "z", writer.length(), 2, 4096).value();
  for (const uint64_t key : keys) {
    ASSERT_FALSE(reader.done());
    ASSERT_EQ(reader.key(), key);
    ASSERT_EQ(reader.value(), std::to_string(key % 90 + 10));
    reader.Pop();
    if (reader.empty_block()) {
      ASSERT_TRUE(reader.NextBlock()) << key;
    }
  }
  EXPECT_TRUE(reader.done());
  EXPECT_LT(static_cast<double>(writer.length()) / 10'000 - 2, (64 - std::log2(10'000) + 2) / 8);
}

TEST(ZFileTest, FileWithoutItsEndIsCorrupt) {
  MemEnv env;
  auto writer = ZWriter::Create(env, "z", 0).value();
  for (uint64_t key = 0; key < kKeysPerBlock; ++key) writer.Push(key * 3);
  ASSERT_TRUE(writer.WriteBlock());
  auto reader = ZReader::Open(env, "z", writer.length(), 0, 4096).value();
  while (!reader.empty_block()) reader.Pop();
  EXPECT_EQ(reader.NextBlock().error().code(), ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace portolan
