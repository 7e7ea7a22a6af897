// The names of a graph's hosts or domains in byte order of their reversed form ("org.example.www"), which is how Common
// Crawl numbers them.
//
// It is nearly the order of the dictionary, where ',' stands between labels: only '-' is between the two bytes, so
// "org.example-a" is before "org.example.www" here and behind it there. Batches of names are sorted in memory and
// merged.
//
// Thread: one caller. Memory bound: `memory` for a batch, then for the buffers of the runs (at least 4 KiB each); 4
// bytes per name that are returned. Disk: the names in a nameless file in `dir`, if they are more than a batch.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/url_dictionary.h"
#include "io/env.h"

namespace portolan {

// Calls `each` for all names in that order, with their numbers in the dictionary. Gives the place of each number.
Result<std::vector<uint32_t>> OrderReversedNames(
    Env& env, const std::string& dir, const graph::UrlDictionary& names, size_t memory,
    const std::function<Status(std::string_view name, uint64_t number)>& each);

}  // namespace portolan
