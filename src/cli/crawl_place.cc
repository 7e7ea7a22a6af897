#include "cli/crawl_place.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <vector>

#include "cli/build_info.h"
#include "cli/crawl_dir.h"
#include "cli/status_file.h"
#include "cluster/shard_place.h"
#include "crawl/recovery.h"
#include "crawl/seed_list.h"
#include "crawl/wiring.h"
#include "disk/manifest.h"
#include "io/dry_run_env.h"
#include "io/small_file.h"
#include "outputs/outputs.h"
#include "outputs/warc_directory.h"

namespace portolan {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNewConfigFile = "crawl.toml.new";  // ReplaceSmallFile's
constexpr std::string_view kIndexFile = "index.cdxj";
constexpr std::string_view kBeginAnew =
    "anew";  // in the state's folder: means that the files of this crawl are being removed

std::vector<std::string> NamesIn(const std::string& dir) {
  auto names = Env::Posix().List(dir);
  return names ? *std::move(names) : std::vector<std::string>();
}

// In the state of a crawl that has no settings yet: the lock, its seeds, the manifest that names them.
bool IsOfBeginning(const std::string& name) {
  return name == kStateLock || name.starts_with("MANIFEST-") || name.starts_with(std::string(kSeedQueue) + "-") ||
         name.starts_with(std::string(kSeedList) + "-");
}

// Is there more than the seeds? What cannot be read counts as more.
bool HasCheckpoint(const std::string& state_dir) {
  if (!HasManifest(state_dir)) return false;
  const auto manifest = Manifest::Read(Env::Posix(), state_dir);
  if (!manifest) return true;
  const auto shard = manifest->Find("shard", "shard");
  return !shard || *shard != nullptr;
}

enum class Found : uint8_t { kNothing, kBeginning, kCrawl };

// What is in the directory. kExists: files that are not ours. Another process may begin a crawl meanwhile: it makes
// crawl.toml before all files that a beginning does not have, so that is looked for last.
Result<Found> Look(const std::string& dir) {
  std::error_code error;
  if (!fs::exists(dir, error)) return Found::kNothing;
  if (!fs::is_directory(dir, error)) return Fail(ErrorCode::kExists, fmt::format("{}: is not a directory", dir));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, Env::Posix().List(dir));
  const bool all_ours = std::ranges::all_of(names, [&dir](const std::string& name) {
    return name == kNewConfigFile || name == kShardMark ||
           (JoinPath(dir, name) == StateDirOf(dir) && std::ranges::all_of(NamesIn(StateDirOf(dir)), IsOfBeginning));
  });
  if (fs::exists(JoinPath(dir, kConfigFile), error)) return Found::kCrawl;
  if (all_ours) return Found::kBeginning;
  return Fail(ErrorCode::kExists, fmt::format("{}: is not empty and holds no crawl: choose another --dir", dir));
}

// Has the crawl fetched a page? Data after the checkpoint may be a page, so it counts as one.
bool HasPages(const EngineOptions& options) {
  if (!HasManifest(options.state_dir)) return false;  // no fetch was made yet
  DryRunEnv dry(Env::Posix());
  const auto manifest = Recover(dry, options);
  if (!manifest) return true;
  const auto section = manifest->Find("shard", "shard");
  if (!section) return true;
  if (*section != nullptr && (*section)->numbers.contains("done.fetched")) return true;  // null: it has its seeds alone
  std::vector<DryRunEnv::Cut> lost = dry.Cuts();
  std::ranges::move(dry.Removals(), std::back_inserter(lost));
  return std::ranges::any_of(lost, [&](const DryRunEnv::Cut& cut) { return DirName(cut.path) != options.state_dir; });
}

// Removes what a crawl without a page has left, except its settings.
Status RemoveFiles(const std::string& dir, const EngineOptions& options) {
  Env& env = Env::Posix();
  const auto remove = [&env](const std::string& folder, const auto& is_ours) -> Status {
    for (const std::string& name : NamesIn(folder)) {
      if (is_ours(name)) RETURN_IF_ERROR(env.Remove(JoinPath(folder, name)));
    }
    return {};
  };
  // A half-removed crawl cannot be continued: from here on it can only be started again.
  const std::string mark = JoinPath(options.state_dir, kBeginAnew);
  RETURN_IF_ERROR(ReplaceSmallFile(mark, "", {.durable = true}));
  const std::string prefix = PrefixInNames(options.outputs.warc.files.prefix);
  for (const std::string& archive : options.outputs.warc.directories) {
    RETURN_IF_ERROR(
        remove(archive, [&](const std::string& name) { return ParseArchiveFileName(name, prefix).has_value(); }));
  }
  for (const OutputsOptions::LogPlace& log : options.outputs.Logs()) {
    RETURN_IF_ERROR(remove(log.dir, [&](const std::string& name) { return log.names->Parse(name).has_value(); }));
  }
  RETURN_IF_ERROR(remove(dir, [](const std::string& name) { return name == kIndexFile || name == kStatusFile; }));
  RETURN_IF_ERROR(
      remove(options.state_dir, [](const std::string& name) { return name != kStateLock && name != kBeginAnew; }));
  RETURN_IF_ERROR(SyncDirOnce(env, options.state_dir));
  return env.Remove(mark);
}

