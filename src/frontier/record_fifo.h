// RecordFifo: short byte strings, first in, first out, in one piece of memory.
//
// A host has a handful of URLs and there are a hundred thousand hosts: a deque of strings would spend more on pointers
// than on URLs. Here a record costs its bytes and a length of one or two bytes.
//
// Thread: one owner. Memory bound: ram_bytes(), at most about three times the records; an empty one frees its memory.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace portolan {

class RecordFifo {
 public:
  bool empty() const { return count_ == 0; }
  uint32_t count() const { return count_; }
  // Bytes of the records with their lengths.
  size_t bytes() const { return bytes_.size() - begin_; }
  // Those bytes: for each record its length, as a varint, and the record.
  std::string_view raw() const { return std::string_view(bytes_).substr(begin_); }
  // Bytes on the heap.
  size_t ram_bytes() const { return bytes_.capacity() < kInPlace ? 0 : bytes_.capacity() + kAllocation; }

  void PushBack(std::string_view record);
  void PushFront(std::string_view record);
  // REQUIRES, both: not empty. The view is valid until the next change.
  std::string_view front() const;
  void PopFront();

  // Calls visit(record) in order.
  template <typename Visit>
  void ForEach(Visit&& visit) const {
    size_t at = begin_;
    for (uint32_t i = 0; i < count_; ++i) visit(RecordAt(at));
  }

  // Removes all but the first `keep` records.
  void CutAfter(uint32_t keep);
  void Clear();

 private:
  static constexpr size_t kInPlace = 16;     // a std::string stores fewer bytes than this inside itself
  static constexpr size_t kAllocation = 16;  // overhead of an allocation

  // The record whose length is at `at`, which moves past it.
  std::string_view RecordAt(size_t& at) const;
  void Replace(std::string_view bytes);

  std::string bytes_;  // lengths (varints) and records
  size_t begin_ = 0;   // of the first record that is still here
  uint32_t count_ = 0;
};

}  // namespace portolan
