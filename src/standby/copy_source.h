// CopySource: gives the files of a crawl's checkpoints to a copy on another machine, while the crawl goes on.
//
// The checkpoint that was listed last is held: its files stay until the next one is listed, or until nobody has asked
// for patience_ns. A copy that is slower than that begins with a newer list and keeps what it has.
//
// The crawl's engine and this object use the same HoldingEnv.
//
// Thread: one owner; have() any. Memory bound: the list of one checkpoint (checkpoint_files.h), one answer.
// Disk: the files of one checkpoint more than the crawl needs.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "io/clock.h"
#include "io/holding_env.h"
#include "standby/checkpoint_files.h"
#include "standby/copy_message.h"

namespace portolan {

struct CopySourceOptions {
  CrawlPlaces places;
  uint64_t history = 0;  // of the crawl's files (copy_mark.h)
  int64_t patience_ns = 60 * kSecond;
  // A copy has this checkpoint. Its files are still here during the call.
  std::function<void(const CheckpointFiles& files)> on_have = {};
  // Called before a checkpoint is listed for a copy.
  std::function<void()> on_list = {};
};

class CopySource {
 public:
  // REQUIRES: env and clock outlive this.
  CopySource(HoldingEnv& env, const Clock& clock, CopySourceOptions options)
      : env_(env), clock_(clock), options_(std::move(options)) {}
  ~CopySource();
  CopySource(const CopySource&) = delete;
  CopySource& operator=(const CopySource&) = delete;

  // The encoded answer to an encoded request. Any bytes have an answer.
  std::string Answer(std::string_view request);
  // Releases what was held for a copy that does not ask any more. To be called now and then.
  void Tick();

  // The newest checkpoint that a copy has; 0: none. What it contains may be forgotten elsewhere.
  uint64_t have() const { return have_; }

 private:
  CopyAnswer List(const CopyRequest& request);
  CopyAnswer Read(const CopyRequest& request);
  CopyAnswer Sums(const CopyRequest& request);
  CopyAnswer Have(const CopyRequest& request);
  Status ListNewest();
  void Release();
  bool Holds(uint64_t sequence) const { return listed_.sequence != 0 && listed_.sequence == sequence; }
  std::string PathOf(const CheckpointFile& file) const;

  HoldingEnv& env_;
  const Clock& clock_;
  const CopySourceOptions options_;
  CheckpointFiles listed_;  // sequence 0: nothing is held
  int64_t asked_ns_ = 0;
  std::atomic<uint64_t> have_{0};
};

}  // namespace portolan
