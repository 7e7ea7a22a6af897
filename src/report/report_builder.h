// ReportBuilder: what a crawl found and how it went, counted from its logs: the figures that KSpider's thesis (Tables 5
// to 12, figure 43) and IRLbot's paper (section 7) print of their crawls, and what owners of sites ask.
//
//   ASSIGN_OR_RETURN(ReportBuilder builder, ReportBuilder::Create(env, options));
//   RETURN_IF_ERROR(builder.ReadCrawlLog(log));
//   RETURN_IF_ERROR(builder.ReadLinkLog(links));        // where there is one
//   ASSIGN_OR_RETURN(std::vector<ReportTable> tables, builder.Finish());
//
// A request is a line of the crawl log that was sent, including those that were tried again. A URL is counted by its
// last line. What is counted by name (hosts, domains, extensions, fingerprints …) goes through GroupSums, whose memory
// has a bound; nothing else grows with the crawl.
//
// Thread: one owner, beside a running crawl or not: it reads what the last checkpoint holds. Memory bound: twice
// Options::memory, the rows of the tables, and SourcesReader's.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "follow/output_sources.h"
#include "io/env.h"
#include "report/group_sums.h"
#include "report/host_names.h"
#include "report/log_entry.h"
#include "report/report_table.h"
#include "report/report_totals.h"

namespace portolan {

class ReportBuilder {
 public:
  struct Options {
    size_t memory = size_t{64} << 20;
    std::string scratch;  // directory of nameless files
    size_t rows = 20;     // at most, of a table by name
    std::function<void(std::string_view step, uint64_t done)> progress = {};
  };
  static Result<ReportBuilder> Create(Env& env, const Options& options);

  // Of all shards, if there are several; likewise the others.
  Status ReadCrawlLog(const OutputSources& logs);
  // The links between domains, and which of them are broken by the crawl log.
  Status ReadLinkLog(const OutputSources& links, const OutputSources& logs);
  // Languages.
  Status ReadTextLog(const OutputSources& texts);

  // To be called once.
  Result<std::vector<ReportTable>> Finish();

 private:
  ReportBuilder(Env& env, const Options& options, HostNames names);

  Status Count(const LogEntry& entry);
  Status CountPage(const LogEntry& entry, const HostNames::Names* names);
  Status Add(char group, std::string_view name, const GroupSums::Values& values);
  Status AddPair(char group, std::string_view first, std::string_view second, const GroupSums::Values& values);
  void Broken(const LogEntry& entry);
  void Tell(std::string_view step, uint64_t done) const {
    if (options_.progress && done % 65536 == 0) options_.progress(step, done);
  }
  Env& env_;
  Options options_;
  HostNames names_;
  GroupSums sums_;
  ReportTotals totals_;
};

}  // namespace portolan
