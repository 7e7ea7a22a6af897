// The index of an archive file: which captures it holds, where, as CDXJ, CDX or JSON lines.
//
// A line has the fields that were asked for, in that order, and leaves out those a record does not have. A field is
//   url mime status digest length offset filename   as in docs/formats/cdxj.md
//   urlkey timestamp                                 the two words in front of a CDXJ line
//   method referrer requestBody                      of a request, and of the answer next to it
//   recordDigest                                     sha256 of the record's bytes as stored
//   http:NAME, http:status                           a field of the HTTP head
//   NAME                                             a field of the WARC header ("warc-type")
//
// Request and response are next to each other in archives, in either order: neighbours with the same URL, whose
// WARC-Concurrent-To (where there is one) names the other, belong together.
//
// Two styles reproduce other tools byte by byte (tests/…: cdxj-indexer, warcio.js); ours is Common Crawl's.
// Memory bound: the reader's and two entries.

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "warc/cdxj.h"
#include "warc/member_stream.h"
#include "warc/reader.h"

namespace portolan {

enum class IndexFormat : uint8_t { kCdxj, kCdx11, kCdx9, kJson };

struct IndexOptions {
  IndexFormat format = IndexFormat::kCdxj;
  std::vector<std::string> fields;   // empty: what the format usually has
  std::vector<std::string> records;  // types; empty: captures (kCaptureTypes); "all": every record
  std::string filename;              // value of the field "filename"

  bool compact = false;       // JSON without blanks
  bool digest_label = false;  // "sha1:ABC…" instead of "ABC…"
  bool cdx_header = true;     // the line " CDX N b a …" in front
  bool post_append = true;    // keys and fields of POST requests, see post_query.h
  bool method_first = false;  // "method" before "requestBody"
  bool unchunk_post = true;   // remove transfer coding from a request's body before it becomes a query
  bool join_revisits = true;  // a request's method and body go to a revisit too
};

// The settings that write what `cdxj-indexer` (Python) and `warcio.js` write.
IndexOptions CdxjIndexerStyle();
IndexOptions WarcioStyle();

// Fails for a name that is not a style: "portolan", "cdxj-indexer" or "warcio".
Result<IndexOptions> IndexStyle(std::string_view name);

// Records that are captures: what the index lists unless told otherwise. Records of type application/warc-fields are
// about captures and are left out.
inline constexpr std::string_view kCaptureTypes = "response,revisit,resource,metadata";

using LineSink = std::function<void(std::string_view line)>;  // without its line end

struct IndexResult {
  WarcReaderStats stats;
  uint64_t lines = 0;
  uint64_t unreachable = 0;  // records left out because they share a gzip member
};

// The line of one capture (by GET) in our own style, as far as its record has them: the fields of CaptureFields, those
// left out that it does not have. REQUIRES: the record is read to its end (WarcReader::Finish), with payload_digest
// where it may have none.
CdxjLine CaptureLine(const WarcRecord& record, std::string_view filename);
const std::vector<std::string>& CaptureFields();

// Lines in the order of the file; sort them by bytes. `source` must be able to read at any offset when recordDigest is
// among the fields.
Result<IndexResult> IndexArchive(const ByteSource& source, const IndexOptions& options, const LineSink& sink,
                                 const FaultSink& faults = {});

}  // namespace portolan
