// Records of the link log and the text log: what a page adds to them, and how it is read back.
// docs/formats/link_log.md and text_log.md have the formats.
//
// They are made on the fetch thread and travel as one string of packed records (PackedRecords) through the shard, which
// does not look into it, to the log's writing thread, which puts them into blocks. A link page's records:
//
//   tag 0x80   source URL, NUL, varint: unix milliseconds of the fetch
//   tag flags  target URL, and NUL and the anchor text where there is one          … one for each link
//
// URLs come first so that front coding (disk/record_block.h) finds what neighbours share.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace portolan {

// Bounds of what a page may add; more is cut, between characters.
inline constexpr size_t kMaxAnchor = 256;                 // bytes of one anchor text
inline constexpr size_t kMaxAnchors = size_t{256} << 10;  // of all links of a page; links beyond it have none
inline constexpr size_t kMaxPageText = size_t{1} << 20;   // of visible text
inline constexpr size_t kMaxHeadings = size_t{16} << 10;  // of all headings together
inline constexpr size_t kMaxRecordTitle = 1024;
inline constexpr size_t kMaxRecordType = 100;
inline constexpr size_t kMaxMainRanges = 20'000;  // what is behind them is text, but not main text

// On disk: never renumber. A frame is kLinkRequisite without kLinkEmbed.
enum LinkFlag : uint8_t {
  kLinkRedirect = 1 << 0,
  kLinkNofollow = 1 << 1,
  kLinkEmbed = 1 << 2,
  kLinkCanonical = 1 << 3,
  kLinkSitemap = 1 << 4,
  kLinkSitemapFile = 1 << 5,
  kLinkRequisite = 1 << 6,
};
inline constexpr uint8_t kLinkPage = 1 << 7;  // the record is a page, not a link
// "nofollow embed", words separated by a blank; empty for a plain link.
std::string LinkFlagNames(uint8_t flags);

// Several records in one string, each with a tag.
inline void AppendPackedRecord(std::string& out, std::string_view record, uint8_t tag = 0) {
  out += static_cast<char>(tag);
  AppendString(out, record);
}

class PackedRecords {
 public:
  // REQUIRES: the string outlives this. It was made by AppendPackedRecord, in this process.
  explicit PackedRecords(std::string_view packed) : reader_(packed) {}
  bool Next() { return !reader_.done() && reader_.Read(tag_) && reader_.ReadString(record_); }
  std::string_view record() const { return record_; }
  uint8_t tag() const { return tag_; }

 private:
  ByteReader reader_;
  uint8_t tag_ = 0;
  std::string_view record_;
};

// Adds the page's own record; its links follow.
void AppendLinkPage(std::string& out, std::string_view source, int64_t unix_ms);
void AppendLink(std::string& out, std::string_view target, uint8_t flags, std::string_view anchor);

struct LinkRecord {
  uint8_t tag = 0;
  std::string_view url;     // of the page or of the target
  std::string_view anchor;  // of a link
  int64_t unix_ms = 0;      // of a page
  bool is_page() const { return tag == kLinkPage; }
};
// nullopt: the record is malformed. Views of `record`.
std::optional<LinkRecord> ParseLinkRecord(std::string_view record, uint8_t tag);

struct TextRecord {
  std::string_view url;
  int64_t unix_ms = 0;
  std::string_view title;
  std::string_view description;
  std::string_view published;  // RFC 3339, a date or a date and time
  std::string_view language;   // BCP 47; "und": not known
  uint8_t confidence = 0;      // of the language, percent
  std::string_view headings;   // one per line, each with its level before it: "1 About us"
  std::string_view text;       // words separated by one blank, blocks by one line end
  std::string_view main;       // which bytes of the text are the main text: PackedRanges
  uint16_t robots = 0;         // what the page asks of robots: RobotsTag::Flag, which never change
  std::string_view type;       // found in its bytes: "text/html"
  uint64_t similarity = 0;     // hash of the main text (parse/similarity.h); 0: none
};

// Ranges of a text in order, apart from each other; each as two varints: bytes since the end of the range before it,
// and its size, which is not 0.
class PackedRanges {
 public:
  explicit PackedRanges(std::string_view packed) : reader_(packed) {}
  // False at the end, and at bytes that are not ranges of a text of up to 2^32 bytes.
  bool Next();
  uint64_t begin() const { return end_ - size_; }
  uint64_t size() const { return size_; }
  bool done() const { return reader_.done(); }  // after Next was false: all were ranges

 private:
  ByteReader reader_;
  uint64_t end_ = 0;
  uint64_t size_ = 0;
};
// `end` is the end of the range before it, 0 for the first. REQUIRES: begin >= end, size > 0.
void AppendPackedRange(std::string& packed, uint64_t end, uint64_t begin, uint64_t size);

// The main text of a page that ParseTextRecord gave, its ranges on lines of their own.
std::string MainTextOf(const TextRecord& page);

void AppendTextRecord(std::string& out, const TextRecord& page);  // packed
// nullopt: the record is malformed. Views of `record`.
std::optional<TextRecord> ParseTextRecord(std::string_view record);

// The first `most` bytes, or fewer, so that no character is cut.
std::string_view CutUtf8(std::string_view text, size_t most);

}  // namespace portolan
