// ReportTotals: what a report counts of a whole crawl and not by name.
//
// Memory bound: the rows of `broken`, which ReportBuilder bounds, and the bins of `times`.

#pragma once

#include <cstdint>
#include <map>

#include "report/histogram.h"
#include "report/report_table.h"

namespace portolan {

struct ReportTotals {
  static constexpr uint64_t kDeepest = 64;  // deeper pages count as this

  uint64_t lines = 0;     // of the log
  uint64_t requests = 0;  // lines with a request
  uint64_t repeats = 0;   // requests that were made again
  uint64_t received = 0;  // bytes
  uint64_t robots_files = 0;
  uint64_t robots_received = 0;
  // Of pages and sitemaps, each URL once.
  uint64_t urls = 0;    // with a result, fetched or not
  uint64_t denied = 0;  // without a request
  uint64_t requested = 0;
  uint64_t dns_failed = 0;
  uint64_t answers = 0;
  uint64_t answer_ms = 0;
  uint64_t pages = 0;         // 2xx
  uint64_t with_content = 0;  // of them: with a fingerprint
  uint64_t html = 0;
  uint64_t html_bytes = 0;
  uint64_t without_title = 0;
  uint64_t links = 0;       // of HTML documents
  uint64_t duplicates = 0;  // answers whose bytes were captured before, those found late among them
  uint64_t revisits = 0;    // visits after the first, which count as requests and in nothing else above
  uint64_t not_modified = 0;
  uint64_t unchanged = 0;  // the same bytes came again
  uint64_t gone = 0;
  int64_t first = 0;  // the first request and the last answer, unix seconds; 0: none
  int64_t last = 0;

  TimeLine times;
  PowerSteps sizes;
  PowerSteps answer_times;
  PowerSteps out_links;
  std::map<uint64_t, uint64_t> depths;
  ReportTable broken;
  bool has_links = false;  // a link log was read
};

}  // namespace portolan
