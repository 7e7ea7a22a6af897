#include "parse/link_collector.h"

#include <algorithm>
#include <bit>

namespace portolan {
namespace {

// Flags that a link has only if all its places have them.
constexpr uint8_t kUnanimous = kFoundNofollow | kFoundEmbed;

}  // namespace

void LinkCollector::Begin(LinkList& list, size_t expected, size_t max_links) {
  list_ = &list;
  max_links_ = max_links;
  Resize(std::bit_ceil(2 * std::min(expected, max_links) + 16));
}

void LinkCollector::Resize(size_t slots) {
  if (slots_.size() < slots) slots_.resize(slots);
  mask_ = slots - 1;
  std::fill_n(slots_.begin(), slots, 0);
  for (size_t i = 0; i < list_->links.size(); ++i) {
    size_t at = list_->links[i].hash & mask_;
    while (slots_[at] != 0) at = (at + 1) & mask_;
    slots_[at] = static_cast<uint32_t>(i + 1);
  }
}

bool LinkCollector::Add(std::string_view url, uint64_t hash, uint64_t host_hash, uint8_t flags) {
  size_t at = hash & mask_;
  for (; slots_[at] != 0; at = (at + 1) & mask_) {
    FoundLink& known = list_->links[slots_[at] - 1];
    if (known.hash != hash) continue;
    last_ = slots_[at] - 1;
    known.flags = static_cast<uint8_t>((known.flags & flags & kUnanimous) | ((known.flags | flags) & ~kUnanimous));
    return true;
  }
  if (list_->links.size() >= max_links_ || list_->text.size() + url.size() > UINT32_MAX) return false;
  list_->Add(url, hash, host_hash, flags);
  last_ = list_->links.size() - 1;
  slots_[at] = static_cast<uint32_t>(list_->links.size());
  if (list_->links.size() * 4 > (mask_ + 1) * 3) Resize(2 * (mask_ + 1));
  return true;
}

}  // namespace portolan
