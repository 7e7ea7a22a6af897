#include "cli/node_identity.h"

#include <fmt/core.h>

#include <cstdio>

#include "base/log.h"
#include "cluster/names.h"
#include "io/clock.h"
#include "io/process.h"
#include "io/rng.h"

namespace portolan {
namespace {

constexpr int64_t kWatchStepNs = 100 * kMillisecond;
constexpr const char* kNodeFile = "node";
constexpr const char* kNodeLock = "node.lock";

struct NodeFile {
  std::string cluster;
  uint64_t id = 0;
  std::string name;
  uint64_t process = 0;
};

std::string EncodeNodeFile(const NodeFile& file) {
  return fmt::format("portolan-node 1 cluster={} id={:016x} name={} process={:016x}\n", file.cluster, file.id,
                     file.name, file.process);
}

Result<NodeFile> ReadNodeFile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(Env::Posix(), path));
  char cluster[65] = {};
  char name[65] = {};
  unsigned long long id = 0;
  unsigned long long process = 0;
  NodeFile file;
  if (std::sscanf(text.c_str(), "portolan-node 1 cluster=%64s id=%16llx name=%64s process=%16llx", cluster, &id, name,
                  &process) == 4) {
    file = {.cluster = cluster, .id = id, .name = name, .process = process};
  }
  if (EncodeNodeFile(file) != text) return Fail(ErrorCode::kCorrupt, path + ": is not the file of a node");
  return file;
}

// A host's name as one of a node.
std::string NameOfMachine() {
  std::string name = HostName();
  name = name.substr(0, std::min(name.find('.'), kMaxClusterName));
  for (char& c : name) {
    if (!IsClusterName(std::string_view(&c, 1))) c = '-';
  }
  return name.empty() ? "node" : name;
}

}  // namespace

Result<std::unique_ptr<NodeIdentity>> NodeIdentity::Take(const NodeIdentityOptions& options, ClusterStore& store) {
  std::unique_ptr<NodeIdentity> identity(new NodeIdentity());
  RETURN_IF_ERROR(identity->TakeDirectory(options, store));
  RETURN_IF_ERROR(identity->TakeName(options, store));
  return identity;
}

Status NodeIdentity::TakeDirectory(const NodeIdentityOptions& options, const ClusterStore& store) {
  RETURN_IF_ERROR(Env::Posix().CreateDirs(options.dir));
  auto lock = Env::Posix().Lock(JoinPath(options.dir, kNodeLock));
  if (!lock) {
    if (lock.error().code() != ErrorCode::kBusy) return std::unexpected(lock.error());
    return Fail(ErrorCode::kBusy, options.dir + ": another node works in this directory");
  }
  lock_ = *std::move(lock);
  ASSIGN_OR_RETURN(const auto random, SystemRandomWords());
  process_ = random[0] | 1;  // never 0
  name_ = options.name;
  const std::string path = JoinPath(options.dir, kNodeFile);
  if (Env::Posix().Exists(path)) {
    ASSIGN_OR_RETURN(const NodeFile before, ReadNodeFile(path));
    if (before.id != store.id()) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}: is a node's directory of another cluster ({}{}): choose another --dir", options.dir,
                              before.cluster, before.cluster == store.cluster() ? ", which was made anew since" : ""));
    }
    if (!name_.empty() && name_ != before.name) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}: is the directory of node {}, not of {}", options.dir, before.name, name_));
    }
    name_ = before.name;
    dead_process_ = before.process;
  }
  if (name_.empty()) name_ = NameOfMachine();
  if (!IsClusterName(name_)) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("--name: '{}' is not a name of a node: use 1 to {} letters, digits, '-' and '_'", name_,
                            kMaxClusterName));
  }
  return ReplaceFile(
      Env::Posix(), path,
      EncodeNodeFile({.cluster = store.cluster(), .id = store.id(), .name = name_, .process = process_}));
}

Status NodeIdentity::TakeName(const NodeIdentityOptions& options, ClusterStore& store) {
  const std::string key = NodeKey(name_);
  const int64_t begin_ns = Clock::Real().NowNs();
  uint64_t seen = 0;
  bool told = false;
  for (;;) {
    const auto entry = store.Read(key);
    if (!entry && entry.error().code() != ErrorCode::kNotFound) return std::unexpected(entry.error());
    revision_ = entry ? entry->revision : 0;
    const std::optional<NodeRecord> other = entry ? DecodeNode(entry->value) : std::nullopt;
    const bool is_free = !other || other->process == 0 || other->process == dead_process_;
    if (!is_free) {
      if (seen != 0 && seen != revision_) {
        return Fail(ErrorCode::kBusy, fmt::format("a node named {} works already, on {}: give this one another --name",
                                                  name_, other->machine));
      }
      seen = revision_;
      if (Clock::Real().NowNs() - begin_ns < options.watch_ns) {
        if (!std::exchange(told, true)) {
          Log(LogLevel::kInfo, "this node's name was in use lately: waiting to see whether that node lives",
              {{"name", name_}, {"machine", other->machine}});
        }
        if (options.stop->WaitFor(kWatchStepNs)) return Fail(ErrorCode::kClosed, "stopped");
        continue;
      }
    }
    record_ = {.process = process_,
               .beat = 1,
               .version = options.version,
               .capacity = options.capacity,
               .machine = HostName()};
    const StoreWrite write = store.CompareAndSet(key, EncodeNode(record_), revision_);
    if (write.outcome == WriteOutcome::kTaken) {
      revision_ = write.revision;
      return {};
    }
    if (write.outcome == WriteOutcome::kUnknown) return Fail(ErrorCode::kClosed, write.reason);
  }
}

Status NodeIdentity::Beat(ClusterStore& store) {
  ++record_.beat;
  const StoreWrite write = store.CompareAndSet(NodeKey(name_), EncodeNode(record_), revision_);
  if (write.outcome == WriteOutcome::kTaken) {
    revision_ = write.revision;
    return {};
  }
  if (write.outcome == WriteOutcome::kUnknown) return Fail(ErrorCode::kClosed, write.reason);
  // Either an answer to a write of ours was lost, or another process has written.
  ASSIGN_OR_RETURN(const StoreEntry entry, store.Read(NodeKey(name_)));
  const std::optional<NodeRecord> now = DecodeNode(entry.value);
  if (now && now->process == process_) {
    revision_ = entry.revision;
    return {};
  }
  return Fail(ErrorCode::kBusy, fmt::format("another node has taken the name {}{}", name_,
                                            now ? fmt::format(", on {}", now->machine) : std::string()));
}

void NodeIdentity::Leave(ClusterStore& store) {
  record_.process = 0;
  static_cast<void>(store.CompareAndSet(NodeKey(name_), EncodeNode(record_), revision_));
}

}  // namespace portolan
