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
  // On the same thread, before it waits for more: one or more answers came since the last call. A handler that passes
  // them to another thread wakes that thread here, once for all of them.
  virtual void OnAnswersGiven(size_t /*loop*/) {}
  // On the resolver's thread; the same applies.
  virtual void OnResolved(Resolution&& resolution) = 0;
};

}  // namespace portolan
