// bench seen: which links of a crawl are new? The same link stream through our DRUM, the batch methods of the seeds,
// two databases (asked link by link, and driven in sorted batches), and a hash set in memory, with the same memory, on
// one core.
//
// Each method runs in a process of its own (its peak memory is then its own), bound to one core. The stream is made
// outside the timed part, in batches of pages. New URLs go to a disk queue, whose traffic counts for all alike (the p
// of the theorems). Before anything is timed, all methods answer a short stream and must agree with the hash set; in
// the timed runs the count and the sum of the hashes of the new URLs must agree too.

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/units.h"
#include "bench/benchmark.h"
#include "bench/flags.h"
#include "bench/scratch_dir.h"
#include "bench/seen/drum_seen.h"
#include "bench/seen/link_stream.h"
#include "bench/seen/lmdb_seen.h"
#include "bench/seen/mercator_b.h"
#include "bench/seen/polybot.h"
#include "bench/seen/ram_seen.h"
#include "bench/seen/recent_seen.h"
#include "bench/seen/rocksdb_seen.h"
#include "disk/queue.h"
#include "io/clock.h"
#include "io/counting_env.h"
#include "plan/portolan_drum_model.h"
#include "plan/url_check_models.h"

namespace portolan::bench {
namespace {

using Json = nlohmann::ordered_json;

enum class Method : uint8_t {
  kDrum,
  kDrumCompact,
  kDrumPlain,
  kMercatorB,
  kPolybot,
  kRocksDb,
  kRocksDbRecent,
  kLmdb,
  kRocksDbBatched,
  kLmdbBatched,
  kRam
};

struct MethodInfo {
  Method method;
  std::string_view key;    // in the JSON
  std::string_view title;  // in the table
};

constexpr MethodInfo kMethods[] = {
    {Method::kDrum, "drum", "DRUM (Portolan)"},
    {Method::kDrumCompact, "drum_compact", "DRUM, compact"},
    {Method::kDrumPlain, "drum_plain", "DRUM, no cache"},
    {Method::kMercatorB, "mercator_b", "Mercator-B"},
    {Method::kPolybot, "polybot", "Polybot"},
    {Method::kRocksDb, "rocksdb", "RocksDB"},
    {Method::kRocksDbRecent, "rocksdb_recent", "RocksDB, cached"},
    {Method::kLmdb, "lmdb", "LMDB"},
    {Method::kRocksDbBatched, "rocksdb_batched", "RocksDB, batched"},
    {Method::kLmdbBatched, "lmdb_batched", "LMDB, batched"},
    {Method::kRam, "ram", "hash set in RAM"},
};

struct Settings {
  std::string dir;
  uint64_t ram = 0;
  uint64_t seed = 1;
};

struct Figures {
  uint64_t links = 0;
  uint64_t text_bytes = 0;
  uint64_t unique = 0;
  uint64_t unique_hash = 0;  // sum of the hashes of the new URLs: the order does not matter
  double seconds = 0;
  double cpu_seconds = 0;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  uint64_t base_rss = 0;
  uint64_t peak_rss = 0;
  uint64_t logged_bytes = 0;  // DRUM's log of texts and buckets
  uint64_t known = 0;         // links that DRUM's cache of recent keys answered

  double checks_per_s() const { return static_cast<double>(links) / seconds; }
  double alpha() const { return static_cast<double>(bytes_read + bytes_written) / static_cast<double>(text_bytes); }
};

// "VmHWM" and friends of /proc/self/status, in bytes.
uint64_t StatusBytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field + ":")) return std::stoull(line.substr(field.size() + 1)) * 1024;
  }
  return 0;
}

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Links of some pages with text of their own: what the timed part is fed.
class PageBatch {
 public:
  void Fill(LinkStream& stream, int pages) {
    links_.clear();
    text_.clear();
    text_.reserve(size_t{32} << 20);  // views into it must not move
    for (int page = 0; page < pages; ++page) {
      for (const Link& link : stream.NextPage()) {
        links_.push_back({link.key, std::string_view(text_.data() + text_.size(), link.text.size())});
        text_.append(link.text);
      }
    }
  }
  std::span<const Link> links() const { return links_; }

 private:
  std::vector<Link> links_;
  std::string text_;
};

