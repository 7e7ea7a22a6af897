#include "seen/recent_urls.h"

#include <bit>

namespace portolan {

RecentUrls::Set& RecentUrls::SetOf(uint64_t hash) {
  __extension__ using Wide = unsigned __int128;
  return sets_[static_cast<size_t>((static_cast<Wide>(hash) * sets_.size()) >> 64)];
}

unsigned RecentUrls::Find(const Set& set, uint64_t hash) {
  unsigned equal = 0;
  for (unsigned i = 0; i < kWays; ++i) equal |= static_cast<unsigned>(set.hashes[i] == hash) << i;
  equal &= set.used;
  return equal == 0 ? kWays : static_cast<unsigned>(std::countr_zero(equal));
}

bool RecentUrls::SeenRecently(uint64_t hash) {
  if (off()) return false;
  Set& set = SetOf(hash);
  if (const unsigned way = Find(set, hash); way != kWays) {
    set.referenced |= static_cast<uint8_t>(1U << way);
    return true;
  }
  // A second chance for each that was asked for; a newcomer gets none until it is asked for again.
  unsigned way = set.hand;
  while ((set.used & set.referenced & (1U << way)) != 0) {
    set.referenced &= static_cast<uint8_t>(~(1U << way));
    way = way + 1 == kWays ? 0 : way + 1;
  }
  set.hashes[way] = hash;
  set.used |= static_cast<uint8_t>(1U << way);
  set.referenced &= static_cast<uint8_t>(~(1U << way));
  set.hand = static_cast<uint8_t>(way + 1 == kWays ? 0 : way + 1);
  return false;
}

void RecentUrls::Forget(uint64_t hash) {
  if (off()) return;
  Set& set = SetOf(hash);
  if (const unsigned way = Find(set, hash); way != kWays) set.used &= static_cast<uint8_t>(~(1U << way));
}

}  // namespace portolan
