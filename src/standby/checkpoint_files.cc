#include "standby/checkpoint_files.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "disk/manifest.h"
#include "outputs/crawl_log.h"
#include "outputs/log_file_name.h"
#include "outputs/outputs.h"
#include "outputs/warc_directory.h"

namespace portolan {
namespace {

constexpr int kAttempts = 100;  // a crawl does not commit this often while its files are listed
constexpr std::string_view kLockName = "lock";

struct LogPlaceNames {
  std::string_view section;
  const LogNames* names;
};
constexpr uint32_t kFirstLogPlace = 1;
const std::array<LogPlaceNames, 3>& LogPlaces() {
  static const std::array<LogPlaceNames, 3> places = {{
      {CrawlLog::kName, &kCrawlLogNames},
      {kLinkLog, &kLinkLogNames},
      {kTextLog, &kTextLogNames},
  }};
  return places;
}

Result<uint64_t> SizeOf(Env& env, const std::string& path) {
  ASSIGN_OR_RETURN(const auto file, env.Open(path, OpenMode::kRead));
  return file->Size();
}

// A listing in progress. kNotFound of any step: a later checkpoint removed or renamed a file; begin again.
class Lister {
 public:
  Lister(Env& env, const CrawlPlaces& places, const Manifest& manifest)
      : env_(env), places_(places), manifest_(manifest) {}

  Result<CheckpointFiles> List() {
    for (const ManifestSection& section : manifest_.sections()) {
      for (const auto& file : section.files) Add(CrawlPlaces::kStatePlace, file.name, file.length);
    }
    for (uint32_t i = 0; i < LogPlaces().size(); ++i) RETURN_IF_ERROR(AddLog(kFirstLogPlace + i, LogPlaces()[i]));
    RETURN_IF_ERROR(AddArchive());
    std::ranges::sort(found_.files);
    found_.sequence = manifest_.sequence();
    found_.manifest = FormatManifest(manifest_.sequence(), manifest_.sections());
    return std::move(found_);
  }

 private:
  void Add(uint32_t place, std::string name, uint64_t length) {
    found_.files.push_back({.place = place, .name = std::move(name), .length = length});
  }
  Status AddWhole(uint32_t place, const std::string& name) {
    ASSIGN_OR_RETURN(const uint64_t size, SizeOf(env_, JoinPath(*places_.Dir(place), name)));
    Add(place, name, size);
    return {};
  }

  Status AddLog(uint32_t place, const LogPlaceNames& log) {
    ASSIGN_OR_RETURN(const auto output, FindOutput(manifest_, log.section));
    const std::string* const dir = places_.Dir(place);
    if (!output || output->lanes.empty() || dir == nullptr) return {};
    const OutputMark mark = output->lanes.front();
    ASSIGN_OR_RETURN(const auto files, ListLogFiles(env_, *dir, *log.names));
    for (const auto& [serial, file] : files) {
      if (serial > mark.serial) continue;
      const std::string name = log.names->Name(serial) + (file.packed ? std::string(kPackedSuffix) : std::string());
      if (serial < mark.serial || mark.length == 0) {
        RETURN_IF_ERROR(AddWhole(place, name));
      } else if (file.packed) {
        return Fail(ErrorCode::kNotFound, name + " was packed meanwhile");
      } else {
        Add(place, name, mark.length);
      }
    }
    if (mark.length > 0 && !files.contains(mark.serial)) {
      return Fail(ErrorCode::kNotFound, log.names->Name(mark.serial) + " is missing; the checkpoint names it");
    }
    return {};
  }

  Status AddArchive() {
    ASSIGN_OR_RETURN(const auto output, FindOutput(manifest_, WarcOutput::kName));
    if (!output) return {};
    if (output->lanes.size() > places_.warc.size()) {
      return Fail(ErrorCode::kInvalidArgument, "the checkpoint has more archive directories than are known");
    }
    for (uint32_t lane = 0; lane < output->lanes.size(); ++lane) RETURN_IF_ERROR(AddLane(lane, output->lanes[lane]));
    return {};
  }
  Status AddLane(uint32_t lane, const OutputMark& mark) {
    using Kind = ArchiveFileName::Kind;
    const uint32_t place = CrawlPlaces::kFirstWarcPlace + lane;
    ASSIGN_OR_RETURN(const auto names, env_.List(places_.warc[lane]));
    bool grown = mark.length == 0;
    for (const std::string& name : names) {
      const auto parsed = ParseArchiveFileName(name, PrefixInNames(places_.prefix));
      if (!parsed || parsed->serial > mark.serial) continue;
      const bool grows = parsed->serial == mark.serial && mark.length > 0;
      if (!grows) {
        if (parsed->kind == Kind::kWarc || parsed->kind == Kind::kIndex) RETURN_IF_ERROR(AddWhole(place, name));
      } else if (parsed->kind == Kind::kWarc) {
        Add(place, name, mark.length);
        grown = true;
      } else if (parsed->kind == Kind::kPart) {
        Add(place, name, mark.index_length);
      }
    }
    if (grown) return {};
    return Fail(ErrorCode::kNotFound, places_.warc[lane] + ": the file that grows is missing");
  }

  Env& env_;
  const CrawlPlaces& places_;
  const Manifest& manifest_;
  CheckpointFiles found_;
};

}  // namespace

const std::string* CrawlPlaces::Dir(uint64_t place) const {
  const std::array<const std::string*, kFirstWarcPlace> fixed = {&state, &log, &links, &text};
  const std::string* dir = nullptr;
  if (place < fixed.size()) {
    dir = fixed[place];
  } else if (place - fixed.size() < warc.size()) {
    dir = &warc[place - fixed.size()];
  }
  return dir == nullptr || dir->empty() ? nullptr : dir;
}

Result<CheckpointFiles> ListCheckpoint(Env& env, const CrawlPlaces& places) {
  for (int attempt = 1;; ++attempt) {
    const auto manifest = Manifest::Read(env, places.state);
    Status problem;
    if (manifest) {
      // Before its name is durable a manifest may be undone, and with it the bytes that it names.
      RETURN_IF_ERROR(SyncDirOnce(env, places.state));
      auto files = Lister(env, places, *manifest).List();
      if (files) return files;
      problem = std::unexpected(files.error());
    } else {
      problem = std::unexpected(manifest.error());
    }
    if (problem.error().code() != ErrorCode::kNotFound || attempt == kAttempts) return std::unexpected(problem.error());
  }
}

bool IsCrawlFile(const CrawlPlaces& places, uint32_t place, std::string_view name) {
  if (place == CrawlPlaces::kStatePlace) return name != kLockName;
  if (place < CrawlPlaces::kFirstWarcPlace) {
    return LogPlaces()[place - kFirstLogPlace].names->Parse(name).has_value();
  }
  return ParseArchiveFileName(name, PrefixInNames(places.prefix)).has_value();
}

}  // namespace portolan
