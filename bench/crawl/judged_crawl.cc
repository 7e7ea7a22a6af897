#include "bench/crawl/judged_crawl.h"

#include <fmt/core.h>

#include <chrono>
#include <filesystem>

namespace portolan::bench {
namespace {

Result<Config> ConfigOf(const CrawlChoice& choice, uint16_t dns_port, const std::string& ca_file) {
  Config config = ForProfile(Profile::kSite);
  config.crawl.max_pages = choice.pages;
  config.crawl.max_time = std::chrono::nanoseconds(static_cast<int64_t>(choice.max_seconds * 1e9));
  config.scope.mode = ScopeMode::kAny;
  config.politeness.host_delay = std::chrono::milliseconds(choice.host_delay_ms);
  config.politeness.ip_delay = std::chrono::milliseconds(choice.ip_delay_ms);
  config.politeness.delay_factor = choice.delay_factor;
  config.fetch.connections = choice.connections;
  config.fetch.reuse_connections = choice.reuse_connections;
  config.fetch.dns_servers = {fmt::format("127.0.0.1:{}", dns_port)};
  config.fetch.allow_private_addresses = true;
  config.fetch.ca_file = ca_file;
  RETURN_IF_ERROR(SetConfig(config, "memory.total", choice.memory));
  for (const std::string& setting : choice.set) RETURN_IF_ERROR(SetConfig(config, setting));
  return config;
}

}  // namespace

Result<JudgedCrawl> CrawlAndJudge(const CrawlChoice& choice, const std::string& dir) {
  const ServedFiles files = {.log = dir + ".tsv", .ca = dir + ".pem"};
  ASSIGN_OR_RETURN(const auto served, ServedWorld::Start(choice.world, files, choice.server_core));
  ASSIGN_OR_RETURN(const Config config, ConfigOf(choice, served->dns_port(), files.ca));
  JudgedCrawl judged;
  ASSIGN_OR_RETURN(judged.crawl, RunCrawl({config, dir, served->world().Seeds(choice.seeds), choice.client_core}));
  ASSIGN_OR_RETURN(judged.server_cpu_seconds, served->Stop());

  sim::Rules rules;
  rules.agent = RobotsTokenOf(config);
  rules.host_gap_ns = config.politeness.host_delay.count();
  rules.ip_gap_ns = config.politeness.ip_delay.count();
  rules.connections = 1;
  rules.crawl_delay = true;
  rules.fetches_per_url = 1;
  ASSIGN_OR_RETURN(const sim::Account account, served->Judge(rules));
  judged.violations = account.TotalViolations();
  const auto share = [](uint64_t part, uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  judged.https_share = share(account.page_answers_https, account.page_answers);
  judged.http2_share = share(account.page_answers_http2, account.page_answers);
  judged.world_https_share = share(account.reachable_https, account.reachable);
  if (judged.violations > 0) judged.account = sim::AccountTable(account);
  ASSIGN_OR_RETURN(judged.index, CountIndexLines(dir));
  std::error_code ignored;
  std::filesystem::remove_all(dir, ignored);
  for (const std::string& file : {files.log, files.ca}) std::filesystem::remove(file, ignored);
  return judged;
}

Status CheckJudged(const JudgedCrawl& judged) {
  if (judged.violations > 0) return Fail(ErrorCode::kCorrupt, "the oracle found violations:\n" + judged.account);
  if (judged.index.all != judged.crawl.archived || judged.index.pages != judged.crawl.pages) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("{} captures and {} pages were made, the index has {} and {}", judged.crawl.archived,
                            judged.crawl.pages, judged.index.all, judged.index.pages));
  }
  return {};
}

}  // namespace portolan::bench
