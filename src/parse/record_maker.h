// RecordMaker: turns an answer into WARC records, one gzip member each, and into its index entry.
//
// Runs on the fetch thread, so that compression and digests use all cores and the writer only appends. The request
// comes first, then the response, then (when asked for) metadata; request and metadata name the response in
// WARC-Concurrent-To. Ids are random, never to be repeated by any crawl; with a seed the same answers give the same
// bytes.
//
// Thread: one owner. Memory bound: WarcWriter's scratch, one record (kept up to kKeepRecord) and one head.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "flow/fetch.h"
#include "flow/page_result.h"
#include "http/headers.h"
#include "io/rng.h"
#include "parse/whole_gzip.h"
#include "url/url.h"
#include "warc/writer.h"

namespace portolan {

// What parsing found, for the records.
struct RecordFacts {
  FetchOutcome outcome = FetchOutcome::kAnswered;
  int status = 0;
  std::string_view mime_detected;
  std::string_view charset;   // a name that lives for ever
  std::string_view location;  // of an answer 3xx, as written
  std::string_view title;
  size_t links = 0;      // found on the page
  bool packed = false;   // the body is compressed already: deflating it again is not worth its time
  bool revisit = false;  // prepare a revisit record, too
  // The answer is a 304: the record is a revisit of this capture. Null: the answer is stored like any other.
  const LastVisit* not_modified = nullptr;
};

class RecordMaker {
 public:
  struct Options {
    std::optional<uint64_t> seed = {};  // of the record ids, for tests; none: the system's random source
    int level = 1;                      // GzipMember's
    bool metadata = false;              // a metadata record: where it was found, outcome, times, counts, title
  };

  static Result<RecordMaker> Create(const Options& options);

  // Replaces `item`. `url` is the task's URL, parsed.
  void Make(const FetchResponse& response, const ResponseHead& head, const Url& url, const RecordFacts& facts,
            ArchiveItem& item);

 private:
  static constexpr size_t kKeepRecord = size_t{4} << 20;

  RecordMaker(const Options& options, WarcWriter writer, WarcWriter plain, const Rng& rng)
      : options_(options), writer_(std::move(writer)), plain_(std::move(plain)), rng_(rng) {}
  WarcId NextId() { return {.high = rng_.Next(), .low = rng_.Next()}; }

  Options options_;
  WarcWriter writer_;
  WarcWriter plain_;  // without gzip, for records that StoredGzip packs
  StoredGzip stored_;
  std::string record_;
  Rng rng_;
  std::string head_;
  std::string fields_;
};

}  // namespace portolan
