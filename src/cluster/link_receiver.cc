#include "cluster/link_receiver.h"

#include <fmt/core.h>

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

LinkReceiver::LinkReceiver(LinkTransport& transport, const LinkReceiverOptions& options, LinkPosition position)
    : transport_(transport),
      options_(options),
      stream_(LinkStreamName(options.cluster, options.shard)),
      position_(std::move(position)),
      reconnects_(transport.status().reconnects) {}

Result<std::unique_ptr<LinkReceiver>> LinkReceiver::Open(LinkTransport& transport, const LinkReceiverOptions& options,
                                                         LinkPosition position) {
  CHECK(IsClusterName(options.cluster));
  std::unique_ptr<LinkReceiver> receiver(new LinkReceiver(transport, options, std::move(position)));
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
  looked_ns_ = transport_.NowNs();
  came_ = false;
  const auto info = transport_.ReadStream(options_.shard);
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

Result<bool> LinkReceiver::TakeOne(uint64_t sequence, std::string_view bytes, const Sink& sink, uint32_t& taken) {
  if (sequence != position_.sequence + 1) {
    if (sequence <= position_.sequence) return true;
    // Lost on the way here, or not there any more? The stream knows.
    if (!transport_.HasNot(position_.sequence + 1)) return false;
    return Loss(fmt::format("has no messages {} to {}: somebody removed them", position_.sequence + 1, sequence - 1));
  }
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
      position_.sequence = sequence;
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

Result<uint32_t> LinkReceiver::Take(const Sink& sink) {
  if (!failed_) return std::unexpected<Error>(failed_.error());
  const TransportStatus status = transport_.status();
  if (status.state == TransportState::kClosed) {
    return Fail(ErrorCode::kClosed, "reading links: the connection is closed: " + status.reason);
  }
  if (status.state == TransportState::kAway) return 0;
  if (status.reconnects != reconnects_) {
    reconnects_ = status.reconnects;
    look_ = true;
  }
  if (look_) {
    const Status ready = Look();
    if (!ready && ready.error().code() == ErrorCode::kClosed) return 0;  // no answer
    RETURN_IF_ERROR(ready);
    look_ = false;
  }
  uint32_t taken = 0;
  Status error;
  const auto fetched = transport_.Fetch(position_.sequence + 1, [&](uint64_t sequence, std::string_view bytes) {
    const auto next = TakeOne(sequence, bytes, sink, taken);
    if (!next) error = std::unexpected<Error>(next.error());
    if (!next || !*next) look_ = true;
    return next && *next;
  });
  if (!error) return std::unexpected<Error>(error.error());
  if (!fetched) {
    if (fetched.error().code() == ErrorCode::kClosed) return taken;  // no answer
    return std::unexpected<Error>(fetched.error());
  }
  if (*fetched == LinkFetch::kBroken) look_ = true;
  came_ = came_ || *fetched == LinkFetch::kSome;
  if (*fetched == LinkFetch::kNothing && transport_.NowNs() - looked_ns_ >= options_.look_ns) {
    // What the stream had at the last look, while nothing came since, was lost on the way here.
    if (stream_last_ > position_.sequence && !came_) transport_.FetchAnew();
    // Is the stream still the one that it was?
    const Status ready = Look();
    if (!ready && ready.error().code() == ErrorCode::kClosed) return taken;
    RETURN_IF_ERROR(ready);
  }
  return taken;
}

Status LinkReceiver::Trim(uint64_t kept) {
  CHECK(kept <= position_.sequence);
  if (kept <= trimmed_ + 1) return {};
  RETURN_IF_ERROR(transport_.Trim(kept));  // up to, and without, this one
  trimmed_ = kept - 1;
  return {};
}

}  // namespace portolan
