#include "cluster/notice_mail.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>

#include "base/bytes.h"
#include "base/check.h"
#include "base/crc32c.h"
#include "cluster/link_batch_format.h"

namespace portolan {
namespace {

// OFFSET  SIZE  FIELD                                        never renumber
//      0     4  magic
//      4     1  version
//      5     1  zero
//      6     2  receiver, a shard
//      8     2  sender, a shard
//     10     2  number of notices
//     12     4  CRC32C of what follows
//     16     8  id of the cluster
//     24     8  epoch of the sender's claim
//     32        notices: kind (1 byte, + 16 for IPv6), address (4 or 16 bytes), session (8), asked (8), free in (8)
constexpr uint32_t kMailMagic = 0x4d4e4c50;  // "PLNM"
constexpr uint8_t kMailVersion = 1;
constexpr size_t kMailCountAt = 10;
constexpr size_t kMailCrcAt = 12;
constexpr size_t kMailBodyAt = 16;
constexpr uint8_t kV6 = 16;
constexpr size_t kLongestNotice = 1 + 16 + 3 * 8;
constexpr int64_t kLongest = int64_t{1} << 56;  // durations: two years

}  // namespace

std::vector<std::string> NoticeMail::Encode(size_t max_size) const {
  CHECK(max_size >= 32 + kLongestNotice && receiver <= UINT16_MAX && sender <= UINT16_MAX);
  std::vector<std::string> out;
  uint16_t count = 0;
  const auto finish = [&] {
    StoreLe<uint16_t>(out.back().data() + kMailCountAt, count);
    StoreLe<uint32_t>(out.back().data() + kMailCrcAt, Crc32c(std::string_view(out.back()).substr(kMailBodyAt)));
  };
  for (const AddressNotice& notice : notices) {
    if (out.empty() || count == UINT16_MAX || out.back().size() + kLongestNotice > max_size) {
      if (!out.empty()) finish();
      count = 0;
      std::string& next = out.emplace_back();
      AppendLe<uint32_t>(next, kMailMagic);
      AppendLe<uint8_t>(next, kMailVersion);
      AppendLe<uint8_t>(next, 0);
      AppendLe<uint16_t>(next, static_cast<uint16_t>(receiver));
      AppendLe<uint16_t>(next, static_cast<uint16_t>(sender));
      AppendLe<uint16_t>(next, 0);
      AppendLe<uint32_t>(next, 0);
      AppendLe<uint64_t>(next, cluster);
      AppendLe<uint64_t>(next, epoch);
    }
    std::string& to = out.back();
    AppendLe<uint8_t>(to, static_cast<uint8_t>(static_cast<uint8_t>(notice.kind) + (notice.address.v6 ? kV6 : 0)));
    to.append(reinterpret_cast<const char*>(notice.address.bytes.data()), notice.address.v6 ? 16 : 4);
    AppendLe<uint64_t>(to, notice.session);
    AppendLe<uint64_t>(to, static_cast<uint64_t>(notice.asked_ns));
    AppendLe<uint64_t>(to, static_cast<uint64_t>(std::clamp<int64_t>(notice.free_in_ns, 0, kLongest)));
    ++count;
  }
  if (!out.empty()) finish();
  return out;
}

Result<NoticeMail> NoticeMail::Decode(std::string_view bytes) {
  const auto bad = [](std::string_view why) {
    return Fail(ErrorCode::kCorrupt, fmt::format("not a datagram of notices: {}", why));
  };
  ByteReader reader(bytes);
  NoticeMail mail;
  uint32_t magic = 0, crc = 0;
  uint16_t receiver = 0, sender = 0, count = 0;
  uint8_t version = 0, zero = 0;
  if (!reader.Read(magic) || !reader.Read(version)) return bad("too short");
  if (magic != kMailMagic) return bad("another magic number");
  if (version != kMailVersion) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("notices of version {}: this program reads {}", version, kMailVersion));
  }
  if (!reader.Read(zero) || !reader.Read(receiver) || !reader.Read(sender) || !reader.Read(count) ||
      !reader.Read(crc) || !reader.Read(mail.cluster) || !reader.Read(mail.epoch)) {
    return bad("too short");
  }
  if (Crc32c(bytes.substr(kMailBodyAt)) != crc) return bad("checksum differs");
  if (zero != 0 || mail.epoch - 1 >= kMaxLinkNumber) return bad("a field has no valid value");
  mail.receiver = receiver;
  mail.sender = sender;
  for (uint16_t i = 0; i < count; ++i) {
    AddressNotice notice;
    uint8_t kind = 0;
    uint64_t asked = 0, free_in = 0;
    if (!reader.Read(kind)) return bad("a notice is cut");
    notice.address.v6 = kind > kV6;
    if (notice.address.v6) kind = static_cast<uint8_t>(kind - kV6);
    if (kind < static_cast<uint8_t>(AddressNotice::Kind::kWanted) ||
        kind > static_cast<uint8_t>(AddressNotice::Kind::kReturned)) {
      return bad("an unknown kind of notice");
    }
    notice.kind = static_cast<AddressNotice::Kind>(kind);
    for (uint8_t& byte : std::span(notice.address.bytes).first(notice.address.v6 ? 16 : 4)) {
      if (!reader.Read(byte)) return bad("a notice is cut");
    }
    if (!reader.Read(notice.session) || !reader.Read(asked) || !reader.Read(free_in)) return bad("a notice is cut");
    if (free_in > static_cast<uint64_t>(kLongest) || asked > INT64_MAX) return bad("a time has no valid value");
    notice.asked_ns = static_cast<int64_t>(asked);
    notice.free_in_ns = static_cast<int64_t>(free_in);
    mail.notices.push_back(notice);
  }
  if (!reader.done()) return bad("too long");
  return mail;
}

bool NoticeFilter::Accepts(const NoticeMail& mail) {
  if (mail.cluster != cluster_ || mail.receiver != shard_ || mail.sender >= epochs_.size() || mail.sender == shard_) {
    return false;
  }
  uint64_t& newest = epochs_[mail.sender];
  if (mail.epoch < newest) return false;
  newest = mail.epoch;
  return true;
}

}  // namespace portolan
