// The rival: plain Xapian, as one would write it. Documents with the same terms, values and data are made by
// TermGenerator out of records and texts of links that are in memory, and added to one database. No log is read, no
// link is looked up, no URL is looked for, nothing is resumed.
//
// Memory: it commits when the writer holds as much as ours may.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "index/schema.h"

namespace portolan::bench {

// A page, ready for indexing.
struct PreparedPage {
  std::string url;
  std::string title;
  std::string headings;  // their lines without levels
  std::string body;
  std::string url_words;
  std::string stemmer;
  std::vector<std::pair<std::string, uint32_t>> anchors;  // with their weights
  std::vector<std::string> boolean_terms;
  std::vector<std::pair<uint32_t, std::string>> values;
  std::string data;
};

// Documents per commit: what the memory of ours comes to.
Status IndexWithPlainXapian(const std::vector<PreparedPage>& pages, const std::string& path, uint64_t per_commit);

}  // namespace portolan::bench