Result<std::unique_ptr<UrlSeen>> Make(Method method, Env& env, const UrlSeenOptions& options) {
  switch (method) {
    case Method::kDrum:
      return DrumSeen::Create(env, options, Codec::kLz4, {});
    case Method::kDrumCompact:
      return DrumSeen::Create(env, options, Codec::kZstd, {});
    case Method::kDrumPlain:
      return DrumSeen::Create(env, options, Codec::kLz4, 0);
    case Method::kMercatorB:
      return MercatorB::Create(env, options);
    case Method::kPolybot:
      return Polybot::Create(env, options);
    case Method::kRocksDb:
      return RocksDbSeen::Create(options, false);
    case Method::kRocksDbRecent: {
      const uint64_t cache = options.ram / 32;  // as DRUM's
      UrlSeenOptions rest = options;
      rest.ram -= cache;
      ASSIGN_OR_RETURN(auto behind, RocksDbSeen::Create(rest, false));
      return std::make_unique<RecentSeen>(std::move(behind), cache);
    }
    case Method::kLmdb:
      return LmdbSeen::Create(options, false);
    case Method::kRocksDbBatched:
      return RocksDbSeen::Create(options, true);
    case Method::kLmdbBatched:
      return LmdbSeen::Create(options, true);
    case Method::kRam:
      break;
  }
  return std::make_unique<RamSeen>(options);
}

Result<Figures> Measure(Method method, uint64_t links, const Settings& settings) {
  const std::string dir = JoinPath(settings.dir, "method");
  std::filesystem::remove_all(dir);
  std::filesystem::create_directories(dir + "/queue");
  CountingEnv env(Env::Posix());
  Figures figures;

  ASSIGN_OR_RETURN(const Manifest queue_manifest, Manifest::Open(env, dir + "/queue"));
  DiskQueue::Options queue_options;
  queue_options.name = "next";
  queue_options.durable = false;
  queue_options.codec = method == Method::kDrumCompact ? Codec::kZstd : Codec::kLz4;
  ASSIGN_OR_RETURN(const auto queue, DiskQueue::Open(env, queue_manifest, queue_options));
  Status queue_status;
  UrlSeenOptions options;
  options.dir = dir + "/seen";
  options.ram = settings.ram;
  options.unique = [&](std::string_view text) {
    ++figures.unique;
    figures.unique_hash += Hash64(text);
    if (Status status = queue->Append(text); !status) queue_status = status;
  };
  std::filesystem::create_directories(options.dir);

  PageBatch batch;
  {
    LinkStream warm_up({.seed = settings.seed});
    batch.Fill(warm_up, 1000);  // so that its memory is in the base
  }
  LinkStream stream({.seed = settings.seed});
  figures.base_rss = StatusBytes("VmRSS");

  ASSIGN_OR_RETURN(std::unique_ptr<UrlSeen> seen, Make(method, env, options));
  while (figures.links < links) {
    batch.Fill(stream, 1000);
    const int64_t start = Clock::Real().NowNs();
    const double cpu = CpuSeconds();
    for (const Link& link : batch.links()) {
      RETURN_IF_ERROR(seen->Add(link.key, link.text));
      figures.text_bytes += link.text.size();
    }
    figures.links += batch.links().size();
    if (figures.links >= links) {
      RETURN_IF_ERROR(seen->Finish());
      RETURN_IF_ERROR(queue->Flush());
    }
    figures.seconds += static_cast<double>(Clock::Real().NowNs() - start) * 1e-9;
    figures.cpu_seconds += CpuSeconds() - cpu;
  }
  RETURN_IF_ERROR(queue_status);
  const Traffic other = seen->traffic().value_or(Traffic{});
  figures.bytes_read = env.counters().bytes_read + other.read;
  figures.bytes_written = env.counters().bytes_written + other.written;
  figures.peak_rss = StatusBytes("VmHWM");
  if (const auto* drum = dynamic_cast<const DrumSeen*>(seen.get())) {
    figures.logged_bytes = drum->drum().logged_bytes();
    figures.known = drum->drum().known();
  }
  seen.reset();
  std::filesystem::remove_all(dir);
  return figures;
}