// A crawl that has files but no manifest is not treated as a new one: recovery would remove what is left of its state.
Status CheckState(const EngineOptions& options) {
  if (HasManifest(options.state_dir)) return {};
  const auto lost = [&options](const std::string& dir) {
    return Fail(
        ErrorCode::kCorrupt,
        fmt::format("{} has no manifest, but {} has files: the state of this crawl is lost. Nothing was touched; "
                    "put a copy of the state back, or begin a new crawl in another directory",
                    options.state_dir, dir));
  };
  const std::string prefix = PrefixInNames(options.outputs.warc.files.prefix);
  const auto of_archive = [&prefix](const std::string& name) { return ParseArchiveFileName(name, prefix).has_value(); };
  for (const std::string& dir : options.outputs.warc.directories) {
    if (std::ranges::any_of(NamesIn(dir), of_archive)) return lost(dir);
  }
  for (const OutputsOptions::LogPlace& log : options.outputs.Logs()) {
    const auto of_log = [&log](const std::string& name) { return log.names->Parse(name).has_value(); };
    if (std::ranges::any_of(NamesIn(log.dir), of_log)) return lost(log.dir);
  }
  return {};
}

// REQUIRES: the lock is held.
Status BeginAnew(const std::string& dir) {
  const auto exists = [&dir](std::string_view what) {
    return Fail(ErrorCode::kExists,
                fmt::format("{}: a crawl is here already{}. Go on with 'portolan resume {}', or choose another --dir",
                            dir, what, dir));
  };
  RETURN_IF_ERROR(CheckFormat(dir));
  const auto stored = LoadWholeConfig(Env::Posix(), JoinPath(dir, kConfigFile));
  if (!stored) return exists(", whose crawl.toml cannot be read");
  const auto options = WireCrawl(*stored, dir, stored->crawl.seeds, PORTOLAN_VERSION);
  if (!options) return exists("");
  if (!Env::Posix().Exists(JoinPath(options->state_dir, kBeginAnew))) {
    RETURN_IF_ERROR(CheckState(*options));
    if (HasPages(*options)) return exists("");
  }
  return RemoveFiles(dir, *options);
}

Status NoCrawl(const std::string& dir) {
  return Fail(ErrorCode::kNotFound, fmt::format("{}: there is no crawl here (no {})", dir, kConfigFile));
}

}  // namespace

bool HasManifest(const std::string& state_dir) { return std::ranges::any_of(NamesIn(state_dir), IsManifestName); }

bool HoldsCrawl(const std::string& dir) {
  return Env::Posix().Exists(JoinPath(dir, kConfigFile)) && !Env::Posix().Exists(JoinPath(StateDirOf(dir), kBeginAnew));
}

Result<CrawlPlace> CrawlPlace::Begin(const std::string& dir) {
  // Before the lock, too: in a directory that is not ours not even the lock is made.
  ASSIGN_OR_RETURN(const Found before, Look(dir));
  ASSIGN_OR_RETURN(auto lock, LockState(Env::Posix(), StateDirOf(dir)));
  ASSIGN_OR_RETURN(const Found found, Look(dir));
  if (found == Found::kCrawl) RETURN_IF_ERROR(BeginAnew(dir));
  // Leftovers of a start that was killed. There are no foreign files: Look has checked that.
  for (const std::string& name : NamesIn(StateDirOf(dir))) {
    if (name != kStateLock) RETURN_IF_ERROR(Env::Posix().Remove(JoinPath(StateDirOf(dir), name)));
  }
  CrawlPlace place(dir, std::move(lock));
  place.begins_ = true;
  place.made_dir_ = before == Found::kNothing;
  return place;
}

Result<CrawlPlace> CrawlPlace::GoOn(const std::string& dir, const EngineOptions& options) {
  const std::string settings = JoinPath(dir, kConfigFile);
  if (!Env::Posix().Exists(settings)) return std::unexpected(NoCrawl(dir).error());
  if (Env::Posix().Exists(JoinPath(options.state_dir, kBeginAnew))) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("{}: had no page and was being begun anew: 'portolan crawl' does that", dir));
  }
  RETURN_IF_ERROR(CheckState(options));
  ASSIGN_OR_RETURN(auto lock, LockState(Env::Posix(), options.state_dir));
  if (!Env::Posix().Exists(settings)) return std::unexpected(NoCrawl(dir).error());
  return CrawlPlace(dir, std::move(lock));
}

Status CrawlPlace::WriteSettings(const Config& config) {
  return ReplaceSmallFile(JoinPath(dir_, kConfigFile), ConfigToToml(config), {.secret = true, .durable = true});
}

CrawlPlace::~CrawlPlace() {
  const std::string state = StateDirOf(dir_);
  if (lock_ == nullptr || !begins_ || HasCheckpoint(state)) return;
  // Directories are removed only if they are empty. The files that make this a crawl are removed first, the lock last.
  std::error_code ignored;
  for (const std::string_view name : {std::string_view("warc"), std::string_view("log"), kNewConfigFile}) {
    fs::remove(JoinPath(dir_, name), ignored);
  }
  for (const std::string& name : NamesIn(state)) {
    if (name != kStateLock) fs::remove(JoinPath(state, name), ignored);
  }
  fs::remove(JoinPath(dir_, kConfigFile), ignored);
  fs::remove(JoinPath(state, kStateLock), ignored);
  fs::remove(state, ignored);
  if (made_dir_) fs::remove(dir_, ignored);
}

}  // namespace portolan
