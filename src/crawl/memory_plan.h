// MemoryPlan: memory.total divided once, in one place. docs/memory.md says what each part is for and what happens at
// its bound.
//
// Every part is a bound that one structure respects; together they never exceed the total. What does not depend on the
// total (the program itself, its libraries and tables) is not part of it: that is the fixed base, kMemoryBase.
//
// Little memory also means fewer fetch threads and smaller bodies: a thread needs room for one page of any size.

#pragma once

#include <cstddef>
#include <cstdint>

namespace portolan {

// What the program uses before the crawl has any data (docs/memory.md).
inline constexpr uint64_t kMemoryBase = uint64_t{48} << 20;

struct MemoryWishes {
  uint64_t total = 0;
  size_t loops = 1;
  uint64_t max_body = 0;
  uint64_t max_decoded = 0;
  size_t directories = 1;      // of the archive
  uint64_t budget_queues = 0;  // 0: no budgets
  bool content_seen = false;
  bool near_seen = false;
  bool continuous = false;
};

struct MemoryPlan {
  static MemoryPlan Make(const MemoryWishes& wishes);

  // What the total and the other limits allow.
  size_t loops = 1;
  uint64_t max_body = 0;
  uint64_t max_decoded = 0;
  uint64_t max_html = 0;        // bytes of a page that are read as HTML or CSS
  uint64_t max_link_bytes = 0;  // of a page's links

  // Parts; the sum is at most the total.
  uint64_t seen = 0;
  uint64_t gate = 0;
  uint64_t frontier = 0;
  uint64_t snapshot = 0;     // copies of the frontier while a checkpoint is written
  uint64_t star = 0;         // 0 without budgets
  uint64_t beast = 0;        // likewise
  uint64_t content = 0;      // of content-seen; 0 without it
  uint64_t near = 0;         // of near-duplicates; 0 without them
  uint64_t fresh = 0;        // of the refresh schedule; 0 without it
  uint64_t tables = 0;       // of yields, hosts and contents
  uint64_t answers = 0;      // the byte budget: bodies, pages, records on their way
  uint64_t pages = 0;        // pages being parsed: one per loop
  uint64_t indexes = 0;      // of the archive's files while they are sorted
  uint64_t log = 0;          // lines that wait to be written
  uint64_t names = 0;        // the resolver's cache
  uint64_t sessions = 0;     // TLS sessions to resume
  uint64_t connections = 0;  // of libcurl, kept open
  uint64_t slack = 0;        // for malloc

  uint64_t Sum() const;
};

}  // namespace portolan
