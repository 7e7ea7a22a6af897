// Links of a crawl, from its link log, and which of them are broken, by its crawl log.
//
// A link is broken when the crawl asked for its target and got no page: a status of 400 or more, or no answer at all
// (the name does not exist, the connection is refused, a time limit, a certificate …), not even for robots.txt. What
// was not requested is not reported as broken: out of scope, denied by robots.txt, or not reached before the end. If
// the log has several lines of a URL the last one counts; lines of attempts that were tried again are ignored.
//
// The two logs are compared by sorting (RowSort), by 128 bits of hash of the URLs: two different URLs of 10^10 are
// taken for equal with a probability of 10^-19. So memory does not depend on the crawl's size, and both logs are read
// from front to back, the link log twice.
//
// Thread: one caller, beside a running crawl or not. Memory bound: SourcesReader's, twice RowSort's.
// Disk: 32 bytes per link and per line of the crawl log in a nameless file, where that does not fit in memory.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "disk/row_sort.h"
#include "follow/output_sources.h"
#include "io/env.h"

namespace portolan {

// The views are valid only during the call that gets it.
struct LinkLine {
  std::string_view source;
  std::string_view target;
  std::string_view anchor;
  uint8_t flags = 0;    // LinkFlag
  int64_t unix_ms = 0;  // when the source was fetched
  int status = 0;       // of the target, where it is broken; 0: there was no answer
  std::string_view outcome = {};
};
using LinkVisitor = std::function<Status(const LinkLine& link)>;

// Turns the next batch of a link log reader into links. False: there are no more batches.
Result<bool> NextLinks(const std::function<Result<bool>(const OutputReader::Each&)>& next, const LinkVisitor& each);

// All links that are committed, in the order of the log, of several shards one after the other. kNotFound: the crawl
// has no link log.
Status ForEachLink(Env& env, const OutputSources& links, const LinkVisitor& each);

// Those that are broken, in the same order. `scratch` is where sort.dir is. `logs` are those of all shards: targets of
// a page's links belong to any.
Status ForEachBrokenLink(Env& env, Env& scratch, const OutputSources& links, const OutputSources& logs,
                         const RowSort::Options& sort, const LinkVisitor& each);

}  // namespace portolan
