// CrawlPlace: the directory of a crawl, locked for this process.
//
// A process that works on a crawl holds the lock in its state, from before the first change to the end. If several are
// started in one directory at once, one gets the lock; the others get kBusy and change nothing. A new crawl goes
// through
//
//   nothing  →  state/lock  →  the seeds and a manifest with them  →  crawl.toml  →  the first checkpoint  →  the first
//   fetch
//
// and may be killed at any point. Before crawl.toml exists, the next `crawl` or `run` starts over. After that, `resume`
// continues the crawl, from its seeds if there is no checkpoint.
//
// A crawl that has no page (for example because its seed was misspelt) may be started again with other seeds and
// settings: its files are removed.
//
// Thread: one. If it is destroyed without a checkpoint, it removes what it made, and only that.

#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "crawl/config.h"
#include "crawl/engine.h"
#include "io/env.h"

namespace portolan {

inline constexpr const char* kConfigFile = "crawl.toml";

// Does the state have a checkpoint, or at least its seeds?
bool HasManifest(const std::string& state_dir);

// Is there a crawl that can be continued, as far as can be seen without opening it? One that was being started again
// cannot.
bool HoldsCrawl(const std::string& dir);

class CrawlPlace {
 public:
  // For a new crawl. kExists: a crawl with pages, or something else, is there. kBusy: another process uses it.
  static Result<CrawlPlace> Begin(const std::string& dir);
  // To continue a crawl; `options` are its own (WireCrawl). kNotFound: there is none. kCorrupt: its state is lost;
  // nothing is changed. kBusy: another process uses it.
  static Result<CrawlPlace> GoOn(const std::string& dir, const EngineOptions& options);
  ~CrawlPlace();
  CrawlPlace(CrawlPlace&&) = default;
  CrawlPlace& operator=(CrawlPlace&&) = delete;

  // Stores the settings. They may hold passwords: only the owner may read the file.
  Status WriteSettings(const Config& config);

 private:
  CrawlPlace(std::string dir, std::unique_ptr<FileLock> lock) : dir_(std::move(dir)), lock_(std::move(lock)) {}

  std::string dir_;
  std::unique_ptr<FileLock> lock_;  // null: moved from
  bool begins_ = false;             // what it made is removed, unless there is a checkpoint
  bool made_dir_ = false;
};

}  // namespace portolan
