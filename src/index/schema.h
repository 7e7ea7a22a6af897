// The schema of the search index: which terms and values a page has in a Xapian database, what its document data holds,
// and in which part of the index it is. What writes the index and what queries it agree here; docs/search.md explains
// it. Changing anything of it needs a new kIndexSchema: an index of another schema is refused and built again.
//
// Terms, by Xapian's conventions (prefix in capitals, then the word in lower case; stemmed forms with 'Z' in front, by
// the page's language where there is a stemmer; unstemmed forms always; positions for body and title only):
//
//   body      ""   main text (visible text if no main text was found)
//   title     S    title
//   heading   XH   headings h1 to h6
//   anchor    XA   texts of links to the page
//   url       XU   words of host, path and query
//
// Boolean terms: Q + URL (one per document), H + host and each parent domain down to the pay-level domain, L +
// language, T + type, XF + similarity hash.
//
// Thread: pure functions.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace portolan {

inline constexpr uint32_t kIndexSchema = 1;

// Fields with words.
inline constexpr std::string_view kBodyPrefix = "";
inline constexpr std::string_view kTitlePrefix = "S";
inline constexpr std::string_view kHeadingPrefix = "XH";
inline constexpr std::string_view kAnchorPrefix = "XA";
inline constexpr std::string_view kUrlPrefix = "XU";
inline constexpr std::array kWordPrefixes = {kBodyPrefix, kTitlePrefix, kHeadingPrefix, kAnchorPrefix, kUrlPrefix};

// Boolean terms.
inline constexpr std::string_view kIdPrefix = "Q";
inline constexpr std::string_view kSitePrefix = "H";
inline constexpr std::string_view kLanguagePrefix = "L";  // "Lde", "Lzh-hant"; and of the first part alone: "Lzh"
inline constexpr std::string_view kTypePrefix = "T";      // "Ttext/html"
inline constexpr std::string_view kFoldPrefix = "XF";     // 16 hexadecimal digits; not of a text without a hash

// On disk: never renumber.
enum IndexSlot : uint32_t {
  kTieSlot = 0,         // 8 bytes: hash of the URL; equal scores are ordered by it, so parts do not change the order
  kFetchedSlot = 1,     // yyyymmddhhmmss, UTC
  kPublishedSlot = 2,   // the same, or yyyymmdd where the page gives only a date; empty: not known
  kScoreSlot = 3,       // Xapian::sortable_serialise of the static score, 0 to 1; none: 0
  kSimilaritySlot = 4,  // 8 bytes, big-endian; none: the text has no hash
  kInlinkSlot = 5,      // 8 bytes: hash of what the link graph says of the page; used by the follower only
};

inline constexpr size_t kMaxIdUrl = 200;  // bytes of a URL in its id term; longer ones are hashed

// "Q" and the URL; of a longer URL "Q" and 32 hexadecimal digits of its XXH3-128.
std::string IdTerm(std::string_view url);
// 8 bytes.
std::string TieKey(std::string_view url);
// "Hwww.example.org", "Hexample.org" for host "www.example.org" of domain "example.org".
std::vector<std::string> SiteTerms(std::string_view host, std::string_view domain);
std::string FoldTerm(uint64_t similarity);
std::string SimilarityValue(uint64_t similarity);
// Lower case; "und" and an empty one have no terms.
std::vector<std::string> LanguageTerms(std::string_view language);

// The language that Xapian::Stem knows for a BCP 47 tag: "en" for "en-GB"; empty: none.
std::string_view StemmerOf(std::string_view language);

// "20191118160700" of unix milliseconds.
std::string TimeValue(int64_t unix_ms);
// "2019-11-18T16:07:00-06:00" → "20191118220700"; "2019-11-18" → "20191118"; empty: neither.
std::string PublishedValue(std::string_view rfc3339);

// In which of `parts` the documents of a host are: by an unkeyed hash, the same for every crawl.
uint32_t PartOf(std::string_view host, uint32_t parts);

// Where a page's record is in the text log: what is shown of a hit (snippet) is read there (index/text_place.h).
struct TextPlace {
  uint64_t serial = 0;  // of the file, from 1; 0: none
  uint64_t offset = 0;  // of the block
  uint32_t record = 0;  // in the block, from 0
  bool operator==(const TextPlace&) const = default;
};

// The document data: version byte 1, then strings (varint length, bytes) and varints in this order.
struct DocumentData {
  std::string url;
  std::string title;
  TextPlace place;
  bool operator==(const DocumentData&) const = default;

  std::string Encode() const;
  // nullopt: not such data.
  static std::optional<DocumentData> Decode(std::string_view bytes);
};

// The metadata of each part's database.
inline constexpr std::string_view kMetaSchema = "portolan.schema";      // kIndexSchema in decimal
inline constexpr std::string_view kMetaPart = "portolan.part";          // "2/5": the third of five
inline constexpr std::string_view kMetaPosition = "portolan.position";  // how far the logs are in it (index_part.h)

}  // namespace portolan
