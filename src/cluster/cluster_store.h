// ClusterStore: the key-value bucket of a cluster (portolan-NAME): its settings, and who holds which shard.
//
// Values are small. Every change names the revision that it replaces, so two writers never overwrite each other
// unseen. The bucket is on the server's disk, replicated as it was created.
//
// Keys: `settings` (text, written once by Create), `id` (16 hexadecimal digits: which cluster of this name it is),
// `shard.K` (lease_record.h).
//
// Thread: one owner. Each call asks the server and waits at most the connection's request_ns.
// Memory bound: one value.

#pragma once

#include <cstdint>
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
  // kExists: there is a cluster with this name. `id` is a random number, not 0. kInvalidArgument: not a name.
  static Result<std::unique_ptr<ClusterStore>> Create(NatsConnection& connection, std::string_view cluster,
                                                      std::string_view settings, uint64_t id, int replicas = 1);
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
