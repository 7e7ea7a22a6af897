#include "cli/crawl_summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/hash_key.h"
#include "base/units.h"
#include "crawl/scope.h"
#include "crawl/wiring.h"
#include "flow/outcome.h"
#include "flow/url_record.h"
#include "io/env.h"
#include "outputs/log_search.h"

namespace portolan {
namespace {

using Line = nlohmann::json;

// The last line of the log about a URL; null: there is none.
Line LastLine(const std::string& log_dir, const std::string& url) {
  std::string last;
  const auto keep = [&last](std::string_view line) { last = line; };
  if (!ForEachLogLine(Env::Posix(), log_dir, url, keep)) return nullptr;
  Line line = Line::parse(last, nullptr, false);
  return line.is_object() ? line : Line(nullptr);
}

std::string Text(const Line& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_string() ? found->get<std::string>() : std::string();
}

int StatusOf(const Line& line) {
  const auto found = line.find("status");
  return found != line.end() && found->is_number_integer() ? found->get<int>() : 0;
}

// An outcome without an answer, in words.
std::string InWords(const Line& line) {
  const std::string outcome = Text(line, "outcome");
  std::string detail = Text(line, "detail");
  std::ranges::replace_if(detail, [](char c) { return static_cast<uint8_t>(c) < 0x20 || c == 0x7f; }, '?');
  static const std::pair<FetchOutcome, const char*> kWords[] = {
      {FetchOutcome::kDnsNotFound, "the name does not exist, or has no address"},
      {FetchOutcome::kDnsFailed, "the name servers failed"},
      {FetchOutcome::kDnsTimeout, "no name server answered"},
      {FetchOutcome::kAddressForbidden, "it has no public address; --allow-private crawls it all the same"},
      {FetchOutcome::kConnectRefused, "the connection was refused"},
      {FetchOutcome::kConnectTimeout, "no connection in time"},
      {FetchOutcome::kUnreachable, "there is no route to it"},
      {FetchOutcome::kTlsHandshake, "TLS failed"},
      {FetchOutcome::kTlsCertificate, "its certificate is not trusted"},
      {FetchOutcome::kFirstByteTimeout, "it did not answer in time"},
      {FetchOutcome::kEmptyReply, "it closed the connection without an answer"},
      {FetchOutcome::kNotHttp, "its answer is not HTTP"},
  };
  std::string words;
  for (const auto& [known, text] : kWords) {
    if (outcome == FetchOutcomeName(known)) words = fmt::format(": {}", text);
  }
  return fmt::format("{}{}{}", outcome, words, detail.empty() ? "" : fmt::format(" ({})", detail));
}

// What an answer that is no page means.
std::string OfStatus(int status) {
  if (status == 401) return "401: it wants a user name and a password";
  if (status == 403) return "403: it refuses us";
  if (status == 404 || status == 410) return fmt::format("{}: there is no such page", status);
  if (status == 429) return "429: it wants fewer requests";
  if (status >= 500) return fmt::format("{}: the server failed", status);
  return fmt::format("{}: no page", status);
}

class Explainer {
 public:
  Explainer(const std::string& dir, const Config& config, const std::vector<std::string>& seeds)
      : log_dir_(JoinPath(dir, "log")), config_(config) {
    if (!config.crawl.seed_list.empty()) return;  // what their scope is, the state knows
    if (auto scope = Scope::Create(ScopeOf(config, seeds))) scope_.emplace(*std::move(scope));
  }

  std::string Why(const std::string& seed) {
    std::string url = seed;
    std::string way;  // "301 to …, "
    std::set<std::string> met;
    for (uint64_t hops = 0;; ++hops) {
      met.insert(url);
      const Line line = LastLine(log_dir_, url);
      if (line.is_null()) return way + WithoutLine(url);
      const std::string outcome = Text(line, "outcome");
      if (outcome == "robots_denied") return way + "its robots.txt denies it";
      if (outcome == "robots_unreachable") return way + WithoutRobots(url);
      const int status = StatusOf(line);
      if (status == 0) return way + InWords(line) + Again(line);
      const std::string target = Text(line, "redirect");
      if (target.empty() || status / 100 != 3) return way + OfStatus(status) + Again(line);
      way += fmt::format("{} to {}, ", status, target);
      if (met.contains(target)) {
        return way + (target == url ? "which is itself: it may want cookies" : "which goes round in a circle");
      }
      if (scope_ && !scope_->Contains(target, HostKey(target, HashKey::Known()))) {
        return way + "which is out of scope (--scope, --set scope.include_domains)";
      }
      if (hops >= config_.crawl.max_redirects) {
        return way + fmt::format("more than {} redirects (crawl.max_redirects)", config_.crawl.max_redirects);
      }
      url = target;
    }
  }

 private:
  static std::string Again(const Line& line) { return line.value("again", false) ? ", to be tried again" : ""; }

