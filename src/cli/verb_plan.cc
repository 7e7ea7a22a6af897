// portolan plan: what a crawl of a given size needs, by the models of docs/models.md.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/units.h"
#include "cli/verb_app.h"
#include "cli/verbs.h"
#include "plan/cluster_plan.h"

namespace portolan {
namespace {

constexpr const char* kExamples =
    "Sizes: 4096, 64K, 256M, 8G, 4T (powers of 1024), 8GB, 4TB (of 1000). Counts: 20K, 5M, 8B, 1T.\n"
    "alpha is the disk traffic of URL checks, in bytes moved for each byte of URL found.\n"
    "\n"
    "Examples:\n"
    "  portolan plan --pages 100M\n"
    "  portolan plan --pages 8B --ram 8GB --disk 60TB --disk-speed 675MB/s    # IRLbot's server\n"
    "  portolan plan --pages 1B --page-bytes 185KB --rate 500 --json          # the web of 2026 at 500 pages/s\n"
    "  portolan plan --pages 100B --nodes 64 --disk 400TB --rate 50K          # on 64 machines like that\n"
    "\n"
    "docs/models.md explains each figure.";

Result<double> ParseFraction(std::string_view text) {
  const auto number = [&](std::string_view part) -> Result<double> {
    double value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value, std::chars_format::fixed);
    if (error != std::errc() || end != part.data() + part.size()) {
      return Fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is not a fraction: write 0.11 or 1/9", text));
    }
    return value;
  };
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return number(text);
  ASSIGN_OR_RETURN(const double above, number(text.substr(0, slash)));
  ASSIGN_OR_RETURN(const double below, number(text.substr(slash + 1)));
  if (below == 0) return Fail(ErrorCode::kInvalidArgument, fmt::format("'{}' divides by zero", text));
  return above / below;
}

Result<uint64_t> ParseSpeed(std::string_view text) {
  if (text.ends_with("/s")) text.remove_suffix(2);
  return ParseBytes(text);
}

// A flag whose value has a unit: checked when flags are read, converted afterwards.
struct UnitFlag {
  std::string text;
  double* target;
  Result<double> (*parse)(std::string_view);
};

template <Result<uint64_t> (*parse)(std::string_view)>
Result<double> AsDouble(std::string_view text) {
  ASSIGN_OR_RETURN(const uint64_t value, parse(text));
  return static_cast<double>(value);
}
constexpr auto kBytes = &AsDouble<&ParseBytes>;
constexpr auto kSpeed = &AsDouble<&ParseSpeed>;
constexpr auto kCount = &AsDouble<&ParseCount>;
// docs/memory.md: memory.total over URLseen's share of it, and the least that a crawl is given.
constexpr double kTotalOverSeen = 8;
constexpr double kLeastTotal = 128 << 20;

std::string Size(double bytes) { return FormatBytes(static_cast<uint64_t>(std::min(bytes, 1.8e19))); }

// "8 billion", "1.5 million", "950": as people say it. FormatCount's " G" is read as gigabytes.
std::string Spoken(double count) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kNames = {
      {{" k", " thousand"}, {" M", " million"}, {" G", " billion"}, {" T", " trillion"}, {" P", " quadrillion"}}};
  const std::string text = FormatCount(count);
  for (const auto& [suffix, name] : kNames) {
    if (text.ends_with(suffix)) return text.substr(0, text.size() - suffix.size()) + std::string(name);
  }
  return text;
}

std::string Alpha(double alpha) { return alpha < 100 ? fmt::format("{:.3f}", alpha) : FormatCount(alpha); }

// One line of the table: a label, one figure per method, "-" if a method is impossible.
template <typename Figure>
void Row(std::string_view label, const CrawlPlan& plan, Figure figure) {
  fmt::print("{:<30}", label);
  for (const MethodPlan& method : plan.methods) fmt::print("{:>15}", method.feasible ? figure(method) : "-");
  fmt::print("\n");
}

// Bits per second received, heads of answers included; requests are a hundredth of it.
double Bandwidth(const PlanInput& input, const CrawlPlan& plan) { return plan.rate * input.page_bytes * 8; }

