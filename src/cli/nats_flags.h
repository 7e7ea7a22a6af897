// The flags with which every verb of a cluster reaches NATS, and opening a cluster through them.
//
// Thread: one.

#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "cli/stop_request.h"
#include "cli/verb_app.h"
#include "cluster/cluster_settings.h"
#include "cluster/cluster_store.h"
#include "cluster/nats_connection.h"

namespace portolan {

// The URL may also come from this variable of the environment: command lines are seen by others on the machine.
inline constexpr const char* kNatsVariable = "PORTOLAN_NATS";

struct NatsFlags {
  std::string url;
  std::string ca;
  std::string cert;
  std::string key;
  std::string creds;

  // What was not given comes from the environment and the defaults.
  NatsOptions Options(const std::string& name) const;
};
void AddNatsFlags(VerbApp& app, NatsFlags& flags);

// Connects. While the server is away it says so, once and then every half minute, and goes on trying until it
// is asked to stop (kClosed). `stop` may be null.
Result<std::unique_ptr<NatsConnection>> ConnectToNats(const NatsOptions& options, StopRequest* stop = nullptr);

// Prints "portolan: …" and returns the exit code: no answer from NATS is a system error.
int ComplainOfNats(const Error& error);

struct OpenCluster {
  std::unique_ptr<NatsConnection> connection;
  std::unique_ptr<ClusterStore> store;
  ClusterSettings settings;
};
// kUnsupported: another version of the program made it; `version` is this one's. Empty: any version will do.
Result<OpenCluster> OpenClusterOf(const NatsOptions& options, const std::string& cluster, const std::string& version,
                                  StopRequest* stop = nullptr);

}  // namespace portolan
