// ReportTally: from sums by name, which come once in order, to the rows of a report's tables. What is then known per
// host or address is added up per domain, suffix and product in a second GroupSums.
//
// Thread: one owner. Memory bound: the rows of the tables, and the second GroupSums'.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/group_sums.h"
#include "report/host_names.h"
#include "report/report_table.h"
#include "report/top_rows.h"

namespace portolan {

// Links between the largest top-level domains; all others are one.
class LinkMatrix {
 public:
  static constexpr size_t kSide = 10;

  void Choose(const TopRows& largest);
  void Add(std::string_view from, std::string_view to, uint64_t links) { counts_[PlaceOf(from)][PlaceOf(to)] += links; }
  bool chosen() const { return !names_.empty(); }
  void Fill(ReportTable& table) const;

 private:
  size_t PlaceOf(std::string_view name) const;

  std::vector<std::string> names_;
  std::vector<std::vector<uint64_t>> counts_;
};

class ReportTally {
 public:
  // `rows`: of a table by name.
  ReportTally(Env& env, const GroupSums::Options& options, size_t rows, HostNames& names);

  // The names of ReportBuilder's sums, in order.
  Status Take(std::string_view tagged, const GroupSums::Values& values);
  Status End();

  uint64_t hosts_answered = 0;
  uint64_t addresses = 0;
  uint64_t domains = 0;         // with documents
  uint64_t domains_linked = 0;  // that another domain links to
  uint64_t edges = 0;           // between domains
  uint64_t contents = 0;        // different ones
  uint64_t copies = 0;          // pages whose contents another page has

  TopRows repeated_contents;  // fingerprint {pages, bytes}
  TopRows hosts;              // {requests, answers, documents, bytes}
  TopRows languages;
  TopRows outcomes;
  TopRows protocols;
  TopRows redirects;
  TopRows robots;
  TopRows statuses;
  TopRows types;
  TopRows extensions;
  TopRows products;      // {hosts}
  TopRows suffixes;      // {hosts, addresses, documents, bytes}
  TopRows by_hosts;      // domain {hosts, documents, bytes, in-degree}
  TopRows by_documents;  // the same
  TopRows by_in_degree;  // the same
  LinkMatrix matrix;

 private:
  Status TakeHost(std::string_view name, const GroupSums::Values& values);
  Status TakeDomainLink(std::string_view target);
  Status TakeProduct(std::string_view host, std::string_view product, uint64_t answers);
  Status CloseDomain();
  Status CloseHost();
  Status AddDerived(char group, std::string_view name, const GroupSums::Values& values);

  HostNames& names_;
  GroupSums derived_;
  TopRows top_level_;
  std::string domain_;  // whose in-degree is being counted
  uint64_t in_degree_ = 0;
  std::string host_;  // whose products are being compared
  std::string product_;
  uint64_t product_answers_ = 0;
};

}  // namespace portolan
