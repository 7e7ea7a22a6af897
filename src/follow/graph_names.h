// The names of a graph's nodes for people and for other programs, from the keys by which the dictionary sorts them
// (follow/node_key.h).
//
// Thread: functions without state.

#pragma once

#include <string>
#include <string_view>

#include "follow/graph_files.h"

namespace portolan {

// "https://www.example.org/a" for pages, "www.example.org" for hosts, "example.org" for domains.
std::string NodeNameOfKey(GraphLevel level, std::string_view key);

// "org.example.www": how Common Crawl names a host or a domain. Addresses are not reversed.
std::string ReversedNameOfKey(std::string_view key);

// A name for a line of text with fields: bytes that would break the line (below 0x20, 0x7f) become %XX.
void AppendLineSafe(std::string_view name, std::string& out);

}  // namespace portolan
