#include "follow/dup_clusters.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "content/near_groups.h"
#include "content/near_pairs.h"
#include "disk/row_sort.h"
#include "follow/dup_groups.h"
#include "outputs/line_sort.h"

namespace portolan {
namespace {

constexpr std::string_view kList = "list.tmp";
constexpr std::string_view kSortedList = "list-sorted.tmp";

class Lister {
 public:
  Lister(Env& env, const DupPages& pages, const DupOptions& options)
      : env_(env),
        pages_(pages),
        options_(options),
        hashed_(env, Share(4)),
        grouped_(env, Share(4)),
        wanted_(env, Share(8)),
        ranks_(env, Share(8)),
        members_(env, Share(8)) {}

  Result<DupSummary> List(const DupVisitor& each) {
    RETURN_IF_ERROR(ReadPages());
    RETURN_IF_ERROR(Group());
    RETURN_IF_ERROR(Choose());
    RETURN_IF_ERROR(TakeMembers());
    RETURN_IF_ERROR(WriteLines());
    RETURN_IF_ERROR(ReadLines(each));
    return summary_;
  }

 private:
  RowSortOptions Share(size_t part) const { return {.dir = pages_.dir(), .memory = options_.memory / part}; }
  void Tell(std::string_view step, uint64_t done) const {
    if (options_.progress) options_.progress(step, done);
  }

  // Pages by hash.
  Status ReadPages() {
    const auto add = [&](uint64_t number, const DupPage& page) -> Status {
      ++summary_.pages;
      summary_.with_text += page.similarity != 0 ? 1 : 0;
      const uint64_t hash = options_.exact ? page.fingerprint : page.similarity;
      if (!options_.url.empty() && page.url == options_.url) {
        summary_.url_found = true;
        if (hash != 0) asked_ = hash;
      }
      return hash == 0 ? Status() : hashed_.Add({hash, number, page.fingerprint});
    };
    RETURN_IF_ERROR(pages_.ForEach(add));
    summary_.url_hashed = asked_.has_value();
    return hashed_.Sort();
  }

  // Pages by group.
  Status Group() {
    DupGroups groups(env_, pages_, {.bits = options_.bits, .memory = options_.memory / 2});
    if (!options_.exact) {
      Tell("pages are compared", hashed_.size());
      RETURN_IF_ERROR(groups.Find(hashed_));
      RETURN_IF_ERROR(hashed_.Rewind());
      summary_.parts = groups.parts();
    }
    NearGroups::Member group;
    bool more_groups = !options_.exact;
    if (more_groups) {
      ASSIGN_OR_RETURN(more_groups, groups.Next(group));
    }
    for (RowSortOf<3>::Row row;;) {
      ASSIGN_OR_RETURN(const bool more, hashed_.Next(row));
      if (!more) break;
      while (more_groups && group.number < row[0]) {
        ASSIGN_OR_RETURN(more_groups, groups.Next(group));
      }
      const uint64_t first = more_groups && group.number == row[0] ? group.first : row[0];
      if (asked_ && *asked_ == row[0]) asked_group_ = first;
      RETURN_IF_ERROR(grouped_.Add({first, row[1], row[0], row[2]}));
    }
    return grouped_.Sort();
  }

  // The groups that are wanted, with their rank.
  Status Choose() {
    uint64_t group = 0;
    uint64_t first = 0;
    uint64_t size = 0;
    const auto end = [&]() -> Status {
      if (size < std::max<uint64_t>(options_.min_size, 2)) return {};
      ++summary_.clusters;
      summary_.clustered += size;
      if (!options_.url.empty() && group != asked_group_) return {};
      return wanted_.Add({~size, first, group});
    };
    for (RowSortOf<4>::Row row;;) {
      ASSIGN_OR_RETURN(const bool more, grouped_.Next(row));
      if (!more) break;
      if (size == 0 || row[0] != group) {
        RETURN_IF_ERROR(end());
        group = row[0];
        first = row[1];
        size = 0;
      }
      ++size;
    }
    RETURN_IF_ERROR(end());
    RETURN_IF_ERROR(wanted_.Sort());
    RowSortOf<3>::Row row;
    for (uint64_t rank = 0; options_.limit == 0 || rank < options_.limit; ++rank) {
      ASSIGN_OR_RETURN(const bool more, wanted_.Next(row));
      if (!more) break;
      RETURN_IF_ERROR(ranks_.Add({row[2], rank, ~row[0]}));
    }
    RETURN_IF_ERROR(ranks_.Sort());
    return grouped_.Rewind();
  }