void PrintPlan(const PlanInput& input, const CrawlPlan& plan) {
  fmt::print("{} pages, {} links found, {} different URLs\n\n", Spoken(input.pages), Spoken(plan.links),
             Spoken(plan.unique_links));
  fmt::print("{:<30}", "URL check");
  for (const MethodPlan& method : plan.methods) fmt::print("{:>15}", method.name);
  fmt::print("\n");
  Row("alpha", plan, [](const MethodPlan& m) { return Alpha(m.alpha); });
  Row("buckets", plan, [](const MethodPlan& m) { return m.buckets > 0 ? FormatCount(m.buckets) : "-"; });
  Row("keys of a bucket or buffer", plan, [](const MethodPlan& m) { return Size(m.bucket_bytes); });
  Row("links per round", plan, [](const MethodPlan& m) { return Spoken(m.round_links); });
  Row("rounds", plan, [](const MethodPlan& m) { return Spoken(std::ceil(m.rounds)); });
  Row("URLseen on disk", plan, [](const MethodPlan& m) { return Size(m.seen_bytes); });
  Row("bucket and text files", plan, [](const MethodPlan& m) { return Size(m.round_disk_bytes); });
  Row("pages/s by disk, no cache", plan, [](const MethodPlan& m) { return FormatCount(m.disk_pages_per_s); });
  Row("best cache", plan,
      [](const MethodPlan& m) { return m.cache.cache_bytes > 0 ? Size(m.cache.cache_bytes) : "none"; });
  Row("  links it lets through", plan, [](const MethodPlan& m) { return fmt::format("{:.0f} %", m.miss * 100); });
  Row("  alpha of those", plan, [](const MethodPlan& m) { return Alpha(m.cached_alpha); });
  Row("pages/s with it", plan, [](const MethodPlan& m) { return FormatCount(m.cache.pages_per_s); });
  for (const MethodPlan& method : plan.methods) {
    if (!method.feasible) fmt::print("{}: {}\n", method.name, method.why_not);
  }

  fmt::print("\nDisk at the end\n");
  fmt::print("  {:<28}{:>15}\n", "URLseen", Size(plan.methods[0].seen_bytes));
  fmt::print("  {:<28}{:>15}\n", "bucket and text files", Size(plan.methods[0].round_disk_bytes));
  fmt::print("  {:<28}{:>15}\n", "queues of URLs to come", Size(plan.queue_bytes));
  fmt::print("  {:<28}{:>15}\n", "archived pages", Size(plan.archive_bytes));
  fmt::print("  {:<28}{:>15}   {} {}\n", "together", Size(plan.disk_bytes),
             plan.fits ? "fits into" : "DOES NOT FIT into", Size(input.disk));
  fmt::print("\nSustainable rate: {} (URL checks {}, archive {}, CPU {})\n",
             FormatRate(plan.sustainable_pages_per_s, "pages"), FormatRate(plan.methods[0].cache.pages_per_s),
             FormatRate(plan.archive_pages_per_s), FormatRate(input.cpu_pages_per_s));
  fmt::print("Duration at {}: {}\n", FormatRate(plan.rate, "pages"), FormatDuration(plan.duration_s));
  fmt::print("Bandwidth at that rate: {}bit/s for pages of {}\n", FormatCount(Bandwidth(input, plan)),
             Size(input.page_bytes));
  if (plan.rate > plan.sustainable_pages_per_s * 1.000001) {
    fmt::print("That rate is more than this machine sustains.\n");
  }
}

