#include "cluster/link_sender.h"

#include <fmt/core.h>
#include <nats/nats.h>

#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "cluster/late_calls.h"
#include "cluster/names.h"
#include "io/mailbox.h"

namespace portolan {
namespace {

enum class AckKind : uint8_t { kStored, kFull, kAgain, kGone };

struct Ack {
  AckKind kind = AckKind::kAgain;
  uint32_t to = 0;
  uint64_t number = 0;
  uint64_t sequence = 0;
  bool duplicate = false;
};

constexpr size_t kReceiverAt = 6;
constexpr size_t kNumberAt = 24;

Ack ReadAck(natsMsg* message, const jsPubAck* ack, const jsPubAckErr* error) {
  const char* data = natsMsg_GetData(message);
  Ack out{.to = LoadLe<uint16_t>(data + kReceiverAt), .number = LoadLe<uint64_t>(data + kNumberAt)};
  if (ack != nullptr) {
    out.kind = AckKind::kStored;
    out.sequence = ack->Sequence;
    out.duplicate = ack->Duplicate;
  } else if (error != nullptr && error->ErrCode == JSStreamStoreFailedErr) {
    out.kind = AckKind::kFull;  // "maximum bytes exceeded", or its disk is full
  } else if (error != nullptr &&
             (error->ErrCode == JSStorageResourcesExceededErr || error->ErrCode == JSInsufficientResourcesErr)) {
    out.kind = AckKind::kFull;
  } else if (error != nullptr && (error->Err == NATS_NO_RESPONDERS || error->ErrCode == JSStreamNotMatchErr)) {
    out.kind = AckKind::kGone;
  }
  return out;
}

}  // namespace

struct LinkSender::Inbox {
  // Every batch that was published has one answer, so the windows bound this box.
  Mailbox<Ack> acks{UINT64_MAX / 2};
};

LinkSender::LinkSender(NatsConnection& connection, const LinkSenderOptions& options)
    : connection_(connection), options_(options), inbox_(std::make_shared<Inbox>()) {
  callback_ = LateCalls<Inbox>::Add(inbox_);
  for (uint32_t i = 0; i < options.shards; ++i) lanes_.push_back(std::make_unique<Lane>(options.window_bytes));
}

LinkSender::~LinkSender() {
  LateCalls<Inbox>::Remove(callback_);
  jsCtx_Destroy(jetstream_);
}

Result<std::unique_ptr<LinkSender>> LinkSender::Create(NatsConnection& connection, const LinkSenderOptions& options) {
  CHECK(IsClusterName(options.cluster) && options.epoch > 0 && options.sender < options.shards);
  std::unique_ptr<LinkSender> sender(new LinkSender(connection, options));
  RETURN_IF_ERROR(sender->Open());
  return sender;
}

Status LinkSender::Open() {
  reconnects_ = connection_.status().reconnects;
  jsOptions options;
  jsOptions_Init(&options);
  options.Wait = connection_.request_ns() / kMillisecond;
  options.PublishAsync.MaxPending = static_cast<int64_t>(kLinkWindow * options_.shards);
  options.PublishAsync.AckHandler = [](jsCtx*, natsMsg* message, jsPubAck* ack, jsPubAckErr* error, void* closure) {
    if (const auto inbox = LateCalls<Inbox>::Find(closure)) inbox->acks.TrySend(ReadAck(message, ack, error));
    natsMsg_Destroy(message);
  };
  options.PublishAsync.AckHandlerClosure = LateCalls<Inbox>::Closure(callback_);
  const natsStatus s = natsConnection_JetStream(&jetstream_, connection_.handle(), &options);
  if (s != NATS_OK) return std::unexpected<Error>(NatsError(s, 0, "sending links"));
  for (uint32_t to = 0; to < options_.shards; ++to) {
    if (to == options_.sender) continue;
    ASSIGN_OR_RETURN(const LinkStreamInfo info, ReadLinkStream(connection_, options_.cluster, to));
    lanes_[to]->created_ns = info.created_ns;
    Add(to);  // empty: the epoch begins
  }
  return {};
}

void LinkSender::Add(uint32_t to) {
  Lane& lane = *lanes_[to];
  lane.window.Add(lane.writer.Finish({.cluster = options_.cluster_id,
                                      .receiver = to,
                                      .sender = options_.sender,
                                      .epoch = options_.epoch,
                                      .number = lane.window.next_number()}));
}

Status LinkSender::Send(uint32_t to, std::string_view message) {
  Lane& lane = *lanes_[to];
  CHECK(to != options_.sender);
  ASSIGN_OR_RETURN(const bool added, lane.writer.Add(message));
  if (added) return {};
  Add(to);
  ASSIGN_OR_RETURN(const bool first, lane.writer.Add(message));
  CHECK(first);  // an empty batch takes any message that is not too long
  return {};
}

void LinkSender::Flush(uint32_t to) {
  Lane& lane = *lanes_[to];
  if (!lane.writer.empty()) Add(to);
}

bool LinkSender::AllStored() const {
  for (const auto& lane : lanes_) {
    if (!lane->window.empty() || !lane->writer.empty()) return false;
  }
  return true;
}

Status LinkSender::Look(uint32_t to) {
  Lane& lane = *lanes_[to];
  const auto info = ReadLinkStream(connection_, options_.cluster, to);
  std::string why;
  if (info) {
    if (info->created_ns != lane.created_ns) {
      why = "was deleted and made anew";
    } else if (info->last < lane.newest) {
      why = fmt::format("went back from message {} to {} (a power cut?)", lane.newest, info->last);
    }
  } else if (info.error().code() == ErrorCode::kNotFound) {
    why = "was deleted";
  } else {
    return {};  // away: later
  }
  lane.suspect = false;
  if (why.empty()) return {};
  return Fail(ErrorCode::kCorrupt,
              fmt::format("stream {} {}: of what shard {} sent in epoch {}, batches up to {} were stored; those that "
                          "shard {} had not taken are lost",
                          LinkStreamName(options_.cluster, to), why, options_.sender, options_.epoch,
                          lane.window.stored(), to));
}

Status LinkSender::TakeAcks() {
  const int64_t now_ns = connection_.clock().NowNs();
  for (const Ack& ack : inbox_->acks.TryTake()) {
    Lane& lane = *lanes_[ack.to];
    switch (ack.kind) {
      case AckKind::kStored:
        // A number that was given before: another stream gave it.
        if (!ack.duplicate && ack.sequence <= lane.newest) lane.suspect = true;
        if (ack.sequence > lane.newest) lane.newest = ack.sequence;
        lane.window.Stored(ack.number);
        lane.flow = LinkFlow::kGoing;
        break;
      case AckKind::kFull:
        lane.flow = LinkFlow::kFull;
        lane.not_before_ns = now_ns + options_.full_wait_ns;
        lane.window.SendAgain(ack.number);
        break;
      case AckKind::kGone:
        lane.suspect = true;
        lane.not_before_ns = now_ns + options_.full_wait_ns;
        lane.window.SendAgain(ack.number);
        break;
      case AckKind::kAgain:
        lane.suspect = true;
        lane.window.SendAgain(ack.number);
        break;
    }
  }
  return {};
}

void LinkSender::Publish(uint32_t to) {
  Lane& lane = *lanes_[to];
  const int64_t now_ns = connection_.clock().NowNs();
  if (now_ns < lane.not_before_ns) return;
  const std::string subject = LinkSubject(options_.cluster, to);
  const std::string stream = LinkStreamName(options_.cluster, to);
  uint64_t number = 0;
  while (const std::string* batch = lane.window.NextToSend(number)) {
    // Asked before each batch: the lease may end at any moment.
    if (options_.may_send && !options_.may_send()) return;
    const std::string id = fmt::format("{}.{}.{}", options_.sender, options_.epoch, number);
    jsPubOptions options;
    jsPubOptions_Init(&options);
    options.MsgId = id.c_str();
    options.ExpectStream = stream.c_str();
    options.MaxWait = options_.ack_wait_ns / kMillisecond;
    natsMsg* message = nullptr;
    natsStatus s = natsMsg_Create(&message, subject.c_str(), nullptr, batch->data(), static_cast<int>(batch->size()));
    if (s == NATS_OK) s = js_PublishMsgAsync(jetstream_, &message, &options);
    natsMsg_Destroy(message);
    if (s != NATS_OK) {
      lane.flow = LinkFlow::kAway;
      lane.not_before_ns = now_ns + options_.full_wait_ns;
      return;
    }
    bytes_published_ += batch->size();
    lane.window.MarkSent(number);
    // A full stream is tried with one batch at a time.
    if (lane.flow == LinkFlow::kFull) {
      lane.not_before_ns = now_ns + options_.full_wait_ns;
      return;
    }
  }
}

Status LinkSender::Pump() {
  if (!failed_) return failed_;
  RETURN_IF_ERROR(TakeAcks());
  if (options_.may_send && !options_.may_send()) {
    failed_ = Fail(ErrorCode::kClosed, fmt::format("shard {} is no longer held in epoch {}: nothing is sent any more",
                                                   options_.sender, options_.epoch));
    return failed_;
  }
  const NatsStatus status = connection_.status();
  if (status.state != NatsState::kConnected) {
    for (const auto& lane : lanes_) {
      if (!lane->window.empty()) lane->flow = LinkFlow::kAway;
    }
    if (status.state == NatsState::kAway) return {};
    failed_ = Fail(ErrorCode::kClosed, "sending links: NATS has closed the connection: " + status.reason);
    return failed_;
  }
  if (status.reconnects != reconnects_) {
    reconnects_ = status.reconnects;
    for (const auto& lane : lanes_) lane->suspect = true;
  }
  for (uint32_t to = 0; to < options_.shards; ++to) {
    if (to == options_.sender) continue;
    if (lanes_[to]->suspect) {
      failed_ = Look(to);
      if (!failed_) return failed_;
      if (lanes_[to]->suspect) continue;
    }
    if (lanes_[to]->flow == LinkFlow::kAway) lanes_[to]->flow = LinkFlow::kGoing;
    Publish(to);
  }
  return {};
}

}  // namespace portolan
