#include "follow/name_order.h"

#include <algorithm>
#include <optional>

#include "follow/graph_names.h"
#include "follow/replace_heap.h"
#include "follow/spool_file.h"

namespace portolan {
namespace {

struct NumberedName {
  std::string name;
  uint32_t number;
  bool operator<(const NumberedName& other) const { return name < other.name; }
};

// A sorted batch in the file.
class NameRun {
 public:
  NameRun(File& file, const SpoolPart& part, size_t buffer) : reader_(file, part, buffer) {}

  // False: there are no more.
  Result<bool> Next(NumberedName& next) {
    if (reader_.done()) return false;
    uint64_t size = 0;
    uint64_t number = 0;
    RETURN_IF_ERROR(reader_.Need(2 * kMaxVarint));
    if (!reader_.TakeVarint(number) || !reader_.TakeVarint(size) || size > graph::kMaxUrlKey)
      return SpoolBroken("name");
    RETURN_IF_ERROR(reader_.Need(size));
    if (reader_.view().size() < size) return SpoolBroken("name");
    next.name = reader_.view().substr(0, size);
    next.number = static_cast<uint32_t>(number);
    reader_.Skip(size);
    return true;
  }

 private:
  SpoolReader reader_;
};

Result<SpoolPart> WriteBatch(const std::vector<NumberedName>& batch, SpoolFile& spool) {
  SpoolPart part{.begin = spool.size()};
  for (const NumberedName& name : batch) {
    AppendVarint(spool.buffer(), name.number);
    AppendString(spool.buffer(), name.name);
    RETURN_IF_ERROR(spool.FlushFull());
  }
  RETURN_IF_ERROR(spool.Flush());
  part.end = spool.size();
  return part;
}

struct NameHead {
  NumberedName name;
  uint32_t run;
};
struct NameBefore {
  bool operator()(const NameHead& a, const NameHead& b) const { return a.name < b.name; }
};

}  // namespace

Result<std::vector<uint32_t>> OrderReversedNames(
    Env& env, const std::string& dir, const graph::UrlDictionary& names, size_t memory,
    const std::function<Status(std::string_view name, uint64_t number)>& each) {
  std::vector<NumberedName> batch;
  std::optional<SpoolFile> spool;
  std::vector<SpoolPart> parts;
  size_t used = 0;
  graph::UrlDictionary::Scan scan(names);
  while (scan.Next()) {
    batch.push_back({ReversedNameOfKey(scan.key()), static_cast<uint32_t>(scan.number())});
    used += 2 * sizeof(NumberedName) + batch.back().name.capacity();  // twice: the vector may have room to grow
    if (used < memory) continue;
    if (!spool) {
      ASSIGN_OR_RETURN(spool, SpoolFile::Make(env, dir, "names"));
    }
    std::ranges::sort(batch, {}, &NumberedName::name);
    ASSIGN_OR_RETURN(const SpoolPart part, WriteBatch(batch, *spool));
    parts.push_back(part);
    batch.clear();
    used = 0;
  }
  RETURN_IF_ERROR(scan.status());
  std::ranges::sort(batch, {}, &NumberedName::name);

  std::vector<uint32_t> places(names.size());
  uint32_t place = 0;
  if (!spool) {
    for (const NumberedName& name : batch) {
      places[name.number] = place++;
      RETURN_IF_ERROR(each(name.name, name.number));
    }
    return places;
  }
  ASSIGN_OR_RETURN(const SpoolPart last, WriteBatch(batch, *spool));
  parts.push_back(last);
  std::vector<NumberedName>().swap(batch);
  std::vector<NameRun> runs;
  ReplaceHeap<NameHead, NameBefore> heads;
  for (uint32_t i = 0; i < parts.size(); ++i) {
    runs.emplace_back(spool->file(), parts[i], std::min<size_t>(memory / parts.size(), size_t{1} << 20));
    NameHead head{.name = {}, .run = i};
    ASSIGN_OR_RETURN(const bool more, runs[i].Next(head.name));
    if (more) heads.Push(std::move(head));
  }
  while (!heads.empty()) {
    NameHead head = heads.top();
    places[head.name.number] = place++;
    RETURN_IF_ERROR(each(head.name.name, head.name.number));
    ASSIGN_OR_RETURN(const bool more, runs[head.run].Next(head.name));
    if (more) {
      heads.ReplaceTop(std::move(head));
    } else {
      heads.Pop();
    }
  }
  return places;
}

}  // namespace portolan
