// BlockList: names of hosts and domains from which nothing is fetched, read from files that others maintain.
//
// A line of such a file is one of
//   example.org            the domain, with everything below it; also *.example.org and .example.org
//   0.0.0.0 ads.example    of a hosts file: exactly these hosts; names without a dot (localhost) are left out
//   ||example.org^         of Adblock Plus: the domain, with everything below it
//   # …   ! …   […]        a comment; "# …" also stands behind the other lines
// Other filters of Adblock Plus (paths, options, exceptions, elements to hide) are counted and left out, because they
// are not about whole hosts. Any other line is an error with file and line: a list that has turned into garbage must
// not replace a good one.
//
// Names are stored as hashes, 8 bytes each. They are not keyed: only the operator decides what is in them, and a name
// that is chosen to collide is only blocked.
//
// Thread: const after Finish. Memory bound: Builder's max_names × 8 bytes, three times that for a moment while names
// are added, and the file that is read; more names are refused (kBusy).

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace portolan {

class BlockList {
 public:
  class Builder;

  // True if the host (as canonical URLs have it) is in the list, or below a domain of it.
  bool Has(std::string_view host) const;

  size_t size() const { return keys_.size(); }           // distinct names
  uint64_t skipped() const { return skipped_; }          // filters that are not about whole hosts
  uint64_t fingerprint() const { return fingerprint_; }  // of the names: equal lists have equal ones

  // The first line of `text` that blocks the host; nullopt: none does.
  static std::optional<uint32_t> LineThatBlocks(std::string_view text, std::string_view host);

 private:
  enum class Scope : uint8_t { kDomain, kHost };  // the seed of the hash
  struct Line {
    enum class Kind : uint8_t { kNothing, kNames, kSkipped, kBad } kind = Kind::kNothing;
    Scope scope = Scope::kDomain;
    std::vector<std::string_view> names;
  };

  static void Read(std::string_view text, Line& line);
  // The name as canonical URLs have it, in `room`; empty: it is not a name.
  static std::string_view Canonical(std::string_view name, std::string& room);
  static uint64_t KeyOf(std::string_view name, Scope scope);

  std::vector<uint64_t> keys_;  // sorted
  uint64_t skipped_ = 0;
  uint64_t fingerprint_ = 0;
};

class BlockList::Builder {
 public:
  static constexpr size_t kMaxFile = size_t{512} << 20;

  explicit Builder(uint64_t max_names) : max_names_(max_names) {}

  // Adds a file. kCorrupt: "ads.txt:17: …", also for a file without any line, since one that is being written looks
  // like that. kBusy: there is no memory for so many names.
  Status Add(std::string_view text, const std::string& path);
  std::shared_ptr<const BlockList> Finish();

 private:
  Status Compact(const std::string& path);  // removes duplicates

  const uint64_t max_names_;
  size_t compact_at_ = 1 << 16;
  std::shared_ptr<BlockList> list_ = std::make_shared<BlockList>();
};

}  // namespace portolan
