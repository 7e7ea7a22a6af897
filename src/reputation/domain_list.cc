#include "reputation/domain_list.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <vector>

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
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: a {}, wanted a {}", name, section.kind, kind));
  }
  return nullptr;
}

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
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: the manifest has only a part of it", options.star));
  }
  ASSIGN_OR_RETURN(const BudgetTable budgets,
                   ReadBudgetTable(env, JoinPath(dir, star->files[0].name), star->files[0].length));
  ASSIGN_OR_RETURN(totals.names, names->Number("names"));
  ASSIGN_OR_RETURN(const uint64_t has_z, domains->Number("z"));
  if (has_z == 0 || domains->files.empty()) return totals;

  const auto before = [&](const Kept& a, const Kept& b) {
    const auto key = [&](const Kept& kept) {
      const bool by_links = options.order == DomainOrder::kInDegree;
      return std::tuple(by_links ? kept.record.in_degree : kept.record.passed,
                        by_links ? kept.record.passed : kept.record.in_degree, ~kept.pld);
    };
    return key(a) > key(b);
  };
  std::vector<Kept> heap;  // the last of those kept is on top
  ASSIGN_OR_RETURN(ZReader z, ZReader::Open(env, JoinPath(dir, domains->files[0].name), domains->files[0].length,
                                            kDomainRecordSize, kReadAhead));
  while (!z.done()) {
    const Kept kept{z.key(), DecodeDomainRecord(z.value())};
    ++totals.domains;
    if (kept.record.in_degree > 0) ++totals.linked;
    totals.passed += kept.record.passed;
    totals.in_degrees += kept.record.in_degree;
    if (heap.size() < options.count) {
      heap.push_back(kept);
      std::push_heap(heap.begin(), heap.end(), before);
    } else if (!heap.empty() && before(kept, heap.front())) {
      std::pop_heap(heap.begin(), heap.end(), before);
      heap.back() = kept;
      std::push_heap(heap.begin(), heap.end(), before);
    }
    z.Pop();
    if (z.empty_block()) RETURN_IF_ERROR(z.NextBlock());
  }
  std::sort_heap(heap.begin(), heap.end(), before);

  std::unordered_map<uint64_t, std::string> found;
  for (const Kept& kept : heap) {
    if (kept.record.passed > 0) found.emplace(kept.pld, std::string());
  }
  if (!found.empty()) {
    RETURN_IF_ERROR(ForEachName(env, dir, *names, [&](uint64_t pld, std::string_view name) {
      if (const auto wanted = found.find(pld); wanted != found.end()) wanted->second = name;
    }));
  }
  for (const Kept& kept : heap) {
    DomainLine line{
        .pld = kept.pld, .name = {}, .record = kept.record, .budget = budgets.BudgetOf(kept.record.in_degree)};
    if (const auto name = found.find(kept.pld); name != found.end()) line.name = name->second;
    each(line);
  }
  return totals;
}

Result<DomainTotals> ForEachDomain(Env& env, const Manifest& manifest, const DomainListOptions& options,
                                   const std::function<void(const DomainLine&)>& each) {
  return ForEachDomain(env, manifest.dir(), manifest.sections(), options, each);
}

}  // namespace portolan
