#include "bench/graphbuild/memory_build.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "flow/output_records.h"
#include "follow/node_key.h"
#include "follow/pair_sort.h"
#include "graph/graph_writer.h"
#include "io/clock.h"

namespace portolan::bench {
namespace {

Result<uint64_t> CompressPairs(const std::vector<uint64_t>& pairs, uint64_t nodes) {
  graph::GraphWriter writer({});
  std::vector<graph::NodeId> list;
  uint64_t bytes = 0;
  for (size_t i = 0; writer.nodes() < nodes;) {
    list.clear();
    for (; i < pairs.size() && pairs[i] >> 32 == writer.nodes(); ++i) list.push_back(static_cast<uint32_t>(pairs[i]));
    RETURN_IF_ERROR(writer.Append(list));
    if (writer.nodes() % 4096 == 0) bytes += writer.TakeGraph().size();
  }
  ASSIGN_OR_RETURN(const auto end, writer.Finish());
  return bytes + end.graph.size();
}

}  // namespace

Result<MemoryBuild> BuildInMemory(Env& env, const OutputSource& links) {
  MemoryBuild built;
  const int64_t begin = Clock::Real().NowNs();
  ASSIGN_OR_RETURN(const auto committed, ReadCommitted(env, links));
  ASSIGN_OR_RETURN(OutputReader reader, OutputReader::Open(env, links, committed->lanes.at(0)));
  std::unordered_map<std::string, uint32_t> numbers;
  std::vector<uint64_t> pairs;
  std::string key;
  const auto number = [&](std::string_view url) {
    key.clear();
    AppendNodeKey(url, key);
    return numbers.try_emplace(key, static_cast<uint32_t>(numbers.size())).first->second;
  };
  uint64_t source = 0;
  for (bool more = true; more;) {
    ASSIGN_OR_RETURN(more, reader.Next([&](std::string_view record, uint32_t tag) -> Status {
      const auto parsed = ParseLinkRecord(record, static_cast<uint8_t>(tag));
      if (!parsed) return Fail(ErrorCode::kCorrupt, "a record is not a link");
      if (parsed->is_page()) {
        source = number(parsed->url);
      } else {
        pairs.push_back(MakePair(source, number(parsed->url)));
      }
      return {};
    }));
  }
  std::vector<const std::pair<const std::string, uint32_t>*> order;
  for (const auto& entry : numbers) order.push_back(&entry);
  std::ranges::sort(order, {}, [](const auto* entry) -> const std::string& { return entry->first; });
  std::vector<uint32_t> ranks(order.size());
  for (uint32_t rank = 0; rank < order.size(); ++rank) ranks[order[rank]->second] = rank;
  const auto sort = [&pairs] {
    std::ranges::sort(pairs);
    pairs.erase(std::ranges::unique(pairs).begin(), pairs.end());
  };
  for (uint64_t& pair : pairs) pair = MakePair(ranks[pair >> 32], ranks[pair & 0xffffffff]);
  sort();
  built.pages = order.size();
  built.links = pairs.size();
  ASSIGN_OR_RETURN(built.graph_bytes, CompressPairs(pairs, built.pages));
  std::vector<uint64_t> turned(pairs.size());
  std::ranges::transform(pairs, turned.begin(), [](uint64_t pair) { return MakePair(pair & 0xffffffff, pair >> 32); });
  pairs.swap(turned);
  sort();
  ASSIGN_OR_RETURN(const uint64_t bytes, CompressPairs(pairs, built.pages));
  built.graph_bytes += bytes;
  built.seconds = static_cast<double>(Clock::Real().NowNs() - begin) / 1e9;

  LinkSums sums;
  std::vector<uint64_t> hashes;
  std::string url;
  for (const auto* entry : order) {
    UrlOfNodeKey(entry->first, url);
    hashes.push_back(Hash64(url));
  }
  for (const uint64_t pair : pairs) sums.AddLink(hashes[pair & 0xffffffff], hashes[pair >> 32]);
  built.link_sum = sums.link_sum;
  return built;
}

}  // namespace portolan::bench
