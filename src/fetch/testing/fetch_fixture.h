// Fetcher: FetchLoops with a handler that keeps every answer until the test asks for it. What an answer holds of a byte
// budget is given back at once.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "fetch/fetch_handler.h"
#include "fetch/fetch_loops.h"
#include "fetch/fetch_options.h"
#include "fetch/testing/print_outcome.h"

namespace portolan {

class Fetcher : public FetchHandler {
 public:
  explicit Fetcher(FetchOptions options = {}, bool allow_loopback = true);

  // Sends a task to 127.0.0.1 and returns its number.
  uint64_t Send(const std::string& url);
  uint64_t Send(FetchTask task);
  FetchResponse Wait(uint64_t id);  // fails the program after a minute
  FetchResponse Get(const std::string& url) { return Wait(Send(url)); }
  Resolution Resolve(const std::string& name);
  // Until so many answers are here, in all.
  void WaitForCount(size_t count);
  size_t count();
  std::vector<FetchResponse> TakeAll();
  size_t loop_of(uint64_t id);
  FetchLoops& loops() { return *loops_; }

  void OnResponse(FetchResponse&& response, size_t loop) override;
  void OnResolved(Resolution&& resolution) override;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, FetchResponse> responses_;  // guarded by mutex_
  std::map<uint64_t, size_t> loop_of_;           // guarded by mutex_
  std::optional<Resolution> resolved_;           // guarded by mutex_
  size_t count_ = 0;                             // guarded by mutex_
  uint64_t last_id_ = 0;
  std::unique_ptr<FetchLoops> loops_;  // last: ends first
};

// Short limits, so that a test of them is short.
FetchOptions QuickOptions();

}  // namespace portolan
