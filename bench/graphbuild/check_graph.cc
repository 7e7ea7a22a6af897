#include "bench/graphbuild/check_graph.h"

#include <algorithm>
#include <vector>

#include "follow/link_texts.h"
#include "follow/node_key.h"
#include "follow/pair_sort.h"

namespace portolan::bench {
namespace {

// Hashes of the URLs of all pages, and the host of each.
struct Names {
  std::vector<uint64_t> urls;
  std::vector<uint32_t> hosts;
};

Result<Names> ReadNames(const GraphFiles& files) {
  ASSIGN_OR_RETURN(const graph::UrlDictionary pages, files.Names(GraphLevel::kPages));
  ASSIGN_OR_RETURN(const graph::UrlDictionary hosts, files.Names(GraphLevel::kHosts));
  Names names;
  std::string url;
  graph::UrlDictionary::Scan scan(pages);
  graph::UrlDictionary::Scan host(hosts);
  while (scan.Next()) {
    UrlOfNodeKey(scan.key(), url);
    names.urls.push_back(Hash64(url));
    const std::string_view own = HostOfNodeKey(scan.key());
    if ((names.hosts.empty() || own != host.key()) && (!host.Next() || own != host.key())) {
      return Fail(ErrorCode::kCorrupt, "the hosts are not those of the pages");
    }
    names.hosts.push_back(static_cast<uint32_t>(host.number()));
  }
  RETURN_IF_ERROR(scan.status());
  if (names.urls.size() != pages.size() || host.Next()) return Fail(ErrorCode::kCorrupt, "names are missing");
  return names;
}

uint64_t PairHash(uint64_t source, uint64_t target) { return Mix64(source ^ Mix64(target + 1)); }

}  // namespace

Result<LinkSums> SumsOf(const GraphFiles& files, GraphCounts& counts) {
  RETURN_IF_ERROR(files.Verify());
  ASSIGN_OR_RETURN(const Names names, ReadNames(files));
  const uint64_t pages = names.urls.size();
  LinkSums sums;
  ASSIGN_OR_RETURN(const std::string_view fetched, files.Bytes("pages.fetched"));
  for (uint64_t page = 0; page < pages; ++page) {
    if ((static_cast<uint8_t>(fetched[page / 8]) >> page % 8 & 1) != 0) sums.AddFetched(names.urls[page]);
  }

  // Links between hosts, collected per host and compared with the host graph's next list.
  ASSIGN_OR_RETURN(graph::GraphScan hosts, files.Scan(GraphLevel::kHosts, GraphDirection::kForward));
  uint64_t host = 0;
  std::vector<graph::NodeId> targets;
  const auto close_host = [&]() -> Status {
    std::ranges::sort(targets);
    targets.erase(std::ranges::unique(targets).begin(), targets.end());
    if (!hosts.Next() || !std::ranges::equal(hosts.successors(), targets)) {
      return Fail(ErrorCode::kCorrupt, "the host graph is not that of the pages");
    }
    counts.host_links += targets.size();
    targets.clear();
    ++host;
    return {};
  };
  uint64_t forward_sum = 0;
  ASSIGN_OR_RETURN(graph::GraphScan scan, files.Scan(GraphLevel::kPages, GraphDirection::kForward));
  while (scan.Next()) {
    const uint64_t page = scan.node();
    while (host < names.hosts[page]) RETURN_IF_ERROR(close_host());
    for (const graph::NodeId target : scan.successors()) {
      sums.AddLink(names.urls[page], names.urls[target]);
      forward_sum += PairHash(page, target);
      const uint32_t to = names.hosts[target];
      if (to != host && (targets.empty() || targets.back() != to)) targets.push_back(to);
    }
  }
  RETURN_IF_ERROR(scan.status());
  RETURN_IF_ERROR(close_host());

  uint64_t links = 0;
  uint64_t turned_sum = 0;
  ASSIGN_OR_RETURN(graph::GraphScan turned, files.Scan(GraphLevel::kPages, GraphDirection::kTransposed));
  while (turned.Next()) {
    links += turned.successors().size();
    for (const graph::NodeId source : turned.successors()) turned_sum += PairHash(source, turned.node());
  }
  RETURN_IF_ERROR(turned.status());
  if (links != sums.links || turned_sum != forward_sum) {
    return Fail(ErrorCode::kCorrupt, "the transpose has other links than the graph");
  }

  ASSIGN_OR_RETURN(const std::string_view bytes, files.Bytes("pages.texts"));
  ASSIGN_OR_RETURN(LinkTexts texts, LinkTexts::Open(bytes));
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, texts.Next());
    if (!more) break;
    sums.AddText(names.urls[texts.pair() >> 32], names.urls[texts.pair() & 0xffffffff], texts.text());
  }

  counts.pages = pages;
  counts.hosts = host;
  for (const auto& file : files.current().files) counts.bytes += file.size;
  for (const auto& [direction, bits] : {std::pair{GraphDirection::kForward, &counts.bits_per_link},
                                        {GraphDirection::kTransposed, &counts.transpose_bits_per_link}}) {
    ASSIGN_OR_RETURN(const std::string_view graph,
                     files.Bytes(GraphBaseName(GraphLevel::kPages, direction) + ".graph"));
    *bits = static_cast<double>(graph.size() * 8) / static_cast<double>(sums.links);
  }
  return sums;
}

}  // namespace portolan::bench
