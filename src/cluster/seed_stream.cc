#include "cluster/seed_stream.h"

#include <fmt/core.h>
#include <nats/nats.h>

#include "cluster/names.h"

namespace portolan {
namespace {

std::unexpected<Error> SeedError(natsStatus status, jsErrCode code, std::string_view what) {
  return std::unexpected<Error>(NatsError(status, code, what));
}

}  // namespace

SeedStreamWriter::SeedStreamWriter(NatsConnection& connection, std::string_view cluster)
    : connection_(connection), stream_(SeedStreamName(cluster)), subject_(SeedSubject(cluster)) {}

Result<std::unique_ptr<SeedStreamWriter>> SeedStreamWriter::Create(NatsConnection& connection, std::string_view cluster,
                                                                   int replicas) {
  std::unique_ptr<SeedStreamWriter> writer(new SeedStreamWriter(connection, cluster));
  const char* subjects[] = {writer->subject_.c_str()};
  jsStreamConfig config;
  jsStreamConfig_Init(&config);
  config.Name = writer->stream_.c_str();
  config.Description = "seeds of a crawl of portolan";
  config.Subjects = subjects;
  config.SubjectsLen = 1;
  config.Retention = js_LimitsPolicy;
  config.Storage = js_FileStorage;
  config.Replicas = replicas;
  jsErrCode code = static_cast<jsErrCode>(0);
  const natsStatus s = js_AddStream(nullptr, connection.jetstream(), &config, nullptr, &code);
  if (s != NATS_OK) return SeedError(s, code, fmt::format("making stream {}", writer->stream_));
  return writer;
}

Status SeedStreamWriter::Add(std::string_view url) {
  if (message_.size() + url.size() + 1 > kSeedMessage) RETURN_IF_ERROR(Send());
  message_ += url;
  message_ += '\n';
  ++count_;
  return {};
}

Status SeedStreamWriter::Finish() { return message_.empty() ? Status() : Send(); }

Status SeedStreamWriter::Send() {
  jsErrCode code = static_cast<jsErrCode>(0);
  const natsStatus s = js_Publish(nullptr, connection_.jetstream(), subject_.c_str(), message_.data(),
                                  static_cast<int>(message_.size()), nullptr, &code);
  if (s != NATS_OK) return SeedError(s, code, fmt::format("writing seeds to stream {}", stream_));
  message_.clear();
  return {};
}

Status ForEachSeed(NatsConnection& connection, std::string_view cluster, uint64_t expected,
                   const std::function<Status(std::string_view url)>& each) {
  const std::string name = SeedStreamName(cluster);
  const std::string what = fmt::format("reading the seeds (stream {})", name);
  jsStreamInfo* info = nullptr;
  jsErrCode code = static_cast<jsErrCode>(0);
  natsStatus s = js_GetStreamInfo(&info, connection.jetstream(), name.c_str(), nullptr, &code);
  const std::unique_ptr<jsStreamInfo, void (*)(jsStreamInfo*)> info_owner(info, jsStreamInfo_Destroy);
  if (s != NATS_OK) return SeedError(s, code, what);
  uint64_t count = 0;
  for (uint64_t sequence = info->State.FirstSeq; sequence > 0 && sequence <= info->State.LastSeq; ++sequence) {
    natsMsg* message = nullptr;
    s = js_GetMsg(&message, connection.jetstream(), name.c_str(), sequence, nullptr, &code);
    const std::unique_ptr<natsMsg, void (*)(natsMsg*)> owner(message, natsMsg_Destroy);
    if (s != NATS_OK) return SeedError(s, code, what);
    std::string_view lines(natsMsg_GetData(message), static_cast<size_t>(natsMsg_GetDataLength(message)));
    while (!lines.empty()) {
      const std::string_view url = lines.substr(0, lines.find('\n'));
      RETURN_IF_ERROR(each(url));
      ++count;
      lines.remove_prefix(std::min(lines.size(), url.size() + 1));
    }
  }
  if (count == expected) return {};
  return Fail(ErrorCode::kCorrupt,
              fmt::format("{}: it has {} seeds, the cluster began with {}", what, count, expected));
}

}  // namespace portolan
