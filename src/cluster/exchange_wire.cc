#include "cluster/exchange_wire.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "cluster/exchange_state.h"

namespace portolan {
namespace {

constexpr int64_t kNever = LinkSender::kNever;
constexpr int64_t kAwayNs = 100 * kMillisecond;  // between two looks whether the server is back
constexpr size_t kRaisesAMessage = 4096;

std::string SpillName(uint32_t to) { return fmt::format("links-to-{}", to); }

}  // namespace

// A queue's part of the checkpoint: ExchangeWire has flushed it.
class ExchangeWire::SpillPart : public Checkpointable {
 public:
  SpillPart(ExchangeWire& wire, DiskQueue& queue) : wire_(wire), queue_(queue) {}
  Status Flush() override { return {}; }
  ManifestSection Describe() const override { return queue_.Describe(); }
  Status Committed() override {
    const std::lock_guard lock(wire_.mutex_);
    return queue_.Committed();
  }

 private:
  ExchangeWire& wire_;
  DiskQueue& queue_;
};

ExchangeWire::ExchangeWire(Env& env, std::string dir, LinkTransport& transport, ExchangeBoxes& boxes,
                           const ClusterExchangeOptions& options)
    : env_(env),
      dir_(std::move(dir)),
      transport_(transport),
      boxes_(boxes),
      options_(options),
      spill_(options.shards),
      filter_(options.cluster_id, options.shards, options.shard),
      open_since_ns_(options.shards, 0),
      detector_(options.shards),
      cuts_(options.shards) {
  described_.name = described_.kind = kSection;
  if (options.phase_clock) clock_.emplace(*options.phase_clock);
}

ExchangeWire::~ExchangeWire() { transport_.SetWake({}); }

Status ExchangeWire::Open(const Manifest& manifest) {
  transport_.SetWake(options_.wake_worker);
  ExchangeState state;
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(kSection, kSection));
  if (section != nullptr) {
    if (section->files.size() != 1) return Fail(ErrorCode::kCorrupt, "section exchange: it names no file, or several");
    described_ = *section;
    retired_.push_back(section->files[0].name);
    ASSIGN_OR_RETURN(serial_, section->Number("serial"));
    ASSIGN_OR_RETURN(std::string bytes, ReadWholeFile(env_, JoinPath(dir_, section->files[0].name)));
    bytes.resize(std::min<size_t>(bytes.size(), section->files[0].length));
    ASSIGN_OR_RETURN(state, ExchangeState::Decode(bytes));
    if (state.cluster != options_.cluster_id || state.shard != options_.shard || state.shards != options_.shards) {
      return Fail(
          ErrorCode::kInvalidArgument,
          fmt::format("{}: this is shard {} of {} of the cluster with id {:016x}, not shard {} of {} of {:016x}", dir_,
                      state.shard, state.shards, state.cluster, options_.shard, options_.shards, options_.cluster_id));
    }
  }
  std::vector<DiskQueue*> spill(options_.shards, nullptr);
  for (uint32_t to = 0; to < options_.shards; ++to) {
    if (to == options_.shard) continue;
    // Batches are compressed, and each has its own checksum.
    ASSIGN_OR_RETURN(spill_[to], DiskQueue::Open(env_, manifest, {.name = SpillName(to), .codec = Codec::kNone}));
    spill[to] = spill_[to].get();
    parts_.push_back(std::make_unique<SpillPart>(*this, *spill_[to]));
  }
  LinkSenderOptions sender{.cluster = options_.cluster,
                           .cluster_id = options_.cluster_id,
                           .shards = options_.shards,
                           .sender = options_.shard,
                           .epoch = options_.epoch,
                           .window_bytes = options_.window_bytes,
                           .spill_bytes = options_.spill_bytes,
                           .spill = spill,
                           .ack_wait_ns = options_.ack_wait_ns,
                           .full_wait_ns = options_.full_wait_ns,
                           .may_send = options_.held};
  ASSIGN_OR_RETURN(sender_, LinkSender::Create(transport_, sender));
  for (auto& [to, batch] : state.outbox) sender_->Resend(to, std::move(batch));
  boxes_.Count([&](ExchangeCounters& counters) { counters.resent = state.outbox.size(); });
  ASSIGN_OR_RETURN(
      receiver_,
      LinkReceiver::Open(transport_,
                         {.cluster = options_.cluster, .cluster_id = options_.cluster_id, .shard = options_.shard},
                         std::move(state.position)));
  boxes_.Begin(receiver_->position());
  boxes_.SetAllStored(false);
  report_.cluster = options_.cluster_id;
  report_.shard = options_.shard;
  report_.epoch = options_.epoch;
  return {};
}

