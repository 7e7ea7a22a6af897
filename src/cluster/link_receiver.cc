#include "cluster/link_receiver.h"

#include <fmt/core.h>
#include <nats/nats.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "cluster/names.h"

namespace portolan {
std::string LinkPosition::Encode() const {
  std::string out;
  AppendLe<uint64_t>(out, static_cast<uint64_t>(created_ns));
  AppendLe<uint64_t>(out, sequence);
  out += ledger.Encode();
  return out;
}

Result<LinkPosition> LinkPosition::Decode(std::string_view bytes) {
  ByteReader reader(bytes);
  LinkPosition position;
  uint64_t created = 0;
  if (!reader.Read(created) || !reader.Read(position.sequence) || created > INT64_MAX) {
    return Fail(ErrorCode::kCorrupt, "not a position in a link stream");
  }
  position.created_ns = static_cast<int64_t>(created);
  ASSIGN_OR_RETURN(position.ledger, BatchLedger::Decode(bytes.substr(reader.position())));
  return position;
}

LinkReceiver::LinkReceiver(NatsConnection& connection, const LinkReceiverOptions& options, LinkPosition position)
    : connection_(connection),
      options_(options),
      stream_(LinkStreamName(options.cluster, options.shard)),
      position_(std::move(position)),
      reconnects_(connection.status().reconnects) {}

LinkReceiver::~LinkReceiver() { Unsubscribe(); }

Result<std::unique_ptr<LinkReceiver>> LinkReceiver::Open(NatsConnection& connection, const LinkReceiverOptions& options,
                                                         LinkPosition position) {
  CHECK(IsClusterName(options.cluster));
  std::unique_ptr<LinkReceiver> receiver(new LinkReceiver(connection, options, std::move(position)));
  RETURN_IF_ERROR(receiver->Look());
  return receiver;
}

std::unexpected<Error> LinkReceiver::Loss(const std::string& why) {
  Error error(ErrorCode::kCorrupt,
              fmt::format("stream {} {}: what was in it and shard {} had not taken is lost. Taken last: {}", stream_,
                          why, options_.shard, position_.ledger.Describe()));
  failed_ = std::unexpected<Error>(error);
  return std::unexpected<Error>(std::move(error));
}

Status LinkReceiver::Look() {
  const auto info = ReadLinkStream(connection_, options_.cluster, options_.shard);
  if (!info) {
    if (info.error().code() == ErrorCode::kNotFound && position_.created_ns != 0) return Loss("was deleted");
    return std::unexpected<Error>(info.error());
  }
  stream_last_ = info->last;
  if (position_.created_ns == 0) position_.created_ns = info->created_ns;
  if (position_.created_ns != info->created_ns) return Loss("was deleted and made anew");
  if (info->last < position_.sequence) {
    return Loss(fmt::format("went back from message {} to {} (a power cut?)", position_.sequence, info->last));
  }
  if (info->first > position_.sequence + 1) {
    return Loss(fmt::format("was purged: messages {} to {} are gone", position_.sequence + 1, info->first - 1));
  }
  return {};
}

Status LinkReceiver::Subscribe() {
  jsSubOptions options;
  jsSubOptions_Init(&options);
  options.Stream = stream_.c_str();
  options.Config.DeliverPolicy = js_DeliverByStartSequence;
  options.Config.OptStartSeq = position_.sequence + 1;
  // Nothing is acknowledged: the position is in the manifest.
  options.Config.AckPolicy = js_AckNone;
  options.Config.InactiveThreshold = 60 * kSecond;
  jsErrCode code = static_cast<jsErrCode>(0);
  const natsStatus s =
      js_PullSubscribe(&subscription_, connection_.jetstream(), LinkSubject(options_.cluster, options_.shard).c_str(),
                       nullptr, nullptr, &options, &code);
  if (s != NATS_OK) return std::unexpected<Error>(NatsError(s, code, fmt::format("reading stream {}", stream_)));
  // What was asked for twice, so that libnats drops nothing.
  natsSubscription_SetPendingLimits(subscription_, 4 * options_.fetch, static_cast<int>(2 * options_.fetch_bytes));
  return {};
}

void LinkReceiver::Unsubscribe() {
  if (subscription_ == nullptr) return;
  // Removes the consumer at the server, too, if it is there.
  if (connection_.status().state == NatsState::kConnected) natsSubscription_Unsubscribe(subscription_);
  natsSubscription_Destroy(subscription_);
  subscription_ = nullptr;
}

Result<bool> LinkReceiver::TakeOne(natsMsg* message, const std::function<void(const LinkBatchReader&)>& sink,
                                   uint32_t& taken) {
  jsMsgMetaData* meta = nullptr;
  if (natsMsg_GetMetaData(&meta, message) != NATS_OK) return true;  // no message of a stream
  const uint64_t sequence = meta->Sequence.Stream;
  jsMsgMetaData_Destroy(meta);
  if (sequence != position_.sequence + 1) {
    if (sequence <= position_.sequence) return true;
    // Lost on the way here, or not there any more? The stream knows.
    natsMsg* missing = nullptr;
    jsErrCode code = static_cast<jsErrCode>(0);
    const natsStatus s =
        js_GetMsg(&missing, connection_.jetstream(), stream_.c_str(), position_.sequence + 1, nullptr, &code);
    natsMsg_Destroy(missing);
    if (code != JSNoMessageFoundErr && s != NATS_NOT_FOUND) return false;
    return Loss(fmt::format("has no messages {} to {}: somebody removed them", position_.sequence + 1, sequence - 1));
  }
  const std::string_view bytes(natsMsg_GetData(message), static_cast<size_t>(natsMsg_GetDataLength(message)));
  const auto foreign = [&](std::string why) {
    ++foreign_;
    last_foreign_ = fmt::format("message {} of stream {}: {}", sequence, stream_, why);
    position_.sequence = sequence;
    return true;
  };
  if (const Status decoded = reader_.Decode(bytes); !decoded) {
    if (decoded.error().code() == ErrorCode::kUnsupported) {
      failed_ = decoded;
      return std::unexpected<Error>(decoded.error());
    }
    return foreign(decoded.error().message());
  }
  const LinkBatchHeader& header = reader_.header();
  if (header.cluster != options_.cluster_id) return foreign("of another cluster with this name");
  if (header.receiver != options_.shard) return foreign("for another shard");
  BatchLedger::Lost lost;
  switch (position_.ledger.Judge(header, lost)) {
    case BatchVerdict::kNew:
      ++taken;
      sink(reader_);
      break;
    case BatchVerdict::kDuplicate:
      ++duplicates_;
      break;
    case BatchVerdict::kOldEpoch:
      ++old_epochs_;
      break;
    case BatchVerdict::kLost:
      failed_ = Fail(ErrorCode::kCorrupt,
                     fmt::format("stream {}: {} of the batches {} to {} that shard {} sent in epoch {} are lost",
                                 stream_, lost.count, lost.first, lost.last, lost.sender, lost.epoch));
      return std::unexpected<Error>(failed_.error());
  }
  position_.sequence = sequence;
  return true;
}

Result<uint32_t> LinkReceiver::Take(int64_t max_wait_ns, const std::function<void(const LinkBatchReader&)>& sink) {
  if (!failed_) return std::unexpected<Error>(failed_.error());
  const NatsStatus status = connection_.status();
  if (status.state == NatsState::kClosed) {
    return Fail(ErrorCode::kClosed, "reading links: NATS has closed the connection: " + status.reason);
  }
  if (status.state == NatsState::kAway) {
    connection_.WaitWhile(NatsState::kAway, max_wait_ns);
    return 0;
  }
  if (status.reconnects != reconnects_) {
    reconnects_ = status.reconnects;
    Unsubscribe();
  }
  if (subscription_ == nullptr) {
    Status ready = Look();
    if (ready) ready = Subscribe();
    if (!ready) {
      if (ready.error().code() == ErrorCode::kClosed) return 0;  // no answer within request_ns
      return std::unexpected<Error>(ready.error());
    }
  }
  // What is there, at once; if nothing is, the next one. (A request for several waits until it has all of them.)
  jsFetchRequest request;
  jsFetchRequest_Init(&request);
  request.Batch = options_.fetch;
  request.MaxBytes = static_cast<int64_t>(options_.fetch_bytes);
  request.NoWait = true;
  natsMsgList list{};
  natsStatus s = natsSubscription_FetchRequest(&list, subscription_, &request);
  if (list.Count == 0 && (s == NATS_OK || s == NATS_TIMEOUT || s == NATS_NOT_FOUND)) {
    natsMsgList_Destroy(&list);
    jsFetchRequest_Init(&request);
    request.Batch = 1;
    request.Expires = std::max<int64_t>(max_wait_ns, 5 * kMillisecond);
    s = natsSubscription_FetchRequest(&list, subscription_, &request);
  }
  uint32_t taken = 0;
  bool again = false;
  Status error;
  for (int i = 0; i < list.Count && error && !again; ++i) {
    const auto went = TakeOne(list.Msgs[i], sink, taken);
    if (!went) {
      error = std::unexpected<Error>(went.error());
    } else {
      again = !*went;
    }
  }
  const bool nothing = list.Count == 0;
  natsMsgList_Destroy(&list);
  if (!error) return std::unexpected<Error>(error.error());
  if (s != NATS_OK && s != NATS_TIMEOUT) again = true;
  if (s == NATS_TIMEOUT && nothing) {
    // Nothing came: is the stream still the one that it was?
    const Status ready = Look();
    if (!ready && ready.error().code() == ErrorCode::kClosed) return taken;
    RETURN_IF_ERROR(ready);
    // It has more than the subscription says: something was lost on the way here.
    again |= stream_last_ > position_.sequence;
  }
  if (again) Unsubscribe();
  return taken;
}

Status LinkReceiver::Trim(const LinkPosition& kept) {
  CHECK(kept.sequence <= position_.sequence);
  if (kept.sequence <= trimmed_ + 1) return {};
  jsOptions options;
  jsOptions_Init(&options);
  options.Stream.Purge.Sequence = kept.sequence;  // up to, and without, this one
  jsErrCode code = static_cast<jsErrCode>(0);
  const natsStatus s = js_PurgeStream(connection_.jetstream(), stream_.c_str(), &options, &code);
  if (s != NATS_OK) return std::unexpected<Error>(NatsError(s, code, fmt::format("trimming stream {}", stream_)));
  trimmed_ = kept.sequence - 1;
  return {};
}

}  // namespace portolan
