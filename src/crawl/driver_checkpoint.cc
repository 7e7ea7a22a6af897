// The driver's checkpoints: all shards at one moment, written while they continue to work.

#include "base/log.h"
#include "crawl/driver.h"

namespace portolan {
namespace {

constexpr int64_t kCopyLaterNs = 1'000'000;  // wait while copies are being written, before the next ones are made

}  // namespace

std::vector<Checkpointable*> Driver::Checkpointables() const {
  std::vector<Checkpointable*> all;
  for (Shard* const shard : shards_) {
    const std::vector<Checkpointable*> parts = shard->Checkpointables();
    all.insert(all.end(), parts.begin(), parts.end());
  }
  all.insert(all.end(), others_.begin(), others_.end());
  if (exchange_ != nullptr) {
    for (Checkpointable* const part : exchange_->Checkpointables()) all.push_back(part);
  }
  for (Checkpointable* const output : outputs_.Checkpointables()) all.push_back(output);
  return all;
}

// REQUIRES: all shards are held.
Status Driver::KeepArrivals() {
  if (exchange_ == nullptr) return {};
  for (uint32_t i = 0; i < shards_.size(); ++i) {
    const ShardExchange::Mail mail = exchange_->TakeMail(i);
    for (const AddressMail& notice : mail.notices) shards_[i]->OnAddressNotice(notice, Now());
    for (const uint64_t pld : mail.raises) RETURN_IF_ERROR(shards_[i]->OnRaise(pld, Now()));
    while (const std::optional<std::string_view> message = exchange_->Front(i)) {
      RETURN_IF_ERROR(shards_[i]->KeepArrival(*message));
      exchange_->Pop(i);
    }
    owner_.WakeShard(i);
  }
  return {};
}

void Driver::AskForCheckpoint(std::function<void(const Status&)> answer) {
  if (full_) return answer(portolan::Fail(ErrorCode::kNoSpace, state_));
  asked_.push_back(std::move(answer));
  checkpoint_due_ = true;
  CheckpointIfDue();
}

void Driver::AnswerAsked(std::vector<std::function<void(const Status&)>>& asked, const Status& status) {
  for (const auto& answer : std::exchange(asked, {})) answer(status);
}

void Driver::CheckpointIfDue() {
  if (!checkpoint_due_ || over_ || full_ || checkpointer_.active()) return;
  checkpoint_due_ = false;
  answering_.insert(answering_.end(), asked_.begin(), asked_.end());
  asked_.clear();
  const int64_t begin = clock_.NowNs();
  {
    const Held held(*this);
    if (const Status kept = KeepArrivals(); !kept) return Fail(kept.error());
    checkpointer_.Start(Checkpointables(), [this] { owner_.WakeDriver(); });
  }
  checkpoint_started_ns_ = clock_.NowNs();
  checkpoint_stop_ns_ = checkpoint_started_ns_ - begin;
  NoteHold(checkpoint_stop_ns_);
  checkpoint_copy_ns_ = 0;
  copy_at_ns_ = checkpoint_started_ns_;
  owner_.WakeDriver();
}

// Copies a part of one shard's structure. Then that shard does other work, then the next part is copied.
void Driver::ContinueCheckpoint() {
  const int64_t begin = clock_.NowNs();
  Checkpointer::Step step = Checkpointer::Step::kOver;
  if (const Checkpointable* const part = checkpointer_.copying(); part != nullptr) {
    const auto owner = shard_of_.find(part);
    const uint32_t first = owner == shard_of_.end() ? 0 : owner->second;
    const Held held(*this, first, owner == shard_of_.end() ? 0 : first + 1);
    step = checkpointer_.Continue();
  }
  const int64_t now = clock_.NowNs();
  checkpoint_copy_ns_ += now - begin;
  NoteHold(now - begin);
  copy_at_ns_ = step == Checkpointer::Step::kOver   ? kNever
                : step == Checkpointer::Step::kMore ? now
                                                    : now + kCopyLaterNs;
}

void Driver::FinishCheckpoint() {
  copy_at_ns_ = kNever;
  const int64_t begin = clock_.NowNs();
  Status status;
  {
    const Held held(*this);
    status = checkpointer_.Finish();
  }
  const int64_t took = clock_.NowNs() - begin;
  NoteHold(took);
  Log(LogLevel::kDebug, "checkpoint",
      {{"started_us", checkpoint_stop_ns_ / 1000},
       {"copied_us", checkpoint_copy_ns_ / 1000},
       {"written_us", (begin - checkpoint_started_ns_) / 1000},
       {"finished_us", took / 1000}});
  if (!status) {
    // The files of the failed one are ignored, and a new one is written.
    checkpoint_due_ = true;
    AnswerAsked(answering_, status);
    OnDiskError(status.error());
    return;
  }
  ++checkpoints_done_;
  AnswerAsked(answering_, {});
}

Status Driver::EndCheckpoint() {
  copy_at_ns_ = kNever;
  if (!checkpointer_.active()) return {};
  owner_.RunBackground();
  const Held held(*this);
  RETURN_IF_ERROR(checkpointer_.Finish());
  ++checkpoints_done_;
  return {};
}

Status Driver::CheckpointNow() {
  RETURN_IF_ERROR(EndCheckpoint());
  {
    const Held held(*this);
    RETURN_IF_ERROR(KeepArrivals());
    checkpointer_.Start(Checkpointables(), {});
  }
  return EndCheckpoint();
}

}  // namespace portolan
