#include "crawl/wiring.h"

#include <fmt/core.h>

#include <algorithm>
#include <thread>

#include "crawl/memory_plan.h"
#include "crawl/partition.h"
#include "crawl/phase_plan.h"
#include "crawl/rule_files.h"
#include "io/child_program.h"
#include "io/process.h"
#include "url/link.h"

namespace portolan {
namespace {

// The memory of one of each (docs/memory.md).
constexpr uint64_t kIdleCurlBytes = uint64_t{112} << 10;
constexpr uint64_t kSessionBytes = uint64_t{2} << 10;
constexpr uint64_t kNameBytes = 200;
constexpr uint64_t kExchangeShare = 32;
constexpr uint64_t kShardMebi = 128;  // of memory.total: the least for a crawl with one shard

// True for "host", "host:port" or either with a path, without a scheme.
bool LooksLikeHost(std::string_view text) {
  if (text.empty() || text.find_first_of(" \t@") != std::string_view::npos) return false;
  if (text.front() == '/' || text.front() == '.') return false;
  const std::string_view host = text.substr(0, text.find_first_of("/?#"));
  const size_t colon = host.find(':', host.starts_with('[') ? host.find(']') : 0);
  if (colon == std::string_view::npos) return host.find('.') != std::string_view::npos || host.starts_with('[');
  return host.find_first_not_of("0123456789", colon + 1) == std::string_view::npos && colon + 1 < host.size();
}

AddressFamilies FamiliesOf(IpPreference preference) {
  switch (preference) {
    case IpPreference::kV4First:
      return AddressFamilies::kV4First;
    case IpPreference::kV6First:
      return AddressFamilies::kV6First;
    case IpPreference::kV4Only:
      return AddressFamilies::kV4Only;
    case IpPreference::kV6Only:
      return AddressFamilies::kV6Only;
  }
  return AddressFamilies::kV4First;
}

uint32_t SecondsOf(Config::Duration duration) {
  return static_cast<uint32_t>(std::clamp<int64_t>(duration.count() / 1'000'000'000, 1, 0xffffffff));
}

MemoryPlan MemoryOf(const Config& config) {
  return MemoryPlan::Make({.total = config.memory.total.bytes,
                           .loops = LoopsOf(config),
                           .max_body = config.fetch.max_body.bytes,
                           .max_decoded = config.fetch.max_decoded.bytes,
                           .directories = config.archive.directories.size(),
                           .budget_queues = config.budget.enabled ? config.budget.queues : 0,
                           .content_seen = config.content.seen,
                           .near_seen = config.content.near_duplicates != NearPolicy::kKeep,
                           .continuous = config.crawl.continuous});
}

ShardOptions ShardOf(const Config& config, const MemoryPlan& memory, const std::vector<std::string>& seeds) {
  ShardOptions shard;
  shard.scope = ScopeOf(config, seeds);
  shard.connections = static_cast<uint32_t>(config.fetch.connections);
  shard.max_pages = config.crawl.max_pages;
  shard.max_bytes = config.crawl.max_bytes.bytes;
  shard.max_time_ns = config.crawl.max_time.count();
  shard.depth_limited = config.crawl.max_depth.has_value();
  shard.max_depth = static_cast<uint16_t>(std::min<uint64_t>(config.crawl.max_depth.value_or(0), 0xffff));
  shard.max_hops = static_cast<uint8_t>(std::min<uint64_t>(config.crawl.max_redirects, 255));
  shard.via = config.crawl.via;
  shard.follow_nofollow = config.scope.follow_nofollow;
  shard.follow_embeds = config.scope.embeds;
  shard.sitemaps = config.scope.sitemaps;

  shard.seen.memory = memory.seen;
  shard.gate.memory = memory.gate;
  shard.gate.robots_ttl_s = SecondsOf(config.politeness.robots_ttl);
  shard.gate.unreachable_ttl_s = SecondsOf(config.politeness.robots_retry);
  shard.give_up_quickly = config.politeness.give_up_quickly;
  shard.robots_retry_ns = config.politeness.robots_retry.count();
  if (shard.give_up_quickly) {
    // The frontier tries again itself, for up to two hours; the gate must not do so as well.
    constexpr uint32_t kLongerThanTries = 3 * 3600;
    shard.gate.request_timeout_s = kLongerThanTries;
    shard.gate.unreachable_ttl_s = std::max(shard.gate.unreachable_ttl_s, kLongerThanTries);
  }
  shard.gate.request_timeout_s =
      std::min({shard.gate.request_timeout_s, shard.gate.robots_ttl_s, shard.gate.unreachable_ttl_s});

  // In addition to the plan, and only if a rule limits pages.
  constexpr uint64_t kLeastLimits = uint64_t{1} << 20;
  constexpr uint64_t kMostLimits = uint64_t{64} << 20;
  shard.limits_memory = std::clamp<uint64_t>(config.memory.total.bytes / 128, kLeastLimits, kMostLimits);

  shard.outage.hosts = static_cast<uint32_t>(config.fetch.outage_hosts);

  AdmissionOptions& admission = shard.admission;
  admission.enabled = config.budget.enabled;
  admission.star.memory = memory.star;
  admission.star.budget_function = config.budget.function;
  admission.star.vouch_base = static_cast<uint32_t>(config.budget.vouch_base);
  admission.star.vouch_percent = static_cast<uint32_t>(config.budget.vouch_percent);
  admission.beast.max_queues = static_cast<uint32_t>(config.budget.queues);
  admission.yield.memory = memory.tables / 8;
  admission.hosts.memory = memory.tables / 4;
  admission.content_memory = memory.tables / 8;

  shard.traps.enabled = config.traps.enabled;
  shard.traps.parameters = config.traps.parameters;
  shard.traps.table.memory = memory.tables / 4;
  shard.traps.table.evidence = static_cast<uint32_t>(config.traps.evidence);
  shard.traps.table.least_percent = static_cast<uint32_t>(config.traps.least_new);
  shard.traps.idle.memory = memory.tables / 4;

  shard.content_seen = config.content.seen;
  shard.archived = config.archive.enabled;
  shard.duplicates = config.content.duplicates;
  shard.content.memory = std::max(memory.content, ContentSeenOptions::kMinMemory);

  shard.near_duplicates = config.content.near_duplicates;
  shard.near.memory = std::max(memory.near, NearTable::kMinMemory);

  shard.refresh = RefreshOf(config);
  if (config.crawl.partition == Partition::kPhase) shard.phases = PhasePlan::Of(config).partition;

  FrontierOptions& frontier = shard.frontier;
  frontier.memory = memory.frontier;
  // A host needs about 400 bytes before its first URL.
  frontier.max_hosts = static_cast<uint32_t>(std::clamp<uint64_t>(frontier.memory / 1024, 4096, 10'000'000));
  frontier.back_queues = std::min(3 * shard.connections, frontier.max_hosts / 2);
  frontier.give_up_after = static_cast<uint32_t>(config.politeness.give_up_after);
  frontier.connections_per_host = static_cast<uint32_t>(config.politeness.connections_per_host);
  frontier.politeness = {.host_delay_ns = config.politeness.host_delay.count(),
                         .ip_delay_ns = config.politeness.ip_delay.count(),
                         .host_delay_floor_ns = config.politeness.host_delay_floor.count(),
                         .ip_delay_floor_ns = config.politeness.ip_delay_floor.count(),
                         .delay_factor = DelayFactorOf(config),
                         .min_delay_ns = config.politeness.min_delay.count(),
                         .max_delay_ns = config.politeness.max_delay.count(),
                         .max_retry_after_ns = config.politeness.max_retry_after.count(),
                         .max_back_off_ns = config.politeness.max_back_off.count(),
                         .obey_crawl_delay = config.politeness.crawl_delay};
  return shard;
}

FetchOptions FetchOf(const Config& config, const MemoryPlan& memory, const std::string& version,
                     const std::vector<std::string>& seeds) {
  const Config::Fetch& from = config.fetch;
  FetchOptions fetch;
  fetch.loops = memory.loops;
  fetch.max_in_flight = std::max<size_t>(1, from.connections);
  fetch.max_waiting = std::max<size_t>(1 << 16, from.connections * 2);
  fetch.reuse_connections = from.reuse_connections;
  fetch.idle_connections = from.connections;
  fetch.idle_ns = from.idle_timeout.count();
  fetch.http2 = from.http2;
  fetch.limits.connect_ns = from.connect_timeout.count();
  fetch.limits.first_byte_ns = from.first_byte_timeout.count();
  fetch.limits.total_ns = from.total_timeout.count();
  fetch.limits.lowest_speed = from.lowest_speed.bytes;
  fetch.limits.speed_window_ns = from.speed_window.count();
  fetch.limits.head.max_bytes = from.max_head.bytes;
  fetch.limits.max_body = memory.max_body;
  fetch.limits.max_wire_bytes = memory.max_body + 4 * from.max_head.bytes;
  fetch.curl_connections = std::max<size_t>(1, memory.connections / memory.loops / kIdleCurlBytes);
  fetch.tls_sessions = memory.sessions / memory.loops / kSessionBytes;
  fetch.user_agent = UserAgentOf(config, version);
  fetch.from = config.politeness.from;
  fetch.accept = from.accept;
  fetch.accept_encoding = from.accept_encoding;
  fetch.accept_language = from.accept_language;
  if (HoldsSecrets(config)) fetch.for_seeds = {seeds, from.headers, from.cookies, from.login};
  fetch.verify_tls = from.verify_tls;
  fetch.ca_file = from.ca_file;
  fetch.proxy = from.proxy;
  fetch.dns.servers = from.dns_servers;
  fetch.dns.families = FamiliesOf(from.addresses);
  fetch.dns.allow_private = from.allow_private_addresses;
  fetch.dns.timeout_ns = from.dns_timeout.count();
  fetch.dns.tries = static_cast<int>(from.dns_tries);
  fetch.dns.cache_entries = memory.names / kNameBytes;
  return fetch;
}

LinkOptions LinksOf(const Config& config) {
  return {.rules = config.scope.canonical | CanonicalRules::Needed(),
          .max_length = static_cast<uint32_t>(config.scope.max_url_length)};
}

PageMakerOptions PageOf(const Config& config, const MemoryPlan& memory) {
  PageMakerOptions page;
  page.agent = RobotsTokenOf(config);
  page.link = LinksOf(config);
  page.embeds = config.scope.embeds;
  page.requisites = config.scope.requisites;
  page.similarity = config.page.similarity || config.traps.enabled ||
                    config.content.near_duplicates != NearPolicy::kKeep || config.crawl.continuous;
  page.canonical = config.page.canonical;
  page.alternates = config.page.alternates;
  page.x_robots_tag = config.page.x_robots_tag;
  page.honour_noindex = config.outputs.honour_noindex;
  page.max_links = static_cast<uint32_t>(config.page.max_links);
  page.decode.max_output = memory.max_decoded;
  page.max_html = memory.max_html;
  page.max_link_bytes = memory.max_link_bytes;
  page.archive = config.archive.enabled;
  page.archive_robots = config.archive.robots;
  page.honour_noarchive = config.archive.honour_noarchive;
  page.archive_metadata = config.archive.metadata;
  page.archive_level = static_cast<int>(config.archive.level);
  page.content_seen = config.content.seen;
  page.least_payload = config.content.least_body.bytes;
  page.visits = config.crawl.continuous;
  page.link_log = config.outputs.links;
  page.text_log = config.outputs.text;
  return page;
}

PdfOptions PdfOf(const Config& config) {
  return {.enabled = config.page.pdf,
          .program = ProgramBeside("portolan-pdf"),
          .max_wait_ns = config.page.pdf_time.count(),
          .max_memory = config.page.pdf_memory.bytes};
}

}  // namespace

// Also for a crawl that no longer comes back: its schedule is kept, with the least memory.
ShardRefresh RefreshOf(const Config& config) {
  const MemoryPlan memory = MemoryOf(config);
  constexpr uint64_t kLeast = uint64_t{1} << 20;
  constexpr uint64_t kUsualEntry = 512;
  constexpr double kHours = 24;
  ShardRefresh refresh;
  refresh.enabled = config.crawl.continuous;
  refresh.share = config.freshness.share;
  refresh.visits_per_day = static_cast<double>(config.freshness.visits_per_day);
  RefreshOptions& schedule = refresh.schedule;
  // Half for tables, a quarter for pages that are visited, the rest for the blocks of the calendar and the sample.
  schedule.memory = std::max(memory.fresh / 2, kLeast);
  schedule.max_out_bytes = std::max(memory.fresh / 4, kLeast / 2);
  schedule.max_out = std::clamp<size_t>(schedule.max_out_bytes / kUsualEntry, 64, 16'384);
  schedule.shortest_ns = config.freshness.shortest.count();
  schedule.threshold.least_value =
      static_cast<double>(config.freshness.least_gain.count()) / (kHours * static_cast<double>(schedule.shortest_ns));
  return refresh;
}

size_t LoopsOf(const Config& config) {
  if (config.fetch.loops > 0) return config.fetch.loops;
  return std::max<size_t>(2, std::thread::hardware_concurrency()) - 1;
}

uint32_t ShardsOf(const Config& config, size_t loops) {
  if (config.crawl.shards > 0) return static_cast<uint32_t>(config.crawl.shards);
  return static_cast<uint32_t>(std::clamp<size_t>((loops + kLoopsPerShard - 1) / kLoopsPerShard, 1, kMaxShards));
}

ScopeOptions ScopeOf(const Config& config, const std::vector<std::string>& seeds) {
  return {.mode = config.scope.mode,
          .seeds = seeds,
          .include_domains = config.scope.include_domains,
          .include_prefixes = config.scope.include_prefixes,
          .exclude_domains = config.scope.exclude_domains,
          .exclude_urls = config.scope.exclude,
          .requisites = config.scope.requisites};
}

Result<std::string> CanonicalSeed(std::string_view text, const Config& config) {
  const LinkOptions options = LinksOf(config);
  Link link;
  LinkOutcome outcome = ResolveAbsolute(text, options, link);
  // Users type "example.org/a" and "host:8080". Text with a scheme of its own ("ftp:", "mailto:"), a path or a mail
  // address must not be guessed.
  if (outcome != LinkOutcome::kCrawlable && LooksLikeHost(text)) {
    const std::string with_scheme = "http://" + std::string(text);
    outcome = ResolveAbsolute(with_scheme, options, link);
  }
  if (outcome != LinkOutcome::kCrawlable) {
    std::string why(LinkOutcomeName(outcome));
    std::ranges::replace(why, '-', ' ');
    return Fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is not crawlable ({})", text, why));
  }
  return std::string(link.url.href());
}

std::string ControlPathOf(const std::string& dir) { return JoinPath(dir, "control.sock"); }

std::string ArchiveDirectory(const std::string& dir, const std::string& setting) {
  return setting.starts_with('/') ? setting : JoinPath(dir, setting);
}

Result<EngineOptions> WireCrawl(const Config& config, const std::string& dir, const std::vector<std::string>& seeds,
                                const std::string& version) {
  RETURN_IF_ERROR(ValidateConfig(config));
  const MemoryPlan memory = MemoryOf(config);
  EngineOptions options;
  options.state_dir = JoinPath(dir, "state");
  options.control = ControlPathOf(dir);
  options.shard = ShardOf(config, memory, seeds);
  options.shards = ShardsOf(config, memory.loops);
  if (options.shards > 1 && config.memory.total.bytes / options.shards < kShardMebi << 20) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("crawl.shards: {0} shards need {1}M of memory.total ({2}M each)", options.shards,
                            options.shards * kShardMebi, kShardMebi));
  }
  if (config.crawl.phases > 0 && config.crawl.phases < options.shards) {
    return Fail(ErrorCode::kInvalidArgument, TooFewPhases(config.crawl.phases, options.shards));
  }
  options.seed_list = !config.crawl.seed_list.empty();
  options.block_lists = config.rules.block_lists;
  options.max_block_names = MaxBlockNames(config);
  options.max_seed_names = config.memory.total.bytes / 8 / sizeof(uint64_t);  // an eighth, in addition to the plan
  options.pages_are_goal = config.crawl.max_pages != ForProfile(config.crawl.profile).crawl.max_pages;
  options.fetch = FetchOf(config, memory, version, seeds);
  options.page = PageOf(config, memory);
  options.pdf = PdfOf(config);
  for (const std::string& directory : config.archive.directories) {
    options.outputs.warc.directories.push_back(ArchiveDirectory(dir, directory));
  }
  options.outputs.queue_bytes = memory.answers;  // what waits there has leases, which are the bound
  options.outputs.warc.behind_bytes = memory.answers / options.outputs.warc.directories.size();
  options.outputs.warc.files.prefix = config.archive.prefix;
  options.outputs.warc.files.host = HostName();
  options.outputs.warc.files.file_size = config.archive.file_size.bytes;
  options.outputs.warc.files.index_memory = memory.indexes / options.outputs.warc.directories.size();
  options.outputs.warc.files.info = {.software = "portolan/" + version,
                                     .user_agent = options.fetch.user_agent,
                                     .operator_name = config.archive.operator_name,
                                     .contact = config.politeness.contact_url,
                                     .description = config.archive.description};
  if (config.archive.enabled) options.index_file = JoinPath(dir, "index.cdxj");
  options.outputs.log.files.dir = JoinPath(dir, "log");
  options.outputs.log.enabled = config.log.fetches;
  options.outputs.log.files.file_size = config.log.file_size.bytes;
  options.outputs.links.files.dir = JoinPath(dir, "links");
  options.outputs.links.files.file_size = config.outputs.file_size.bytes;
  options.outputs.links.enabled = config.outputs.links;
  options.outputs.text.files.dir = JoinPath(dir, "text");
  options.outputs.text.files.file_size = config.outputs.file_size.bytes;
  options.outputs.text.enabled = config.outputs.text;
  options.checkpoint_ns = config.checkpoint.interval.count();
  options.answer_bytes = memory.answers;
  if (options.shards > 1) {  // messages between shards use the answers' share
    options.exchange_bytes = memory.answers / kExchangeShare / options.shards;
    options.answer_bytes -= memory.answers / kExchangeShare;
  }
  return options;
}

}  // namespace portolan
