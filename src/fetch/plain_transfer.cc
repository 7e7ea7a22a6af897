#include "fetch/plain_transfer.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/ascii.h"
#include "fetch/curl_outcome.h"

namespace portolan {
namespace {

constexpr std::string_view kScheme = "http://";
constexpr uint16_t kHttpPort = 80;

// Of a canonical URL: the number after the host, if there is one.
uint16_t PortOf(std::string_view url) {
  std::string_view authority = OriginOf(url);
  authority.remove_prefix(std::min(authority.size(), kScheme.size()));
  const size_t host_end = authority.starts_with('[') ? authority.find(']') : 0;
  const size_t colon = authority.find(':', std::min(host_end, authority.size()));
  if (colon == std::string_view::npos) return kHttpPort;
  const std::string_view digits = authority.substr(colon + 1);
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  return error == std::errc{} && end == digits.data() + digits.size() ? port : uint16_t{0};
}

bool HasToken(std::string_view list, std::string_view token) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    if (EqualsIgnoringCase(TrimBlanks(list.substr(0, comma)), token)) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

HttpVersion VersionOf(const ResponseHead& head) {
  if (head.version_major != 1) return HttpVersion::kUnknown;
  return head.version_minor == 0 ? HttpVersion::k10 : HttpVersion::k11;
}

}  // namespace

void PlainTransfer::Begin(FetchTask&& task) {
  Exchange::Begin(std::move(task));
  port_ = PortOf(response_.task.url);
  line_.clear();
  framing_ = {};
  left_ = 0;
  chunked_ = {};
  stays_open_ = reusable_ = false;
  fields_.ListFor(response_.task, conditional_);
  using Form = RequestFields::Form;
  response_.request_head = fields_.HeadFor(response_.task, conditional_, /*absolute_target=*/false, Form::kArchived);
  sent_.clear();
  if (fields_.KeepsSecrets(conditional_)) {
    sent_ = fields_.HeadFor(response_.task, conditional_, /*absolute_target=*/false, Form::kSent);
  }
}

bool PlainTransfer::End(FetchOutcome outcome, std::string_view detail) {
  Cut(outcome, detail);
  return true;
}

bool PlainTransfer::Feed(std::string_view bytes) {
  if (phase_ != TransferPhase::kBody && FeedHead(bytes)) {
    // Unexpected bytes: this connection must not be used for another request.
    reusable_ = reusable_ && bytes.empty();
    return true;
  }
  return phase_ == TransferPhase::kBody && FeedBody(bytes);
}

// Line by line, interim answers included, up to the end of the final head.
bool PlainTransfer::FeedHead(std::string_view& bytes) {
  constexpr std::string_view kStart = "HTTP/";
  while (!bytes.empty() && phase_ != TransferPhase::kBody) {
    const size_t end = bytes.find('\n');
    const bool whole = end != std::string_view::npos;
    std::string_view line = bytes.substr(0, whole ? end + 1 : bytes.size());
    bytes.remove_prefix(line.size());
    if (!whole || !line_.empty()) {
      line_ += line;
      line = line_;
    }
    if (!head_.has_status()) {
      // Empty lines before an answer are ignored.
      if (line == "\r\n" || line == "\n") {
        Received(line.size());
        line_.clear();
        continue;
      }
      const size_t known = std::min(line.size(), kStart.size());
      if (!EqualsIgnoringCase(line.substr(0, known), kStart.substr(0, known)) && line != "\r") {
        Received(line.size());
        return End(FetchOutcome::kNotHttp, "no status line");
      }
    }
    if (!whole) {
      if (phase_ == TransferPhase::kAsked) Received(0);
      if (line_.size() + head_.bytes() <= options_.limits.head.max_bytes) return false;
      return End(FetchOutcome::kHeadTooLarge, "more header bytes than the limit");
    }
    const bool good = HeaderLine(line);
    line_.clear();
    if (!good) return true;
    if (head_.whole() && OnHead()) return true;
  }
  return false;
}

// The head is whole: how long is the body? True: there is none.
bool PlainTransfer::OnHead() {
  response_.head = ParseResponseHead(head_.text(), options_.limits.head);
  const ResponseHead& head = response_.head;
  if (head.outcome != HeadOutcome::kRead) return End(FetchOutcome::kNotHttp, HeadOutcomeName(head.outcome));
  response_.version = VersionOf(head);
  framing_ = FramingOf(head, /*answers_head_request=*/false);
  const std::string connection = head.fields.Joined("connection");
  stays_open_ =
      response_.version == HttpVersion::k11 ? !HasToken(connection, "close") : HasToken(connection, "keep-alive");
  // RFC 9112 6.1: if the two disagree, an intermediary may have seen another end. And HTTP/1.0 has no transfer codings.
  const bool coded = head.fields.Find("transfer-encoding").has_value();
  if (coded && (response_.version == HttpVersion::k10 || head.fields.Find("content-length"))) stays_open_ = false;
  constexpr int kSwitchingProtocols = 101;  // what follows is not HTTP
  if (head.status == kSwitchingProtocols) stays_open_ = false;
  switch (framing_.kind) {
    case BodyFraming::kNone:
      break;
    case BodyFraming::kLength:
      left_ = framing_.length;
      if (left_ > 0) return false;
      break;
    case BodyFraming::kBadLength:
      return End(FetchOutcome::kBadFraming, "Content-Lengths that differ or are too large");
    case BodyFraming::kUntilClose:
      // A length that is not a number does not mean "until the end of the connection".
      if (const auto length = head.fields.Find("content-length"); length && !std::ranges::all_of(*length, IsDigit)) {
        return End(FetchOutcome::kBadFraming, "Content-Length is not a number");
      }
      return false;
    case BodyFraming::kChunked:
      return false;
  }
  reusable_ = stays_open_;
  return End(FetchOutcome::kAnswered, "");
}

bool PlainTransfer::FeedBody(std::string_view bytes) {
  if (bytes.empty()) return false;
  switch (framing_.kind) {
    case BodyFraming::kLength: {
      const std::string_view mine = bytes.substr(0, left_);
      if (!Body(mine)) return true;
      left_ -= mine.size();
      if (left_ > 0) return false;
      reusable_ = stays_open_ && mine.size() == bytes.size();
      return End(FetchOutcome::kAnswered, "");
    }
    case BodyFraming::kChunked: {
      piece_.clear();
      const size_t before = bytes.size();
      const uint64_t room = options_.limits.max_body - std::min(options_.limits.max_body, response_.body.size()) + 1;
      const ChunkedDecoder::State state = chunked_.Feed(bytes, piece_, room);
      if (!Body(piece_)) return true;
      Received(before - bytes.size() - piece_.size());
      if (response_.wire_bytes > options_.limits.max_wire_bytes) {
        return End(FetchOutcome::kBodyCut, "more bytes than the limit");
      }
      if (state == ChunkedDecoder::State::kBad) {
        return chunked_.data_done() || chunked_.trailer().size() >= ChunkedDecoder::kMaxTrailer
                   ? End(FetchOutcome::kBodyCut, "trailer too large")
                   : End(FetchOutcome::kBadFraming, "no chunked coding");
      }
      if (state != ChunkedDecoder::State::kDone) return false;
      reusable_ = stays_open_ && bytes.empty();
      return End(FetchOutcome::kAnswered, "");
    }
    default:
      return !Body(bytes);
  }
}

bool PlainTransfer::OnClosed() {
  switch (phase_) {
    case TransferPhase::kConnecting:
      return End(FetchOutcome::kReset, "closed at once");
    case TransferPhase::kAsked:
      return kept_ ? End(FetchOutcome::kLocal, "the kept connection was closed")
                   : End(FetchOutcome::kEmptyReply, "closed without an answer");
    case TransferPhase::kHead:
      return End(FetchOutcome::kReset, "closed inside the head");
    case TransferPhase::kBody:
      break;
  }
  const bool whole =
      framing_.kind == BodyFraming::kUntilClose || (framing_.kind == BodyFraming::kChunked && chunked_.data_done());
  return whole ? End(FetchOutcome::kAnswered, "") : End(FetchOutcome::kDisconnected, "closed inside the body");
}

bool PlainTransfer::OnError(int os_error) {
  const char* words = strerror(os_error);  // NOLINT(concurrency-mt-unsafe): glibc's has one buffer per thread
  switch (phase_) {
    case TransferPhase::kConnecting:
      return End(OutcomeOfConnectError(os_error), words);
    case TransferPhase::kAsked:
      return kept_ ? End(FetchOutcome::kLocal, "the kept connection was closed") : End(FetchOutcome::kReset, words);
    case TransferPhase::kHead:
      return End(FetchOutcome::kReset, words);
    case TransferPhase::kBody:
      break;
  }
  return End(FetchOutcome::kDisconnected, words);
}

FetchResponse PlainTransfer::Finish() { return Take(*decided_); }

FetchResponse PlainTransfer::Finish(FetchOutcome outcome, std::string_view detail) {
  response_.detail = detail;
  reusable_ = false;
  return Take(outcome);
}

FetchResponse PlainTransfer::Take(FetchOutcome outcome) {
  // What was not sent is not archived.
  if (phase_ == TransferPhase::kConnecting) response_.request_head.clear();
  return TakeResponse(outcome);
}

}  // namespace portolan
