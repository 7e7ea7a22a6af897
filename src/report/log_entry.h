// LogEntry: a line of the crawl log, as a report needs it.
//
// Thread: one owner; it is reused from line to line. Memory bound: the longest line.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace portolan {

struct LogEntry {
  std::string url;
  std::string kind;     // "page", "robots", "sitemap"
  std::string outcome;  // "answered", "dns_not_found", "robots_denied" …
  std::string mime;     // detected
  std::string server;   // as the server names its software
  std::string ip;
  std::string http;
  std::string via;
  std::string redirect;
  std::string title;
  std::string fingerprint;
  std::string visit;   // of a visit after the first: "not_modified", "same", "other", "unknown"
  int64_t unix_s = 0;  // when the fetch began; 0: unknown
  int status = 0;      // 0: no answer
  uint64_t bytes = 0;
  uint64_t decoded = 0;
  uint64_t ms = 0;
  uint64_t depth = 0;
  uint64_t links = 0;
  bool fetched = false;    // false: it was denied, or left out, without a request
  bool again = false;      // it was tried again: another line follows
  bool duplicate = false;  // its bytes were captured before, from another URL or at another time
  bool gone = false;       // of a visit after the first: it is no longer there

  bool answered() const { return status != 0; }
  // No fetch: what was found out later about one that has a line of its own.
  bool is_finding() const { return outcome == "late_duplicate"; }
  bool is_page() const { return kind == "page"; }
  bool ok() const { return status / 100 == 2; }
  bool is_html() const { return mime == "text/html" || mime == "application/xhtml+xml"; }
};

// False: the line is not an object with a URL. Fields of another type than the log's count as absent.
bool ParseLogEntry(std::string_view line, LogEntry& entry);

}  // namespace portolan