// ---- the worker

int64_t ExchangeWire::Work() {
  const std::lock_guard lock(mutex_);
  if (!failed_) return kNever;
  bool busy = false;
  failed_ = Step(&busy);
  ShowState();
  if (!failed_) {
    boxes_.Fail(failed_.error());
    return kNever;
  }
  if (busy) return 0;
  const int64_t now_ns = transport_.NowNs();
  if (transport_.status().state == TransportState::kAway) return kAwayNs;
  int64_t next_ns = std::min(report_at_ns_, sender_->NextPump());
  if (boxes_.HasRoomIn()) next_ns = std::min(next_ns, receiver_->NextLook());
  if (clock_) next_ns = std::min(next_ns, ask_at_ns_);
  for (const int64_t since_ns : open_since_ns_) {
    if (since_ns > 0) next_ns = std::min(next_ns, since_ns + options_.flush_ns);
  }
  return std::max<int64_t>(0, next_ns - now_ns);
}

Status ExchangeWire::Step(bool* busy) {
  if (options_.held && !options_.held()) {
    return Fail(ErrorCode::kClosed,
                fmt::format("shard {} is no longer held in epoch {}", options_.shard, options_.epoch));
  }
  RETURN_IF_ERROR(TakeOut());
  FlushLate(transport_.NowNs(), false);
  RETURN_IF_ERROR(sender_->Pump());
  for (uint32_t to = 0; to < options_.shards; ++to) {
    if (to != options_.shard) boxes_.SetRoom(to, sender_->HasRoom(to));
  }
  boxes_.SetAllStored(sender_->AllStored());
  TakeTold();
  if (trim_wanted_) RETURN_IF_ERROR(Trim());
  const int64_t now_ns = transport_.NowNs();
  if (now_ns >= report_at_ns_ && transport_.status().state == TransportState::kConnected) {
    RETURN_IF_ERROR(Report(now_ns));
  }
  if (clock_) AskTime();
  return Receive(busy);
}

// Removes from the own stream what the committed checkpoint holds, and the copy's checkpoint, too.
Status ExchangeWire::Trim() {
  const std::optional<CopiedCheckpoint> copied = Copied();
  const uint64_t sequence = copied ? std::min(trim_to_.sequence, copied->position) : trim_to_.sequence;
  const Status trimmed = receiver_->Trim(sequence);
  if (!trimmed && trimmed.error().code() == ErrorCode::kNotFound) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("its stream is gone: all links on their way to it, after batch {} of the "
                            "stream, are lost",
                            sequence));
  }
  if (!trimmed && trimmed.error().code() != ErrorCode::kClosed) return trimmed;
  trim_wanted_ = !trimmed || sequence < trim_to_.sequence;
  return {};
}

Status ExchangeWire::TakeOut() {
  for (uint32_t to = 0; to < options_.shards; ++to) {
    if (to == options_.shard) continue;
    ExchangeBoxes::Out out = boxes_.TakeOut(to);
    if (!out.notices.empty()) Tell(to, std::move(out.notices));
    if (out.empty()) continue;
    std::string raises;
    for (const uint64_t pld : out.raises) {
      if (raises.empty()) raises += kRaises;
      AppendLe<uint64_t>(raises, pld);
      if (raises.size() < 1 + 8 * kRaisesAMessage) continue;
      RETURN_IF_ERROR(sender_->Send(to, raises));
      raises.clear();
    }
    if (!raises.empty()) RETURN_IF_ERROR(sender_->Send(to, raises));
    ByteReader reader(out.messages);
    std::string_view message;
    while (!reader.done()) {
      CHECK(reader.ReadString(message), "the exchange lost count of its messages");
      RETURN_IF_ERROR(sender_->Send(to, message));
    }
    if (open_since_ns_[to] == 0) open_since_ns_[to] = std::max<int64_t>(1, transport_.NowNs());
  }
  return {};
}

