#include "cluster/link_stream.h"

#include <fmt/core.h>
#include <nats/nats.h>

#include <memory>

#include "cluster/link_batch_format.h"
#include "cluster/names.h"

namespace portolan {

Status CreateLinkStream(NatsConnection& connection, std::string_view cluster, uint32_t shard,
                        const LinkStreamOptions& options) {
  const std::string name = LinkStreamName(cluster, shard);
  const std::string subject = LinkSubject(cluster, shard);
  // The server takes the same stream twice without a word.
  const auto there = ReadLinkStream(connection, cluster, shard);
  if (there) return Fail(ErrorCode::kExists, fmt::format("stream {}: it is there already", name));
  if (there.error().code() != ErrorCode::kNotFound) return std::unexpected<Error>(there.error());
  const char* subjects[] = {subject.c_str()};
  jsStreamConfig config;
  jsStreamConfig_Init(&config);
  config.Name = name.c_str();
  config.Description = "links on their way to a shard of portolan";
  config.Subjects = subjects;
  config.SubjectsLen = 1;
  config.Retention = js_LimitsPolicy;
  config.Discard = js_DiscardNew;
  config.Storage = js_FileStorage;
  config.MaxBytes = static_cast<int64_t>(options.max_bytes);
  config.Replicas = options.replicas;
  jsErrCode code = static_cast<jsErrCode>(0);
  const natsStatus s = js_AddStream(nullptr, connection.jetstream(), &config, nullptr, &code);
  if (s != NATS_OK) return std::unexpected<Error>(NatsError(s, code, fmt::format("making stream {}", name)));
  return {};
}

Status RemoveStream(NatsConnection& connection, const std::string& name) {
  jsErrCode code = static_cast<jsErrCode>(0);
  const natsStatus s = js_DeleteStream(connection.jetstream(), name.c_str(), nullptr, &code);
  if (s == NATS_OK) return {};
  return std::unexpected<Error>(NatsError(s, code, fmt::format("removing stream {}", name)));
}

Result<LinkStreamInfo> ReadLinkStream(NatsConnection& connection, std::string_view cluster, uint32_t shard) {
  const std::string name = LinkStreamName(cluster, shard);
  jsStreamInfo* info = nullptr;
  jsErrCode code = static_cast<jsErrCode>(0);
  const natsStatus s = js_GetStreamInfo(&info, connection.jetstream(), name.c_str(), nullptr, &code);
  const std::unique_ptr<jsStreamInfo, void (*)(jsStreamInfo*)> owner(info, jsStreamInfo_Destroy);
  if (s != NATS_OK) return std::unexpected<Error>(NatsError(s, code, fmt::format("stream {}", name)));
  return LinkStreamInfo{.created_ns = info->Created,
                        .first = info->State.FirstSeq,
                        .last = info->State.LastSeq,
                        .bytes = info->State.Bytes};
}

}  // namespace portolan
