// UrlTable: numbers for URLs while a crawl finds them, all in memory. The same URL gets the same number for ever, and a
// number gives its URL back.
//
// The problem is that of KSpider (Sanguanpong et al., section 7 of the thesis), which keeps each URL as a difference to
// another one in an AVL tree: 26.5 bytes per URL of 59.5, 12 us to find and 1.4 us to get one. Departures: no tree. A
// URL is found by its hash among the chunks of its host's slot (UrlIndex), so that hardly anything is compared but the
// right chunk; it is written next to URLs of its host, as a prefix of one of them and the code of the rest (UrlCode).
//
// Chunks. 32 URLs make a chunk, which is written once, bit after bit. The hash of the host chooses one of 4096 slots,
// and a URL goes to the open chunk of its slot, so that URLs of a page, of a site, stand together although many sites
// are crawled side by side. Its number is chunk * 32 + place. So numbers are stable and need no memory, neighbours are
// of one host most of the time, and numbers are nearly dense: all are below number_limit(), which is size() and the
// free places of open chunks (kMostFree).
//
//   chunk            = generation of the vocabulary (4 bits) URL…
//   URL              = [loan] end                  without what is in brackets for the first one of a chunk
//   loan             = length of the prefix that is borrowed ("as long as the lender's own" has a code, too) and
//   whether
//                      from the URL before, in one code; if not: five bits, that many before, less one
//
// What is borrowed never ends within a number: the rest could not be written as a difference.
//
// To find a URL in a chunk, URLs are passed over by their codes' lengths unless the prefix that they share can decide;
// to get one, only those that it borrows from are expanded.
//
// A slot has room for about 60,000 URLs. Those of hosts whose slots are full go to slots that their own hashes choose,
// up to seven more: look-ups try the next slot only where one is full, and one that is full stays so.
//
// Vocabularies. At 8 Ki, 128 Ki, 2 Mi … URLs a new UrlCode is learnt from what chunks hold, for chunks that begin after
// that; open ones are rewritten when their next URL comes. The call of Insert that learns takes one to two seconds.
//
// Memory bound: measured with 10 million crawl-shaped URLs (77 bytes long; a compressor, xz, needs 12 bytes each for
// the sorted list): 11.6 bytes per URL (the process grew by 11.7), of which 9.2 text, 1.7 index, 0.3 places of chunks,
// the rest vocabularies and open chunks, which do not grow with the URLs (at most 6 MB). With 2 million it is 13.2,
// with few the 4096 slots alone are a megabyte. memory() counts all of it. At most 4 GiB of text: then, or if all slots
// of a URL are full, Insert says kBusy. Thread: one owner; Find and Get from any number of threads while nothing is
// inserted.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash_key.h"
#include "base/result.h"
#include "graph/url_code.h"
#include "graph/url_index.h"

namespace portolan::graph {

class UrlTable {
 public:
  static constexpr uint32_t kChunkUrls = 32;
  static constexpr uint32_t kSlots = 4096;
  // number_limit() is at most so much above size(): the free places of open chunks.
  static constexpr uint64_t kMostFree = uint64_t{kSlots} * (kChunkUrls - 1);
  static constexpr size_t kMaxUrl = 8191;  // bytes; longer ones are an invalid argument

  explicit UrlTable(const HashKey& key);

  // The number of the URL; a new one if it is not there.
  Result<uint64_t> Insert(std::string_view url);
  std::optional<uint64_t> Find(std::string_view url) const;
  // The URL of a number that Insert gave, in place of what `out` had. Another number is kNotFound.
  Status Get(uint64_t number, std::string& out) const;

  uint64_t size() const { return size_; }
  uint64_t number_limit() const { return places_.size() * kChunkUrls; }
  uint64_t memory() const;
  uint64_t text_bytes() const { return text_bytes_; }  // of full chunks
  uint64_t index_bytes() const { return index_.memory(); }

 private:
  static constexpr size_t kPage = size_t{1} << 20;
  static constexpr uint32_t kOpenFlag = 1U << 31;

  struct OpenChunk {
    uint32_t urls = 0;
    uint64_t bits = 0;
    std::string bytes;  // kPadding zeros are behind the last; empty: not begun
  };
  struct Slot {
    OpenChunk open;
    std::vector<uint32_t> chunks;  // by number within the slot; the open one is the last
  };
  struct ChunkView {
    const char* data;
    uint32_t urls;
    const UrlCode* code;
  };
  // Of the URLs of a chunk: which one each borrows from, how much, and where the code of its end begins.
  struct Directory {
    std::array<uint32_t, kChunkUrls> reference;
    std::array<uint32_t, kChunkUrls> shared;
    std::array<uint64_t, kChunkUrls> end;
    std::array<uint32_t, kChunkUrls> number;  // what the code of its end begins with
  };
  // How many bytes each URL of a chunk shares with the one that is looked for, and which one is equal.
  struct Match {
    std::array<uint32_t, kChunkUrls> shared;
    std::array<uint32_t, kChunkUrls> own;     // what each borrows from its reference
    std::array<uint32_t, kChunkUrls> number;  // of each
    uint32_t equal = kChunkUrls;              // kChunkUrls: none
  };

  ChunkView View(uint32_t chunk) const;
  ChunkView View(const OpenChunk& open) const;
  static void ReadBefore(const ChunkView& view, UrlCode::Cursor& in, uint32_t place,
                         const std::array<uint32_t, kChunkUrls>& shared, uint32_t& reference, uint32_t& own);
  static void MatchIn(const ChunkView& view, std::string_view url, Match& match);
  static void ReadDirectory(const ChunkView& view, uint32_t last, Directory& directory);
  static void Assemble(const ChunkView& view, const Directory& directory, uint32_t place, std::string& out);
  uint32_t SlotOf(std::string_view url, uint64_t hash, uint32_t attempt) const;
  std::optional<uint64_t> FindHashed(std::string_view url, uint64_t hash) const;
  OpenChunk& ChunkOf(uint32_t slot);
  void Append(OpenChunk& open, std::string_view url);
  void Rewrite(OpenChunk& open);
  void Seal(Slot& slot);
  void Learn();

  HashKey key_;
  UrlIndex index_;
  std::vector<std::unique_ptr<UrlCode>> codes_;  // by generation; only the last one can encode
  std::vector<uint32_t> places_;                 // by chunk: place / 2 in the pages, or kOpenFlag and the slot
  std::vector<std::unique_ptr<char[]>> pages_;
  size_t page_used_ = kPage;
  std::vector<Slot> slots_;
  uint64_t size_ = 0;
  uint64_t text_bytes_ = 0;
  uint64_t next_learning_ = 8192;
};

}  // namespace portolan::graph
