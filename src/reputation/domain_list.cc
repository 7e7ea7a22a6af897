#include "reputation/domain_list.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "disk/committed.h"
#include "disk/drum.h"
#include "disk/z_file.h"
#include "reputation/budget_table.h"
#include "reputation/names_log.h"
#include "reputation/star.h"

namespace portolan {
namespace {

constexpr size_t kReadAhead = size_t{1} << 20;

struct Kept {
  uint64_t pld;
  DomainRecord record;
};

Result<const ManifestSection*> FindSection(std::span<const ManifestSection> sections, const std::string& name,
                                           std::string_view kind) {
  for (const ManifestSection& section : sections) {
    if (section.name != name) continue;
    if (section.kind == kind) return &section;
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: its kind is {}, expected {}", name, section.kind, kind));
  }
  return nullptr;
}

// What a waiting row adds to its domain's numbers. The bucket does not matter here.
void AddRow(DomainRecord& to, DrumOp op, std::string_view value) {
  if (op == DrumOp::kCheck) return;
  DomainRecord row = DecodeDomainRecord(value);
  row.price = 0;
  static const BudgetTable kAny = BudgetTable::Equal(1);  // not used, because the tuple has no price
  CombineDomain(to, row, kAny);
}

// Sums of the waiting rows, by domain, up to the bound.
Status SumRows(Env& env, const std::string& dir, const ManifestSection& domains, DomainTotals& totals,
               std::unordered_map<uint64_t, DomainRecord>& sums) {
  return ForEachRow(env, dir, domains, kDomainRecordSize, [&](DrumOp op, uint64_t pld, std::string_view value) {
    auto found = sums.find(pld);
    if (found == sums.end()) {
      if (sums.size() >= DomainListOptions::kMaxRowDomains) {
        totals.complete = false;
        return;
      }
      found = sums.emplace(pld, DomainRecord()).first;
    }
    AddRow(found->second, op, value);
  });
}

// Selects the first K in an order.
class TopDomains {
 public:
  TopDomains(DomainOrder order, size_t count) : order_(order), count_(count) {}

  void Offer(const Kept& kept) {
    const auto before = [this](const Kept& a, const Kept& b) { return Key(a) > Key(b); };
    if (heap_.size() < count_) {
      heap_.push_back(kept);
      std::push_heap(heap_.begin(), heap_.end(), before);
    } else if (!heap_.empty() && before(kept, heap_.front())) {
      std::pop_heap(heap_.begin(), heap_.end(), before);
      heap_.back() = kept;
      std::push_heap(heap_.begin(), heap_.end(), before);
    }
  }
  std::vector<Kept> Sorted() && {
    std::sort(heap_.begin(), heap_.end(), [this](const Kept& a, const Kept& b) { return Key(a) > Key(b); });
    return std::move(heap_);
  }

 private:
  std::tuple<uint32_t, uint32_t, uint64_t> Key(const Kept& kept) const {
    const bool by_links = order_ == DomainOrder::kInDegree;
    return {by_links ? kept.record.in_degree : kept.record.passed,
            by_links ? kept.record.passed : kept.record.in_degree, ~kept.pld};
  }

  const DomainOrder order_;
  const size_t count_;
  std::vector<Kept> heap_;  // the last of the selected ones is on top
};

}  // namespace

Result<DomainTotals> ForEachDomain(Env& env, const std::string& dir, std::span<const ManifestSection> sections,
                                   const DomainListOptions& options,
                                   const std::function<void(const DomainLine&)>& each) {
  DomainTotals totals;
  ASSIGN_OR_RETURN(const ManifestSection* star, FindSection(sections, options.star, Star::kKind));
  ASSIGN_OR_RETURN(const ManifestSection* domains,
                   FindSection(sections, Star::DomainsSection(options.star), Drum::kKind));
  ASSIGN_OR_RETURN(const ManifestSection* names,
                   FindSection(sections, Star::NamesSection(options.star), NamesLog::kKind));
  if (star == nullptr) return totals;
  if (domains == nullptr || names == nullptr || star->files.empty()) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: the manifest has only some of its sections", options.star));
  }
  ASSIGN_OR_RETURN(const BudgetTable budgets,
                   ReadBudgetTable(env, JoinPath(dir, star->files[0].name), star->files[0].length));
  ASSIGN_OR_RETURN(totals.names, names->Number("names"));
  ASSIGN_OR_RETURN(const uint64_t has_z, domains->Number("z"));

