#include "content/content_seen.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "disk/committed.h"

namespace portolan {
namespace {

// What DRUM stores of a forgotten capture (docs/formats/content.md). A time of 0: it was taken back.
struct Forgotten {
  static constexpr size_t kSize = 24;
  uint64_t check = 0;
  uint64_t unix_ms = 0;
  uint64_t url = 0;  // keyed hash

  static Forgotten Of(const char* bytes) {
    return {LoadLe<uint64_t>(bytes), LoadLe<uint64_t>(bytes + 8), LoadLe<uint64_t>(bytes + 16)};
  }
  void To(char* bytes) const {
    StoreLe(bytes, check);
    StoreLe(bytes + 8, unix_ms);
    StoreLe(bytes + 16, url);
  }
};

// The first capture stays, unless it was taken back. Two payloads with one key: the first keeps its place, and copies
// of the second are not found.
void Combine(char* stored, std::string_view incoming) {
  Forgotten old = Forgotten::Of(stored);
  const Forgotten now = Forgotten::Of(incoming.data());
  if (now.unix_ms != 0) {
    if (old.unix_ms == 0) now.To(stored);
  } else if (old.check == now.check && old.url == now.url) {
    old.unix_ms = 0;
    old.To(stored);
  }
}

constexpr uint64_t kDrumShare = 4;

}  // namespace

ContentSeen::ContentSeen(const ContentSeenOptions& options, std::unique_ptr<DiskQueue> log, std::unique_ptr<Drum> drum)
    : options_(options),
      table_(options.memory - options.memory / kDrumShare),
      log_(std::move(log)),
      drum_(std::move(drum)),
      pace_(options.pace) {}

Result<std::unique_ptr<ContentSeen>> ContentSeen::Open(Env& env, const Manifest& manifest, Executor& executor,
                                                       const ContentSeenOptions& options) {
  if (options.memory < ContentSeenOptions::kMinMemory) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: {} bytes of memory, at least {} are needed", options.name,
                                                         options.memory, ContentSeenOptions::kMinMemory));
  }
  DrumOptions old;
  old.name = options.name + ".old";
  old.value_size = Forgotten::kSize;
  old.memory = options.memory / kDrumShare;
  old.disk = options.disk;
  old.combine = Combine;
  old.expunge = [](uint64_t, std::string_view value) { return Forgotten::Of(value.data()).unix_ms == 0; };
  old.on_round_done = options.on_round_done;
  ASSIGN_OR_RETURN(auto drum, Drum::Open(env, manifest, executor, old));
  const DiskQueue::Options first{
      .name = options.name + ".first",
      .segment_size = std::clamp<uint64_t>(options.memory / 8, uint64_t{1} << 20, uint64_t{64} << 20)};
  ASSIGN_OR_RETURN(auto log, DiskQueue::Open(env, manifest, first));
  std::unique_ptr<ContentSeen> seen(new ContentSeen(options, std::move(log), std::move(drum)));
  if (seen->drum_->plan().empty_room() < kMostCalls * kTuples) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: {} bytes of memory are too few", options.name, old.memory));
  }
  RETURN_IF_ERROR(seen->Restore(env, manifest));
  return seen;
}

