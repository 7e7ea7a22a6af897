// UrlSeen: what every rival of `bench seen` is: URLs in, those never seen before out.
//
// A rival may answer at once or in batches much later, and in any order: only Finish must have delivered everything.
// Each URL of the stream that is new is delivered exactly once, by its text.
//
// Memory bound: the `ram` given to a rival covers everything it allocates for keys, text and caches, to within a few
// percent; the stream and the sink are not its own. Thread: one owner; rivals use no threads of their own, so that
// what is measured is one core.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace portolan::bench {

// Called with the text of each URL that is new. The view dies when the call returns.
using UniqueSink = std::function<void(std::string_view text)>;

struct UrlSeenOptions {
  std::string dir;             // an empty directory of its own
  uint64_t ram = 256U << 20U;  // bytes: R of the models
  UniqueSink unique;
};

class UrlSeen {
 public:
  virtual ~UrlSeen() = default;

  // REQUIRES: key == Hash64(text).
  virtual Status Add(uint64_t key, std::string_view text) = 0;

  // Every answer is delivered when it returns. Add may follow.
  virtual Status Finish() = 0;
};

}  // namespace portolan::bench
