// FetchLoops: the shard's interface to fetching: event loops (FetchLoop) and a resolver (Resolver), one thread each.
//
// The tasks of a host go to the same loop, where its connection may still be open and its TLS session is kept.
//
// Thread: Fetch and Resolve from any thread; neither blocks nor answers inside the call. Stop from the thread that made
// it, after the last Fetch and Resolve.

#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "fetch/fetch_handler.h"
#include "fetch/fetch_loop.h"
#include "fetch/fetch_options.h"
#include "fetch/resolver.h"
#include "flow/fetch.h"

namespace portolan {

class FetchLoops : public FetchPort {
 public:
  // REQUIRES: `handler` outlives this. kInvalidArgument names the option that is invalid.
  static Result<std::unique_ptr<FetchLoops>> Create(const FetchOptions& options, FetchHandler& handler);
  ~FetchLoops() override;
  FetchLoops(const FetchLoops&) = delete;
  FetchLoops& operator=(const FetchLoops&) = delete;

  void Fetch(FetchTask&& task) override;
  void Resolve(ResolveTask&& task) override;

  const Resolver::Counters& dns_counters() const { return resolver_->counters(); }

  // Every fetch and question that was sent and not answered ends in kCancelled; then the threads are joined.
  void Stop();

 private:
  explicit FetchLoops(const FetchOptions& options) : options_(options) {}

  const FetchOptions options_;
  std::vector<std::unique_ptr<FetchLoop>> loops_;
  std::unique_ptr<Resolver> resolver_;
};

}  // namespace portolan