Status ContentSeen::Restore(Env& env, const Manifest& manifest) {
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(options_.name, kKind));
  if (section == nullptr) return {};
  described_ = *section;
  ASSIGN_OR_RETURN(counts_.looked, section->Number("looked"));
  ASSIGN_OR_RETURN(counts_.copies, section->Number("copies"));
  ASSIGN_OR_RETURN(counts_.forgotten, section->Number("forgotten"));
  ASSIGN_OR_RETURN(counts_.late, section->Number("late"));
  ASSIGN_OR_RETURN(counts_.too_long, section->Number("too_long"));
  ASSIGN_OR_RETURN(counts_.lost, section->Number("lost"));
  ASSIGN_OR_RETURN(const ManifestSection* first, manifest.Find(options_.name + ".first", DiskQueue::kKind));
  if (first == nullptr) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: the manifest has no log of its table", section->name));
  }

  // The table may be smaller than it was: then the oldest leave, now from the table and below from the log.
  uint64_t dropped = 0;
  bool whole = true;
  RETURN_IF_ERROR(ForEachQueued(env, manifest.dir(), *first, [&](std::string_view bytes) {
    const std::optional<FirstCapture> capture = DecodeFirstCapture(bytes);
    whole = capture.has_value() && (capture->removal || table_.Find(capture->payload) == nullptr);
    if (!whole) return false;
    for (; !table_.Fits(capture->url.size()); ++dropped) table_.RemoveOldest();
    table_.Add(*capture);
    return true;
  }));
  if (!whole) return Fail(ErrorCode::kCorrupt, fmt::format("{}: a record is not a first capture", first->name));
  for (; dropped > 0; --dropped) {
    ASSIGN_OR_RETURN(const std::string* bytes, log_->Front());
    const auto capture = bytes == nullptr ? std::nullopt : DecodeFirstCapture(*bytes);
    if (!capture) return Fail(ErrorCode::kCorrupt, fmt::format("{}: a record is not a first capture", first->name));
    if (!capture->removal && capture->ours) {
      if (drum_->Room(0) > 0) {
        RETURN_IF_ERROR(Store(*capture));
        ++counts_.forgotten;
      } else {
        ++counts_.lost;
      }
    }
    log_->PopFront();
  }
  return {};
}

Status ContentSeen::Store(const FirstCapture& capture) {
  char value[Forgotten::kSize];
  Forgotten{capture.payload.check, capture.removal ? 0 : static_cast<uint64_t>(capture.unix_ms),
            options_.key.Hash(capture.url)}
      .To(value);
  return drum_->Add({.op = DrumOp::kUpdate, .key = capture.payload.key, .value = {value, sizeof value}, .aux = {}});
}

Status ContentSeen::Append(const FirstCapture& capture) {
  EncodeFirstCapture(capture, record_);
  RETURN_IF_ERROR(log_->Append(record_));
  table_.Add(capture);
  return {};
}

Status ContentSeen::ForgetOldest() {
  ASSIGN_OR_RETURN(const std::string* bytes, log_->Front());
  const CaptureTable::Oldest oldest = table_.oldest();
  const auto logged = bytes == nullptr ? std::nullopt : DecodeFirstCapture(*bytes);
  if (!logged || *logged != oldest.capture) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}.first: its oldest record is not the table's", options_.name));
  }
  if (oldest.live && oldest.capture.ours) {
    RETURN_IF_ERROR(Store(oldest.capture));
    ++counts_.forgotten;
  }
  log_->PopFront();
  table_.RemoveOldest();
  return {};
}

Status ContentSeen::MakeRoom(size_t url_size) {
  int chances = kSecondChances;
  while (!table_.Fits(url_size)) {
    const CaptureTable::Oldest oldest = table_.oldest();
    if (!oldest.live || !oldest.found || chances == 0) {
      RETURN_IF_ERROR(ForgetOldest());
      continue;
    }
    // It goes to the end of the ring. That needs no room but its own.
    --chances;
    FirstCapture again = oldest.capture;
    const std::string url(again.url);
    again.url = url;
    ASSIGN_OR_RETURN(const std::string* bytes, log_->Front());
    if (bytes == nullptr) return Fail(ErrorCode::kCorrupt, fmt::format("{}.first is too short", options_.name));
    log_->PopFront();
    table_.RemoveOldest();
    while (!table_.Fits(url.size())) RETURN_IF_ERROR(ForgetOldest());
    RETURN_IF_ERROR(Append(again));
  }
  return {};
}

