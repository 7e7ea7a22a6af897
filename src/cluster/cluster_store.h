// ClusterStore: the key-value bucket of a cluster (portolan-NAME): its settings, and who holds which shard.
//
// Values are small. Every change names the revision that it replaces, so two writers never overwrite each other
// unseen. The bucket is on the server's disk, replicated as it was created.
//
// Keys: `settings` (cluster_settings.h, written once by Create), `id` (16 hexadecimal digits: which cluster of this
// name it is), `shard.K` (lease_record.h), and those of node_record.h.
//
// Thread: one owner. Each call asks the server and waits at most the connection's request_ns.
// Memory bound: one value.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/lease_view.h"
#include "cluster/nats_connection.h"

struct __kvStore;

namespace portolan {

inline constexpr uint64_t kMaxStoreValue = 64 * 1024;

struct StoreEntry {
  std::string value;
  uint64_t revision = 0;
};

struct StoreWrite {
  WriteOutcome outcome = WriteOutcome::kUnknown;
  uint64_t revision = 0;  // of a write that was taken
  std::string reason;     // of one that was not
};

class ClusterStore {
 public:
  // kExists: there is a cluster with this name. `id` is a random number, not 0. kInvalidArgument: not a name. `fill`,
  // if there is one, makes what else the cluster needs, and returns its settings; it is called when the name is taken.
  // A cluster without settings is not open to anybody.
  static Result<std::unique_ptr<ClusterStore>> Create(NatsConnection& connection, std::string_view cluster,
                                                      const std::function<Result<std::string>()>& fill, uint64_t id,
                                                      int replicas = 1);
  static Result<std::unique_ptr<ClusterStore>> Create(NatsConnection& connection, std::string_view cluster,
                                                      std::string_view settings, uint64_t id, int replicas = 1);
  // Removes a cluster, whole or half made: its bucket, and with it everything in it. kNotFound: there is none.
  static Status Remove(NatsConnection& connection, std::string_view cluster);
  // kNotFound: there is none, or it was begun and never finished.
  static Result<std::unique_ptr<ClusterStore>> Open(NatsConnection& connection, std::string_view cluster);
  ~ClusterStore();
  ClusterStore(const ClusterStore&) = delete;
  ClusterStore& operator=(const ClusterStore&) = delete;

  const std::string& cluster() const { return cluster_; }
  uint64_t id() const { return id_; }
  const std::string& settings() const { return settings_; }

  // kNotFound: the key has no value. kClosed: no answer.
  Result<StoreEntry> Read(std::string_view key);
  // Replaces the value of that revision; 0: the key must have none. The value has at most kMaxStoreValue bytes.
  StoreWrite CompareAndSet(std::string_view key, std::string_view value, uint64_t revision);
  // Replaces whatever is there: for keys with one writer, or whose last writer is right.
  Status Put(std::string_view key, std::string_view value);

 private:
  ClusterStore(NatsConnection& connection, std::string_view cluster);

  NatsConnection& connection_;
  const std::string cluster_;
  const std::string bucket_;
  __kvStore* store_ = nullptr;
  uint64_t id_ = 0;
  std::string settings_;
};

}  // namespace portolan
