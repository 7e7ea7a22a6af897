#include "cluster/nats_transport.h"

#include <fmt/core.h>
#include <nats/nats.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "cluster/late_calls.h"
#include "cluster/link_batch_format.h"
#include "cluster/names.h"

namespace portolan {
namespace {

constexpr size_t kAckReceiverAt = 6;  // in a batch: link_batch_format.h
constexpr size_t kAckNumberAt = 24;

LinkAck ReadAck(natsMsg* message, const jsPubAck* ack, const jsPubAckErr* error) {
  const char* data = natsMsg_GetData(message);
  LinkAck out{.to = LoadLe<uint16_t>(data + kAckReceiverAt), .number = LoadLe<uint64_t>(data + kAckNumberAt)};
  if (ack != nullptr) {
    out.kind = LinkAckKind::kStored;
    out.sequence = ack->Sequence;
    out.duplicate = ack->Duplicate;
  } else if (error != nullptr && error->ErrCode == JSStreamStoreFailedErr) {
    out.kind = LinkAckKind::kFull;  // "maximum bytes exceeded", or its disk is full
  } else if (error != nullptr &&
             (error->ErrCode == JSStorageResourcesExceededErr || error->ErrCode == JSInsufficientResourcesErr)) {
    out.kind = LinkAckKind::kFull;
  } else if (error != nullptr && (error->Err == NATS_NO_RESPONDERS || error->ErrCode == JSStreamNotMatchErr)) {
    out.kind = LinkAckKind::kGone;
  }
  return out;
}

}  // namespace

// What threads of libnats bring. Every batch that was published has one answer, so the windows bound the answers.
struct NatsTransport::Inbox {
  std::mutex mutex;
  // Guarded by mutex:
  std::vector<LinkAck> acks;
  std::vector<std::string> told;
  // Held during the call, so that whoever takes `wake` away waits for its end.
  std::mutex wake_mutex;
  std::function<void()> wake;  // guarded by wake_mutex

