#include "report/report_tally.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "report/report_groups.h"

namespace portolan {
namespace {

constexpr size_t kFew = 100;  // rows of tables whose names are ours, or numbers

// Of the second GroupSums.
constexpr char kDomainRows = 'd';   // domain {hosts, documents, bytes, in-degree}
constexpr char kProductRows = 'p';  // product {hosts}
constexpr char kSuffixRows = 's';   // suffix {hosts, addresses, documents, bytes}

// The two names of a pair.
std::pair<std::string_view, std::string_view> SplitPair(std::string_view pair) {
  const size_t nul = std::min(pair.find('\0'), pair.size());
  return {pair.substr(0, nul), pair.substr(std::min(nul + 1, pair.size()))};
}

}  // namespace

void LinkMatrix::Choose(const TopRows& largest) {
  for (const TopRows::Row& row : largest.rows()) names_.push_back(row.name);
  names_.emplace_back("(others)");
  counts_.assign(names_.size(), std::vector<uint64_t>(names_.size()));
}

size_t LinkMatrix::PlaceOf(std::string_view name) const {
  return static_cast<size_t>(std::find(names_.begin(), names_.end() - 1, name) - names_.begin());
}

void LinkMatrix::Fill(ReportTable& table) const {
  table.columns = {{"from", CellKind::kText}};
  for (const std::string& name : names_) table.columns.push_back({name, CellKind::kCount});
  table.columns.push_back({"sum", CellKind::kCount});
  for (size_t i = 0; i < names_.size(); ++i) {
    uint64_t sum = 0;
    std::vector<ReportCell>& row = table.rows.emplace_back();
    row.emplace_back(names_[i]);
    for (const uint64_t links : counts_[i]) {
      row.emplace_back(links);
      sum += links;
    }
    row.emplace_back(sum);
  }
  table.plot = ReportPlot::kMatrix;
}

ReportTally::ReportTally(Env& env, const GroupSums::Options& options, size_t rows, HostNames& names)
    : repeated_contents(std::min<size_t>(rows, 10), 0),
      hosts(rows, 2),
      languages(rows, 0),
      outcomes(kFew, 0),
      protocols(kFew, 0),
      redirects(kFew, 0),
      robots(kFew, 0),
      statuses(kFew, 0),
      types(rows, 0),
      extensions(rows, 0),
      products(rows, 0),
      suffixes(rows, 2),
      by_hosts(rows, 0),
      by_documents(rows, 1),
      by_in_degree(rows, 3),
      names_(names),
      derived_(env, options),
      top_level_(LinkMatrix::kSide, 0) {}

Status ReportTally::AddDerived(char group, std::string_view name, const GroupSums::Values& values) {
  return derived_.Add(fmt::format("{}{}", group, name), values);
}

Status ReportTally::CloseDomain() {
  if (in_degree_ == 0) return {};
  ++domains_linked;
  return AddDerived(kDomainRows, domain_, {0, 0, 0, std::exchange(in_degree_, 0)});
}

Status ReportTally::CloseHost() {
  if (product_answers_ == 0) return {};
  product_answers_ = 0;
  return AddDerived(kProductRows, product_, {1});
}

Status ReportTally::TakeDomainLink(std::string_view target) {
  if (target != domain_) {
    RETURN_IF_ERROR(CloseDomain());
    domain_ = target;
  }
  ++in_degree_;
  ++edges;
  return {};
}

// A host's software is the product that most of its answers name.
Status ReportTally::TakeProduct(std::string_view host, std::string_view product, uint64_t answers) {
  if (host != host_) {
    RETURN_IF_ERROR(CloseHost());
    host_ = host;
  }
  if (answers > product_answers_) {
    product_answers_ = answers;
    product_ = product;
  }
  return {};
}

Status ReportTally::TakeHost(std::string_view name, const GroupSums::Values& values) {
  hosts.Add(name, values);
  if (values[1] == 0) return {};
  ++hosts_answered;
  const HostNames::Names* names = names_.Of(fmt::format("http://{}/", name));
  return names == nullptr ? Status() : AddDerived(kSuffixRows, names->suffix, {1, 0, values[2], values[3]});
}

Status ReportTally::Take(std::string_view tagged, const GroupSums::Values& values) {
  const std::string_view name = tagged.substr(1);
  const auto [first, second] = SplitPair(name);
  switch (tagged[0]) {
    case kAddressGroup:
      ++addresses;
      return {};
    case kContentGroup:
      ++contents;
      copies += values[0] - 1;
      if (values[0] > 1) repeated_contents.Add(name, values);
      return {};
    case kDomainLinksGroup:
      return TakeDomainLink(first);
    case kDomainPagesGroup:
      return AddDerived(kDomainRows, first, {1, values[0], values[1], 0});
    case kHostGroup:
      return TakeHost(name, values);
    case kHostServerGroup:
      return TakeProduct(first, second, values[0]);
    case kLanguageGroup:
      languages.Add(name, values);
      return {};
    case kOutcomeGroup:
      outcomes.Add(name, values);
      return {};
    case kProtocolGroup:
      protocols.Add(name, values);
      return {};
    case kRedirectGroup:
      redirects.Add(fmt::format("{} {}", first, second), values);
      return {};
    case kRobotsGroup:
      robots.Add(name, values);
      return {};
    case kStatusGroup:
      statuses.Add(name, values);
      return {};
    case kSuffixAddressGroup:
      return AddDerived(kSuffixRows, first, {0, 1, 0, 0});
    case kTopLevelGroup:
      top_level_.Add(name, values);
      return {};
    case kTopLevelLinksGroup:
      if (!matrix.chosen()) matrix.Choose(top_level_);
      matrix.Add(first, second, values[0]);
      return {};
    case kTypeGroup:
      types.Add(name, values);
      return {};
    case kExtensionGroup:
      extensions.Add(name, values);
      return {};
    default:
      return {};
  }
}

Status ReportTally::End() {
  RETURN_IF_ERROR(CloseDomain());
  RETURN_IF_ERROR(CloseHost());
  return derived_.Finish([&](std::string_view tagged, const GroupSums::Values& values) -> Status {
    const std::string_view name = tagged.substr(1);
    if (tagged[0] == kProductRows) {
      products.Add(name, values);
    } else if (tagged[0] == kSuffixRows) {
      suffixes.Add(name, values);
    } else {
      domains += values[1] > 0 ? 1 : 0;
      if (values[0] > 0) by_hosts.Add(name, values);
      if (values[1] > 0) by_documents.Add(name, values);
      if (values[3] > 0) by_in_degree.Add(name, values);
    }
    return {};
  });
}

}  // namespace portolan
