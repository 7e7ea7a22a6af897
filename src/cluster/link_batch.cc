#include "cluster/link_batch.h"

#include <fmt/core.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/crc32c.h"

namespace portolan {

namespace {

constexpr size_t kBatchEpochAt = 16;
constexpr size_t kBatchNumberAt = 24;

void StoreChecksum(std::string& batch) {
  const std::string_view bytes = batch;
  StoreLe<uint32_t>(batch.data() + kLinkBatchCrcAt,
                    Crc32c(bytes.substr(kLinkBatchHeader), Crc32c(bytes.substr(0, kLinkBatchCrcAt))));
}

}  // namespace

void RestampLinkBatch(std::string& batch, uint64_t epoch, uint64_t number) {
  CHECK(batch.size() >= kLinkBatchHeader && epoch > 0 && number > 0);
  StoreLe<uint64_t>(batch.data() + kBatchEpochAt, epoch);
  StoreLe<uint64_t>(batch.data() + kBatchNumberAt, number);
  StoreChecksum(batch);
}

LinkBatchWriter::LinkBatchWriter() : compressor_(Codec::kZstd) {}

Result<bool> LinkBatchWriter::Add(std::string_view message) {
  if (message.empty() || message.size() > kMaxLinkMessage) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("a message of {} bytes fits no link batch (1 to {})", message.size(), kMaxLinkMessage));
  }
  const uint64_t size = VarintLength(message.size()) + message.size();
  if (!empty() && body_.size() + size > kLinkBatchTarget) return false;
  AppendString(body_, message);
  ++messages_;
  return true;
}

std::string LinkBatchWriter::Finish(const LinkBatchHeader& header) {
  CHECK(header.epoch > 0 && header.number > 0 && header.receiver <= UINT16_MAX && header.sender <= UINT16_MAX);
  std::string out;
  out.reserve(kLinkBatchHeader + body_.size() / 2);
  AppendLe<uint32_t>(out, kLinkBatchMagic);
  AppendLe<uint8_t>(out, kLinkBatchVersion);
  AppendLe<uint8_t>(out, 0);
  AppendLe<uint16_t>(out, static_cast<uint16_t>(header.receiver));
  AppendLe<uint16_t>(out, static_cast<uint16_t>(header.sender));
  AppendLe<uint16_t>(out, 0);
  AppendLe<uint32_t>(out, messages_);
  AppendLe<uint64_t>(out, header.epoch);
  AppendLe<uint64_t>(out, header.number);
  AppendLe<uint64_t>(out, header.cluster);
  AppendLe<uint32_t>(out, static_cast<uint32_t>(body_.size()));
  AppendLe<uint32_t>(out, 0);
  out[5] = static_cast<char>(body_.empty() ? Codec::kNone : compressor_.Append(body_, out));
  if (static_cast<Codec>(out[5]) == Codec::kNone) out.replace(kLinkBatchHeader, std::string::npos, body_);
  StoreChecksum(out);
  body_.clear();
  messages_ = 0;
  return out;
}

Status LinkBatchReader::Decode(std::string_view bytes) {
  messages_.clear();
  header_ = {};
  const auto bad = [](std::string_view why) {
    return Fail(ErrorCode::kCorrupt, fmt::format("not a link batch: {}", why));
  };
  ByteReader reader(bytes);
  uint32_t magic = 0, count = 0, raw_size = 0, crc = 0;
  uint16_t receiver = 0, sender = 0, zero = 0;
  uint8_t version = 0, codec = 0;
  LinkBatchHeader header;
  if (!reader.Read(magic) || !reader.Read(version) || !reader.Read(codec) || !reader.Read(receiver) ||
      !reader.Read(sender) || !reader.Read(zero) || !reader.Read(count) || !reader.Read(header.epoch) ||
      !reader.Read(header.number) || !reader.Read(header.cluster) || !reader.Read(raw_size) || !reader.Read(crc)) {
    return bad("too short");
  }
  if (magic != kLinkBatchMagic) return bad("another magic number");
  if (version != kLinkBatchVersion) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("a link batch of version {}: this program reads {}", version, kLinkBatchVersion));
  }
  const std::string_view body = bytes.substr(kLinkBatchHeader);
  if (Crc32c(body, Crc32c(bytes.substr(0, kLinkBatchCrcAt))) != crc) return bad("checksum differs");
  if (zero != 0 || header.epoch - 1 >= kMaxLinkNumber || header.number - 1 >= kMaxLinkNumber) {
    return bad("a field has no valid value");
  }
  if (raw_size > kMaxLinkBatchBody || count > raw_size) return bad("larger than a batch may be");
  if (codec != static_cast<uint8_t>(Codec::kNone) && codec != static_cast<uint8_t>(Codec::kZstd)) {
    return bad("unknown codec");
  }
  body_.resize(raw_size);
  if (codec == static_cast<uint8_t>(Codec::kNone)) {
    if (body.size() != raw_size) return bad("the body has another size");
    body_.assign(body);
  } else if (!decompressor_.Decode(Codec::kZstd, body, body_.data(), raw_size)) {
    return bad("the body does not decompress");
  }
  ByteReader list(body_);
  std::string_view message;
  while (!list.done() && messages_.size() < count) {
    if (!list.ReadString(message) || message.empty()) break;
    messages_.push_back(message);
  }
  if (!list.done() || messages_.size() != count) {
    messages_.clear();
    return bad("the messages do not fill the body");
  }
  header.receiver = receiver;
  header.sender = sender;
  header.messages = count;
  header_ = header;
  return {};
}

}  // namespace portolan