void ExchangeWire::Tell(uint32_t to, std::vector<AddressNotice> notices) {
  if (options_.held && !options_.held()) return;
  const uint64_t count = notices.size();
  const NoticeMail mail{options_.cluster_id, to, options_.shard, options_.epoch, std::move(notices)};
  for (const std::string& datagram : mail.Encode(LinkTransport::kMaxDatagram)) transport_.Tell(to, datagram);
  boxes_.Count([count](ExchangeCounters& counters) { counters.notices_sent += count; });
}

// Closes batches that were begun a while ago.
void ExchangeWire::FlushLate(int64_t now_ns, bool all) {
  for (uint32_t to = 0; to < options_.shards; ++to) {
    if (open_since_ns_[to] == 0 || (!all && now_ns < open_since_ns_[to] + options_.flush_ns)) continue;
    sender_->Flush(to);
    open_since_ns_[to] = 0;
  }
}

void ExchangeWire::TakeTold() {
  for (const std::string& datagram : transport_.TakeTold()) {
    const auto mail = NoticeMail::Decode(datagram);
    if (mail && filter_.Accepts(*mail)) {
      boxes_.AddNotices(mail->sender, mail->notices);
    } else {
      boxes_.Count([](ExchangeCounters& counters) { ++counters.notices_bad; });
    }
  }
}

Status ExchangeWire::Receive(bool* busy) {
  if (!boxes_.HasRoomIn()) return {};
  const auto taken = receiver_->Take([&](const LinkBatchReader& batch) {
    std::string messages;
    std::vector<uint64_t> raises;
    for (const std::string_view message : batch.messages()) {
      if (message.front() != kRaises) {
        AppendString(messages, message);
        continue;
      }
      ByteReader reader(message.substr(1));
      for (uint64_t pld = 0; reader.Read(pld);) raises.push_back(pld);
    }
    boxes_.Add(receiver_->position().sequence, batch.header(), std::move(messages), std::move(raises));
  });
  if (!taken) return std::unexpected<Error>(taken.error());
  *busy = *taken > 0 && boxes_.HasRoomIn();
  return {};
}

// ---- reports

Status ExchangeWire::Report(int64_t now_ns) {
  report_at_ns_ = now_ns + options_.report_ns;
  const ShardExchange::Here here = boxes_.here();
  report_.pages = here.pages;
  report_.bytes = here.bytes;
  report_.only_waits = here.only_waits;
  const std::optional<CopiedCheckpoint> copied = Copied();
  report_.kept = cuts_.ToTell(copied ? std::optional(copied->serial) : std::nullopt);
  const Status put = transport_.PutReport(report_.Encode());
  if (!put) {
    return put.error().code() == ErrorCode::kClosed ? Status() : put;  // no answer: later
  }
  done_told_ = report_.done;
  detector_.Set(report_);
  ReadReports();
  if (!report_.done && detector_.Done()) {
    // First the others are told, since this process may end when it knows.
    report_.done = true;
    report_at_ns_ = now_ns;
  }
  const EndDetector::Sums others = detector_.Others(options_.shard);
  boxes_.SetElsewhere(
      {.done = done_told_, .only_waits = detector_.OnlyWaits(), .pages = others.pages, .bytes = others.bytes});
  return {};
}

void ExchangeWire::ReadReports() {
  for (uint32_t shard = 0; shard < options_.shards; ++shard) {
    if (shard == options_.shard) continue;
    const auto bytes = transport_.ReadReport(shard);
    if (!bytes && bytes.error().code() == ErrorCode::kClosed) return;  // away
    if (!bytes) continue;
    // Of another version, of a cluster that was there before, or broken: as if there were none.
    const auto report = ShardReport::Decode(*bytes, options_.shards);
    if (report && report->cluster == options_.cluster_id && report->shard == shard) detector_.Set(*report);
  }
}