  void Add(const LinkAck& ack) {
    {
      const std::lock_guard lock(mutex);
      acks.push_back(ack);
    }
    Wake();
  }
  void Add(std::string datagram) {
    {
      const std::lock_guard lock(mutex);
      if (told.size() >= kMaxTold) return;
      told.push_back(std::move(datagram));
    }
    Wake();
  }
  void Wake() {
    const std::lock_guard lock(wake_mutex);
    if (wake) wake();
  }
};

NatsTransport::NatsTransport(NatsConnection& connection, const NatsTransportOptions& options)
    : connection_(connection),
      options_(options),
      stream_(LinkStreamName(options.cluster, options.shard)),
      inbox_(std::make_shared<Inbox>()),
      reconnects_(connection.status().reconnects) {
  callback_ = LateCalls<Inbox>::Add(inbox_);
}

NatsTransport::~NatsTransport() {
  LateCalls<Inbox>::Remove(callback_);
  reader_.reset();
  if (mail_ != nullptr) {
    natsSubscription_Unsubscribe(mail_);
    natsSubscription_Destroy(mail_);
  }
  kvStore_Destroy(store_);
  jsCtx_Destroy(jetstream_);
}

Result<std::unique_ptr<NatsTransport>> NatsTransport::Open(NatsConnection& connection,
                                                           const NatsTransportOptions& options) {
  CHECK(IsClusterName(options.cluster) && options.shard < options.shards);
  std::unique_ptr<NatsTransport> transport(new NatsTransport(connection, options));
  RETURN_IF_ERROR(transport->Start());
  return transport;
}

Status NatsTransport::Start() {
  jsOptions options;
  jsOptions_Init(&options);
  options.Wait = connection_.request_ns() / kMillisecond;
  options.PublishAsync.MaxPending = static_cast<int64_t>(kLinkWindow * options_.shards);
  options.PublishAsync.AckHandler = [](jsCtx*, natsMsg* message, jsPubAck* ack, jsPubAckErr* error, void* closure) {
    if (const auto inbox = LateCalls<Inbox>::Find(closure)) inbox->Add(ReadAck(message, ack, error));
    natsMsg_Destroy(message);
  };
  options.PublishAsync.AckHandlerClosure = LateCalls<Inbox>::Closure(callback_);
  natsStatus s = natsConnection_JetStream(&jetstream_, connection_.handle(), &options);
  if (s != NATS_OK) return std::unexpected<Error>(NatsError(s, 0, "sending links"));
  const auto on_mail = [](natsConnection*, natsSubscription*, natsMsg* message, void* closure) {
    const int size = natsMsg_GetDataLength(message);
    if (size > 0 && static_cast<size_t>(size) <= kMaxDatagram) {
      const auto inbox = LateCalls<Inbox>::Find(closure);
      if (inbox) inbox->Add(std::string(natsMsg_GetData(message), static_cast<size_t>(size)));
    }
    natsMsg_Destroy(message);
  };
  s = natsConnection_Subscribe(&mail_, connection_.handle(), MailSubject(options_.cluster, options_.shard).c_str(),
                               on_mail, LateCalls<Inbox>::Closure(callback_));
  if (s != NATS_OK) return std::unexpected<Error>(NatsError(s, 0, "receiving notices"));
  return {};
}

TransportStatus NatsTransport::status() const {
  const NatsStatus status = connection_.status();
  const TransportState state = status.state == NatsState::kConnected ? TransportState::kConnected
                               : status.state == NatsState::kAway    ? TransportState::kAway
                                                                     : TransportState::kClosed;
  return {.state = state, .reconnects = status.reconnects, .reason = status.reason};
}

void NatsTransport::SetWake(std::function<void()> wake) {
  const std::lock_guard lock(inbox_->wake_mutex);
  inbox_->wake = std::move(wake);
}

// ---- streams

Result<LinkStreamInfo> NatsTransport::ReadStream(uint32_t shard) {
  return ReadLinkStream(connection_, options_.cluster, shard);
}

bool NatsTransport::Publish(uint32_t to, std::string_view id, std::string_view batch, int64_t ack_wait_ns) {
  const std::string subject = LinkSubject(options_.cluster, to);
  const std::string stream = LinkStreamName(options_.cluster, to);
  const std::string name(id);
  jsPubOptions options;
  jsPubOptions_Init(&options);
  options.MsgId = name.c_str();
  options.ExpectStream = stream.c_str();
  options.MaxWait = ack_wait_ns / kMillisecond;
  natsMsg* message = nullptr;
  natsStatus s = natsMsg_Create(&message, subject.c_str(), nullptr, batch.data(), static_cast<int>(batch.size()));
  if (s == NATS_OK) s = js_PublishMsgAsync(jetstream_, &message, &options);
  natsMsg_Destroy(message);
  return s == NATS_OK;
}

std::vector<LinkAck> NatsTransport::TakeAcks() {
  const std::lock_guard lock(inbox_->mutex);
  return std::exchange(inbox_->acks, {});
}

// ---- the own stream

Result<LinkFetch> NatsTransport::Fetch(uint64_t from, const MessageSink& sink) {
  const uint64_t reconnects = connection_.status().reconnects;
  if (std::exchange(reconnects_, reconnects) != reconnects || next_ != from) reader_.reset();
  if (reader_ == nullptr) {
    ASSIGN_OR_RETURN(reader_,
                     NatsReader::Open(connection_, {.stream = stream_}, from, [inbox = inbox_] { inbox->Wake(); }));
    next_ = from;
  }
  bool enough = false;
  const LinkFetch fetched = reader_->Take([&](uint64_t sequence, std::string_view bytes) {
    enough = !sink(sequence, bytes);
    if (sequence == next_) ++next_;
    return !enough;
  });
  if (enough || fetched == LinkFetch::kBroken) reader_.reset();
  return fetched;
}

bool NatsTransport::HasNot(uint64_t sequence) {
  natsMsg* message = nullptr;
  jsErrCode code = static_cast<jsErrCode>(0);
  const natsStatus s = js_GetMsg(&message, connection_.jetstream(), stream_.c_str(), sequence, nullptr, &code);
  natsMsg_Destroy(message);
  return code == JSNoMessageFoundErr || s == NATS_NOT_FOUND;
}

Status NatsTransport::Trim(uint64_t sequence) {
  jsOptions options;
  jsOptions_Init(&options);
  options.Stream.Purge.Sequence = sequence;
  jsErrCode code = static_cast<jsErrCode>(0);
  const natsStatus s = js_PurgeStream(connection_.jetstream(), stream_.c_str(), &options, &code);
  if (s != NATS_OK) return std::unexpected<Error>(NatsError(s, code, fmt::format("trimming stream {}", stream_)));
  return {};
}

// ---- datagrams

void NatsTransport::Tell(uint32_t to, std::string_view datagram) {
  CHECK(datagram.size() <= kMaxDatagram);
  // What libnats cannot send now is lost, as a datagram may be.
  natsConnection_Publish(connection_.handle(), MailSubject(options_.cluster, to).c_str(), datagram.data(),
                         static_cast<int>(datagram.size()));
}

std::vector<std::string> NatsTransport::TakeTold() {
  const std::lock_guard lock(inbox_->mutex);
  return std::exchange(inbox_->told, {});
}

// ---- reports

Status NatsTransport::OpenBucket() {
  if (store_ != nullptr) return {};
  const natsStatus s = js_KeyValue(&store_, connection_.jetstream(), ClusterBucket(options_.cluster).c_str());
  if (s != NATS_OK) return std::unexpected<Error>(NatsError(s, 0, "opening the cluster's bucket"));
  return {};
}

Status NatsTransport::PutReport(std::string_view report) {
  RETURN_IF_ERROR(OpenBucket());
  uint64_t revision = 0;
  const natsStatus s =
      kvStore_Put(&revision, store_, ReportKey(options_.shard).c_str(), report.data(), static_cast<int>(report.size()));
  if (s != NATS_OK) return std::unexpected<Error>(NatsError(s, 0, "writing a report"));
  return {};
}

Result<std::string> NatsTransport::ReadReport(uint32_t shard) {
  RETURN_IF_ERROR(OpenBucket());
  kvEntry* entry = nullptr;
  const natsStatus s = kvStore_Get(&entry, store_, ReportKey(shard).c_str());
  const std::unique_ptr<kvEntry, void (*)(kvEntry*)> owner(entry, kvEntry_Destroy);
  if (s != NATS_OK) {
    return std::unexpected<Error>(NatsError(s, 0, fmt::format("reading the report of shard {}", shard)));
  }
  if (kvEntry_Operation(entry) != kvOp_Put) return Fail(ErrorCode::kNotFound, "a report was deleted");
  return std::string(static_cast<const char*>(kvEntry_Value(entry)),
                     static_cast<size_t>(std::max(0, kvEntry_ValueLen(entry))));
}

// ---- the clock

// The server stamps what it stores. So the stamp of a value that was written between these two moments is its time
// then; reading it back may take as long as it likes.
Result<ServerTime> NatsTransport::AskTime() {
  RETURN_IF_ERROR(OpenBucket());
  const std::string key = ClockKey(options_.shard);
  ServerTime time{.asked_ns = NowNs()};
  uint64_t revision = 0;
  natsStatus s = kvStore_PutString(&revision, store_, key.c_str(), "");
  time.answered_ns = NowNs();
  if (s != NATS_OK) return std::unexpected<Error>(NatsError(s, 0, "asking for the time"));
  kvEntry* entry = nullptr;
  s = kvStore_Get(&entry, store_, key.c_str());
  const std::unique_ptr<kvEntry, void (*)(kvEntry*)> owner(entry, kvEntry_Destroy);
  if (s != NATS_OK) return std::unexpected<Error>(NatsError(s, 0, "asking for the time"));
  // Another process that holds, or held, the shard wrote as well; or a replica answered that is behind.
  if (kvEntry_Revision(entry) != revision) return Fail(ErrorCode::kClosed, "asking for the time: an older stamp");
  time.server_ns = kvEntry_Created(entry);
  return time;
}

}  // namespace portolan
