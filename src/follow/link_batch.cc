#include "follow/link_batch.h"

#include <algorithm>
#include <cstring>

#include "base/hash.h"
#include "follow/link_rows.h"

namespace portolan {
namespace {

constexpr size_t kTextSlots = 1 << 14;
constexpr size_t kSmallGroup = 8;
constexpr size_t kDeepest = 4096;  // bytes; beyond it keys are compared as a whole
// Of the memory: the hash table, which random access touches as a whole, is made for so many keys. Real crawls have
// some 40 bytes of key per key, so that about a third of the memory is keys with all that belongs to them.
constexpr size_t kKeysPercent = 34;
constexpr size_t kLinksPercent = 60;
constexpr size_t kUsualKey = 256;  // bytes: what full() leaves room for

size_t ShareOf(size_t memory, size_t percent) { return memory / 100 * percent; }

}  // namespace

const char* LinkBatch::Arena::Put(std::string_view bytes) {
  if (bytes.empty()) return "";
  if (at_ + bytes.size() > kChunk) {
    if (!chunks_.empty() && used_ > 0) ++chunk_;
    if (chunk_ == chunks_.size()) chunks_.emplace_back(new char[kChunk]);
    at_ = 0;
  }
  char* const to = chunks_[chunk_].get() + at_;
  std::memcpy(to, bytes.data(), bytes.size());
  at_ += bytes.size();
  used_ += bytes.size();
  return to;
}

void LinkBatch::Arena::Clear() {
  chunk_ = 0;
  at_ = kChunk;
  used_ = 0;
}

LinkBatch::LinkBatch(size_t memory, uint64_t seed)
    : memory_(memory),
      seed_(seed),
      most_keys_(
          std::clamp<size_t>(ShareOf(memory, kKeysPercent) / (sizeof(Cell) + sizeof(KeyEntry) + 4), 4, INT32_MAX)),
      most_links_(std::clamp<size_t>(ShareOf(memory, kLinksPercent) / sizeof(Link), 4, INT32_MAX)),
      cells_(most_keys_),
      text_slots_(kTextSlots) {
  Reserve();
}

void LinkBatch::Reserve() {
  keys_.reserve(most_keys_);  // pages that are never touched cost nothing
  ranks_.reserve(most_keys_);
  links_.reserve(most_links_);
  texts_.emplace_back();
}

size_t LinkBatch::Used::Bytes() const {
  // A group is sorted beside itself.
  return keys * (sizeof(KeyEntry) + sizeof(uint32_t)) + links * sizeof(Link) + groups * 2 * sizeof(Group) + key_bytes +
         text_bytes;
}

// With room for a page and a link of the usual size.
LinkBatch::Used LinkBatch::Now() const {
  return {.keys = keys_.size() + waiting_.size() + 2,
          .links = links_.size() + waiting_.size() + 1,
          .groups = groups_.size() + waiting_.size() + 1,
          .key_bytes = key_bytes_.used() + waiting_keys_.size() + kUsualKey,
          .text_bytes = text_bytes_.used() + texts_.size() * sizeof(std::string_view)};
}

LinkBatch::Used LinkBatch::Used::Or(const Used& other) const {
  return {.keys = std::max(keys, other.keys),
          .links = std::max(links, other.links),
          .groups = std::max(groups, other.groups),
          .key_bytes = std::max(key_bytes, other.key_bytes),
          .text_bytes = std::max(text_bytes, other.text_bytes)};
}

bool LinkBatch::full() const {
  const Used now = Now();
  if (now.keys > most_keys_ || now.links > most_links_) return true;
  const Used used = now.Or(most_);
  return used != most_ && BytesWith(used) > memory_;
}

void LinkBatch::Page(std::string_view key) { Wait(key, 0, true); }

void LinkBatch::Add(std::string_view target, uint8_t flags, std::string_view anchor) {
  Wait(target, Text(flags, anchor), false);
}

void LinkBatch::Wait(std::string_view key, uint32_t text, bool page) {
  const uint64_t hash = Hash64(key, seed_);
  __builtin_prefetch(&SlotAt(FirstSlot(hash)));
  waiting_keys_ += key;
  waiting_.push_back(
      {.hash = hash, .end = static_cast<uint32_t>(waiting_keys_.size()), .text = text, .found = 0, .page = page});
  if (waiting_.size() == kGather) LookUpWaiting();
}

void LinkBatch::LookUpWaiting() {
  for (Waiting& each : waiting_) {
    const uint64_t slot = SlotAt(FirstSlot(each.hash));
    if (slot == 0 || slot >> 32 != (each.hash & 0xffffffff)) continue;
    each.found = static_cast<uint32_t>(slot);
    __builtin_prefetch(&keys_[each.found - 1]);
  }
  for (const Waiting& each : waiting_) {
    if (each.found != 0) __builtin_prefetch(keys_[each.found - 1].text);
  }
  size_t begin = 0;
  for (const Waiting& each : waiting_) {
    const std::string_view key = std::string_view(waiting_keys_).substr(begin, each.end - begin);
    begin = each.end;
    const uint32_t number = each.found != 0 && TextOf(each.found - 1) == key ? each.found - 1 : Number(key, each.hash);
    if (each.page) {
      keys_[number].fetched = true;
      groups_.push_back({number, static_cast<uint32_t>(links_.size())});
    } else {
      links_.push_back({number, each.text});
    }
  }
  waiting_.clear();
  waiting_keys_.clear();
}

uint32_t LinkBatch::Number(std::string_view key, uint64_t hash) {
  const size_t slots = 2 * most_keys_;
  const uint64_t low = hash & 0xffffffff;
  for (size_t at = FirstSlot(hash);; at = at + 1 == slots ? 0 : at + 1) {
    uint64_t& slot = SlotAt(at);
    if (slot == 0) {
      keys_.push_back({key_bytes_.Put(key), static_cast<uint32_t>(key.size()), 0});
      slot = low << 32 | keys_.size();
      return static_cast<uint32_t>(keys_.size() - 1);
    }
    const auto found = static_cast<uint32_t>(slot);
    if (slot >> 32 == low && TextOf(found - 1) == key) return found - 1;
  }
}

uint32_t LinkBatch::Text(uint8_t flags, std::string_view anchor) {
  if (flags == 0 && anchor.empty()) return 0;
  uint32_t& recent = text_slots_[Hash64(anchor, seed_ + flags) % kTextSlots];
  if (recent != 0) {
    const std::string_view text = texts_[recent];
    if (static_cast<uint8_t>(text[0]) == flags && text.substr(1) == anchor) return recent;
  }
  std::string whole(1, static_cast<char>(flags));
  whole += anchor;
  texts_.emplace_back(text_bytes_.Put(whole), whole.size());
  recent = static_cast<uint32_t>(texts_.size() - 1);
  return recent;
}

uint64_t LinkBatch::EightOf(uint64_t key, size_t depth) const {
  const std::string_view text = TextOf(key);
  if (depth >= text.size()) return 0;
  const size_t left = text.size() - depth;
  uint64_t eight = 0;
  std::memcpy(&eight, text.data() + depth, std::min<size_t>(left, 8));
  return __builtin_bswap64(eight);
}

// Those in [begin, end) have the same first `depth` bytes.
void LinkBatch::SortKeys(size_t begin, size_t end, size_t depth) {
  const auto from = cells_.begin() + static_cast<long>(begin);
  const auto to = cells_.begin() + static_cast<long>(end);
  if (end - begin <= kSmallGroup || depth > kDeepest) {
    std::sort(from, to, [this](const Cell& a, const Cell& b) { return TextOf(a.ordered.key) < TextOf(b.ordered.key); });
    return;
  }
  for (auto cell = from; cell != to; ++cell) cell->ordered.eight = EightOf(cell->ordered.key, depth);
  std::sort(from, to, [](const Cell& a, const Cell& b) { return a.ordered.eight < b.ordered.eight; });
  for (size_t i = begin; i < end;) {
    size_t same = i + 1;
    while (same < end && cells_[same].ordered.eight == cells_[i].ordered.eight) ++same;
    if (same > i + 1) SortKeys(i, same, depth + 8);
    i = same;
  }
}

Status LinkBatch::WriteKeys(SpoolFile& keys) {
  ranks_.resize(keys_.size());
  for (uint64_t i = 0; i < keys_.size(); ++i) cells_[i].ordered.key = i;
  SortKeys(0, keys_.size(), 0);
  std::string_view last;
  for (uint32_t rank = 0; rank < keys_.size(); ++rank) {
    const uint64_t key = cells_[rank].ordered.key;
    const std::string_view text = TextOf(key);
    ranks_[key] = rank;
    const auto shared = static_cast<size_t>(std::ranges::mismatch(last, text).in1 - last.begin());
    AppendVarint(keys.buffer(), shared << 1 | keys_[key].fetched);
    AppendString(keys.buffer(), text.substr(shared));
    RETURN_IF_ERROR(keys.FlushFull());
    last = text;
  }
  return keys.Flush();
}

Status LinkBatch::WriteLinks(SpoolFile& links) {
  // Groups by the rank of the page, those of the same page in the order in which they came.
  std::vector<uint64_t> order;
  order.reserve(groups_.size());
  for (uint64_t i = 0; i < groups_.size(); ++i) order.push_back(uint64_t{ranks_[groups_[i].source]} << 32 | i);
  std::ranges::sort(order);
  std::vector<uint64_t> row;  // rank of the target, place
  uint64_t last_pair = 0;
  for (size_t i = 0; i < order.size();) {
    const uint64_t source = order[i] >> 32;
    row.clear();
    for (; i < order.size() && order[i] >> 32 == source; ++i) {
      const uint32_t group = static_cast<uint32_t>(order[i]);
      const size_t end = group + size_t{1} < groups_.size() ? groups_[group + 1].first : links_.size();
      for (size_t at = groups_[group].first; at < end; ++at)
        row.push_back(uint64_t{ranks_[links_[at].target]} << 32 | at);
    }
    std::ranges::sort(row);
    for (size_t at = 0; at < row.size(); ++at) {
      if (at + 1 < row.size() && row[at + 1] >> 32 == row[at] >> 32) continue;
      const uint64_t pair = source << 32 | row[at] >> 32;
      AppendLinkRow(links.buffer(), last_pair, pair, texts_[links_[row[at] & 0xffffffff].text]);
      last_pair = pair;
    }
    RETURN_IF_ERROR(links.FlushFull());
  }
  return links.Flush();
}

Result<LinkBatch::Written> LinkBatch::Write(SpoolFile& keys, SpoolFile& links) {
  LookUpWaiting();
  Written written;
  written.key_count = keys_.size();
  written.keys.begin = keys.size();
  RETURN_IF_ERROR(WriteKeys(keys));
  written.keys.end = keys.size();
  written.links.begin = links.size();
  RETURN_IF_ERROR(WriteLinks(links));
  written.links.end = links.size();

  const Used now = Now();
  // While look-ups wait, each counts as a new key.
  Used marks = now;
  marks.keys += kGather;
  marks.links += kGather;
  marks.groups += kGather;
  marks.key_bytes += kGather * 64;
  most_ = marks.Or(most_);
  keys_.clear();
  links_.clear();
  groups_.clear();
  texts_.resize(1);
  std::ranges::fill(cells_, Cell{});
  std::ranges::fill(text_slots_, 0);
  key_bytes_.Clear();
  text_bytes_.Clear();
  // Or a key larger than usual has taken more than there is.
  if (BytesWith(now) < memory_ / 2 || BytesWith(most_) > memory_ + memory_ / 16) Release();
  return written;
}

void LinkBatch::Release() {
  keys_ = {};
  ranks_ = {};
  links_ = {};
  groups_ = {};
  texts_ = {};
  key_bytes_ = {};
  text_bytes_ = {};
  most_ = {};
  Reserve();
}

}  // namespace portolan
