// Looking at a search index: is it intact, and what is in it.
//
// The check reads every block of every database (Xapian's own check of its B-trees), and then every document: its data
// must be ours, its id term must be that of its URL, it must be in the part of its host. A deep check also reads the
// places of all words, one by one: some 10 ms per document. Xapian's blocks have no
// checksums: a flipped bit within a stored text that leaves the structure whole is not found. An index is made from the
// logs, whose blocks have checksums, and can be made again.
//
// Thread: one caller. The statistics may be read beside a build, the check may not. Memory: Xapian's caches; a
// document. No exception of Xapian's leaves it.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "index/index_part.h"
#include "io/env.h"

namespace portolan {

using IndexProgress = std::function<void(std::string_view step, uint64_t done)>;

struct IndexContents {
  uint64_t documents = 0;
  // A sum over the documents of all that they hold (data, values, terms with their frequencies; if it is deep also
  // places): equal for indexes with equal documents, in any order and any number of parts.
  uint64_t sum = 0;
};

// kCorrupt: the first database that is damaged is named, with what Xapian found. kBusy: a build is at work.
Result<IndexContents> CheckIndex(Env& env, const std::string& index_dir, bool deep, const IndexProgress& progress = {});

// The sum of one document.
uint64_t SumOfDocument(const Xapian::Document& document, bool deep);

struct IndexPartStats {
  std::string path;
  std::string shard;  // empty: of a crawl in one directory
  uint64_t documents = 0;
  uint64_t terms = 0;      // different ones
  double mean_length = 0;  // terms per document, with repetitions
  uint64_t bytes = 0;      // of its files
  IndexState state;
  std::map<std::string, uint64_t> languages;  // with their documents
};

struct IndexStats {
  uint64_t generation = 0;
  uint64_t building = 0;
  std::vector<IndexPartStats> parts;
  std::vector<std::pair<std::string, uint64_t>> languages;  // with their documents, the largest first

  uint64_t documents() const;
  uint64_t bytes() const;
};

// `most` languages are listed. The error names the database that cannot be read.
Result<IndexStats> ReadIndexStats(Env& env, const std::string& index_dir, size_t most);

}  // namespace portolan
