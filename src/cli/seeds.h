// Seeds: the URLs where a crawl begins, given on the command line, in a file or on standard input.
//
// An invalid URL on the command line is an error. A file may come from elsewhere and have ten million lines, so there
// an invalid line is reported and left out; `strict` makes it an error. The file is read as a stream, so pipes work,
// too.
//
// Thread: one. Memory bound: the URLs of the arguments, a piece of the file and its longest line, to kMaxSeedLine.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "crawl/config.h"

namespace portolan {

struct SeedSource {
  std::vector<std::string> urls = {};
  std::string file = {};  // one URL per line, '#' begins a comment; "-": standard input; empty: none
  bool strict = false;
};
inline constexpr size_t kMaxSeedLine = size_t{1} << 20;  // bytes; the rest of a longer line is ignored

class SeedReader {
 public:
  static Result<std::unique_ptr<SeedReader>> Open(const SeedSource& source, const Config& config);

  // The next seed, canonical; nullopt: there are no more. kInvalidArgument: an argument is wrong; kCorrupt: the file
  // is.
  Result<std::optional<std::string>> Next();

  // Where they come from, for messages: "the command line", "list.txt".
  std::string name() const;

 private:
  SeedReader(SeedSource source, const Config& config) : source_(std::move(source)), config_(config) {}
  Status OpenFile();
  // The next line of the file, into line_; false at its end.
  Result<bool> NextLine();
  Status EndOfFile();

  const SeedSource source_;
  const Config config_;
  size_t next_url_ = 0;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, nullptr};
  std::string file_name_;
  std::string piece_;
  size_t at_ = 0;  // in piece_
  std::string line_;
  uint64_t line_number_ = 0;
  uint64_t good_ = 0;      // lines of the file
  uint64_t left_out_ = 0;  // likewise
};

// The seeds that a crawl is given, before it has a place to keep them.
struct GivenSeeds {
  // All of them, canonical, sorted, each once; or, if there are more than kSeedsInSettings, the first ones.
  std::vector<std::string> first;
  std::shared_ptr<SeedReader> more;  // null: there are no more
  std::string from;                  // SeedReader::name
};
Result<GivenSeeds> ReadSeeds(const SeedSource& source, const Config& config);

}  // namespace portolan