Result<std::optional<ContentSeen::Known>> ContentSeen::Look(const FirstCapture& capture) {
  ++counts_.looked;
  if (const CaptureTable::Entry* const known = table_.Find(capture.payload)) {
    ++counts_.copies;
    return Known{
        .url = std::string(known->url()), .unix_ms = known->unix_ms, .depth = known->depth, .type = known->type};
  }
  if (capture.url.size() > kMaxFirstUrl) {
    ++counts_.too_long;
    return std::nullopt;
  }
  if (capture.ours && counts_.forgotten > 0) {
    record_.clear();
    AppendLe(record_, capture.payload.check);
    AppendLe(record_, static_cast<uint64_t>(capture.unix_ms));
    record_ += capture.url;
    RETURN_IF_ERROR(drum_->Add({.op = DrumOp::kCheck, .key = capture.payload.key, .value = {}, .aux = record_}));
  }
  RETURN_IF_ERROR(MakeRoom(capture.url.size()));
  RETURN_IF_ERROR(Append(capture));
  return std::nullopt;
}

Status ContentSeen::Remove(const PayloadKey& payload, std::string_view url, bool ours) {
  if (url.size() > kMaxFirstUrl) return {};
  FirstCapture removal{.payload = payload, .url = url, .ours = ours, .removal = true};
  if (ours && counts_.forgotten > 0) RETURN_IF_ERROR(Store(removal));
  const CaptureTable::Entry* const known = table_.Find(payload);
  if (known == nullptr || known->url() != url) return {};
  const std::string copy(url);  // it may be a view of the table's own
  removal.url = copy;
  RETURN_IF_ERROR(MakeRoom(copy.size()));
  return Append(removal);
}

Result<uint64_t> ContentSeen::TakeLate(LateSink& sink, uint64_t max, int64_t now_ns) {
  struct Late : DrumSink {
    Late(LateSink& receiver, ContentCounts& counted) : to(receiver), counts(counted) {}
    Status OnAnswer(const DrumAnswer& answer) override {
      if (answer.unique) return {};
      if (answer.value.size() != Forgotten::kSize || answer.aux.size() < kAuxHead) {
        return Fail(ErrorCode::kCorrupt, "content: an answer of its DRUM is not valid");
      }
      const Forgotten first = Forgotten::Of(answer.value.data());
      if (first.unix_ms == 0 || first.check != LoadLe<uint64_t>(answer.aux.data())) return {};
      RETURN_IF_ERROR(to.OnLate({.url = answer.aux.substr(kAuxHead),
                                 .unix_ms = static_cast<int64_t>(LoadLe<uint64_t>(answer.aux.data() + 8)),
                                 .first_unix_ms = static_cast<int64_t>(first.unix_ms)}));
      ++counts.late;
      return {};
    }
    LateSink& to;
    ContentCounts& counts;
  } late(sink, counts_);
  pace_.Observe(*drum_, now_ns);
  const uint64_t before = drum_->waiting();
  const auto result = drum_->TakeResults(late, max);
  const uint64_t taken = before - drum_->waiting();
  pace_.Observe(*drum_, now_ns);
  RETURN_IF_ERROR(result);
  return taken;
}

int64_t ContentSeen::NextRoundTime(int64_t now_ns, bool hungry) {
  pace_.Observe(*drum_, now_ns);
  return pace_.NextStart(*drum_, hungry);
}

Result<bool> ContentSeen::StartRound(int64_t now_ns, bool hungry) {
  if (!pace_.Wants(*drum_, now_ns, hungry)) return false;
  ASSIGN_OR_RETURN(const bool started, drum_->StartRound());
  pace_.Observe(*drum_, now_ns);
  return started;
}

Status ContentSeen::Flush() {
  described_.name = options_.name;
  described_.kind = kKind;
  described_.numbers = {{"looked", counts_.looked}, {"copies", counts_.copies},     {"forgotten", counts_.forgotten},
                        {"late", counts_.late},     {"too_long", counts_.too_long}, {"lost", counts_.lost}};
  return {};
}

}  // namespace portolan