// For phases. An answer that does not come is asked for again.
void ExchangeWire::AskTime() {
  const int64_t now_ns = transport_.NowNs();
  const bool asks = now_ns >= ask_at_ns_ && transport_.status().state == TransportState::kConnected;
  if (asks) {
    ask_at_ns_ = clock_->NextAsk(now_ns);
    if (const auto answer = transport_.AskTime()) clock_->Add(*answer);
  } else if (now_ns < phase_time_.until_ns) {
    return;
  }
  const PhaseTime time = clock_->Read(transport_.NowNs());
  if (time == phase_time_) return;
  phase_time_ = time;
  boxes_.SetPhaseTime(time);
}

void ExchangeWire::ShowState() {
  std::string trouble;
  if (clock_ && !phase_time_.IsGood(transport_.NowNs())) {
    trouble = "nothing is fetched until the phases' clock is known well enough";
  }
  uint64_t batches = 0;
  for (uint32_t to = 0; to < options_.shards; ++to) {
    if (to == options_.shard) continue;
    batches += sender_->sent(to);
    if (sender_->flow(to) == LinkFlow::kFull) {
      trouble = fmt::format("shard {} takes no more links: its stream is full", to);
    }
  }
  const TransportStatus status = transport_.status();
  if (status.state == TransportState::kAway) trouble = "the messaging server is away: " + status.reason;
  boxes_.SetTrouble(std::move(trouble));
  boxes_.Count([&](ExchangeCounters& counters) {
    counters.batches_sent = batches;
    counters.bytes_sent = sender_->bytes_published();
    counters.duplicates = receiver_->duplicates();
    counters.old_epochs = receiver_->old_epochs();
    counters.foreign = receiver_->foreign();
    counters.clock_jumps = clock_ ? clock_->jumps() : 0;
    counters.spilled = sender_->spilled();
    counters.spill_bytes = sender_->spilled_bytes();
  });
}

// ---- the checkpoint

std::vector<Checkpointable*> ExchangeWire::Checkpointables() {
  std::vector<Checkpointable*> all = {this};
  for (const auto& part : parts_) all.push_back(part.get());
  return all;
}

Status ExchangeWire::Flush() {
  const std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(failed_);
  RETURN_IF_ERROR(TakeOut());
  FlushLate(transport_.NowNs(), true);
  ExchangeState state{.cluster = options_.cluster_id,
                      .shard = options_.shard,
                      .shards = options_.shards,
                      .position = boxes_.given(),
                      .outbox = {}};
  flushed_.idle = boxes_.idle();
  flushed_.sent.assign(options_.shards, 0);
  flushed_.taken.assign(options_.shards, {});
  for (uint32_t shard = 0; shard < options_.shards; ++shard) {
    if (shard == options_.shard) continue;
    RETURN_IF_ERROR(spill_[shard]->Flush());
    sender_->ForEachUnstored(shard, [&](const std::string& batch) { state.outbox.emplace_back(shard, batch); });
    flushed_.sent[shard] = sender_->sent(shard);
    const BatchLedger::Taken taken = state.position.ledger.TakenFrom(shard);
    flushed_.taken[shard] = {taken.epoch, taken.number, taken.gaps};
  }
  flushed_position_ = state.position;
  const std::string bytes = state.Encode();
  const std::string name = fmt::format("exchange-{:08}", ++serial_);
  ASSIGN_OR_RETURN(const auto file, env_.Open(JoinPath(dir_, name), OpenMode::kCreate));
  retired_.push_back(name);  // as soon as a commit does not name it
  RETURN_IF_ERROR(file->Append(bytes));
  RETURN_IF_ERROR(file->Sync());
  described_.files = {{.name = name, .length = bytes.size()}};
  described_.numbers = {{"serial", serial_}, {"outbox", state.outbox.size()}};
  return {};
}

Status ExchangeWire::Committed() {
  const std::lock_guard lock(mutex_);
  cuts_.Add(serial_, flushed_);
  report_at_ns_ = 0;
  trim_to_ = flushed_position_;
  trim_wanted_ = true;
  options_.wake_worker();
  return RemoveUnnamed(env_, dir_, described_, retired_);
}

}  // namespace portolan
