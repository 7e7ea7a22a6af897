// FetchHandler: where the answers of FetchLoops go.

#pragma once

#include <cstddef>

#include "flow/fetch.h"

namespace portolan {

class FetchHandler {
 public:
  virtual ~FetchHandler() = default;
  // On the thread of loop `loop`, whose other fetches wait meanwhile: parsing is meant to happen here. May call Fetch
  // and Resolve; must not call Stop.
  virtual void OnResponse(FetchResponse&& response, size_t loop) = 0;
  // On the same thread, before it waits for more: answers came since the last time, one or many. Whoever hands them on
  // to another thread wakes it here, once for all of them.
  virtual void OnAnswersGiven(size_t /*loop*/) {}
  // On the resolver's thread; the same applies.
  virtual void OnResolved(Resolution&& resolution) = 0;
};

}  // namespace portolan
