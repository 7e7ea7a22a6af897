#include "follow/dup_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "content/near_batch.h"
#include "content/near_pairs.h"

namespace portolan {
namespace {

constexpr size_t kGroupSize = 8;  // bytes of the value in the file: the first hash of the group
constexpr size_t kReadAhead = size_t{1} << 20;
constexpr uint64_t kFew = 8;  // new hashes are few if there are so many times as many old ones

// The rows' first numbers, each once.
class Distinct {
 public:
  explicit Distinct(RowSortOf<3>& rows) : rows_(rows) {}
  Result<bool> Next(uint64_t& hash) {
    for (RowSortOf<3>::Row row;;) {
      ASSIGN_OR_RETURN(const bool more, rows_.Next(row));
      if (!more) return false;
      if (any_ && row[0] == last_) continue;
      any_ = true;
      hash = last_ = row[0];
      return true;
    }
  }

 private:
  RowSortOf<3>& rows_;
  uint64_t last_ = 0;
  bool any_ = false;
};

Status Skip(ZReader& kept) {
  kept.Pop();
  return kept.empty_block() ? kept.NextBlock() : Status();
}

// Which of the new hashes are known to be in one group.
class Unions {
 public:
  explicit Unions(size_t count) : parents_(count) { std::iota(parents_.begin(), parents_.end(), 0U); }
  bool Unite(uint32_t a, uint32_t b) {
    a = Root(a);
    b = Root(b);
    parents_[std::max(a, b)] = std::min(a, b);
    return a != b;
  }

