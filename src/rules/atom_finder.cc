#include "rules/atom_finder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>

#include "base/check.h"

namespace portolan {
namespace {

constexpr uint32_t kThreeBytes = 0xffffff;

// Four bytes as one number. REQUIRES: there are four.
uint32_t FourAt(const char* at) {
  uint32_t gram = 0;
  std::memcpy(&gram, at, sizeof(gram));
  return std::endian::native == std::endian::little ? gram : std::byteswap(gram);
}

// The first three or four bytes; of three, the fourth place is zero, which no text has.
uint32_t Gram(const char* at, size_t size) {
  char bytes[4] = {};
  std::memcpy(bytes, at, size);
  return FourAt(bytes);
}

}  // namespace

AtomFinder::AtomFinder(const std::vector<std::string>& atoms) : atoms_(atoms), bits_(kBits / 64) {
  std::unordered_map<uint32_t, uint32_t> count;
  for (const std::string& atom : atoms_) {
    for (size_t at = 0; at + 4 <= atom.size(); ++at) ++count[Gram(atom.data() + at, 4)];
  }
  // Each canonical URL has one of these, so they say nothing.
  constexpr uint32_t kEverywhere = 1 << 20;
  for (const char* common : {"http", "ttps", "tps:", "ps:/", "s://", "ttp:", "tp:/", "p://", "www.", ".com"}) {
    count[Gram(common, 4)] += kEverywhere;
  }
  for (size_t index = 0; index < atoms_.size(); ++index) {
    const std::string& atom = atoms_[index];
    CHECK(atom.size() >= kLeast, "an atom of {} bytes", atom.size());
    Filed filed{.gram = Gram(atom.data(), std::min<size_t>(atom.size(), 4)), .atom = static_cast<int>(index)};
    short_ = short_ || atom.size() == kLeast;
    for (size_t at = 1; at + 4 <= atom.size() && at <= UINT16_MAX; ++at) {
      const uint32_t gram = Gram(atom.data() + at, 4);
      if (count[gram] >= count[filed.gram]) continue;
      filed.gram = gram;
      filed.offset = static_cast<uint16_t>(at);
    }
    bits_[BitOf(filed.gram) / 64] |= uint64_t{1} << (BitOf(filed.gram) % 64);
    filed_.push_back(filed);
  }
  std::ranges::sort(filed_, {}, [](const Filed& one) { return std::pair(one.gram, one.atom); });
  slots_.resize(std::bit_ceil(2 * filed_.size() + 1));
  for (uint32_t i = 0; i < filed_.size(); ++i) {
    if (i > 0 && filed_[i].gram == filed_[i - 1].gram) continue;
    size_t slot = Mixed(filed_[i].gram) & (slots_.size() - 1);
    while (slots_[slot].first != 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = {filed_[i].gram, i + 1};
  }
}

void AtomFinder::Try(uint32_t gram, std::string_view text, size_t at, std::vector<int>& found) const {
  size_t slot = Mixed(gram) & (slots_.size() - 1);
  while (slots_[slot].first != 0 && slots_[slot].gram != gram) slot = (slot + 1) & (slots_.size() - 1);
  if (slots_[slot].first == 0) return;
  for (size_t i = slots_[slot].first - 1; i < filed_.size() && filed_[i].gram == gram; ++i) {
    const Filed& filed = filed_[i];
    if (filed.offset > at) continue;
    const std::string& atom = atoms_[static_cast<size_t>(filed.atom)];
    if (text.substr(at - filed.offset, atom.size()) == atom) found.push_back(filed.atom);
  }
}

void AtomFinder::Find(std::string_view text, std::vector<int>& found) const {
  found.clear();
  if (filed_.empty() || text.size() < kLeast) return;
  const size_t last = text.size() - kLeast;  // where the last three bytes begin
  for (size_t at = 0; at < last; ++at) {
    const uint32_t gram = FourAt(text.data() + at);
    if (MayHave(gram)) Try(gram, text, at, found);
    if (short_ && MayHave(gram & kThreeBytes)) Try(gram & kThreeBytes, text, at, found);
  }
  if (short_) Try(Gram(text.data() + last, kLeast), text, last, found);
  if (found.size() < 2) return;
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
}

}  // namespace portolan
