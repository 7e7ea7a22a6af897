// UrlSeen: what every rival of `bench seen` is: URLs in, those never seen before out.
//
// A rival may answer at once or in batches much later, and in any order: only Finish must have delivered everything.
// Each URL of the stream that is new is delivered exactly once, by its text. Writing it to the queue of URLs to come is
// the sink's affair and nobody's traffic.
//
// Memory bound: the `ram` given to a rival covers everything it allocates for keys, text and caches, to within a few
// percent; the stream and the sink are not its own. Thread: one owner. Those written here use no threads of their own;
// for databases that do, the benchmark must bind the process to one core.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace portolan::bench {

// Called with the text of each URL that is new. The view is valid only during the call.
using UniqueSink = std::function<void(std::string_view text)>;

struct UrlSeenOptions {
  std::string dir;             // an empty directory of its own
  uint64_t ram = 256U << 20U;  // bytes: R of the models
  UniqueSink unique;
};

// Bytes that went to and came from files.
struct Traffic {
  uint64_t read = 0;
  uint64_t written = 0;
};

class UrlSeen {
 public:
  virtual ~UrlSeen() = default;

  // REQUIRES: key == Hash64(text).
  virtual Status Add(uint64_t key, std::string_view text) = 0;

  // Every answer is delivered when it returns. Add may follow.
  virtual Status Finish() = 0;

  // Of rivals that do not go through an Env (put a CountingEnv under the others).
  virtual std::optional<Traffic> traffic() const { return std::nullopt; }
};

}  // namespace portolan::bench