// What all nodes do together; the table before it was for one of them.
void PrintCluster(const ClusterInput& input, const ClusterPlan& plan) {
  const auto line = [](std::string_view label, const std::string& figure) {
    fmt::print("  {:<28}{:>15}\n", label, figure);
  };
  fmt::print("\nAll {:.0f} nodes\n", input.nodes);
  line("pages/s", FormatCount(plan.pages_per_s));
  line("links to another node", fmt::format("{:.1f} %", plan.crossing * 100));
  line("links exchanged", FormatRate(plan.exchanged_links_per_s));
  line("  in the whole crawl", Spoken(plan.exchanged_links));
  line("NATS takes", Size(plan.nats_in_bytes_per_s) + "/s");
  line("NATS gives", Size(plan.nats_out_bytes_per_s) + "/s");
  line("a node sends, and receives", FormatCount(plan.node_out_bytes_per_s * 8) + "bit/s");
  line("processor time for it", fmt::format("{:.1f} %", (1 - plan.efficiency) * 100));
  line("streams on disk, per node", Size(plan.stream_disk_bytes));
  line("  full for a node away for", FormatDuration(plan.stream_full_s));
  line(fmt::format("disks of {} per node", Size(input.crawl.disk)), FormatCount(plan.disks));
  if (std::isfinite(plan.least_ram)) {
    line("RAM for URL checks per node", Size(plan.least_ram));
    line("  so memory.total", Size(std::max(plan.least_ram * kTotalOverSeen, kLeastTotal)));
  } else {
    fmt::print("No RAM is enough for URL checks at that rate.\n");
  }
}

nlohmann::ordered_json ToJson(const ClusterInput& input, const ClusterPlan& plan) {
  const auto finite = [](double value) { return std::isfinite(value) ? nlohmann::ordered_json(value) : nullptr; };
  return {{"nodes", input.nodes},
          {"pages", input.crawl.pages},
          {"pages_per_s", plan.pages_per_s},
          {"crossing_share", plan.crossing},
          {"exchanged_links", plan.exchanged_links},
          {"exchanged_links_per_s", plan.exchanged_links_per_s},
          {"nats_in_bytes_per_s", plan.nats_in_bytes_per_s},
          {"nats_out_bytes_per_s", plan.nats_out_bytes_per_s},
          {"node_out_bytes_per_s", plan.node_out_bytes_per_s},
          {"efficiency", plan.efficiency},
          {"stream_disk_bytes", plan.stream_disk_bytes},
          {"stream_full_s", finite(plan.stream_full_s)},
          {"disks", plan.disks},
          {"least_ram_bytes", finite(plan.least_ram)}};
}

nlohmann::ordered_json ToJson(const PlanInput& input, const CrawlPlan& plan) {
  nlohmann::ordered_json methods = nlohmann::ordered_json::array();
  for (const MethodPlan& m : plan.methods) {
    if (!m.feasible) {
      methods.push_back({{"name", m.name}, {"feasible", false}, {"why_not", m.why_not}});
      continue;
    }
    methods.push_back({{"name", m.name},
                       {"feasible", true},
                       {"alpha", m.alpha},
                       {"buckets", m.buckets},
                       {"bucket_bytes", m.bucket_bytes},
                       {"round_links", m.round_links},
                       {"rounds", std::ceil(m.rounds)},
                       {"seen_bytes", m.seen_bytes},
                       {"round_disk_bytes", m.round_disk_bytes},
                       {"disk_pages_per_s", m.disk_pages_per_s},
                       {"cache_bytes", m.cache.cache_bytes},
                       {"cache_miss", m.miss},
                       {"cached_alpha", m.cached_alpha},
                       {"pages_per_s", m.cache.pages_per_s}});
  }
  return {{"pages", input.pages},
          {"links", plan.links},
          {"unique_links", plan.unique_links},
          {"methods", methods},
          {"queue_bytes", plan.queue_bytes},
          {"archive_bytes", plan.archive_bytes},
          {"disk_bytes", plan.disk_bytes},
          {"fits", plan.fits},
          {"archive_pages_per_s", plan.archive_pages_per_s},
          {"sustainable_pages_per_s", plan.sustainable_pages_per_s},
          {"rate", plan.rate},
          {"duration_s", plan.duration_s},
          {"bandwidth_bits_per_s", Bandwidth(input, plan)}};
}

}  // namespace