// Runs Measure in a child, bound to one core, and hands its figures over a pipe.
Result<Figures> MeasureApart(Method method, uint64_t links, const Settings& settings) {
  int ends[2];
  if (pipe(ends) != 0) return std::unexpected(Error::FromErrno(errno, "pipe"));
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == -1) return std::unexpected(Error::FromErrno(errno, "fork"));
  if (child == 0) {
    close(ends[0]);
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)) - 1, &cores);
    sched_setaffinity(0, sizeof cores, &cores);
    const auto figures = Measure(method, links, settings);
    if (!figures) {
      std::fprintf(stderr, "portolan: %s\n", figures.error().ToString().c_str());
      _exit(1);
    }
    const bool sent = write(ends[1], &*figures, sizeof *figures) == sizeof *figures;
    _exit(sent ? 0 : 1);
  }
  close(ends[1]);
  Figures figures;
  const bool received = read(ends[0], &figures, sizeof figures) == sizeof figures;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!received || status != 0) return Fail(ErrorCode::kIo, "a method ended without figures (see above)");
  return figures;
}

double ModelAlpha(Method method, const Figures& figures, uint64_t ram);

Result<Json> RunSeenBench(int argc, char** argv, Report& report) {
  std::string n_text = "6M";
  std::string ram_text = "256M";
  std::string only;
  Settings settings;
  CLI::App app("Which links of a crawl are new: DRUM and its rivals on the same stream, one core, the same memory.",
               "portolan bench seen");
  app.add_option("--n", n_text, "links to check, e.g. 100M")->capture_default_str();
  app.add_option("--ram", ram_text, "memory of each method, R")->capture_default_str();
  app.add_option("--only", only, "methods, e.g. drum,drum_compact,rocksdb");
  app.add_option("--dir", settings.dir, "where the files go (default: a temporary folder)");
  app.add_option("--seed", settings.seed, "of the link stream")->capture_default_str();
  RETURN_IF_ERROR(ParseFlags(app, argc, argv));
  ASSIGN_OR_RETURN(const uint64_t n, ParseCount(n_text));
  ASSIGN_OR_RETURN(settings.ram, ParseBytes(ram_text));
  if (n < 100'000) return Fail(ErrorCode::kInvalidArgument, "--n: at least 100K");
  std::optional<ScratchDir> scratch;
  if (settings.dir.empty()) {
    ASSIGN_OR_RETURN(ScratchDir made, ScratchDir::Create("seen"));
    scratch.emplace(std::move(made));
    settings.dir = scratch->path();
  }
  const auto wanted = [&](const MethodInfo& info) {
    return only.empty() || ("," + only + ",").find("," + std::string(info.key) + ",") != std::string::npos;
  };

  // The same answers first.
  constexpr uint64_t kCheckLinks = 300'000;
  ASSIGN_OR_RETURN(const Figures truth, MeasureApart(Method::kRam, kCheckLinks, settings));
  for (const MethodInfo& info : kMethods) {
    if (!wanted(info)) continue;
    ASSIGN_OR_RETURN(const Figures answer, MeasureApart(info.method, kCheckLinks, settings));
    if (answer.unique != truth.unique || answer.unique_hash != truth.unique_hash) {
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("{} finds {} new URLs where {} are", info.title, answer.unique, truth.unique));
    }
  }

  Json json;
  json["ram_budget_bytes"] = settings.ram;
  report.Line("{:<18} {:>9} {:>12} {:>12} {:>11} {:>11} {:>7} {:>8} {:>10}", "method", "links", "checks/s", "per cpu-s",
              "read", "written", "alpha", "model", "peak RSS");
  Json growth = Json::array();
  std::map<uint64_t, Figures> truths;
  for (const uint64_t step : {n / 100, n / 10, n}) {
    if (step < 100'000) continue;
    Json row = {{"n", step}};
    for (const MethodInfo& info : kMethods) {
      if (!wanted(info)) continue;
      ASSIGN_OR_RETURN(const Figures figures, MeasureApart(info.method, step, settings));
      if (!truths.contains(step)) {
        ASSIGN_OR_RETURN(truths[step],
                         info.method == Method::kRam ? figures : MeasureApart(Method::kRam, step, settings));
      }
      if (figures.unique != truths[step].unique || figures.unique_hash != truths[step].unique_hash) {
        return Fail(ErrorCode::kCorrupt, fmt::format("{} finds {} new URLs of {} links where {} are", info.title,
                                                     figures.unique, step, truths[step].unique));
      }
      const double model = ModelAlpha(info.method, figures, settings.ram);
      const std::string key(info.key);
      row[key + "_checks_per_s"] = figures.checks_per_s();
      row[key + "_links"] = figures.links;
      if (info.method != Method::kRam) row["alpha_" + key] = figures.alpha();
      if (model > 0) row["alpha_" + key + "_model"] = model;
      row[key + "_peak_rss_bytes"] = figures.peak_rss - figures.base_rss;
      if (step == n) {
        json[key + "_checks_per_s"] = figures.checks_per_s();
        json[key + "_checks_per_cpu_s"] = static_cast<double>(figures.links) / figures.cpu_seconds;
        json[key + "_links"] = figures.links;
        if (info.method != Method::kRam) json["alpha_" + key] = figures.alpha();
        if (model > 0) json["alpha_" + key + "_model"] = model;
        if (info.method == Method::kDrum) {
          json["base_rss_bytes"] = figures.base_rss;
          json["peak_rss_bytes"] = figures.peak_rss - figures.base_rss;
          json["drum_known_share"] = static_cast<double>(figures.known) / static_cast<double>(figures.links);
          json["unique_share"] = static_cast<double>(figures.unique) / static_cast<double>(figures.links);
          json["url_bytes"] = static_cast<double>(figures.text_bytes) / static_cast<double>(figures.links);
        }
      }
      report.Line("{:<18} {:>9} {:>12} {:>12} {:>11} {:>11} {:>7} {:>8} {:>10}", info.title,
                  FormatCount(static_cast<double>(figures.links)), FormatRate(figures.checks_per_s()),
                  FormatRate(static_cast<double>(figures.links) / figures.cpu_seconds), FormatBytes(figures.bytes_read),
                  FormatBytes(figures.bytes_written),
                  info.method == Method::kRam ? "-" : fmt::format("{:.3f}", figures.alpha()),
                  model > 0 ? fmt::format("{:.3f}", model) : "-", FormatBytes(figures.peak_rss - figures.base_rss));
    }
    growth.push_back(std::move(row));
  }
  json["growth"] = std::move(growth);
  return json;
}

// What the theorems predict for this run; 0 if none applies.
double ModelAlpha(Method method, const Figures& figures, uint64_t ram) {
  const auto links = static_cast<double>(figures.links);
  const double b = static_cast<double>(figures.text_bytes) / links;
  const double p = static_cast<double>(figures.unique) / links;
  constexpr double kDisk = 16e9;  // DrumOptions::disk
  const auto memory = static_cast<double>(ram);
  UrlCheckParams paper;
  paper.unique = p;
  paper.url_bytes = b;
  paper.seen = 0;
  PortolanDrumParams ours;
  ours.url_bytes = b;
  switch (method) {
    case Method::kDrum:
    case Method::kDrumCompact:
    case Method::kDrumPlain: {
      // How well the text compresses and how often the cache answers depend on the stream; the model says what the
      // method makes of the links that are left.
      const double left = links - static_cast<double>(figures.known);
      ours.unique = static_cast<double>(figures.unique) / left;
      ours.text_compression = b / (static_cast<double>(figures.logged_bytes) / left - ours.bucket_id_bytes);
      const PortolanDrumCost cost = PortolanDrumModel(ours, left, memory, kDisk);
      // The model is of a crawl that goes on; this one ends, and its last round rewrites Z however little it answers.
      const double early = std::ceil(cost.rounds) - cost.rounds;
      return cost.alpha * left / links + early * 2 * cost.seen_bytes / static_cast<double>(figures.text_bytes);
    }
    case Method::kMercatorB:
      return MercatorBAlpha(paper, links, memory);
    case Method::kPolybot:
      return PolybotAlpha(paper, links, memory);
    default:
      return 0;
  }
}

PORTOLAN_BENCHMARK("seen", "which links are new: DRUM, Mercator-B, Polybot, RocksDB, LMDB, a hash set", RunSeenBench);

}  // namespace
}  // namespace portolan::bench
