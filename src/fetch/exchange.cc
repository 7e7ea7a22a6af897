#include "fetch/exchange.h"

#include <algorithm>
#include <utility>

namespace portolan {
namespace {

// The body's first buffer, and the unit to which what it holds is rounded up. A Content-Length cannot be trusted: more
// is not reserved before the bytes come.
constexpr uint64_t kFirstBuffer = uint64_t{16} << 10;
constexpr uint64_t kStep = uint64_t{16} << 10;
// The deadline of a stalled fetch: it is never reached.
constexpr int64_t kStalledDeadline = kNoDeadline - 1;

}  // namespace

void Exchange::Begin(FetchTask&& task) {
  response_ = {};
  response_.task = std::move(task);
  head_.Begin(options_.limits.head);
  phase_ = TransferPhase::kConnecting;
  decided_.reset();
  kept_ = false;
  window_bytes_ = 0;
  stalled_ns_ = not_read_ns_ = judged_ns_ = 0;
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
  const std::string_view taken = bytes.substr(0, room);
  const size_t size = response_.body.size() + taken.size();
  if (size > response_.body.capacity()) {
    size_t buffer = BufferFor(size);
    // Bytes without memory taken for them wait, unless their buffer uses no memory before it is written.
    if (options_.budget != nullptr && buffer < kMapped) {
      buffer = std::max<size_t>(size, std::min<uint64_t>(buffer, response_.lease.bytes()));
    }
    response_.body.reserve(buffer);
  }
  response_.body.append(taken);
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

// Twice what it was, more where the length is known; never more than the body can be.
size_t Exchange::BufferFor(size_t size) const {
  const size_t capacity = response_.body.capacity();
  if (size <= capacity) return capacity;
  const auto length = head_.content_length();
  const uint64_t limit = std::min(length.value_or(UINT64_MAX), options_.limits.max_body);
  const uint64_t grown = capacity * (length ? 4 : 2);
  return std::max<uint64_t>(size, std::min(limit, std::max(grown, kFirstBuffer)));
}

uint64_t Exchange::CostOf(size_t body) const {
  const size_t buffer = BufferFor(body);
  const uint64_t held = head_.bytes() + (buffer < kMapped ? buffer : body);
  return (held + kStep - 1) / kStep * kStep;
}

bool Exchange::Pay(size_t bytes) {
  const uint64_t cost = CostOf(response_.body.size() + bytes);
  const uint64_t paid = response_.lease.bytes();
  return cost <= paid || room_.Grow(*this, cost - paid);
}

size_t Exchange::MayReceive(size_t most) {
  if (options_.budget == nullptr || Pay(most)) return most;
  const uint64_t held = head_.bytes() + response_.body.size();
  if (response_.lease.bytes() > held) return std::min<uint64_t>(most, response_.lease.bytes() - held);
  room_.Stall(*this);
  return 0;
}

bool Exchange::MayTake(size_t bytes) {
  if (options_.budget == nullptr || Pay(bytes)) return true;
  if (response_.lease.bytes() >= head_.bytes() + response_.body.size() + bytes) return true;
  room_.Stall(*this);
  return false;
}

void Exchange::GiveBackUnused() {
  const uint64_t cost = std::max(CostOf(response_.body.size()), ReceiveRoom::kFirstBytes);
  if (options_.budget != nullptr && cost < response_.lease.bytes()) response_.lease.Resize(cost);
}

void Exchange::Stall() {
  stalled_ns_ = options_.clock->NowNs();
  *deadline_ = kStalledDeadline;
}

// The speed is measured anew, and all time limits move by the stalled time.
void Exchange::Resume() {
  const int64_t now = options_.clock->NowNs();
  not_read_ns_ += now - std::exchange(stalled_ns_, 0);
  window_ns_ = now;
  window_bytes_ = 0;
  judged_ns_ = 0;
  SetDeadline();
}

double Exchange::Sluggishness(int64_t now_ns, int64_t since_ns, int64_t least_ns) {
  if (phase_ != TransferPhase::kBody || stalled()) return 0;
  if (judged_ns_ != 0 && judged_ns_ >= since_ns) {
    const double seconds = static_cast<double>(now_ns - judged_ns_) / kSecond;
    const auto came = static_cast<double>(std::max<uint64_t>(response_.wire_bytes - judged_bytes_, 1));
    const double sluggishness = static_cast<double>(response_.lease.bytes()) * seconds / came;
    if (sluggishness > ReceiveRoom::kMaxSluggishness) return now_ns - judged_ns_ < least_ns ? 0 : sluggishness;
  }
  judged_ns_ = now_ns;
  judged_bytes_ = response_.wire_bytes;
  return 0;
}

void Exchange::SetDeadline() {
  const FetchLimits& limits = options_.limits;
  const int64_t begin = response_.times.begin_ns + not_read_ns_;
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
  const bool over = now_ns >= response_.times.begin_ns + not_read_ns_ + limits.total_ns;
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
  room_.Forget(*this);
  stalled_ns_ = 0;
  response_.times.end_ns = options_.clock->NowNs();
  response_.outcome = outcome;
  if (HasAnswer(outcome) && head_.whole()) {
    response_.status = head_.status();
    response_.response_head = head_.TakeHead();
  } else {
    response_.head = {};
    response_.version = HttpVersion::kUnknown;
    response_.body = {};
  }
  return std::move(response_);
}

}  // namespace portolan
