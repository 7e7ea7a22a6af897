#include "bench/phases/phase_study.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "crawl/partition.h"

namespace portolan::bench {
namespace {

constexpr uint64_t kMaxPeriods = 100'000;
constexpr double kNsPerSecond = 1e9;

double BalanceOf(const std::vector<uint64_t>& shares) {
  uint64_t sum = 0;
  for (const uint64_t share : shares) sum += share;
  const double mean = static_cast<double>(sum) / static_cast<double>(shares.size());
  return static_cast<double>(*std::max_element(shares.begin(), shares.end())) / mean;
}

// With all nodes busy until the end, or the largest host fetched from all the time.
double LeastTime(const StudyWeb& web, uint32_t nodes, const StudySpeed& speed) {
  uint64_t largest = 0;
  for (const StudyHost& host : web.hosts) largest = std::max(largest, host.pages);
  return std::max(static_cast<double>(web.pages.size()) / (nodes * speed.pages_per_s),
                  static_cast<double>(largest) * speed.host_delay_s);
}

// The addresses that nodes use at one moment.
class AddressUse {
 public:
  void Add(uint32_t address, uint32_t node) {
    if (address != 0) nodes_[address].insert(node);
  }
  size_t used() const { return nodes_.size(); }
  size_t uses() const {
    size_t uses = 0;
    for (const auto& [address, nodes] : nodes_) uses += nodes.size();
    return uses;
  }
  size_t shared() const {
    return static_cast<size_t>(
        std::count_if(nodes_.begin(), nodes_.end(), [](const auto& use) { return use.second.size() > 1; }));
  }

