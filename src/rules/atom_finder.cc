#include "rules/atom_finder.h"

#include <algorithm>

#include "base/check.h"

namespace portolan {

// Three bytes have a zero in the fourth place, which no text has.
uint32_t AtomFinder::Gram(const char* at, size_t size) {
  uint32_t gram = 0;
  for (size_t i = 0; i < size; ++i) gram |= uint32_t{static_cast<unsigned char>(at[i])} << (8 * i);
  return gram;
}

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
  std::ranges::stable_sort(filed_, {}, &Filed::gram);
  for (uint32_t i = 0; i < filed_.size(); ++i) first_.emplace(filed_[i].gram, i);
}

void AtomFinder::Try(uint32_t gram, std::string_view text, size_t at, std::vector<int>& found) const {
  const auto first = first_.find(gram);
  if (first == first_.end()) return;
  for (uint32_t i = first->second; i < filed_.size() && filed_[i].gram == gram; ++i) {
    const Filed& filed = filed_[i];
    if (filed.offset > at) continue;
    const std::string& atom = atoms_[static_cast<size_t>(filed.atom)];
    if (text.substr(at - filed.offset, atom.size()) == atom) found.push_back(filed.atom);
  }
}

void AtomFinder::Find(std::string_view text, std::vector<int>& found) const {
  found.clear();
  if (filed_.empty() || text.size() < kLeast) return;
  for (size_t at = 0; at + 4 <= text.size(); ++at) {
    if (const uint32_t gram = Gram(text.data() + at, 4); MayHave(gram)) Try(gram, text, at, found);
  }
  if (short_) {
    for (size_t at = 0; at + kLeast <= text.size(); ++at) {
      if (const uint32_t gram = Gram(text.data() + at, kLeast); MayHave(gram)) Try(gram, text, at, found);
    }
  }
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
}

}  // namespace portolan
