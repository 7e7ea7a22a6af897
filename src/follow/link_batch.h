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
// once per eight bytes and not once per comparison.
//
// Thread: one owner. Memory bound: Options::memory, for keys, links and what sorting them takes.

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

  // Whether there is no room for another link with two new keys.
  bool full() const;
  bool empty() const { return keys_.empty(); }

  // Its number in this batch, until Write. REQUIRES: !full().
  uint32_t Key(std::string_view key);
  void SetFetched(uint32_t key) { keys_[key].fetched = true; }
  // Of links that come twice the last one's text counts.
  void Add(uint32_t source, uint32_t target, uint8_t flags, std::string_view anchor);

  // Appends the runs and is empty again.
  Result<Written> Write(SpoolFile& keys, SpoolFile& links);

 private:
  struct KeyEntry {
    const char* text;
    uint32_t size : 31;
    uint32_t fetched : 1;
    uint32_t hash;  // the upper half
  };
  struct Link {
    uint64_t pair;
    uint32_t text;
    uint32_t order;
  };
  struct Ordered {
    uint64_t eight;
    uint32_t key;
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

  std::string_view TextOf(uint32_t key) const { return {keys_[key].text, keys_[key].size}; }
  uint64_t EightOf(uint32_t key, size_t depth) const;
  void SortKeys(size_t begin, size_t end, size_t depth);
  uint32_t Text(uint8_t flags, std::string_view anchor);

  const size_t memory_;
  const uint64_t seed_;
  const size_t most_keys_;
  const size_t most_links_;
  std::vector<KeyEntry> keys_;
  std::vector<uint32_t> slots_;  // by hash: a key's number plus 1
  std::vector<Link> links_;
  std::vector<Ordered> order_;
  std::vector<uint32_t> ranks_;
  std::vector<std::string_view> texts_;  // flags and anchor; 0 is that of a plain link
  std::vector<uint32_t> text_slots_;     // recent ones by hash: most texts of a site are the same few
  Arena key_bytes_;
  Arena text_bytes_;
};

}  // namespace portolan
