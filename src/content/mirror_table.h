// MirrorTable: which origins (scheme, host and port) repeat the pages of another one, path by path.
//
// Evidence is a page whose payload is that of the page with the same path and query of another origin, whichever of the
// two was fetched first. An origin is a mirror of another when at least kLeast of its pages are equal to their
// counterparts and they are at least three quarters of all its pages that were looked at since the first of them. Old
// evidence fades: at kWindow pages both counts are halved, so an origin that changes stops to be a mirror.
//
// Of two origins that repeat each other the one that was met later is the mirror, and where that has an original of its
// own, evidence for it counts for that original. So several mirrors that are crawled side by side agree on one origin,
// and a chain of mirrors has an end.
//
// It also counts how many of an origin's pages are copies of anything: where nearly all are (kMostlyCopies), for example
// because a directory contains itself, links on copies lead to more copies.
//
// Thread: one owner. Deterministic. Memory bound: kMaxOrigins entries of about 300 bytes. At the bound the entry that
// was used least recently is dropped. A forgotten origin is one that is no mirror, which costs only fetches.
// Durability: Checkpointable. Entries with at least kSaved equal pages, kMaxSaved of them at most, are numbers in the
// manifest. The names are not: a restored mirror counts again when its next equal page is seen.

#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/hash_key.h"
#include "base/result.h"
#include "disk/manifest.h"

namespace portolan {

class MirrorTable : public Checkpointable {
 public:
  static constexpr size_t kMaxOrigins = 16'384;
  static constexpr size_t kMaxSaved = 1024;
  static constexpr uint32_t kSaved = 8;
  static constexpr uint32_t kLeast = 32;
  static constexpr uint32_t kWindow = 256;
  static constexpr uint32_t kSampleWeight = 4;  // what a sampled page of a mirror counts that is not as expected

  static Result<std::unique_ptr<MirrorTable>> Open(const Manifest& manifest, const std::string& name,
                                                   const HashKey& key);

  // A page was fetched. `first`: the page whose payload it repeats; empty: its payload is new. `known`: the page itself
  // was observed before as new, and the copy was found only now.
  void Observe(std::string_view url, std::string_view first, bool known = false);

  // The origin whose pages those of the URL's origin repeat; empty: none.
  std::string_view OriginalOf(std::string_view url);
  // At least kLeast pages of the URL's origin were looked at since its first copy, and seven in eight were copies.
  bool MostlyCopies(std::string_view url) const;

  size_t origins() const { return entries_.size(); }
  uint64_t mirrors() const;  // how many are mirrors now
  uint64_t dropped() const { return dropped_; }

  Status Flush() override;
  ManifestSection Describe() const override { return described_; }
  Status Committed() override { return {}; }

  static constexpr std::string_view kKind = "mirrors";

 private:
  struct Entry {
    uint64_t origin = 0;
    uint64_t original = 0;    // 0: no equal page yet
    uint64_t number = 0;      // in the order in which they were met
    std::string name;         // of the original; empty: not known since the restart
    uint32_t pages = 0;       // looked at since the entry was made
    uint32_t equal = 0;       // of them: equal to those of `original`
    uint32_t copies = 0;      // of them: copies of anything

    bool Enough() const { return equal >= kLeast && 4 * equal >= 3 * pages; }
  };
  using Order = std::list<Entry>;

  MirrorTable(std::string name, const HashKey& key) : name_(std::move(name)), key_(key) {}
  Entry* Find(uint64_t origin);
  Entry& Touch(uint64_t origin);
  // One more page of the entry's that is equal to that of an older one. `counted`: the page is one of `pages`.
  void NoteEqual(Entry& entry, const Entry& older, std::string_view name, bool counted);
  bool IsMirror(const Entry& entry) const { return entry.Enough() && !entry.name.empty(); }
  static void Fade(Entry& entry);

  const std::string name_;
  const HashKey key_;
  Order entries_;  // the most recently used first
  std::unordered_map<uint64_t, Order::iterator> index_;
  uint64_t dropped_ = 0;
  uint64_t next_number_ = 1;
  ManifestSection described_;
};

}  // namespace portolan