  // What is the matter with the robots.txt that stands before a URL.
  std::string WithoutRobots(const std::string& url) const {
    const Line line = LastLine(log_dir_, RobotsOf(url));
    if (line.is_null()) return "its robots.txt could not be had";
    const int status = StatusOf(line);
    if (status == 0) return InWords(line);
    return fmt::format("its robots.txt could not be had ({})", OfStatus(status));
  }

  std::string WithoutLine(const std::string& url) const {
    if (!config_.log.fetches) return "there is no log that says why (log.fetches)";
    const Line line = LastLine(log_dir_, RobotsOf(url));
    if (!line.is_null() && StatusOf(line) == 0) return InWords(line);
    return "it was not fetched before the crawl ended";
  }

  static std::string RobotsOf(const std::string& url) { return std::string(OriginOf(url)) + "/robots.txt"; }

  const std::string log_dir_;
  const Config& config_;
  std::optional<Scope> scope_;
};

// A terminal that is gone is no reason to end badly: RunCli says what there is to say about it.
void Put(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

}  // namespace

SeedFailures WhySeedsFailed(const std::string& dir, const Config& config, const std::vector<std::string>& seeds,
                            uint64_t count) {
  SeedFailures failures;
  Explainer explainer(dir, config, seeds);
  const size_t shown = std::min(seeds.size(), SeedFailures::kMost);
  for (size_t i = 0; i < shown; ++i) failures.first.push_back({seeds[i], explainer.Why(seeds[i])});
  failures.more = std::max<uint64_t>(count, seeds.size()) - shown;
  return failures;
}

void PrintSummary(const CrawlSummary& summary, const Config& config, bool json) {
  const CrawlProgress& progress = summary.progress;
  const SeedFailures& failures = summary.failures;
  if (json) {
    auto object = nlohmann::ordered_json::parse(ProgressToJson(progress));
    object["limit"] = summary.limit;
    object["seeds_failed"] = nlohmann::ordered_json::array();
    for (const SeedFailures::One& one : failures.first) {
      object["seeds_failed"].push_back({{"url", one.url}, {"why", one.why}});
    }
    object["seeds_failed_more"] = failures.more;
    return Put(object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n');
  }
  const CrawlCounts& counts = progress.counts;
  const bool done = progress.state == "done";
  std::string text =
      fmt::format("{}: {}, {} received, in {}", done ? "done" : "stopped", Counted(counts.pages(), "page"),
                  FormatBytes(counts.wire_bytes), FormatDuration(progress.seconds));
  if (!summary.limit.empty()) {
    text += ", limit: " + summary.limit;
  } else if (done) {
    text += " (nothing is left to fetch)";
  }
  text += '\n';
  for (const SeedFailures::One& one : failures.first) text += fmt::format("  why       {}: {}\n", one.url, one.why);
  if (failures.more > 0) text += fmt::format("            … and {}\n", Counted(failures.more, "more seed"));
  if (const uint64_t copies = counts.duplicates + counts.late_duplicates; copies > 0) {
    text += fmt::format("  copies    {} of pages that were fetched before{}\n", copies,
                        counts.mirrored > 0
                            ? fmt::format("; {} pages of mirrors were left to the originals", counts.mirrored)
                            : std::string());
  }
  if (counts.near_duplicates > 0) {
    text += fmt::format("  near      {} with nearly the text of another one ('portolan dups' lists them)\n",
                        Counted(counts.near_duplicates, "page"));
  }
  for (const HostTrouble& trouble : progress.unreachable_hosts) {
    text += fmt::format("  given up  {} ({})\n", trouble.what, trouble.why);
  }
  for (const LeftOut& left_out : progress.left_out) text += fmt::format("  left out  {}\n", LeftOutWords(left_out));
  if (progress.parked > 0) {
    text +=
        fmt::format("  parked    {} of forms that gave nothing new (docs/traps.md; 'portolan why' for one of them)\n",
                    Counted(progress.parked, "URL"));
    for (const ParkedForm& form : progress.parked_forms) text += fmt::format("            {}\n", ParkedWords(form));
  }
  if (counts.revisits > 0) {
    text +=
        fmt::format("  revisits  {}: {} with another text, {} not; {} ended ('portolan fresh {}')\n", counts.revisits,
                    progress.refresh.changed, progress.refresh.same, progress.refresh.ended, summary.dir);
  }
  if (config.archive.enabled) {
    for (const std::string& directory : config.archive.directories) {
      text += fmt::format("  archive   {}\n", ArchiveDirectory(summary.dir, directory));
    }
  }
  if (config.log.fetches) text += fmt::format("  log       {}\n", JoinPath(summary.dir, "log"));
  if (config.outputs.links) text += fmt::format("  links     {}\n", JoinPath(summary.dir, "links"));
  if (config.outputs.text) text += fmt::format("  text      {}\n", JoinPath(summary.dir, "text"));
  if (progress.waiting + progress.at_gate + progress.unanswered > 0 ||
      (progress.continuous && progress.scheduled > 0)) {
    text += fmt::format("  go on     portolan resume {}\n", summary.dir);
  }
  Put(text);
}

}  // namespace portolan
