// SitemapParser: reads the URLs that a site lists itself: XML sitemaps and sitemap indexes (sitemaps.org), text
// sitemaps, RSS 0.9x, 1.0 and 2.0, and Atom (RFC 4287). Plain or gzipped, in pieces of any size.
//
// Element names are taken without their prefix and whatever their namespace, since many files get it wrong; <loc>
// differs from <image:loc> in that it is a direct child of <url>. Entries are reported when they end; those before an
// error have been reported. URLs are handed over as written, without blanks around them: the caller resolves and checks
// them.
//
// Hostile XML is refused with a name: entity declarations (and so every entity bomb), nesting past max_depth, one piece
// of markup or text past kMaxToken. Expat is never given an external entity to load.
//
// Bound: time linear in the decoded bytes, of which at most max_bytes are read; memory kMaxToken plus one entry.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/content_decoder.h"

namespace portolan {

enum class SitemapKind : uint8_t { kUnknown, kUrlSet, kIndex, kText, kRss, kAtom };
std::string_view SitemapKindName(SitemapKind kind);

enum class SitemapOutcome : uint8_t {
  kGoing,      // nothing wrong so far; only Finish() says kWhole
  kWhole,      // read to its end
  kMalformed,  // XML that breaks off or is not well-formed
  kHostile,    // entity declarations, or a token without end
  kTooDeep,    // nested past max_depth
  kTooMany,    // more than max_entries; exactly that many were given
  kTooLarge,   // more than max_bytes after decoding, or a bomb
  kBadCoding,  // gzip that does not decode
  kNoSitemap,  // well-formed, but not a sitemap or feed
  kStopped,    // the callback returned false
};
std::string_view SitemapOutcomeName(SitemapOutcome outcome);

enum class ChangeFrequency : uint8_t { kNone, kAlways, kHourly, kDaily, kWeekly, kMonthly, kYearly, kNever };

struct SitemapEntry {
  enum class Role : uint8_t {
    kPage,     // a <url>, an <item>, an <entry>
    kSitemap,  // another sitemap, from an index
    kHome,     // the page that a feed belongs to
    kRelated,  // an Atom link of another relation: self, edit, next, enclosure …
  };
  Role role = Role::kPage;
  std::string url;
  std::optional<int64_t> modified;  // seconds since 1970
  std::optional<float> priority;    // 0 to 1
  ChangeFrequency change_frequency = ChangeFrequency::kNone;
};

struct SitemapLimits {
  size_t max_entries = 50'000;              // sitemaps.org's own limit
  uint64_t max_bytes = uint64_t{50} << 20;  // likewise
  size_t max_depth = 32;
  size_t max_url = size_t{8} << 10;  // longer ones are left out
};

class SitemapParser {
 public:
  static constexpr size_t kMaxToken = size_t{1} << 20;

  // `on_entry` returns false to stop. It is called during Feed and Finish only.
  SitemapParser(const SitemapLimits& limits, std::function<bool(SitemapEntry&)> on_entry);
  ~SitemapParser();
  SitemapParser(const SitemapParser&) = delete;
  SitemapParser& operator=(const SitemapParser&) = delete;

  // An outcome other than kGoing is final.
  SitemapOutcome Feed(std::string_view bytes);
  SitemapOutcome Finish();

  SitemapKind kind() const;
  size_t entries() const;

 private:
  class Reader;  // what stands behind the decoder
  class XmlReader;
  class TextReader;

  void Read(std::string_view decoded);

  std::unique_ptr<Reader> reader_;
  SitemapLimits limits_;
  std::function<bool(SitemapEntry&)> on_entry_;
  std::string head_;  // the first bytes, until they tell what this is
  std::unique_ptr<ContentDecoder> decoder_;
  std::string decoded_;
  uint64_t bytes_ = 0;
  bool started_ = false;
  bool mark_read_ = false;  // the place of a byte order mark is past
  bool utf16_ = false;
  SitemapOutcome outcome_ = SitemapOutcome::kGoing;
};

}  // namespace portolan