int RunPlan(int argc, char** argv) {
  ClusterInput cluster;
  PlanInput& input = cluster.crawl;
  bool json = false;
  VerbApp app("plan",
              "Computes what a crawl needs: disk traffic, rates, space and time, by the models of docs/models.md.");
  app.Footer(kExamples);
  std::vector<UnitFlag> flags;
  flags.reserve(24);  // options keep pointers to the texts
  const auto add = [&](const std::string& name, double& target, Result<double> (*parse)(std::string_view),
                       const std::string& type, const std::string& help) {
    flags.push_back({"", &target, parse});
    return app->add_option(name, flags.back().text, help)->type_name(type)->check(Checked(parse, ""));
  };
  add("--pages", input.pages, kCount, "COUNT", "Pages to crawl")->required()->group("The crawl");
  add("--links", input.links_per_page, &ParseFraction, "NUMBER", "Links per page [59]")->group("The crawl");
  add("--url-bytes", input.url_bytes, kBytes, "SIZE", "Mean length of a URL [110]")->group("The crawl");
  add("--unique", input.unique, &ParseFraction, "FRACTION", "Share of links never seen before [1/9]")
      ->group("The crawl");
  add("--seen", input.seen, kCount, "COUNT", "URLs known at the start [0]")->group("The crawl");
  add("--page-bytes", input.page_bytes, kBytes, "SIZE", "Mean size of a page as it arrives [26KB]")->group("The crawl");
  add("--rate", input.rate, kCount, "COUNT", "Pages/s for which the duration is computed [the sustainable rate]")
      ->group("The crawl");
  add("--host-delay", input.host_delay_s, &ParseSeconds, "TIME", "Between two visits to a host [40s]")
      ->group("The crawl");
  add("--ram", input.ram, kBytes, "SIZE", "For URL checks and their cache [4G]")->group("The machine");
  add("--disk", input.disk, kBytes, "SIZE", "For everything; a tenth may hold buckets [4TB]")->group("The machine");
  add("--disk-speed", input.disk_bytes_per_s, kSpeed, "SIZE/s", "Reading and writing [500MB/s]")->group("The machine");
  add("--check-share", input.check_share, &ParseFraction, "FRACTION", "Of that speed for URL checks [0.15]")
      ->group("The machine");
  add("--cpu-rate", input.cpu_pages_per_s, kCount, "COUNT", "Pages/s that the CPU could crawl [4000]")
      ->group("The machine");
  add("--text-ratio", input.drum.text_compression, &ParseFraction, "NUMBER",
      "Compression of URL text: lz4 2.9, zstd 3.9 [2.9]")
      ->group("The machine");
  add("--archive-ratio", input.archive_compression, &ParseFraction, "NUMBER", "Compression of archived pages [4]")
      ->group("The machine");
  add("--nodes", cluster.nodes, kCount, "COUNT", "Machines like this one, which share the crawl [1]")
      ->group("Several machines");
  add("--external", cluster.external, &ParseFraction, "FRACTION", "Share of links to other domains [1/4]")
      ->group("Several machines");
  add("--link-bytes", cluster.link_bytes, &ParseFraction, "NUMBER", "Bytes of a link between nodes, compressed [33.3]")
      ->group("Several machines");
  add("--replicas", cluster.replicas, kCount, "COUNT", "Of each node's stream [1]")->group("Several machines");
  add("--stream-bytes", cluster.stream_bytes, kBytes, "SIZE", "Most that a node's stream holds [1G]")
      ->group("Several machines");
  app->add_flag("--json", json, "One JSON object instead of the table");
  if (const auto code = app.Parse(argc, argv)) return *code;
  for (const UnitFlag& flag : flags) {
    if (!flag.text.empty()) *flag.target = flag.parse(flag.text).value_or(0);
  }
  const auto plan = MakeClusterPlan(cluster);
  if (!plan) return Complain(plan.error());
  const bool several = cluster.nodes > 1;
  PlanInput node = input;
  node.pages /= cluster.nodes;
  node.cpu_pages_per_s *= plan->efficiency;
  if (json) {
    nlohmann::ordered_json object = ToJson(node, plan->node);
    if (several) object = {{"cluster", ToJson(cluster, *plan)}, {"node", object}};
    fmt::print("{}\n", object.dump());
    return kExitOk;
  }
  if (several) {
    fmt::print("{} pages on {:.0f} nodes, each of them:\n\n", Spoken(input.pages), cluster.nodes);
  }
  PrintPlan(node, plan->node);
  if (several) PrintCluster(cluster, *plan);
  return kExitOk;
}

}  // namespace portolan
