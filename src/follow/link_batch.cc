#include "follow/link_batch.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/hash.h"
#include "follow/link_rows.h"

namespace portolan {
namespace {

// What the parts of the memory are for: bytes of keys, bytes of texts, numbers per key, links.
constexpr size_t kBytesPerKey = sizeof(void*) * 2 + 12 + 16 + 4;  // the key's own, slots, order, rank
constexpr size_t kTextSlots = 1 << 14;
constexpr size_t kSmallGroup = 8;
constexpr size_t kDeepest = 4096;  // bytes; beyond it keys are compared as a whole

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
      most_keys_(std::max<size_t>(ShareOf(memory, 30) / kBytesPerKey, 4)),
      most_links_(std::max<size_t>(ShareOf(memory, 25) / sizeof(Link), 4)),
      slots_(std::bit_ceil(most_keys_ * 3 / 2 + 1)),
      text_slots_(kTextSlots) {
  keys_.reserve(most_keys_);  // pages that are never touched cost nothing
  links_.reserve(most_links_);
  texts_.emplace_back();
}

bool LinkBatch::full() const {
  return keys_.size() + 2 > most_keys_ || links_.size() == most_links_ || key_bytes_.used() > ShareOf(memory_, 33) ||
         text_bytes_.used() + texts_.size() * sizeof(std::string_view) > ShareOf(memory_, 10);
}

uint32_t LinkBatch::Key(std::string_view key) {
  const uint64_t hash = Hash64(key, seed_);
  const auto upper = static_cast<uint32_t>(hash >> 32);
  const size_t mask = slots_.size() - 1;
  for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    const uint32_t found = slots_[slot];
    if (found == 0) {
      keys_.push_back({key_bytes_.Put(key), static_cast<uint32_t>(key.size()), 0, upper});
      slots_[slot] = static_cast<uint32_t>(keys_.size());
      return slots_[slot] - 1;
    }
    if (keys_[found - 1].hash == upper && TextOf(found - 1) == key) return found - 1;
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

void LinkBatch::Add(uint32_t source, uint32_t target, uint8_t flags, std::string_view anchor) {
  links_.push_back({uint64_t{source} << 32 | target, Text(flags, anchor), static_cast<uint32_t>(links_.size())});
}

uint64_t LinkBatch::EightOf(uint32_t key, size_t depth) const {
  const std::string_view text = TextOf(key);
  if (depth >= text.size()) return 0;
  const size_t left = text.size() - depth;
  uint64_t eight = 0;
  std::memcpy(&eight, text.data() + depth, std::min<size_t>(left, 8));
  return __builtin_bswap64(eight);
}

// Those in [begin, end) have the same first `depth` bytes.
void LinkBatch::SortKeys(size_t begin, size_t end, size_t depth) {
  if (end - begin <= kSmallGroup || depth > kDeepest) {
    std::sort(order_.begin() + static_cast<long>(begin), order_.begin() + static_cast<long>(end),
              [this](const Ordered& a, const Ordered& b) { return TextOf(a.key) < TextOf(b.key); });
    return;
  }
  for (size_t i = begin; i < end; ++i) order_[i].eight = EightOf(order_[i].key, depth);
  std::sort(order_.begin() + static_cast<long>(begin), order_.begin() + static_cast<long>(end),
            [](const Ordered& a, const Ordered& b) { return a.eight < b.eight; });
  for (size_t i = begin; i < end;) {
    size_t same = i + 1;
    while (same < end && order_[same].eight == order_[i].eight) ++same;
    if (same > i + 1) SortKeys(i, same, depth + 8);
    i = same;
  }
}

Result<LinkBatch::Written> LinkBatch::Write(SpoolFile& keys, SpoolFile& links) {
  Written written;
  written.key_count = keys_.size();
  order_.reserve(most_keys_);
  ranks_.reserve(most_keys_);
  order_.resize(keys_.size());
  ranks_.resize(keys_.size());
  for (uint32_t i = 0; i < keys_.size(); ++i) order_[i].key = i;
  SortKeys(0, order_.size(), 0);

  written.keys.begin = keys.size();
  std::string_view last;
  for (uint32_t rank = 0; rank < order_.size(); ++rank) {
    const uint32_t key = order_[rank].key;
    const std::string_view text = TextOf(key);
    ranks_[key] = rank;
    const auto shared = static_cast<size_t>(std::ranges::mismatch(last, text).in1 - last.begin());
    AppendVarint(keys.buffer(), shared << 1 | keys_[key].fetched);
    AppendString(keys.buffer(), text.substr(shared));
    RETURN_IF_ERROR(keys.FlushFull());
    last = text;
  }
  RETURN_IF_ERROR(keys.Flush());
  written.keys.end = keys.size();

  for (Link& link : links_) link.pair = uint64_t{ranks_[link.pair >> 32]} << 32 | ranks_[link.pair & 0xffffffff];
  std::sort(links_.begin(), links_.end(),
            [](const Link& a, const Link& b) { return a.pair != b.pair ? a.pair < b.pair : a.order < b.order; });
  written.links.begin = links.size();
  uint64_t last_pair = 0;
  for (size_t i = 0; i < links_.size(); ++i) {
    if (i + 1 < links_.size() && links_[i + 1].pair == links_[i].pair) continue;
    AppendLinkRow(links.buffer(), last_pair, links_[i].pair, texts_[links_[i].text]);
    last_pair = links_[i].pair;
    RETURN_IF_ERROR(links.FlushFull());
  }
  RETURN_IF_ERROR(links.Flush());
  written.links.end = links.size();

  keys_.clear();
  links_.clear();
  texts_.resize(1);
  std::ranges::fill(slots_, 0);
  std::ranges::fill(text_slots_, 0);
  key_bytes_.Clear();
  text_bytes_.Clear();
  return written;
}

}  // namespace portolan
