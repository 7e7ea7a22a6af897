#include "cluster/cluster_store.h"

#include <fmt/core.h>
#include <nats/nats.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/check.h"
#include "cluster/names.h"

namespace portolan {
namespace {

Status CheckName(std::string_view cluster) {
  if (IsClusterName(cluster)) return {};
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("'{}' is not a name of a cluster: use 1 to {} letters, digits, '-' and '_'", cluster,
                          kMaxClusterName));
}

}  // namespace

ClusterStore::ClusterStore(NatsConnection& connection, std::string_view cluster)
    : connection_(connection), cluster_(cluster), bucket_(ClusterBucket(cluster)) {}

ClusterStore::~ClusterStore() { kvStore_Destroy(store_); }

Result<std::unique_ptr<ClusterStore>> ClusterStore::Create(NatsConnection& connection, std::string_view cluster,
                                                           std::string_view settings, uint64_t id, int replicas) {
  return Create(
      connection, cluster, [settings]() -> Result<std::string> { return std::string(settings); }, id, replicas);
}

Result<std::unique_ptr<ClusterStore>> ClusterStore::Create(NatsConnection& connection, std::string_view cluster,
                                                           const std::function<Result<std::string>()>& fill,
                                                           uint64_t id, int replicas) {
  RETURN_IF_ERROR(CheckName(cluster));
  CHECK(id != 0);
  std::unique_ptr<ClusterStore> store(new ClusterStore(connection, cluster));
  kvConfig config;
  kvConfig_Init(&config);
  config.Bucket = store->bucket_.c_str();
  config.Description = "settings and leases of a portolan cluster";
  config.MaxValueSize = static_cast<int32_t>(kMaxStoreValue);
  config.History = 1;
  config.StorageType = js_FileStorage;
  config.Replicas = replicas;
  const natsStatus s = js_CreateKeyValue(&store->store_, connection.jetstream(), &config);
  const std::string what = fmt::format("cluster {}", cluster);
  if (s != NATS_OK) return std::unexpected<Error>(NatsError(s, 0, what + ": making its bucket"));
  // The server takes a bucket that is there for a new one if it looks the same: who writes the id has made the cluster,
  // and `settings` come after it, so that a cluster with settings is whole.
  const auto write = [&](std::string_view key, std::string_view value) -> Status {
    const StoreWrite written = store->CompareAndSet(key, value, 0);
    if (written.outcome == WriteOutcome::kTaken) return {};
    if (written.outcome == WriteOutcome::kRefused) {
      return Fail(ErrorCode::kExists, fmt::format("{}: there is one with this name", what));
    }
    return Fail(ErrorCode::kClosed, fmt::format("{}: writing its {}: {}", what, key, written.reason));
  };
  RETURN_IF_ERROR(write("id", fmt::format("{:016x}", id)));
  ASSIGN_OR_RETURN(store->settings_, fill());
  if (store->settings_.size() > kMaxStoreValue) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: its settings have {} bytes, at most {} are possible",
                                                         what, store->settings_.size(), kMaxStoreValue));
  }
  RETURN_IF_ERROR(write("settings", store->settings_));
  store->id_ = id;
  return store;
}

Status ClusterStore::Remove(NatsConnection& connection, std::string_view cluster) {
  RETURN_IF_ERROR(CheckName(cluster));
  const natsStatus s = js_DeleteKeyValue(connection.jetstream(), ClusterBucket(cluster).c_str());
  if (s == NATS_OK) return {};
  return std::unexpected<Error>(NatsError(s, 0, fmt::format("cluster {}: removing its bucket", cluster)));
}

Status ClusterStore::Put(std::string_view key, std::string_view value) {
  CHECK(value.size() <= kMaxStoreValue);
  const natsStatus s =
      kvStore_Put(nullptr, store_, std::string(key).c_str(), value.data(), static_cast<int>(value.size()));
  if (s == NATS_OK) return {};
  return std::unexpected<Error>(NatsError(s, 0, fmt::format("writing {}", key)));
}

Result<std::unique_ptr<ClusterStore>> ClusterStore::Open(NatsConnection& connection, std::string_view cluster) {
  RETURN_IF_ERROR(CheckName(cluster));
  std::unique_ptr<ClusterStore> store(new ClusterStore(connection, cluster));
  const std::string what = fmt::format("cluster {}", cluster);
  const natsStatus s = js_KeyValue(&store->store_, connection.jetstream(), store->bucket_.c_str());
  if (s == NATS_NOT_FOUND) return Fail(ErrorCode::kNotFound, what + ": there is none with this name");
  if (s != NATS_OK) return std::unexpected<Error>(NatsError(s, 0, what + ": opening its bucket"));
  auto id = store->Read("id");
  if (!id) return std::unexpected<Error>(std::move(id).error().Context(what));
  const char* end = id->value.data() + id->value.size();
  const auto [at, error] = std::from_chars(id->value.data(), end, store->id_, 16);
  if (error != std::errc() || at != end || store->id_ == 0) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: its id is not a number: '{}'", what, id->value.substr(0, 40)));
  }
  auto settings = store->Read("settings");
  if (!settings && settings.error().code() == ErrorCode::kNotFound) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("{}: making it was begun and never finished ('portolan cluster remove' removes it)", what));
  }
  if (!settings) return std::unexpected<Error>(std::move(settings).error().Context(what));
  store->settings_ = std::move(settings->value);
  return store;
}

Result<StoreEntry> ClusterStore::Read(std::string_view key) {
  kvEntry* entry = nullptr;
  const natsStatus s = kvStore_Get(&entry, store_, std::string(key).c_str());
  const std::unique_ptr<kvEntry, void (*)(kvEntry*)> owner(entry, kvEntry_Destroy);
  if (s != NATS_OK) return std::unexpected<Error>(NatsError(s, 0, fmt::format("reading {}", key)));
  if (kvEntry_Operation(entry) != kvOp_Put) {
    return Fail(ErrorCode::kNotFound, fmt::format("reading {}: it was deleted", key));
  }
  return StoreEntry{.value = std::string(static_cast<const char*>(kvEntry_Value(entry)),
                                         static_cast<size_t>(std::max(0, kvEntry_ValueLen(entry)))),
                    .revision = kvEntry_Revision(entry)};
}

StoreWrite ClusterStore::CompareAndSet(std::string_view key, std::string_view value, uint64_t revision) {
  CHECK(value.size() <= kMaxStoreValue);
  // What kvStore_Update does, but with the server's code: only "another write came first" is a refusal.
  const std::string subject = fmt::format("$KV.{}.{}", bucket_, key);
  jsPubOptions options;
  jsPubOptions_Init(&options);
  options.ExpectLastSubjectSeq = revision;
  options.ExpectNoMessage = revision == 0;
  jsPubAck* ack = nullptr;
  jsErrCode code = static_cast<jsErrCode>(0);
  const natsStatus s = js_Publish(&ack, connection_.jetstream(), subject.c_str(), value.data(),
                                  static_cast<int>(value.size()), &options, &code);
  const std::unique_ptr<jsPubAck, void (*)(jsPubAck*)> owner(ack, jsPubAck_Destroy);
  if (s == NATS_OK) return {.outcome = WriteOutcome::kTaken, .revision = ack->Sequence, .reason = {}};
  if (code == JSStreamWrongLastSequenceErr) {
    return {.outcome = WriteOutcome::kRefused, .revision = 0, .reason = "another write came first"};
  }
  return {.outcome = WriteOutcome::kUnknown,
          .revision = 0,
          .reason = NatsError(s, code, fmt::format("writing {}", key)).message()};
}

}  // namespace portolan