  // Their pages, by number.
  Status TakeMembers() {
    RowSortOf<3>::Row rank;
    ASSIGN_OR_RETURN(bool more_ranks, ranks_.Next(rank));
    uint64_t place = 0;
    uint64_t first_hash = 0;
    uint64_t first_bytes = 0;
    for (RowSortOf<4>::Row row; more_ranks;) {
      ASSIGN_OR_RETURN(const bool more, grouped_.Next(row));
      if (!more) break;
      if (row[0] > rank[0]) {
        ASSIGN_OR_RETURN(more_ranks, ranks_.Next(rank));
        if (!more_ranks) break;
        place = 0;
      }
      if (row[0] != rank[0]) continue;
      if (place == 0) {
        first_hash = row[2];
        first_bytes = row[3];
      }
      if (options_.members == 0 || place < options_.members) {
        const auto bits = static_cast<uint64_t>(options_.exact ? 0 : BitsApart(row[2], first_hash));
        const uint64_t same = row[3] != 0 && row[3] == first_bytes ? 1 : 0;
        RETURN_IF_ERROR(members_.Add({row[1], rank[1], rank[2], place << 8 | bits << 1 | same}));
      }
      ++place;
    }
    return members_.Sort();
  }

  Status WriteLines() {
    const std::string path = JoinPath(pages_.dir(), kList);
    ASSIGN_OR_RETURN(const auto file, env_.Open(path, OpenMode::kCreate));
    std::string text;
    RowSortOf<4>::Row row;
    ASSIGN_OR_RETURN(bool more, members_.Next(row));
    const auto add = [&](uint64_t number, const DupPage& page) -> Status {
      if (!more || number != row[0]) return {};
      // What comes first orders the lines.
      text += fmt::format("{:016x}{:016x}{:016x}{}\n", row[1], row[3], row[2], page.url);
      ASSIGN_OR_RETURN(more, members_.Next(row));
      if (text.size() < size_t{1} << 20) return {};
      const Status written = file->Append(text);
      text.clear();
      return written;
    };
    if (more) RETURN_IF_ERROR(pages_.ForEach(add));
    RETURN_IF_ERROR(file->Append(text));
    return SortLines(env_, path, file->Size(), JoinPath(pages_.dir(), kSortedList), options_.memory / 4);
  }

  Status ReadLines(const DupVisitor& each) {
    const std::string path = JoinPath(pages_.dir(), kSortedList);
    ASSIGN_OR_RETURN(const auto file, env_.Open(path, OpenMode::kRead));
    std::string text;
    std::string piece(size_t{1} << 18, '\0');
    for (uint64_t at = 0; at < file->Size();) {
      const size_t count = std::min<uint64_t>(piece.size(), file->Size() - at);
      RETURN_IF_ERROR(ReadExactly(*file, at, piece.data(), count));
      at += count;
      text.append(piece.data(), count);
      size_t begin = 0;
      for (size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
        RETURN_IF_ERROR(Give(std::string_view(text).substr(begin, end - begin), each));
      }
      text.erase(0, begin);
    }
    RETURN_IF_ERROR(env_.Remove(path));
    return env_.Remove(JoinPath(pages_.dir(), kList));
  }

  // Of a line that WriteLines has just written.
  static Status Give(std::string_view line, const DupVisitor& each) {
    constexpr size_t kNumber = 16;
    const auto number = [&line](size_t index) {
      uint64_t value = 0;
      for (const char c : line.substr(index * kNumber, kNumber)) {
        value = value << 4 | static_cast<uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
      }
      return value;
    };
    if (line.size() < 3 * kNumber) return Fail(ErrorCode::kCorrupt, "a line of the list of duplicates is too short");
    const uint64_t packed = number(1);
    return each({.cluster = number(0),
                 .size = number(2),
                 .place = packed >> 8,
                 .bits = static_cast<int>(packed >> 1 & 0x7f),
                 .same_bytes = (packed & 1) != 0,
                 .url = line.substr(3 * kNumber)});
  }

  Env& env_;
  const DupPages& pages_;
  const DupOptions& options_;
  DupSummary summary_;
  std::optional<uint64_t> asked_;        // the hash of the URL that was asked for
  std::optional<uint64_t> asked_group_;  // and its group
  RowSortOf<3> hashed_;                  // hash, number, fingerprint
  RowSortOf<4> grouped_;                 // group, number, hash, fingerprint
  RowSortOf<3> wanted_;                  // ~size, first number, group
  RowSortOf<3> ranks_;                   // group, rank, size
  RowSortOf<4> members_;                 // number, rank, size, place and bits
};

}  // namespace

Result<DupSummary> ListDups(Env& env, const DupPages& pages, const DupOptions& options, const DupVisitor& each) {
  return Lister(env, pages, options).List(each);
}

}  // namespace portolan
