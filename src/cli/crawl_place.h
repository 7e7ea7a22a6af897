// CrawlPlace: the directory of a crawl, taken for this process.
//
// Whoever works on a crawl holds the lock in its state, from before the first change to the end. So of several that are
// started in one directory at once one gets it; the others are told (kBusy) and touch nothing. A new crawl goes through
//
//   nothing  →  state/lock  →  the seeds and a manifest with them  →  crawl.toml  →  the first checkpoint  →  the first
//   fetch
//
// and may be killed at any point: what stands to the left of crawl.toml is a beginning that the next `crawl` or `run`
// makes again, what stands to the right of it is a crawl that `resume` goes on with, from its seeds where there is no
// checkpoint.
//
// A crawl that has no page (its seed was misspelt, say) may be begun anew, with other seeds and settings: its files go.
//
// Thread: one. A place that ends without a checkpoint takes away what it made, and only that.

#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "crawl/config.h"
#include "crawl/engine.h"
#include "io/env.h"

namespace portolan {

inline constexpr const char* kConfigFile = "crawl.toml";

// Has the state a checkpoint, or at least its seeds?
bool HasManifest(const std::string& state_dir);

// Is there a crawl that can go on, as far as one can see from outside? One that was being begun anew cannot.
bool HoldsCrawl(const std::string& dir);

class CrawlPlace {
 public:
  // For a crawl that begins. kExists: a crawl with pages, or something else, is there. kBusy: another process has it.
  static Result<CrawlPlace> Begin(const std::string& dir);
  // For a crawl that goes on; `options` are what it has (WireCrawl). kNotFound: there is none. kCorrupt: its state is
  // lost; nothing is touched. kBusy: another process has it.
  static Result<CrawlPlace> GoOn(const std::string& dir, const EngineOptions& options);
  ~CrawlPlace();
  CrawlPlace(CrawlPlace&&) = default;
  CrawlPlace& operator=(CrawlPlace&&) = delete;

  // The settings, as they are from now on. They may hold passwords: nobody else may read them.
  Status WriteSettings(const Config& config);

 private:
  CrawlPlace(std::string dir, std::unique_ptr<FileLock> lock) : dir_(std::move(dir)), lock_(std::move(lock)) {}

  std::string dir_;
  std::unique_ptr<FileLock> lock_;  // null: moved from
  bool begins_ = false;             // what it made goes, unless a checkpoint stands
  bool made_dir_ = false;
};

}  // namespace portolan
