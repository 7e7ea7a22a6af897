// MirrorTable: which origins (scheme, host and port) repeat the pages of another one, path by path.
//
// Evidence for it is a page with the payload of the page with the same path and query of another origin, whichever of
// the two was fetched first. Evidence against it is a pair of such pages with different payloads, or a page that only
// the supposed mirror has. Pages whose counterpart was not fetched yet say nothing: two hosts that are crawled side by
// side have few pages in common for a long time. An origin is a mirror with at least kLeast pages for it and at most a
// third as many against it. Evidence fades: at kWindow both counts are halved, so an origin that changes stops to be
// one.
//
// Of two origins that repeat each other the one that was met later is the mirror, and where that has an original of its
// own, evidence for it counts for that original. So several mirrors that are crawled side by side agree on one origin,
// and a chain of mirrors has an end.
//
// It also counts how many of an origin's pages are copies of anything: where nearly all are (MostlyCopies), for example
// because a directory contains itself, links on copies lead to more copies.
//
// Thread: one owner. Deterministic. Memory bound: kMaxOrigins entries of about 300 bytes, and kPages times 8 bytes for
// the payloads of recent pages. At the bounds the entry that was used least recently is dropped, and a page takes the
// place of another. A forgotten origin is no mirror, and a forgotten page is no evidence, which costs only fetches.
// Durability: Checkpointable. Entries with at least kSaved pages for them, kMaxSaved at most, are numbers in the
// manifest. The names are not: a restored mirror counts again when its next equal page is seen. Nor are recent pages.

#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash_key.h"
#include "base/result.h"
#include "disk/manifest.h"

namespace portolan {

class MirrorTable : public Checkpointable {
 public:
  static constexpr size_t kMaxOrigins = 16'384;
  static constexpr size_t kMaxSaved = 1024;
  static constexpr size_t kPages = size_t{1} << 17;
  static constexpr uint32_t kSaved = 8;
  static constexpr uint32_t kLeast = 12;
  static constexpr uint32_t kWindow = 256;
  static constexpr uint32_t kSure = 64;         // so much evidence makes sampling rarer
  static constexpr uint32_t kSampleOften = 16;  // one in so many pages of a mirror is fetched all the same
  static constexpr uint32_t kSampleRarely = 128;
  static constexpr uint32_t kSampleWeight = 8;  // what such a page counts that is not as expected

  static Result<std::unique_ptr<MirrorTable>> Open(const Manifest& manifest, const std::string& name,
                                                   const HashKey& key);

  struct Page {
    std::string_view url;
    std::string_view first = {};  // the page whose payload it repeats; empty: its payload is new
    uint64_t payload = 0;         // a hash of it; 0: unknown
    bool known = false;           // it was observed before as new, and the copy was found only now
  };
  void Observe(const Page& page);
  // The page has content of its own, and its counterpart does not exist.
  void NoteMissing(std::string_view url);

  // The page, which was observed as new, is nearly a copy. That counts for MostlyCopies only.
  void NoteNear(std::string_view url);

  // The page cannot be had: it is missing, or forbidden, or fails.
  void NoteGone(std::string_view url);
  // NoteGone was called for it, not too long ago.
  bool IsGone(std::string_view url);

  struct Mirror {
    std::string_view original;  // the origin whose pages it repeats
    uint32_t sample = 0;        // one in so many of its pages is to be fetched all the same
  };
  // Whether the URL's origin is a mirror. The view is valid until the next change.
  std::optional<Mirror> MirrorOf(std::string_view url);
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
    uint64_t original = 0;   // 0: no equal page yet
    uint64_t number = 0;     // in the order in which they were met
    std::string name;        // of the original; empty: not known since the restart
    uint32_t equal = 0;      // pages that are equal to those of `original`
    uint32_t differing = 0;  // pages that are not
    uint32_t pages = 0;      // looked at since the entry was made
    uint32_t copies = 0;     // of them: copies of anything
  };
  using Order = std::list<Entry>;

  MirrorTable(std::string name, const HashKey& key) : name_(std::move(name)), key_(key), pages_(kPages) {}
  Entry* Find(uint64_t origin);
  Entry& Touch(uint64_t origin);
  // One more page of the entry's that is equal to that of an older one.
  void NoteEqual(Entry& entry, const Entry& older, std::string_view name);
  static void NoteDiffering(Entry& entry);
  // Compares the page with its counterpart, if that was fetched recently.
  void CompareWithOriginal(Entry& entry, const Page& page);
  static bool IsMirror(const Entry& entry) {
    return entry.equal >= kLeast && entry.equal >= 3 * entry.differing && !entry.name.empty();
  }
  // A page in the table of recent ones: the upper half of its URL's hash, the lower half of its payload's.
  uint64_t& RecentSlot(uint64_t url) { return pages_[url % kPages]; }
  static uint64_t Recent(uint64_t url, uint64_t payload) { return (url >> 32) << 32 | (payload & 0xffffffff); }
  static constexpr uint64_t kGone = 0;  // instead of a payload

  const std::string name_;
  const HashKey key_;
  Order entries_;  // the most recently used first
  std::unordered_map<uint64_t, Order::iterator> index_;
  std::vector<uint64_t> pages_;
  uint64_t dropped_ = 0;
  uint64_t next_number_ = 1;
  ManifestSection described_;
};

}  // namespace portolan
