// Rendering: the HTML of a place, from its link plan and the text pools.
//
// Pure: the same place, version and world give the same bytes. Fast: everything but links is copied from pools, so a
// page of 25 KB costs some microseconds.

#pragma once

#include <string>

#include "sim/world/web.h"

namespace portolan::sim {

struct PageLook {
  uint32_t served = 0;   // the host that shows it
  uint32_t content = 0;  // and the one that it is from
  uint64_t page = 0;     // whose links and text these are; of a duplicate: the source
  uint64_t version = 0;
  int64_t unix_ns = 0;       // which pages are born
  uint64_t boilerplate = 0;  // not 0: a version of what stands around the text
  uint64_t twist = 0;        // near duplicates: not 0, changes a few words
  bool noindex = false;
  bool nofollow = false;
};

void RenderPage(const Web& web, const PageLook& look, std::string& out);
void RenderTrap(const Web& web, uint32_t served, PlaceClass trap, uint64_t state, std::string& out);
void RenderMaze(const Web& web, uint32_t served, uint64_t state, std::string& out);  // not of redirects
void RenderSpam(const Web& web, HostId host, uint64_t page, std::string& out);
// Words and no links: errors, and the soft 404 that says so with status 200.
void RenderNotice(std::string_view title, std::string& out);

}  // namespace portolan::sim
