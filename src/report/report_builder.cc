#include "report/report_builder.h"

#include <fmt/core.h>

#include <algorithm>

#include "flow/output_records.h"
#include "follow/link_reader.h"
#include "report/report_groups.h"
#include "report/report_tables.h"
#include "report/report_tally.h"

namespace portolan {
namespace {

// The links of a page's redirect to which other place: what people ask of redirects.
std::string_view RedirectKind(const LogEntry& entry, HostNames& names) {
  if (entry.redirect.empty()) return "without a usable target";
  const auto rest = [](std::string_view url) { return url.substr(std::min(url.find("://"), url.size())); };
  if (rest(entry.url) == rest(entry.redirect)) {
    return entry.redirect.starts_with("https:") ? "same URL over https" : "same URL over http";
  }
  const HostNames::Names* from = names.Of(entry.url);
  if (from == nullptr) return "elsewhere";
  const HostNames::Names source = *from;
  const HostNames::Names* to = names.Of(entry.redirect);
  if (to == nullptr) return "elsewhere";
  if (to->host == source.host) return "same host";
  return to->domain == source.domain ? "another host of the domain" : "another domain";
}

std::string_view RobotsKind(const LogEntry& entry) {
  if (!entry.answered()) return "no answer";
  if (entry.ok()) return "rules";
  if (entry.status / 100 == 3) return "redirect";
  if (entry.status / 100 == 4 && entry.status != 429) return "none (4xx): everything allowed";
  return "server error: nothing allowed";
}

}  // namespace

Result<ReportBuilder> ReportBuilder::Create(Env& env, const Options& options) {
  ASSIGN_OR_RETURN(HostNames names, HostNames::Create());
  return ReportBuilder(env, options, std::move(names));
}

ReportBuilder::ReportBuilder(Env& env, const Options& options, HostNames names)
    : env_(env),
      options_(options),
      names_(std::move(names)),
      sums_(env, {.dir = options.scratch, .memory = options.memory}) {
  ReportTable& broken = totals_.broken;
  broken.id = "broken_links";
  broken.title = "Broken links";
  broken.columns = {{"source", CellKind::kText},
                    {"target", CellKind::kText},
                    {"status", CellKind::kText},
                    {"anchor", CellKind::kText}};
}

Status ReportBuilder::Add(char group, std::string_view name, const GroupSums::Values& values) {
  return sums_.Add(fmt::format("{}{}", group, name), values);
}

// Names from outside have no NUL in them: hosts and URLs are canonical, products end at a control.
Status ReportBuilder::AddPair(char group, std::string_view first, std::string_view second,
                              const GroupSums::Values& values) {
  std::string name;
  name.reserve(first.size() + second.size() + 2);
  name += group;
  name += first;
  name += '\0';
  name += second;
  return sums_.Add(name, values);
}

Status ReportBuilder::ReadCrawlLog(const OutputSources& logs) {
  ASSIGN_OR_RETURN(SourcesReader reader, SourcesReader::Open(env_, logs));
  LogEntry entry;
  for (bool more = true; more;) {
    ASSIGN_OR_RETURN(more, reader.Next([&](std::string_view line, uint32_t /*tag*/) -> Status {
      Tell("reading the crawl log", ++totals_.lines);
      return ParseLogEntry(line, entry) ? Count(entry) : Fail(ErrorCode::kCorrupt, "the crawl log has a broken line");
    }));
  }
  return {};
}

Status ReportBuilder::Count(const LogEntry& entry) {
  totals_.duplicates += entry.duplicate ? 1 : 0;
  if (entry.is_finding()) return {};
  const HostNames::Names* names = names_.Of(entry.url);
  if (entry.fetched) {
    ++totals_.requests;
    totals_.repeats += entry.again ? 1 : 0;
    totals_.received += entry.bytes;
    if (entry.unix_s != 0) {
      totals_.first = totals_.first == 0 ? entry.unix_s : std::min(totals_.first, entry.unix_s);
      totals_.last = std::max(totals_.last, entry.unix_s + static_cast<int64_t>(entry.ms / 1000));
      totals_.times.Add(entry.unix_s, entry.is_page() && entry.ok() ? 1 : 0, entry.bytes);
    }
    if (names != nullptr) {
      const bool ok = entry.is_page() && entry.ok() && entry.visit.empty();
      RETURN_IF_ERROR(
          Add(kHostGroup, names->host, {1, entry.answered() ? 1U : 0U, ok && entry.is_html() ? 1U : 0U, entry.bytes}));
      if (entry.answered()) {
        RETURN_IF_ERROR(AddPair(kHostServerGroup, names->host, ServerProduct(entry.server), {1}));
      }
      if (!entry.ip.empty() && entry.answered()) {
        RETURN_IF_ERROR(Add(kAddressGroup, entry.ip, {1}));
        RETURN_IF_ERROR(AddPair(kSuffixAddressGroup, names->suffix, entry.ip, {1}));
      }
    }
    if (!entry.http.empty()) RETURN_IF_ERROR(Add(kProtocolGroup, entry.http, {1, entry.bytes}));
  }
  if (entry.again) return {};
  if (!entry.visit.empty()) {
    ++totals_.revisits;
    totals_.not_modified += entry.visit == "not_modified" ? 1 : 0;
    totals_.unchanged += entry.visit == "same" ? 1 : 0;
    totals_.gone += entry.gone ? 1 : 0;
    return {};
  }
  if (entry.kind == "robots") {
    ++totals_.robots_files;
    totals_.robots_received += entry.bytes;
    return Add(kRobotsGroup, RobotsKind(entry), {1, entry.bytes});
  }
  ++totals_.urls;
  RETURN_IF_ERROR(Add(kOutcomeGroup, entry.outcome, {1}));
  if (!entry.fetched) {
    ++totals_.denied;
    return {};
  }
  return CountPage(entry, names);
}

Status ReportBuilder::CountPage(const LogEntry& entry, const HostNames::Names* names) {
  ++totals_.requested;
  if (!entry.answered() && entry.outcome.starts_with("dns_")) ++totals_.dns_failed;
  if (!entry.answered() || entry.status >= 400) Broken(entry);
  if (!entry.answered()) return {};
  ++totals_.answers;
  totals_.answer_ms += entry.ms;
  totals_.answer_times.Add(entry.ms);
  RETURN_IF_ERROR(Add(kStatusGroup, fmt::format("{}", entry.status), {1, entry.bytes}));
  if (entry.status / 100 == 3) {
    RETURN_IF_ERROR(AddPair(kRedirectGroup, fmt::format("{}", entry.status), RedirectKind(entry, names_), {1}));
    return {};
  }
  if (!entry.ok()) return {};
  ++totals_.pages;
  ++totals_.depths[std::min(entry.depth, ReportTotals::kDeepest)];
  totals_.sizes.Add(entry.decoded);
  RETURN_IF_ERROR(Add(kExtensionGroup, ExtensionOf(entry.url), {1, entry.decoded}));
  RETURN_IF_ERROR(Add(kTypeGroup, entry.mime.empty() ? "(unknown)" : entry.mime, {1, entry.decoded}));
  if (!entry.fingerprint.empty() && entry.decoded > 0) {
    ++totals_.with_content;
    RETURN_IF_ERROR(Add(kContentGroup, entry.fingerprint, {1, entry.decoded}));
  }
  if (!entry.is_html()) return {};
  ++totals_.html;
  totals_.html_bytes += entry.decoded;
  totals_.links += entry.links;
  totals_.without_title += entry.title.empty() ? 1 : 0;
  totals_.out_links.Add(entry.links);
  return names == nullptr ? Status() : AddPair(kDomainPagesGroup, names->domain, names->host, {1, entry.decoded});
}

// Without a link log: the page on which the URL was found first.
void ReportBuilder::Broken(const LogEntry& entry) {
  if (entry.via.empty()) return;
  if (totals_.broken.rows.size() >= options_.rows) {
    ++totals_.broken.rows_left_out;
    return;
  }
  totals_.broken.rows.push_back(
      {entry.via, entry.url, entry.status > 0 ? fmt::format("{}", entry.status) : entry.outcome, std::string()});
}

Status ReportBuilder::ReadLinkLog(const OutputSources& links, const OutputSources& logs) {
  totals_.has_links = true;
  uint64_t count = 0;
  const auto count_link = [&](const LinkLine& link) -> Status {
    Tell("reading the link log", ++count);
    const HostNames::Names* names = names_.Of(link.source);
    if (names == nullptr) return {};
    const std::string domain = names->domain;
    const std::string top = names->top;
    names = names_.Of(link.target);
    if (names == nullptr) return {};
    RETURN_IF_ERROR(Add(kTopLevelGroup, top, {1}));
    RETURN_IF_ERROR(Add(kTopLevelGroup, names->top, {1}));
    RETURN_IF_ERROR(AddPair(kTopLevelLinksGroup, top, names->top, {1}));
    return domain == names->domain ? Status() : AddPair(kDomainLinksGroup, names->domain, domain, {1});
  };
  RETURN_IF_ERROR(ForEachLink(env_, links, count_link));
  totals_.broken.rows.clear();
  totals_.broken.rows_left_out = 0;
  const RowSort::Options sort{.dir = options_.scratch, .memory = options_.memory / 2};
  return ForEachBrokenLink(env_, env_, links, logs, sort, [&](const LinkLine& link) -> Status {
    if (totals_.broken.rows.size() >= options_.rows) {
      ++totals_.broken.rows_left_out;
      return {};
    }
    totals_.broken.rows.push_back({std::string(link.source), std::string(link.target),
                                   link.status > 0 ? fmt::format("{}", link.status) : std::string(link.outcome),
                                   std::string(link.anchor)});
    return {};
  });
}

Status ReportBuilder::ReadTextLog(const OutputSources& texts) {
  ASSIGN_OR_RETURN(const auto committed, FindCommitted(env_, texts));
  ASSIGN_OR_RETURN(SourcesReader reader, SourcesReader::Open(env_, committed));
  uint64_t count = 0;
  for (bool more = true; more;) {
    ASSIGN_OR_RETURN(more, reader.Next([&](std::string_view record, uint32_t /*tag*/) -> Status {
      Tell("reading the text log", ++count);
      const auto text = ParseTextRecord(record);
      if (!text) return Fail(ErrorCode::kCorrupt, "the text log has a record that is not a page's text");
      if (text->language.empty()) return {};
      return Add(kLanguageGroup, text->language, {1, text->text.size()});
    }));
  }
  return {};
}

Result<std::vector<ReportTable>> ReportBuilder::Finish() {
  ReportTally tally(env_, {.dir = options_.scratch, .memory = options_.memory}, options_.rows, names_);
  RETURN_IF_ERROR(
      sums_.Finish([&](std::string_view name, const GroupSums::Values& values) { return tally.Take(name, values); }));
  RETURN_IF_ERROR(tally.End());
  return ReportTables(totals_, tally);
}

}  // namespace portolan