  std::unordered_set<uint64_t> matches;
  if (!options.filter.empty()) {
    RETURN_IF_ERROR(ForEachName(env, dir, *names, [&](uint64_t pld, std::string_view name) {
      if (name.find(options.filter) == std::string_view::npos) return;
      if (matches.size() < DomainListOptions::kMaxMatches) {
        matches.insert(pld);
      } else {
        totals.complete = false;
      }
    }));
    totals.matches = matches.size();
  }
  TopDomains top(options.order, options.count);
  const auto take = [&](const Kept& kept) {
    ++totals.domains;
    if (kept.record.in_degree > 0) ++totals.linked;
    totals.passed += kept.record.passed;
    totals.in_degrees += kept.record.in_degree;
    totals.fetched += kept.record.fetched;
    totals.failed += kept.record.failed;
    totals.waiting += kept.record.waiting();
    if (options.filter.empty() || matches.contains(kept.pld)) top.Offer(kept);
  };
  std::unordered_map<uint64_t, DomainRecord> rows;
  if (options.rows) RETURN_IF_ERROR(SumRows(env, dir, *domains, totals, rows));
  if (has_z != 0 && !domains->files.empty()) {
    ASSIGN_OR_RETURN(ZReader z, ZReader::Open(env, JoinPath(dir, domains->files[0].name), domains->files[0].length,
                                              kDomainRecordSize, kReadAhead));
    while (!z.done()) {
      Kept kept{z.key(), DecodeDomainRecord(z.value())};
      if (const auto row = rows.find(kept.pld); row != rows.end()) {
        CombineDomain(kept.record, row->second, budgets);
        rows.erase(row);
      }
      take(kept);
      z.Pop();
      if (z.empty_block()) RETURN_IF_ERROR(z.NextBlock());
    }
  }
  for (const auto& [pld, record] : rows) take({pld, record});

  const std::vector<Kept> sorted = std::move(top).Sorted();
  std::unordered_map<uint64_t, std::string> found;
  for (const Kept& kept : sorted) {
    if (kept.record.passed > 0) found.emplace(kept.pld, std::string());
  }
  if (!found.empty()) {
    RETURN_IF_ERROR(ForEachName(env, dir, *names, [&](uint64_t pld, std::string_view name) {
      if (const auto wanted = found.find(pld); wanted != found.end()) wanted->second = name;
    }));
  }
  for (const Kept& kept : sorted) {
    DomainLine line{
        .pld = kept.pld, .name = {}, .record = kept.record, .budget = budgets.BudgetOf(kept.record.in_degree)};
    if (const auto name = found.find(kept.pld); name != found.end()) line.name = name->second;
    each(line);
  }
  return totals;
}

Result<std::optional<DomainLine>> FindDomain(Env& env, const Manifest& manifest, uint64_t pld,
                                             const std::string& star) {
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(star, Star::kKind));
  ASSIGN_OR_RETURN(const ManifestSection* domains, manifest.Find(Star::DomainsSection(star), Drum::kKind));
  if (section == nullptr || domains == nullptr || section->files.empty()) return std::nullopt;
  ASSIGN_OR_RETURN(const BudgetTable budgets,
                   ReadBudgetTable(env, JoinPath(manifest.dir(), section->files[0].name), section->files[0].length));
  std::optional<DomainRecord> record;
  ASSIGN_OR_RETURN(const auto value, FindInZ(env, manifest.dir(), *domains, kDomainRecordSize, pld));
  if (value) record = DecodeDomainRecord(*value);
  RETURN_IF_ERROR(
      ForEachRow(env, manifest.dir(), *domains, kDomainRecordSize, [&](DrumOp op, uint64_t key, std::string_view row) {
        if (key != pld) return;
        if (!record) record.emplace();
        AddRow(*record, op, row);
      }));
  if (!record) return std::nullopt;
  return DomainLine{.pld = pld, .name = {}, .record = *record, .budget = budgets.BudgetOf(record->in_degree)};
}

Result<DomainTotals> ForEachDomain(Env& env, const Manifest& manifest, const DomainListOptions& options,
                                   const std::function<void(const DomainLine&)>& each) {
  return ForEachDomain(env, manifest.dir(), manifest.sections(), options, each);
}

}  // namespace portolan
