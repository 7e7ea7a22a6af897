#include "disk/block_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>

#include "io/faulty_env.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

using testing::HasSubstr;

std::string Hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    out += kDigits[static_cast<uint8_t>(c) >> 4];
    out += kDigits[static_cast<uint8_t>(c) & 15];
  }
  return out;
}

class BlockFileTest : public testing::Test {
 protected:
  void Write(std::span<const std::string> payloads, Codec codec = Codec::kNone) {
    auto writer = BlockFileWriter::Create(env_, "f", FileKind::kQueue, codec).value();
    for (const std::string& payload : payloads) {
      ASSERT_TRUE(writer.Append({.kind = 7,
                                 .records = 1,
                                 .plain = payload.substr(0, 2),
                                 .compressible = std::string_view(payload).substr(2)}));
    }
    ASSERT_TRUE(writer.Sync());
  }
  // Every payload, or the error that ended the reading.
  Result<std::vector<std::string>> Read() {
    ASSIGN_OR_RETURN(BlockFileReader reader, BlockFileReader::Open(env_, "f", FileKind::kQueue));
    std::vector<std::string> payloads;
    while (true) {
      ASSIGN_OR_RETURN(const std::optional<Block> block, reader.Next());
      if (!block) return payloads;
      payloads.emplace_back(block->payload);
    }
  }

  MemEnv env_;
};

// docs/formats/blocks.md walks through these bytes.
TEST_F(BlockFileTest, GoldenBytes) {
  const std::string payloads[] = {"abcde"};
  Write(payloads);
  EXPECT_EQ(Hex(ReadWholeFile(env_, "f").value()),
            "50544c5155455545"  // PTLQUEUE
            "01000000"          // version
            "c7a30ec6"          // crc32c of the header
            "4df51546"          // crc32c of the block
            "05000000"          // stored
            "05000000"          // raw
            "02000000"          // plain
            "01000000"          // records
            "00"                // codec
            "07"                // kind
            "0000"
            "6162636465");
}

TEST_F(BlockFileTest, EveryCodecRoundTripsAtEverySize) {
  Rng rng(3);
  for (const Codec codec : {Codec::kNone, Codec::kLz4, Codec::kZstd}) {
    std::vector<std::string> payloads;
    for (size_t size = 2; size < 300'000; size = size * 3 / 2 + 1) {
      std::string text(size, 'x');
      for (size_t i = 0; i < size; i += 1 + rng.Below(20)) text[i] = static_cast<char>(rng.Next());
      payloads.push_back(text);
    }
    Write(payloads, codec);
    EXPECT_EQ(Read().value(), payloads) << CodecName(codec);
  }
}

TEST_F(BlockFileTest, EveryFlippedBitIsFound) {
  const std::string payloads[] = {"first block", "second block"};
  Write(payloads, Codec::kLz4);
  const std::string good = ReadWholeFile(env_, "f").value();
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    env_.Corrupt("f", 0, bad);
    const auto read = Read();
    ASSERT_FALSE(read) << "bit " << bit;
    EXPECT_TRUE(read.error().code() == ErrorCode::kCorrupt || read.error().code() == ErrorCode::kUnsupported) << bit;
    EXPECT_THAT(read.error().message(), HasSubstr("f: "));
  }
}

TEST_F(BlockFileTest, CorruptBlockIsNamedWithItsOffset) {
  const std::string payloads[] = {"first block", "second block"};
  Write(payloads);
  env_.Corrupt("f", 16 + 24 + 11 + 24 + 3, "X");
  EXPECT_EQ(Read().error().ToString(), "corrupt: f: block at 51: checksum differs");
}

TEST_F(BlockFileTest, EveryTruncationIsFoundOrEndsAtABlock) {
  const std::string payloads[] = {"first block", "second block"};
  Write(payloads);
  const std::string good = ReadWholeFile(env_, "f").value();
  for (size_t size = 0; size < good.size(); ++size) {
    ASSERT_TRUE(ReplaceFile(env_, "f", good.substr(0, size)));
    const auto read = Read();
    if (size == 16 || size == 51) {
      EXPECT_EQ(read.value().size(), size == 16 ? 0U : 1U);
    } else {
      ASSERT_FALSE(read) << size;
      EXPECT_EQ(read.error().code(), ErrorCode::kCorrupt);
    }
  }
}

TEST_F(BlockFileTest, FutureVersionIsUnsupportedNotCorrupt) {
  Write(std::span<const std::string>());
  env_.Corrupt("f", 8, std::string("\x02\x00\x00\x00\xfe\x2a\x2c\xa4", 8));
  const auto read = Read();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().ToString(), "unsupported: f: queue segment of version 2, this program knows version 1");
}

TEST_F(BlockFileTest, AnotherKindOfFileIsRefused) {
  Write(std::span<const std::string>());
  EXPECT_THAT(BlockFileReader::Open(env_, "f", FileKind::kZ).error().message(),
              HasSubstr("a queue segment, wanted a DRUM repository Z"));
  EXPECT_EQ(IdentifyFile(env_, "f").value(), FileKind::kQueue);
}

TEST_F(BlockFileTest, FailedAppendCanBeTriedAgain) {
  for (uint64_t at = 3; at < 6; ++at) {
    FaultyEnv faulty(env_, {.short_write_at = at});
    auto writer = BlockFileWriter::Create(faulty, "f", FileKind::kQueue, Codec::kNone).value();
    int failures = 0;
    for (const char* payload : {"one", "two", "three"}) {
      while (!writer.Append({.kind = 1, .records = 1, .plain = payload, .compressible = {}})) ++failures;
    }
    EXPECT_EQ(failures, 1);
    EXPECT_EQ(Read().value(), (std::vector<std::string>{"one", "two", "three"}));
  }
}

TEST_F(BlockFileTest, ReopenCutsWhatIsBeyondTheCommittedLength) {
  const std::string payloads[] = {"first block", "second block"};
  Write(payloads);
  auto writer = BlockFileWriter::Reopen(env_, "f", FileKind::kQueue, Codec::kNone, 51).value();
  ASSERT_TRUE(writer.Append({.kind = 7, .records = 1, .plain = "third", .compressible = {}}));
  EXPECT_EQ(Read().value(), (std::vector<std::string>{"first block", "third"}));
  EXPECT_FALSE(BlockFileWriter::Reopen(env_, "f", FileKind::kQueue, Codec::kNone, 5000));
}

}  // namespace
}  // namespace portolan
