// NodeIdentity: what makes a process a node of a cluster: its directory, locked, with a file (`node`) that says of
// which cluster and under which name it works; and its name in the bucket, which no other process may use.
//
//   "portolan-node 1 cluster=web id=0123456789abcdef name=alpha process=00000000000000ff"
//
// `process` is a random number of the process that works here now, or did last. Since the directory's lock is ours,
// that one is dead, and the shards that the bucket gives to it are ours at once.
//
// Two nodes with one name: who starts watches the name's record. If its beat grows, another process lives and this one
// is refused. A node whose record was replaced by another process has lost its name, and stops.
//
// Thread: one owner.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "cli/stop_request.h"
#include "cluster/cluster_store.h"
#include "cluster/node_record.h"
#include "io/env.h"

namespace portolan {

struct NodeIdentityOptions {
  std::string dir;
  std::string name;  // empty: the directory's, or this machine's
  std::string version;
  uint32_t capacity = 1;
  int64_t watch_ns = 0;         // how long a record that another process left is watched
  StopRequest* stop = nullptr;  // ends the watching
};

class NodeIdentity {
 public:
  // kBusy: another process works in this directory, or under this name. kInvalidArgument: the directory belongs to
  // another cluster, or to another name. kClosed: stopped, or NATS did not answer.
  static Result<std::unique_ptr<NodeIdentity>> Take(const NodeIdentityOptions& options, ClusterStore& store);

  const std::string& name() const { return name_; }
  uint64_t process() const { return process_; }
  uint64_t dead_process() const { return dead_process_; }  // that worked here before; 0: none

  // Writes the next beat. kBusy: another process has the name. kClosed: no answer.
  Status Beat(ClusterStore& store);
  // The name is free again.
  void Leave(ClusterStore& store);

 private:
  NodeIdentity() = default;
  Status TakeDirectory(const NodeIdentityOptions& options, const ClusterStore& store);
  Status TakeName(const NodeIdentityOptions& options, ClusterStore& store);

  std::string name_;
  uint64_t process_ = 0;
  uint64_t dead_process_ = 0;
  NodeRecord record_;
  uint64_t revision_ = 0;
  std::unique_ptr<FileLock> lock_;
};

}  // namespace portolan
