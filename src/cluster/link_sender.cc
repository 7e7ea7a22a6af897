#include "cluster/link_sender.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "cluster/names.h"

namespace portolan {

LinkSender::LinkSender(LinkTransport& transport, const LinkSenderOptions& options)
    : transport_(transport), options_(options) {
  for (uint32_t i = 0; i < options.shards; ++i) {
    lanes_.push_back(std::make_unique<Lane>(options.window_bytes));
    if (!options.spill.empty() && i != options.sender) lanes_[i]->spill = options.spill[i];
  }
}

Result<std::unique_ptr<LinkSender>> LinkSender::Create(LinkTransport& transport, const LinkSenderOptions& options) {
  CHECK(IsClusterName(options.cluster) && options.epoch > 0 && options.sender < options.shards);
  CHECK(options.spill.empty() || options.spill.size() == options.shards);
  std::unique_ptr<LinkSender> sender(new LinkSender(transport, options));
  RETURN_IF_ERROR(sender->Open());
  return sender;
}

Status LinkSender::Open() {
  reconnects_ = transport_.status().reconnects;
  for (uint32_t to = 0; to < options_.shards; ++to) {
    if (to == options_.sender) continue;
    ASSIGN_OR_RETURN(const LinkStreamInfo info, transport_.ReadStream(to));
    lanes_[to]->created_ns = info.created_ns;
    // What an earlier process left on disk counts as if each batch were full: the bound is for what is added.
    if (lanes_[to]->spill != nullptr) spilled_bytes_ += lanes_[to]->spill->size() * kLinkBatchTarget;
    LinkBatchWriter empty;  // the epoch begins
    lanes_[to]->window.Add(empty.Finish({.cluster = options_.cluster_id,
                                         .receiver = to,
                                         .sender = options_.sender,
                                         .epoch = options_.epoch,
                                         .number = lanes_[to]->window.next_number()}));
    ++batches_;
  }
  return {};
}

void LinkSender::Resend(uint32_t to, std::string batch) {
  SendWindow& window = lanes_[to]->window;
  RestampLinkBatch(batch, options_.epoch, window.next_number());
  window.Add(std::move(batch));
  ++batches_;
}

// Ends the batch that is being written. Its number is the one that it has when all before it have theirs.
void LinkSender::Close(uint32_t to) {
  Lane& lane = *lanes_[to];
  std::string batch = lane.writer.Finish({.cluster = options_.cluster_id,
                                          .receiver = to,
                                          .sender = options_.sender,
                                          .epoch = options_.epoch,
                                          .number = sent(to) + 1});
  ++batches_;
  if (lane.spill != nullptr && (lane.spill->size() > 0 || !lane.window.HasRoom())) {
    const Status written = lane.spill->Append(batch);
    lane.may_spill = static_cast<bool>(written);
    if (written) {
      ++spilled_;
      spilled_bytes_ += batch.size();
      return;
    }
    // No room on the disk, perhaps. Batches on disk come before this one, so that it gets the number after theirs.
    RestampLinkBatch(batch, options_.epoch, lane.window.next_number());
  }
  lane.window.Add(std::move(batch));
}

Status LinkSender::Send(uint32_t to, std::string_view message) {
  Lane& lane = *lanes_[to];
  CHECK(to != options_.sender);
  ASSIGN_OR_RETURN(const bool added, lane.writer.Add(message));
  if (added) return {};
  Close(to);
  ASSIGN_OR_RETURN(const bool first, lane.writer.Add(message));
  CHECK(first);  // an empty batch takes any message that is not too long
  return {};
}

void LinkSender::Flush(uint32_t to) {
  if (!lanes_[to]->writer.empty()) Close(to);
}

bool LinkSender::AllStored() const {
  for (const auto& lane : lanes_) {
    if (!lane->window.empty() || !lane->writer.empty()) return false;
    if (lane->spill != nullptr && lane->spill->size() > 0) return false;
  }
  return true;
}

Status LinkSender::Look(uint32_t to) {
  Lane& lane = *lanes_[to];
  const auto info = transport_.ReadStream(to);
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

void LinkSender::TakeAcks() {
  const int64_t now_ns = transport_.NowNs();
  for (const LinkAck& ack : transport_.TakeAcks()) {
    Lane& lane = *lanes_[ack.to];
    switch (ack.kind) {
      case LinkAckKind::kStored:
        // A number that was given before: another stream gave it.
        if (!ack.duplicate && ack.sequence <= lane.newest) lane.suspect = true;
        if (ack.sequence > lane.newest) lane.newest = ack.sequence;
        lane.window.Stored(ack.number);
        lane.flow = LinkFlow::kGoing;
        break;
      case LinkAckKind::kFull:
        lane.flow = LinkFlow::kFull;
        lane.not_before_ns = now_ns + options_.full_wait_ns;
        lane.window.SendAgain(ack.number);
        break;
      case LinkAckKind::kGone:
        lane.suspect = true;
        lane.not_before_ns = now_ns + options_.full_wait_ns;
        lane.window.SendAgain(ack.number);
        break;
      case LinkAckKind::kAgain:
        lane.suspect = true;
        lane.window.SendAgain(ack.number);
        break;
    }
  }
}

// From the disk into the window. An Error leaves the batch on disk.
Status LinkSender::Refill(uint32_t to) {
  Lane& lane = *lanes_[to];
  if (lane.spill == nullptr || lane.spill->size() == 0) return {};
  while (lane.window.HasRoom()) {
    ASSIGN_OR_RETURN(const std::string* front, lane.spill->Front());
    if (front == nullptr) break;
    LinkBatchReader reader;
    RETURN_IF_ERROR(reader.Decode(*front));
    if (reader.header().receiver != to || reader.header().sender != options_.sender) {
      return Fail(ErrorCode::kCorrupt, "the queue of links on disk has a batch of another shard");
    }
    std::string batch = *front;
    spilled_bytes_ -= std::min<uint64_t>(spilled_bytes_, batch.size());
    RestampLinkBatch(batch, options_.epoch, lane.window.next_number());
    lane.window.Add(std::move(batch));
    lane.spill->PopFront();
    lane.may_spill = true;
  }
  if (std::ranges::all_of(lanes_,
                          [](const auto& each) { return each->spill == nullptr || each->spill->size() == 0; })) {
    spilled_bytes_ = 0;
  }
  return {};
}

void LinkSender::Publish(uint32_t to) {
  Lane& lane = *lanes_[to];
  const int64_t now_ns = transport_.NowNs();
  if (now_ns < lane.not_before_ns) return;
  uint64_t number = 0;
  while (const std::string* batch = lane.window.NextToSend(number)) {
    // Asked before each batch: the lease may end at any moment.
    if (options_.may_send && !options_.may_send()) return;
    const std::string id = fmt::format("{}.{}.{}", options_.sender, options_.epoch, number);
    if (!transport_.Publish(to, id, *batch, options_.ack_wait_ns)) {
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

int64_t LinkSender::NextPump() const {
  int64_t next_ns = kNever;
  for (const auto& lane : lanes_) {
    uint64_t number = 0;
    if (lane->window.NextToSend(number) != nullptr || lane->suspect) next_ns = std::min(next_ns, lane->not_before_ns);
  }
  return next_ns;
}

Status LinkSender::Pump() {
  if (!failed_) return failed_;
  TakeAcks();
  if (options_.may_send && !options_.may_send()) {
    failed_ = Fail(ErrorCode::kClosed, fmt::format("shard {} is no longer held in epoch {}: nothing is sent any more",
                                                   options_.sender, options_.epoch));
    return failed_;
  }
  const TransportStatus status = transport_.status();
  if (status.state != TransportState::kConnected) {
    for (const auto& lane : lanes_) {
      if (!lane->window.empty()) lane->flow = LinkFlow::kAway;
    }
    if (status.state == TransportState::kAway) return {};
    failed_ = Fail(ErrorCode::kClosed, "sending links: the connection is closed: " + status.reason);
    return failed_;
  }
  if (status.reconnects != reconnects_) {
    reconnects_ = status.reconnects;
    for (uint32_t to = 0; to < options_.shards; ++to) lanes_[to]->suspect = to != options_.sender;
  }
  bool answers = true;  // each question that has no answer takes seconds: one is enough
  for (uint32_t to = 0; to < options_.shards; ++to) {
    if (to == options_.sender) continue;
    if (lanes_[to]->suspect) {
      if (answers) failed_ = Look(to);
      if (!failed_) return failed_;
      answers = answers && !lanes_[to]->suspect;
      if (lanes_[to]->suspect) continue;
    }
    if (lanes_[to]->flow == LinkFlow::kAway) lanes_[to]->flow = LinkFlow::kGoing;
    failed_ = Refill(to);
    if (!failed_) return failed_;
    Publish(to);
  }
  return {};
}

}  // namespace portolan
