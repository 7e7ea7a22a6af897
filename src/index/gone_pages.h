// Lines of the crawl log that say that a page is gone: 404 and 410, and permanent redirects (301, 308), whose target is
// a page of its own.
//
// Thread: pure. Memory: the line.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace portolan {

struct GonePage {
  std::string url;
  std::string fetched;  // TimeValue of the request that found it gone
};

// nullopt: the line says no such thing, or is not a line of a crawl log.
std::optional<GonePage> ParseGonePage(std::string_view line);

}  // namespace portolan
