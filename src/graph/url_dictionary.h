// UrlDictionary: a sorted set of keys in a file. The number of a key is its position, so a graph over the keys in this
// order has the locality of URLs that WebGraph's codes need, and neither direction of the mapping needs a table of its
// own: number to key and key to number are both found in the one file.
//
// Keys are SURT keys of URLs (url/surt.h), but any bytes do. 64 keys in a row make a block, each key stored as the
// length of the prefix that it shares with the key before and the rest (front coding, as the Connectivity Server did:
// Bharat et al. 1998, with random access). Above the blocks stands a tree of index blocks, 64 entries each: the
// shortest string that separates a block from the one before it, and its place. All blocks but the last one of a level
// are full, so that the path to a number is a division per level; the path to a key compares separators. 10^7 keys have
// three levels of index. The file is docs/formats/url_dictionary.md.
//
// Departures from a usual sorted table (LevelDB's): the index is a tree that is written in one pass, between the data
// blocks, so that neither writer nor reader holds it in memory; blocks are counted in keys, not in bytes.
//
// Thread: a writer has one owner; a dictionary is immutable, any number of threads read it; a Scan has one owner.
// Memory bound: the writer has one unfinished block and one key per level (64 times the keys' length, at most 4 MiB and
// usually 2 KiB per level, seven levels for 10^12 keys), whatever the number of keys. The dictionary has none of its
// own but the view; a Scan one key. Durability: none of its own. The sink's owner syncs and renames; a file that lacks
// its footer does not open. Damage: each block has a checksum, checked whenever it is read. Every call that meets
// damage fails with kCorrupt and says at which byte; the rest of the file stays readable.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace portolan::graph {

inline constexpr size_t kMaxUrlKey = 65'535;

// Writes a dictionary in one pass. After an error of the sink every further call gives that error.
class UrlDictionaryWriter {
 public:
  using Sink = std::function<Status(std::string_view)>;  // appends bytes to the file

  explicit UrlDictionaryWriter(Sink sink);

  // Keys in strictly increasing byte order; the key's number is its position. A key that is not larger than the last
  // one, or longer than kMaxUrlKey, is an invalid argument and changes nothing.
  Status Add(std::string_view key);
  // Unfinished blocks, index and footer. Once, after the last key.
  Status Finish();

  uint64_t size() const { return size_; }
  uint64_t bytes() const { return offset_; }  // handed to the sink

 private:
  struct Level {
    std::string block;      // the entries so far
    std::string last;       // the key or separator that was put in last
    std::string separator;  // of the whole block, for the level above
    uint64_t entries = 0;
    uint64_t blocks = 0;      // that were written
    uint64_t last_child = 0;  // where the last child begins: the next one is a difference to it
  };

  Status Write(std::string_view bytes);
  Status CloseBlock(size_t level);
  Status AddChild(size_t level, std::string_view separator, uint64_t offset, uint64_t size);

  Sink sink_;
  Status failed_;
  std::vector<Level> levels_;  // 0: data
  std::string last_key_;
  uint64_t size_ = 0;
  uint64_t offset_ = 0;
  uint64_t root_offset_ = 0;  // of the block that was written last: after all others it is the root
  uint64_t root_size_ = 0;
  bool finished_ = false;
};

// Reads one in place.
class UrlDictionary {
 public:
  UrlDictionary() = default;  // of no keys

  // `bytes` may be a mapped file and must outlive the dictionary. Checks magic, version and the footer's checksum.
  static Result<UrlDictionary> Open(std::string_view bytes);

  uint64_t size() const { return size_; }

  // The number of the key, if it is there.
  Result<std::optional<uint64_t>> Find(std::string_view key) const;
  // The number of the first key that is not smaller; size() if all are.
  Result<uint64_t> LowerBound(std::string_view key) const;
  // The key of a number below size(), in place of what `out` had. Another number is an invalid argument.
  Status Get(uint64_t number, std::string& out) const;

  class Scan;

 private:
  struct Place {
    uint64_t offset = 0;
    uint64_t size = 0;
  };
  struct Block {
    std::string_view entries;
    uint64_t count = 0;
    uint64_t offset = 0;
  };
  struct Found {
    uint64_t number = 0;
    bool equal = false;
  };

  uint64_t CountAt(uint32_t level, uint64_t position) const;
  Result<Block> Read(Place place, uint32_t level, uint64_t position) const;
  Result<Place> ChildAt(const Block& block, uint64_t index) const;
  Result<Place> ChildOf(const Block& block, std::string_view key, uint64_t& index) const;
  Result<Found> Search(std::string_view key) const;
  Result<Block> DataBlock(uint64_t position) const;

  std::string_view bytes_;
  uint64_t size_ = 0;
  uint32_t levels_ = 0;  // of index blocks
  Place root_;
};

// All keys in order, or those from a number on. The dictionary's bytes must outlive it.
class UrlDictionary::Scan {
 public:
  explicit Scan(const UrlDictionary& dictionary, uint64_t first = 0);

  // To the first key, then to the next; false at the end or after an error, which status() tells.
  bool Next();
  uint64_t number() const { return next_ - 1; }
  std::string_view key() const { return key_; }  // valid until Next
  const Status& status() const { return status_; }

 private:
  bool Load();
  bool Step();

  UrlDictionary dictionary_;
  uint64_t next_;
  uint64_t left_ = 0;      // keys of the block that were not read
  std::string_view rest_;  // their bytes
  std::string key_;
  Status status_;
};

}  // namespace portolan::graph