 private:
  std::map<uint32_t, std::set<uint32_t>> nodes_;
};

size_t AddressesOf(const StudyWeb& web) {
  std::set<uint32_t> all;
  for (const StudyHost& host : web.hosts) {
    if (host.address != 0) all.insert(host.address);
  }
  return all.size();
}

template <typename Owner>
double Crossing(const StudyWeb& web, Owner owner) {
  uint64_t crossing = 0;
  for (const StudyLink& link : web.links) {
    if (owner(link.from, link.from_domain) != owner(link.to, link.to_domain)) ++crossing;
  }
  return web.links.empty() ? 0 : static_cast<double>(crossing) / static_cast<double>(web.links.size());
}

// A host's pages that a node has not fetched.
struct Left {
  uint32_t host;
  uint64_t pages;
};

// Fetches what a node can in `seconds`, most pages first. Returns how long it was busy; adds to `fetched`.
double FetchFor(double seconds, const StudySpeed& speed, std::vector<Left>& cell, uint64_t& fetched) {
  auto room = static_cast<uint64_t>(seconds * speed.pages_per_s);
  if (room == 0) return 0;
  std::sort(cell.begin(), cell.end(),
            [](const Left& a, const Left& b) { return a.pages != b.pages ? a.pages > b.pages : a.host < b.host; });
  const uint64_t per_host = speed.host_delay_s > 0
                                ? std::max<uint64_t>(1, static_cast<uint64_t>(seconds / speed.host_delay_s))
                                : std::numeric_limits<uint64_t>::max();
  uint64_t done = 0;
  uint64_t most = 0;
  for (Left& left : cell) {
    const uint64_t some = std::min({left.pages, per_host, room});
    left.pages -= some;
    room -= some;
    done += some;
    most = std::max(most, some);
  }
  std::erase_if(cell, [](const Left& left) { return left.pages == 0; });
  fetched += done;
  return std::max(static_cast<double>(done) / speed.pages_per_s, static_cast<double>(most) * speed.host_delay_s);
}

using Cells = std::vector<std::vector<std::vector<Left>>>;  // by node, by group

Result<double> TimeOf(const StudyWeb& web, const PhasePartition& partition, const StudySpeed& speed, Cells cells) {
  const PhasePartition::Options& options = partition.options();
  const double period_s = static_cast<double>(options.period_ns) / kNsPerSecond;
  const double gap_s = static_cast<double>(options.gap_ns) / kNsPerSecond;
  uint64_t fetched = 0;
  for (uint64_t period = 0; period < kMaxPeriods; ++period) {
    const int64_t begin_ns = static_cast<int64_t>(period) * options.period_ns;
    double busy_s = 0;
    std::set<uint32_t> active;
    for (uint32_t node = 0; node < options.nodes; ++node) {
      if (options.gap_ns > 0 && partition.ActiveGroup(node, begin_ns + options.gap_ns - 1)) {
        return Fail(ErrorCode::kCorrupt, "a node has a group between two periods");
      }
      const auto first = partition.ActiveGroup(node, begin_ns + options.gap_ns);
      const auto last = partition.ActiveGroup(node, begin_ns + options.period_ns - 1);
      if (!first || first != last || !active.insert(*first).second) {
        return Fail(ErrorCode::kCorrupt, fmt::format("in period {} node {} has no group of its own", period, node));
      }
      busy_s = std::max(busy_s, FetchFor(period_s - gap_s, speed, cells[node][*first], fetched));
    }
    if (fetched == web.pages.size()) {
      for (const auto& groups : cells) {
        for (const auto& cell : groups) {
          if (!cell.empty()) return Fail(ErrorCode::kCorrupt, "pages were fetched twice");
        }
      }
      return static_cast<double>(period) * period_s + gap_s + busy_s;
    }
  }
  return Fail(ErrorCode::kInvalidArgument, "the crawl does not end: its periods are too short");
}

}  // namespace

Balances PagesOverNodes(const StudyWeb& web, uint32_t nodes) {
  const PhasePartition partition({.nodes = nodes, .phases = nodes});
  std::vector<uint64_t> hashed(nodes);
  std::vector<uint64_t> sums(nodes);
  for (const StudyPage& page : web.pages) {
    ++hashed[partition.NodeOf(page.key)];
    ++sums[page.url_sum % nodes];
  }
  return {BalanceOf(hashed), BalanceOf(sums)};
}

Balances PagesOverPhases(const StudyWeb& web, uint32_t phases) {
  const PhasePartition partition({.nodes = 1, .phases = phases});
  std::vector<uint64_t> hashed(phases);
  std::vector<uint64_t> sums(phases);
  for (const StudyHost& host : web.hosts) {
    hashed[partition.GroupOf(host.key)] += host.pages;
    sums[host.name_sum % phases] += host.pages;
  }
  return {BalanceOf(hashed), BalanceOf(sums)};
}

DivisionCost CostOfDomains(const StudyWeb& web, uint32_t nodes, const StudySpeed& speed) {
  DivisionCost cost;
  std::vector<uint64_t> pages(nodes);
  std::vector<uint64_t> largest(nodes);
  AddressUse addresses;
  for (const StudyHost& host : web.hosts) {
    const uint32_t node = ShardOfDomain(host.domain, nodes);
    pages[node] += host.pages;
    largest[node] = std::max(largest[node], host.pages);
    addresses.Add(host.address, node);
  }
  for (uint32_t node = 0; node < nodes; ++node) {
    cost.time_s = std::max({cost.time_s, static_cast<double>(pages[node]) / speed.pages_per_s,
                            static_cast<double>(largest[node]) * speed.host_delay_s});
  }
  cost.node_balance = BalanceOf(pages);
  cost.crossing = Crossing(web, [&](uint64_t, uint64_t domain) { return ShardOfDomain(domain, nodes); });
  cost.hosts_known = cost.hosts_active = 1.0 / nodes;
  const auto all = static_cast<double>(AddressesOf(web));
  cost.addresses_active = static_cast<double>(addresses.uses()) / nodes / all;
  cost.addresses_shared = static_cast<double>(addresses.shared()) / static_cast<double>(addresses.used());
  cost.efficiency = LeastTime(web, nodes, speed) / cost.time_s;
  return cost;
}

Result<DivisionCost> CostOfPhases(const StudyWeb& web, const PhasePartition& partition, const StudySpeed& speed) {
  const uint32_t nodes = partition.options().nodes;
  const uint32_t phases = partition.options().phases;
  DivisionCost cost;
  Cells cells(nodes, std::vector<std::vector<Left>>(phases));
  std::vector<uint64_t> pages(nodes);
  uint64_t known = 0;  // pairs of a node and a host of which it has URLs
  for (uint32_t index = 0; index < web.hosts.size(); ++index) {
    const StudyHost& host = web.hosts[index];
    std::vector<uint64_t> here(nodes);
    for (const StudyPage& page : std::span(web.pages).subspan(host.first, host.pages)) {
      ++here[partition.NodeOf(page.key)];
    }
    for (uint32_t node = 0; node < nodes; ++node) {
      if (here[node] == 0) continue;
      ++known;
      pages[node] += here[node];
      cells[node][partition.GroupOf(host.key)].push_back({index, here[node]});
    }
  }
  uint64_t active_addresses = 0;
  uint64_t used_addresses = 0;
  uint64_t shared_addresses = 0;
  for (uint32_t period = 0; period < phases; ++period) {
    AddressUse addresses;
    for (uint32_t node = 0; node < nodes; ++node) {
      for (const Left& left : cells[node][partition.GroupInPeriod(node, period)]) {
        addresses.Add(web.hosts[left.host].address, node);
      }
    }
    active_addresses += addresses.uses();
    used_addresses += addresses.used();
    shared_addresses += addresses.shared();
  }
  const auto hosts = static_cast<double>(web.hosts.size());
  cost.node_balance = BalanceOf(pages);
  cost.crossing = Crossing(web, [&](uint64_t url, uint64_t) { return partition.NodeOf(url); });
  cost.hosts_known = static_cast<double>(known) / nodes / hosts;
  cost.hosts_active = cost.hosts_known / phases;
  cost.addresses_active =
      static_cast<double>(active_addresses) / phases / nodes / static_cast<double>(AddressesOf(web));
  cost.addresses_shared = static_cast<double>(shared_addresses) / static_cast<double>(used_addresses);
  ASSIGN_OR_RETURN(cost.time_s, TimeOf(web, partition, speed, std::move(cells)));
  cost.efficiency = LeastTime(web, nodes, speed) / cost.time_s;
  return cost;
}

}  // namespace portolan::bench
