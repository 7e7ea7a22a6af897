#include "fetch/exchange.h"

#include <algorithm>
#include <utility>

namespace portolan {
namespace {

// A Content-Length is a promise of strangers: more than this is not reserved before the bytes come.
constexpr uint64_t kMaxReserve = uint64_t{1} << 20;

}  // namespace

void Exchange::Begin(FetchTask&& task) {
  response_ = {};
  response_.task = std::move(task);
  head_.Begin(options_.limits.head);
  phase_ = TransferPhase::kConnecting;
  decided_.reset();
  kept_ = false;
  window_bytes_ = 0;
  response_.times.begin_ns = options_.clock->NowNs();
  response_.times.begin_unix_ns = options_.clock->UnixNs();
  SetDeadline();
}

void Exchange::Connected(bool kept) {
  const int64_t now = options_.clock->NowNs();
  kept_ = kept;
  response_.times.connected_ns = kept ? response_.times.begin_ns : now;
  asked_ns_ = now;
  phase_ = TransferPhase::kAsked;
  SetDeadline();
}

bool Exchange::HeaderLine(std::string_view line) {
  const bool trailer = head_.whole();
  Received(line.size());
  switch (head_.Line(line)) {
    case HeadCollector::Verdict::kGoing:
      break;
    case HeadCollector::Verdict::kWhole:
      phase_ = TransferPhase::kBody;
      if (const auto length = head_.content_length()) {
        response_.body.reserve(std::min({*length, options_.limits.max_body, kMaxReserve}));
      }
      break;
    case HeadCollector::Verdict::kTooLarge:
      return trailer ? Cut(FetchOutcome::kBodyCut, "trailer too large")
                     : Cut(FetchOutcome::kHeadTooLarge, "more header bytes or lines than the limit");
    case HeadCollector::Verdict::kBadLength:
      return Cut(FetchOutcome::kBadFraming, "Content-Lengths that differ or are too large");
    case HeadCollector::Verdict::kNotHttp:
      return Cut(FetchOutcome::kNotHttp, "no status line");
  }
  if (response_.wire_bytes > options_.limits.max_wire_bytes) {
    return Cut(head_.whole() ? FetchOutcome::kBodyCut : FetchOutcome::kHeadTooLarge, "more bytes than the limit");
  }
  return true;
}

bool Exchange::Body(std::string_view bytes) {
  const FetchLimits& limits = options_.limits;
  if (!head_.whole()) return Cut(FetchOutcome::kNotHttp, "a body without a head");
  Received(bytes.size());
  const uint64_t room = limits.max_body - std::min<uint64_t>(limits.max_body, response_.body.size());
  response_.body.append(bytes.substr(0, room));
  if (bytes.size() > room) return Cut(FetchOutcome::kBodyCut, "body larger than the limit");
  if (response_.wire_bytes > limits.max_wire_bytes) return Cut(FetchOutcome::kBodyCut, "more bytes than the limit");
  return true;
}

bool Exchange::Cut(FetchOutcome outcome, std::string_view detail) {
  decided_ = outcome;
  response_.detail = detail;
  return false;
}

void Exchange::Received(size_t bytes) {
  response_.wire_bytes += bytes;
  window_bytes_ += bytes;
  if (phase_ != TransferPhase::kAsked) return;
  phase_ = TransferPhase::kHead;
  response_.times.first_byte_ns = window_ns_ = options_.clock->NowNs();
  SetDeadline();
}

void Exchange::SetDeadline() {
  const FetchLimits& limits = options_.limits;
  const int64_t begin = response_.times.begin_ns;
  int64_t next = begin + limits.total_ns;
  if (phase_ == TransferPhase::kConnecting) {
    next = std::min(next, begin + limits.connect_ns);
  } else if (phase_ == TransferPhase::kAsked) {
    next = std::min(next, asked_ns_ + limits.first_byte_ns);
  } else if (limits.lowest_speed > 0) {
    next = std::min(next, window_ns_ + limits.speed_window_ns);
  }
  *deadline_ = next;
}

bool Exchange::TooSlow(int64_t now_ns) {
  const FetchLimits& limits = options_.limits;
  if (limits.lowest_speed == 0 || now_ns < window_ns_ + limits.speed_window_ns) return false;
  const double seconds = static_cast<double>(now_ns - window_ns_) / kSecond;
  if (static_cast<double>(window_bytes_) < static_cast<double>(limits.lowest_speed) * seconds) return true;
  window_ns_ = now_ns;
  window_bytes_ = 0;
  return false;
}

std::optional<FetchOutcome> Exchange::CheckTime(int64_t now_ns) {
  const FetchLimits& limits = options_.limits;
  const bool over = now_ns >= response_.times.begin_ns + limits.total_ns;
  switch (phase_) {
    case TransferPhase::kConnecting:
      if (over || now_ns >= response_.times.begin_ns + limits.connect_ns) return FetchOutcome::kConnectTimeout;
      break;
    case TransferPhase::kAsked:
      if (over || now_ns >= asked_ns_ + limits.first_byte_ns) return FetchOutcome::kFirstByteTimeout;
      break;
    case TransferPhase::kHead:
      if (over || TooSlow(now_ns)) return FetchOutcome::kFirstByteTimeout;
      break;
    case TransferPhase::kBody:
      if (over || TooSlow(now_ns)) return FetchOutcome::kTimeCut;
      break;
  }
  SetDeadline();
  return std::nullopt;
}

FetchResponse Exchange::TakeResponse(FetchOutcome outcome) {
  *deadline_ = kNoDeadline;
  response_.times.end_ns = options_.clock->NowNs();
  response_.outcome = outcome;
  if (HasAnswer(outcome) && head_.whole()) {
    response_.status = head_.status();
    response_.response_head = head_.TakeHead();
  } else {
    response_.version = HttpVersion::kUnknown;
    response_.body = {};
  }
  return std::move(response_);
}

}  // namespace portolan
