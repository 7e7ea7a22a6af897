// LinkBatch: as many links as fit in memory, numbered among themselves, written as two sorted runs.
//
// URLs are strings and links are pairs of them; sorting links as strings would move every URL once per link. So a batch
// gives each different key a number of its own, keeps links as pairs of these, and at its end sorts the keys (each
// once) and the pairs. A number is then the key's rank in the batch. The merge of all batches' keys gives for each
// batch a rising map from its ranks to the numbers of all: a batch's links that are sorted by rank stay sorted under
// it.
//
// Runs (no other program reads them):
//   keys   per key: varint shared × 2 + fetched, varint length of the rest, the rest
//   links  per pair: varint gap of the source × 2 + 1 if there is a text; varint target, as gap to the last one if the
//          source is the same; the text: varint length, flags, anchor text
//
// Keys are sorted by eight bytes at a time: those with the same eight bytes by the next eight, so that a key is touched
// once per eight bytes and not once per comparison. Links are kept in groups, one per page that is read: sorting the
// groups by their pages' ranks and each group for itself sorts them all, with half the memory that pairs of numbers
// take and without moving a link far.
//
// A table of keys that is larger than the processor's caches makes each look-up wait three times for memory: for the
// slot, the entry, the text. So look-ups are gathered, and each step is done for all of them before the next one.
//
// Thread: one owner. Memory bound: what it was given and a sixteenth more, for keys, links and what sorting them takes,
// and the last key.
// Memory that a part has touched stays with it: the next batch ends where a part would take more than ever before and
// there is no more. If a batch ends so while half of the memory is idle, since its links are of another kind than those
// before, all memory goes back and is divided anew.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "follow/spool_file.h"

namespace portolan {

class LinkBatch {
 public:
  struct Written {
    SpoolPart keys;
    SpoolPart links;
    uint64_t key_count = 0;
  };

  // `seed` is unknown to those who choose the URLs.
  LinkBatch(size_t memory, uint64_t seed);

  // Whether there is no room for another page or link, of a size that is usual.
  bool full() const;
  bool empty() const { return keys_.empty() && waiting_.empty(); }

  // A page that was fetched; the links that are added next are its links. REQUIRES: !full().
  void Page(std::string_view key);
  // A link to `target`. Of links that come twice the last one's text counts. REQUIRES: !full(), after a Page.
  void Add(std::string_view target, uint8_t flags, std::string_view anchor);

  // Appends the runs and is empty again.
  Result<Written> Write(SpoolFile& keys, SpoolFile& links);

 private:
  static constexpr size_t kGather = 32;  // look-ups

  struct KeyEntry {
    const char* text;
    uint32_t size : 31;
    uint32_t fetched : 1;
  };
  struct Link {
    uint32_t target;
    uint32_t text;
  };
  // The links of a page, from `first` to the next group's.
  struct Group {
    uint32_t source;
    uint32_t first;
  };
  struct Ordered {
    uint64_t eight;
    uint64_t key;
  };
  // First a hash table: lower half of the hash, and a key's number plus 1. Then the keys' order.
  union Cell {
    uint64_t slots[2];
    Ordered ordered;
  };
  // A look-up that is not done yet.
  struct Waiting {
    uint64_t hash;
    uint32_t end;  // of its key in waiting_keys_
    uint32_t text;
    uint32_t found = 0;  // by a glance: number plus 1
    bool page;
  };
  // Bytes that are given out piece by piece and all taken back together.
  class Arena {
   public:
    const char* Put(std::string_view bytes);
    void Clear();
    size_t used() const { return used_; }

   private:
    static constexpr size_t kChunk = size_t{1} << 20;
    std::vector<std::unique_ptr<char[]>> chunks_;
    size_t chunk_ = 0;  // the one that is filled
    size_t at_ = kChunk;
    size_t used_ = 0;
  };
  // What is in use, of each part.
  struct Used {
    size_t keys = 0;
    size_t links = 0;
    size_t groups = 0;
    size_t key_bytes = 0;
    size_t text_bytes = 0;
    size_t Bytes() const;
    Used Or(const Used& other) const;  // the larger of each
    bool operator==(const Used&) const = default;
  };

  std::string_view TextOf(uint64_t key) const { return {keys_[key].text, keys_[key].size}; }
  uint64_t& SlotAt(size_t slot) { return cells_[slot / 2].slots[slot % 2]; }
  size_t FirstSlot(uint64_t hash) const { return (hash >> 32) * (2 * most_keys_) >> 32; }
  void Wait(std::string_view key, uint32_t text, bool page);
  void LookUpWaiting();
  uint32_t Number(std::string_view key, uint64_t hash);
  uint64_t EightOf(uint64_t key, size_t depth) const;
  void SortKeys(size_t begin, size_t end, size_t depth);
  Status WriteKeys(SpoolFile& keys);
  Status WriteLinks(SpoolFile& links);
  uint32_t Text(uint8_t flags, std::string_view anchor);
  Used Now() const;
  void Reserve();
  void Release();
  size_t BytesWith(const Used& used) const { return used.Bytes() + cells_.size() * sizeof(Cell); }

  const size_t memory_;
  const uint64_t seed_;
  const size_t most_keys_;
  const size_t most_links_;
  std::vector<KeyEntry> keys_;
  std::vector<Cell> cells_;  // one per key: two slots
  std::vector<Link> links_;
  std::vector<Group> groups_;
  std::vector<uint32_t> ranks_;
  std::vector<std::string_view> texts_;  // flags and anchor; 0 is that of a plain link
  std::vector<uint32_t> text_slots_;     // recent ones by hash: most texts of a site are the same few
  Arena key_bytes_;
  Arena text_bytes_;
  std::vector<Waiting> waiting_;
  std::string waiting_keys_;
  Used most_;  // in the batches before
};

}  // namespace portolan
