#include "content/near_table.h"

#include "base/check.h"
#include "content/near_pairs.h"

namespace portolan {

NearTable::NearTable(uint64_t memory) : memory_(memory), heads_(size_t{kBlocks} << 16) {
  CHECK(memory >= kMinMemory);
  used_ = heads_.size() * sizeof(heads_[0]);
}

const NearTable::Entry* NearTable::Find(uint64_t similarity) {
  Entry* nearest = nullptr;
  int least = kNearBits + 1;
  uint32_t nearest_age = 0;
  for (int block = 0; block < kBlocks; ++block) __builtin_prefetch(&heads_[HeadOf(similarity, block)]);
  for (int block = 0; block < kBlocks && least > 0; ++block) {
    uint32_t last_age = 0;  // an age that does not rise is a number that has wrapped
    uint32_t number = heads_[HeadOf(similarity, block)];
    for (uint32_t looked = 0; looked < kMostLooked; ++looked) {
      const uint32_t age = AgeOf(number);
      if (age <= last_age || age > entries_.size()) break;
      last_age = age;
      Entry& entry = entries_[entries_.size() - age];
      // A head that was never set may point to an entry by chance.
      if (HeadOf(entry.similarity, block) != HeadOf(similarity, block)) break;
      const int bits = BitsApart(entry.similarity, similarity);
      if (bits < least || (bits == least && nearest != nullptr && age > nearest_age)) {
        least = bits;
        nearest = &entry;
        nearest_age = age;
      }
      number = entry.before[block];
    }
  }
  if (nearest != nullptr) nearest->found = true;
  return nearest;
}

void NearTable::Add(const NearPage& page) {
  CHECK(Fits(page.url.size()));
  used_ += CostOf(page.url.size());
  Entry& entry = entries_.emplace_back();
  entry.similarity = page.similarity;
  entry.url = page.url;
  entry.depth = page.depth;
  entry.type = page.type;
  entry.found = false;
  for (int block = 0; block < kBlocks; ++block) {
    uint32_t& head = heads_[HeadOf(page.similarity, block)];
    entry.before[block] = head;
    head = next_;
  }
  ++next_;
}

void NearTable::RemoveOldest() {
  used_ -= CostOf(entries_.front().url.size());
  entries_.pop_front();
}

}  // namespace portolan