 private:
  uint32_t Root(uint32_t at) {
    for (; parents_[at] != at; at = parents_[at]) parents_[at] = parents_[parents_[at]];
    return at;
  }
  std::vector<uint32_t> parents_;
};

}  // namespace

DupGroups::DupGroups(Env& env, const DupPages& pages, const Options& options)
    : env_(env), pages_(pages), options_(options) {}

std::string DupGroups::path() const { return JoinPath(pages_.dir(), fmt::format("near-{}.z", options_.bits)); }

uint64_t DupGroups::KeptLength() const {
  if (!env_.Exists(path())) return 0;
  const auto file = env_.Open(path(), OpenMode::kRead);
  return file ? (*file)->Size() : 0;
}

Result<ZReader> DupGroups::OpenKept(uint64_t length) const {
  return ZReader::Open(env_, path(), length, kGroupSize, kReadAhead);
}

Result<std::optional<uint64_t>> DupGroups::CountNew(RowSortOf<3>& rows, uint64_t length, uint64_t& distinct) {
  ASSIGN_OR_RETURN(ZReader kept, OpenKept(length));
  RETURN_IF_ERROR(rows.Rewind());
  Distinct hashes(rows);
  uint64_t added = 0;
  distinct = 0;
  for (uint64_t hash = 0;; ++distinct) {
    ASSIGN_OR_RETURN(const bool more, hashes.Next(hash));
    if (!more) break;
    if (!kept.done() && kept.key() < hash) return std::nullopt;
    if (kept.done() || kept.key() != hash) {
      ++added;
    } else {
      RETURN_IF_ERROR(Skip(kept));
    }
  }
  if (!kept.done()) return std::nullopt;
  return added;
}

Status DupGroups::Find(RowSortOf<3>& rows) {
  const uint64_t length = KeptLength();
  uint64_t distinct = 0;
  std::optional<uint64_t> added;
  if (length > 0) {
    // A file that is broken is as good as none: it can be made again.
    if (const auto counted = CountNew(rows, length, distinct); counted) {
      added = *counted;
    } else if (counted.error().code() != ErrorCode::kCorrupt) {
      return std::unexpected(counted.error());
    }
  }
  const bool few = added && options_.bits <= NearBatch::kMostBits && kFew * *added <= distinct &&
                   NearBatch::BytesFor(*added, options_.bits) + *added * 12 <= options_.memory / 2;
  how_ = added == 0 ? How::kKept : few ? How::kAdded : How::kAnew;
  if (how_ != How::kKept) {
    NearGroups groups(env_, {.dir = pages_.dir(), .memory = options_.memory / 2});
    RETURN_IF_ERROR(how_ == How::kAdded ? AddNew(rows, length, groups) : FindAll(rows, groups));
    RETURN_IF_ERROR(groups.Merge());
    RETURN_IF_ERROR(Write(rows, groups));
  }
  ASSIGN_OR_RETURN(reader_, OpenKept(KeptLength()));
  // What may lack pairs is not used again.
  return parts_ > 0 ? env_.Remove(path()) : Status();
}

Status DupGroups::FindAll(RowSortOf<3>& rows, NearGroups& groups) {
  NearPairs pairs(env_, {.dir = pages_.dir(),
                         .memory = std::max(options_.memory / 2, NearPairs::kMinMemory),
                         .bits = options_.bits,
                         .forest = true});
  RETURN_IF_ERROR(rows.Rewind());
  Distinct hashes(rows);
  for (uint64_t hash = 0;;) {
    ASSIGN_OR_RETURN(const bool more, hashes.Next(hash));
    if (!more) break;
    RETURN_IF_ERROR(pairs.Add(hash));
  }
  RETURN_IF_ERROR(pairs.Find([&](uint64_t a, uint64_t b) { return groups.Add(a, b); }));
  parts_ = pairs.parts();
  return {};
}

Status DupGroups::AddNew(RowSortOf<3>& rows, uint64_t length, NearGroups& groups) {
  std::vector<uint64_t> added;
  {
    ASSIGN_OR_RETURN(ZReader kept, OpenKept(length));
    RETURN_IF_ERROR(rows.Rewind());
    Distinct hashes(rows);
    for (uint64_t hash = 0;;) {
      ASSIGN_OR_RETURN(const bool more, hashes.Next(hash));
      if (!more) break;
      if (kept.done() || kept.key() != hash) {
        added.push_back(hash);
        continue;
      }
      RETURN_IF_ERROR(groups.Add(hash, LoadLe<uint64_t>(kept.value().data())));
      RETURN_IF_ERROR(Skip(kept));
    }
  }
  NearBatch batch(added, options_.bits);
  Unions unions(added.size());
  RETURN_IF_ERROR(rows.Rewind());
  Distinct hashes(rows);
  for (uint64_t hash = 0;;) {
    ASSIGN_OR_RETURN(const bool more, hashes.Next(hash));
    if (!more) return {};
    // One pair per hash, and what joins new hashes that were not joined: enough for the groups, and never many.
    const std::vector<uint32_t>& near = batch.Near(hash);
    for (size_t i = 0; i < near.size(); ++i) {
      if (i == 0) RETURN_IF_ERROR(groups.Add(hash, added[near[0]]));
      if (i > 0 && unions.Unite(near[0], near[i])) RETURN_IF_ERROR(groups.Add(added[near[0]], added[near[i]]));
    }
  }
}

Status DupGroups::Write(RowSortOf<3>& rows, NearGroups& groups) {
  const std::string beside = path() + ".tmp";
  ASSIGN_OR_RETURN(ZWriter file, ZWriter::Create(env_, beside, kGroupSize));
  RETURN_IF_ERROR(rows.Rewind());
  Distinct hashes(rows);
  NearGroups::Member group;
  ASSIGN_OR_RETURN(bool more_groups, groups.Next(group));
  std::string value;
  for (uint64_t hash = 0;;) {
    ASSIGN_OR_RETURN(const bool more, hashes.Next(hash));
    if (!more) break;
    while (more_groups && group.number < hash) {
      ASSIGN_OR_RETURN(more_groups, groups.Next(group));
    }
    value.clear();
    AppendLe(value, more_groups && group.number == hash ? group.first : hash);
    file.Push(hash, value);
    if (file.full()) RETURN_IF_ERROR(file.WriteBlock());
  }
  RETURN_IF_ERROR(file.Finish(/*sync=*/true));
  RETURN_IF_ERROR(env_.Rename(beside, path()));
  return SyncDirOnce(env_, pages_.dir());
}

Result<bool> DupGroups::Next(NearGroups::Member& member) {
  if (reader_->done()) return false;
  member = {.number = reader_->key(), .first = LoadLe<uint64_t>(reader_->value().data())};
  RETURN_IF_ERROR(Skip(*reader_));
  return true;
}

}  // namespace portolan
