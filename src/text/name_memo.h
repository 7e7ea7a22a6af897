// NameMemo: NameHints of what was asked for lately. The names of blocks repeat: within a page in each row of a list,
// and from page to page of a site.
//
// Thread: one owner. Invariant: the answer is that of NameHints, whatever was asked before; names are compared, not
// their hashes. Memory bound: kSlots slots of 64 bytes. Longer names are not kept.

#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/bytes.h"
#include "text/name_hints.h"

namespace portolan {

class NameMemo {
 public:
  uint16_t Hints(std::string_view names) {
    if (names.empty()) return 0;
    if (names.size() < sizeof(uint64_t) || names.size() > kLongest) return NameHints(names);
    Slot& slot = slots_[SlotOf(names)];
    if (slot.size == names.size() && std::memcmp(slot.names, names.data(), names.size()) == 0) return slot.hints;
    slot.hints = NameHints(names);
    slot.size = static_cast<uint8_t>(names.size());
    std::memcpy(slot.names, names.data(), names.size());
    return slot.hints;
  }

 private:
  static constexpr size_t kSlots = 128;
  static constexpr size_t kLongest = 61;

  struct Slot {
    uint16_t hints = 0;
    uint8_t size = 0;  // 0: unused
    char names[kLongest] = {};
  };
  static_assert(sizeof(Slot) == 64);

  static size_t SlotOf(std::string_view names) {
    const auto first = LoadLe<uint64_t>(names.data());
    const auto last = LoadLe<uint64_t>(names.data() + names.size() - sizeof(uint64_t));
    return ((first ^ (last * 0x9e3779b97f4a7c15) ^ names.size()) * 0xc2b2ae3d27d4eb4f) >> 57;
  }

  std::array<Slot, kSlots> slots_;
};

}  // namespace portolan
