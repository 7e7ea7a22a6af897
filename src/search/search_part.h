// SearchPart: one part of an index, on this machine or on another one, while one question is asked.
//
// A question has two steps, because scores need statistics of all parts (IIR §20.3):
//
//   1. each part says how many pages it has, and how many of them each term
//   2. each part gets the sums, and gives its best pages, scored as if all parts were one
//
// and then the documents that are shown are fetched.
//
// Thread: one asker per object; a part gives one asker per question (SearchPart::Ask). An asker never throws. kIo,
// kClosed: the part does not answer in time, or is gone. kCorrupt: its files are damaged, or it says what cannot be
// true. kBusy: it takes too long.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "search/query_plan.h"
#include "search/score.h"

namespace portolan {

struct PartHit {
  double score = 0;  // RoundScore of it
  uint32_t docid = 0;
  std::string tie;  // 8 bytes of kTieSlot
};

struct PartHits {
  std::vector<PartHit> hits;  // by score, then tie; at most as many as were asked for
  uint64_t matches = 0;
  bool exact = false;  // the number of matches is counted, not estimated
};

struct PartDocument {
  DocumentData data;
  std::string fetched;      // as in kFetchedSlot
  std::string published;    // as in kPublishedSlot
  uint64_t similarity = 0;  // 0: none
};

class PartAsker {
 public:
  virtual ~PartAsker() = default;
  // Languages of its pages (ISO 639-1, without varieties), and how many pages each.
  virtual Result<std::map<std::string, uint64_t>> Languages() = 0;
  virtual Result<SearchStatistics> Begin(const QueryPlan& plan) = 0;
  // REQUIRES: Begin. The `most` best pages; matches are counted up to `count`.
  virtual Result<PartHits> Finish(const QueryPlan& plan, const SearchStatistics& all, uint32_t most,
                                  uint32_t count) = 0;
  virtual Result<std::vector<PartDocument>> Documents(const std::vector<uint32_t>& docids) = 0;
};

class SearchPart {
 public:
  virtual ~SearchPart() = default;
  virtual const std::string& name() const = 0;  // its directory, or "host:port"
  virtual bool local() const = 0;
  // Until `deadline_ns` of Clock::Real's monotonic time. Any number of threads.
  virtual Result<std::unique_ptr<PartAsker>> Ask(int64_t deadline_ns) = 0;
};

// Of a document's data and values; nullopt: not as the schema says.
std::optional<PartDocument> DecodePartDocument(std::string_view data, std::string_view fetched,
                                               std::string_view published, std::string_view similarity);

}  // namespace portolan
