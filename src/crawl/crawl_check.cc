#include "crawl/crawl_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "crawl/hash_key_store.h"
#include "crawl/log_check.h"
#include "crawl/recovery.h"
#include "crawl/shard.h"
#include "disk/inspect.h"
#include "disk/manifest.h"
#include "io/dry_run_env.h"

namespace portolan {
namespace {

class Checker {
 public:
  Checker(Env& env, const EngineOptions& options, const CrawlCheckOptions& how)
      : env_(env), dry_(env), options_(options), how_(how) {
    sink_.error = [this](const std::string& what) { Report(what); };
    sink_.read = [this](uint64_t bytes) {
      read_ += bytes;
      if (how_.progress) how_.progress(read_, all_);
    };
  }

  Result<CrawlCheck> Run() {
    if (!env_.Exists(options_.state_dir)) {
      Report(fmt::format("{}: missing: there is no checkpoint", options_.state_dir));
      return std::move(check_);
    }
    std::unique_ptr<FileLock> lock;
    const std::string lock_path = JoinPath(options_.state_dir, kStateLock);
    if (env_.Exists(lock_path)) {
      auto locked = env_.Lock(lock_path);
      if (locked) {
        lock = *std::move(locked);
      } else if (locked.error().code() == ErrorCode::kBusy) {
        return Fail(ErrorCode::kBusy, options_.state_dir + ": a crawl is running here; stop it first");
      }  // otherwise the directory is not writable, so no crawl runs in it
    }
    Measure();
    auto manifest = Recover(dry_, options_);
    if (!manifest) {  // damaged, so nothing is cut
      Report(manifest.error());
      return std::move(check_);
    }
    Note();
    check_.sequence = manifest->sequence();
    if (check_.sequence == 0) Report(fmt::format("{}: there is no checkpoint", options_.state_dir));
    State(*manifest);
    Archive(*manifest);
    if (how_.repair && check_.ok()) {  // last, because what recovery cuts is gone
      if (const auto recovered = Recover(env_, options_); !recovered) Report(recovered.error());
    }
    return std::move(check_);
  }

 private:
  void Report(const std::string& what) {
    if (++check_.error_count <= CrawlCheck::kMaxErrors) check_.errors.push_back(what);
  }
  void Report(const Error& error) { Report(error.message()); }
  void Report(const Status& status) {
    if (!status) Report(status.error());
  }

  // Notes what recovery would cut or remove. The round that opening a DRUM starts comes later and does not count.
  void Note() {
    for (const DryRunEnv::Cut& cut : dry_.Cuts()) check_.torn.push_back({cut.path, cut.bytes, false});
    for (const DryRunEnv::Cut& cut : dry_.Removals()) check_.torn.push_back({cut.path, cut.bytes, true});
    for (const CrawlCheck::Torn& torn : check_.torn) check_.torn_bytes += torn.bytes;
  }

  // Finds how many bytes there are to read, for the progress.
  void Measure() {
    std::vector<std::string> dirs = options_.outputs.Directories();
    dirs.push_back(options_.state_dir);
    for (const std::string& dir : dirs) {
      const auto names = env_.List(dir);
      if (!names) continue;
      for (const std::string& name : *names) {
        const auto file = env_.Open(JoinPath(dir, name), OpenMode::kRead);
        if (file) all_ += (*file)->Size();
      }
    }
  }

  void State(const Manifest& manifest) {
    for (const ManifestSection& section : manifest.sections()) {
      for (const ManifestSection::FileEntry& file : section.files) {
        ++check_.state_files;
        if (const auto whole = CheckFile(dry_, JoinPath(manifest.dir(), file.name)); !whole) Report(whole.error());
        sink_.read(file.length);
      }
    }
    if (!check_.ok()) return;  // the damage is reported; opening the shards would only report it again
    Report(OpenShardsAlone(dry_, manifest, options_, [this](const Shard& shard) {
      Report(shard.frontier().CheckInvariants());
      Conserve(shard);
    }));
  }

  // Checks that no URL of the shard is lost or there twice, by comparing the counts of its parts.
  void Conserve(const Shard& shard) {
    const UrlSeenCounts seen = shard.seen().counts();
    const GateCounts& gate = shard.gate().counts();
    const Shard::Census census = shard.TakeCensus();
    check_.urls_known += seen.unique;
    check_.urls_done += census.finished;
    check_.urls_waiting += census.urls() - census.finished;
    check_.archived += shard.counts().archived;
    if (census.urls() != seen.unique) {
      Report(fmt::format(
          "urls: {} were new, but {} are accounted for: {} wait for their budget, {} at the gate, {} in the frontier "
          "(without {} requests for robots.txt), {} are parked, {} are done (of which {} are visited again just now)",
          seen.unique, census.urls(), census.admission, census.gate, census.frontier + census.in_flight - census.robots,
          census.robots, census.parked, census.finished, census.visiting));
    }
    if (shard.refresh() != nullptr) {
      const RefreshCounts pages = shard.refresh()->counts();
      if (pages.added != pages.pages + pages.out + pages.ended) {
        Report(fmt::format("visits: {} pages were scheduled, but {} wait, {} are being visited and {} have ended",
                           pages.added, pages.pages, pages.out, pages.ended));
      }
    }
    // A URL whose rules were too old when its turn came has entered twice. One that is out of scope now may not have
    // entered at all, and one that is parked may not have.
    if (seen.unique - std::min(seen.unique, census.admission) >
        gate.entered + shard.counts().excluded + census.parked) {
      Report(fmt::format("urls: {} were new and {} wait for their budget, but only {} reached the gate", seen.unique,
                         census.admission, gate.entered));
    }
    const uint64_t left = gate.allowed + gate.denied_rules + gate.denied_unreachable;
    if (gate.entered != left + census.gate) {
      Report(
          fmt::format("urls: {} reached the gate, but {} left it and {} wait there", gate.entered, left, census.gate));
    }
  }

  void Archive(const Manifest& manifest) {
    const auto finished = ArchiveIsFinished(manifest);
    if (!finished) return Report(finished.error());
    ArchiveCheckOptions archive{.directories = options_.outputs.warc.directories,
                                .prefix = options_.outputs.warc.files.prefix,
                                .index_file = options_.index_file,
                                .finished = *finished,
                                .sort = {.dir = how_.temp_dir},
                                .key = HashKeyStore::ReadOr(manifest, HashKey::Known()).value_or(HashKey::Known())};
    Report(CheckArchive(dry_, env_, archive, sink_, check_.archive));
    Report(CheckCrawlLog(dry_, options_.outputs.log.files.dir, sink_, check_.archive));
    Report(CheckRecordLogs(dry_, env_, manifest, options_.outputs, {.dir = how_.temp_dir}, sink_, check_.logs));
    if (check_.ok() && check_.archive.captures != check_.archived) {
      Report(fmt::format("archive: it has {} captures, but the crawl counted {}", check_.archive.captures,
                         check_.archived));
    }
  }

  Env& env_;
  DryRunEnv dry_;
  const EngineOptions& options_;
  const CrawlCheckOptions& how_;
  CheckSink sink_;
  CrawlCheck check_;
  uint64_t read_ = 0;
  uint64_t all_ = 0;
};

}  // namespace

Result<CrawlCheck> CheckCrawl(Env& env, const EngineOptions& options, const CrawlCheckOptions& how) {
  return Checker(env, options, how).Run();
}

}  // namespace portolan
