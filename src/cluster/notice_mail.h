// NoticeMail: address notices (flow/address_notice.h) of one shard to another as datagrams, which may be lost, late,
// out of order and doubled. The notices themselves stand that; a datagram is only checked for being whole, for this
// cluster and shard, and of the sender's newest epoch that was heard of.
//
// Format: docs/formats/notice_mail.md.
//
// Pure. Memory bound: the notices that are added until Take; one epoch per sender.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "flow/address_notice.h"

namespace portolan {

struct NoticeMail {
  uint64_t cluster = 0;
  uint32_t receiver = 0;
  uint32_t sender = 0;
  uint64_t epoch = 0;  // of the sender's claim
  std::vector<AddressNotice> notices;

  bool operator==(const NoticeMail&) const = default;

  // As many datagrams as needed, of at most `max_size` bytes each.
  std::vector<std::string> Encode(size_t max_size) const;
  // kCorrupt: not a datagram of notices. kUnsupported: of a later version.
  static Result<NoticeMail> Decode(std::string_view bytes);
};

// What of the datagrams for one shard is to be believed.
class NoticeFilter {
 public:
  NoticeFilter(uint64_t cluster, uint32_t shards, uint32_t shard)
      : cluster_(cluster), shard_(shard), epochs_(shards, 0) {}
  // False: for somebody else, or of a process that has lost its shard.
  bool Accepts(const NoticeMail& mail);

 private:
  const uint64_t cluster_;
  const uint32_t shard_;
  std::vector<uint64_t> epochs_;  // by sender: the newest
};

}  // namespace portolan
