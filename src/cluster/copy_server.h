// CopyServer: gives the files of a shard that this process holds to the node that keeps its copy
// (standby/copy_source.h), over requests and answers of NATS, which may be lost. One copy per shard: the source holds
// one checkpoint at a time.
//
// Thread: one of its own, which answers. have(), Trouble() any.
// Memory bound: the source's, and what libnats holds of requests that wait (a few dozen bytes each).

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"
#include "cluster/nats_connection.h"
#include "standby/copy_source.h"

struct __natsSubscription;

namespace portolan {

struct CopyServerOptions {
  std::string cluster;
  uint32_t shard = 0;
  CopySourceOptions source;
  // Does this process still hold the shard? A holder that has lost it must not be asked any more. None: always.
  std::function<bool()> held;
};

class CopyServer {
 public:
  // REQUIRES: connection, env and clock outlive this.
  static Result<std::unique_ptr<CopyServer>> Start(NatsConnection& connection, HoldingEnv& env, const Clock& clock,
                                                   const CopyServerOptions& options);
  ~CopyServer();
  CopyServer(const CopyServer&) = delete;
  CopyServer& operator=(const CopyServer&) = delete;

  // The newest checkpoint that the copy has; 0: none that this process knows of.
  uint64_t have() const { return source_.have(); }
  std::string Trouble() const;  // why nothing is answered any more; empty: it is

 private:
  CopyServer(NatsConnection& connection, HoldingEnv& env, const Clock& clock, const CopyServerOptions& options);
  void Run();
  void AnswerNext();

  NatsConnection& connection_;
  const CopyServerOptions options_;
  CopySource source_;  // the thread's
  __natsSubscription* subscription_ = nullptr;
  std::atomic<bool> stop_{false};
  mutable std::mutex mutex_;
  std::string trouble_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace portolan
