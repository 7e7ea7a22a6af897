#include "cluster/batch_ledger.h"

#include <fmt/core.h>

#include <utility>

#include "base/bytes.h"

namespace portolan {

BatchVerdict BatchLedger::Judge(const LinkBatchHeader& header, Lost& lost) {
  Sender& sender = senders_[header.sender];
  if (header.epoch < sender.epoch) return BatchVerdict::kOldEpoch;
  if (header.epoch > sender.epoch) sender = Sender{.epoch = header.epoch, .taken = 0, .above = {}};
  if (header.number <= sender.taken) return BatchVerdict::kDuplicate;
  BatchVerdict verdict = BatchVerdict::kNew;
  if (header.number > sender.taken + kLinkWindow) {
    // Everything up to `floor` was stored before this batch was sent.
    const uint64_t floor = header.number - kLinkWindow;
    const uint64_t move = floor - sender.taken;
    const uint64_t known = move < kLinkWindow ? move : kLinkWindow;
    uint64_t there = 0;
    for (uint64_t i = 0; i < known; ++i) there += sender.above[i] ? 1 : 0;
    if (there < move) {
      lost = {.sender = header.sender,
              .epoch = header.epoch,
              .first = sender.taken + 1,
              .last = floor,
              .count = move - there};
      verdict = BatchVerdict::kLost;
    }
    if (move < kLinkWindow) {
      sender.above >>= move;
    } else {
      sender.above.reset();
    }
    sender.taken = floor;
  }
  const uint64_t bit = header.number - sender.taken - 1;
  if (sender.above[bit]) return BatchVerdict::kDuplicate;
  sender.above.set(bit);
  while (sender.above[0]) {
    sender.above >>= 1;
    ++sender.taken;
  }
  return verdict;
}

BatchLedger::Taken BatchLedger::TakenFrom(uint32_t sender) const {
  const auto found = senders_.find(sender);
  if (found == senders_.end()) return {};
  return {found->second.epoch, found->second.taken, found->second.above.any()};
}

std::string BatchLedger::Describe() const {
  std::string out;
  for (const auto& [shard, sender] : senders_) {
    out += fmt::format("{}shard {} after batch {} of epoch {}", out.empty() ? "" : ", ", shard, sender.taken,
                       sender.epoch);
  }
  return out.empty() ? "no sender was heard of before" : out;
}

std::string BatchLedger::Encode() const {
  std::string out;
  AppendVarint(out, senders_.size());
  for (const auto& [shard, sender] : senders_) {
    AppendVarint(out, shard);
    AppendVarint(out, sender.epoch);
    AppendVarint(out, sender.taken);
    // Few are open: the words that are not zero, by a mask.
    uint8_t mask = 0;
    std::string words;
    for (uint64_t w = 0; w < kLinkWindow / 64; ++w) {
      uint64_t word = 0;
      for (uint64_t i = 0; i < 64; ++i) word |= uint64_t{sender.above[w * 64 + i]} << i;
      if (word == 0) continue;
      mask = static_cast<uint8_t>(mask | (1u << w));
      AppendLe<uint64_t>(words, word);
    }
    AppendLe<uint8_t>(out, mask);
    out += words;
  }
  return out;
}

Result<BatchLedger> BatchLedger::Decode(std::string_view bytes) {
  const auto bad = [] { return Fail(ErrorCode::kCorrupt, "not a ledger of link batches"); };
  ByteReader reader(bytes);
  BatchLedger ledger;
  uint64_t count = 0;
  if (!reader.ReadVarint(count) || count > bytes.size()) return bad();
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t shard = 0;
    Sender sender;
    uint8_t mask = 0;
    if (!reader.ReadVarint(shard) || shard > UINT16_MAX || !reader.ReadVarint(sender.epoch) ||
        !reader.ReadVarint(sender.taken) || !reader.Read(mask) || mask >= 1u << (kLinkWindow / 64)) {
      return bad();
    }
    for (uint64_t w = 0; w < kLinkWindow / 64; ++w) {
      uint64_t word = 0;
      if ((mask >> w & 1) == 0) continue;
      if (!reader.Read(word)) return bad();
      for (uint64_t b = 0; b < 64; ++b) sender.above[w * 64 + b] = (word >> b & 1) != 0;
    }
    if (sender.epoch - 1 >= kMaxLinkNumber || sender.taken > kMaxLinkNumber || sender.above[0] ||
        !ledger.senders_.emplace(static_cast<uint32_t>(shard), sender).second) {
      return bad();
    }
  }
  if (!reader.done()) return bad();
  return ledger;
}

}  // namespace portolan
