#include "http/response_parser.h"

#include <algorithm>

#include "base/ascii.h"

namespace portolan {

std::string_view ResponseOutcomeName(ResponseOutcome outcome) {
  switch (outcome) {
    case ResponseOutcome::kGoing:
      return "going";
    case ResponseOutcome::kComplete:
      return "complete";
    case ResponseOutcome::kTruncated:
      return "truncated";
    case ResponseOutcome::kCutHead:
      return "cut-head";
    case ResponseOutcome::kEmpty:
      return "empty";
    case ResponseOutcome::kBadHead:
      return "bad-head";
    case ResponseOutcome::kBadLength:
      return "bad-length";
    case ResponseOutcome::kBadChunk:
      return "bad-chunk";
    case ResponseOutcome::kTooLarge:
      return "too-large";
    case ResponseOutcome::kTooManyInterim:
      return "too-many-interim";
  }
  return "unknown";
}

ResponseOutcome ResponseParser::Feed(std::string_view& in) {
  while (!in.empty() && outcome_ == ResponseOutcome::kGoing) {
    if (in_body_) {
      FeedBody(in);
    } else {
      FeedHead(in);
    }
  }
  return outcome_;
}

void ResponseParser::FeedHead(std::string_view& in) {
  constexpr std::string_view kStart = "HTTP/";
  if (head_bytes_.size() < kStart.size()) {
    // The start byte by byte: empty lines before it mean nothing, and anything else is no HTTP.
    const char c = in.front();
    if (head_bytes_.empty() && (c == '\r' || c == '\n')) {
      in.remove_prefix(1);
      return;
    }
    if (AsciiLower(c) != AsciiLower(kStart[head_bytes_.size()])) {
      head_ = ResponseHead{};
      outcome_ = ResponseOutcome::kBadHead;
      return;
    }
  }
  // Then line by line up to the empty one.
  const size_t end = in.find('\n');
  const size_t wanted = head_bytes_.size() < kStart.size() ? 1 : end == std::string_view::npos ? in.size() : end + 1;
  const size_t taken = std::min(wanted, limits_.head.max_bytes - head_bytes_.size());
  head_bytes_ += in.substr(0, taken);
  in.remove_prefix(taken);
  if (taken < wanted) {
    head_ = ResponseHead{};
    head_.outcome = HeadOutcome::kTooLarge;
    outcome_ = ResponseOutcome::kBadHead;
    return;
  }
  if (head_bytes_.back() != '\n') return;
  const std::string_view line = std::string_view(head_bytes_).substr(line_begin_, head_bytes_.size() - 1 - line_begin_);
  const bool empty = line_begin_ != 0 && line.find_first_not_of('\r') == std::string_view::npos;
  line_begin_ = head_bytes_.size();
  if (empty) ReadHead();
}

void ResponseParser::ReadHead() {
  head_ = ParseResponseHead(head_bytes_, limits_.head);
  head_bytes_.clear();
  line_begin_ = 0;
  if (head_.outcome != HeadOutcome::kRead) {
    outcome_ = ResponseOutcome::kBadHead;
    return;
  }
  if (head_.status >= 100 && head_.status < 200 && head_.status != 101) {
    if (++interim_ > kMaxInterim) outcome_ = ResponseOutcome::kTooManyInterim;
    return;
  }
  in_body_ = true;
  framing_ = FramingOf(head_, answers_head_request_);
  switch (framing_.kind) {
    case BodyFraming::kNone:
      outcome_ = ResponseOutcome::kComplete;
      break;
    case BodyFraming::kLength:
      if (framing_.length == 0) outcome_ = ResponseOutcome::kComplete;
      break;
    case BodyFraming::kBadLength:
      outcome_ = ResponseOutcome::kBadLength;
      break;
    case BodyFraming::kChunked:
    case BodyFraming::kUntilClose:
      break;
  }
}

void ResponseParser::FeedBody(std::string_view& in) {
  const uint64_t room = limits_.max_body - body_.size();
  if (framing_.kind == BodyFraming::kChunked) {
    const ChunkedDecoder::State state = chunked_.Feed(in, body_, room);
    if (state == ChunkedDecoder::State::kDone) {
      outcome_ = ResponseOutcome::kComplete;
    } else if (state == ChunkedDecoder::State::kBad) {
      outcome_ = ResponseOutcome::kBadChunk;
    } else if (!in.empty()) {
      outcome_ = ResponseOutcome::kTooLarge;
    }
    return;
  }
  uint64_t expected = in.size();
  if (framing_.kind == BodyFraming::kLength) expected = std::min(expected, framing_.length - body_.size());
  const auto taken = static_cast<size_t>(std::min(expected, room));
  body_.append(in.substr(0, taken));
  in.remove_prefix(taken);
  if (taken < expected) {
    outcome_ = ResponseOutcome::kTooLarge;
  } else if (framing_.kind == BodyFraming::kLength && body_.size() == framing_.length) {
    outcome_ = ResponseOutcome::kComplete;
  }
}

ResponseOutcome ResponseParser::Finish() {
  if (outcome_ != ResponseOutcome::kGoing) return outcome_;
  if (!in_body_) {
    if (head_bytes_.empty()) return outcome_ = ResponseOutcome::kEmpty;
    ReadHead();
    const bool usable = outcome_ == ResponseOutcome::kGoing || outcome_ == ResponseOutcome::kComplete;
    return outcome_ = usable ? ResponseOutcome::kCutHead : outcome_;
  }
  switch (framing_.kind) {
    case BodyFraming::kUntilClose:
      outcome_ = ResponseOutcome::kComplete;
      break;
    case BodyFraming::kChunked:
      // All data and the last chunk have come: browsers and curl do not miss the trailer.
      outcome_ = chunked_.data_done() ? ResponseOutcome::kComplete : ResponseOutcome::kTruncated;
      break;
    default:
      outcome_ = ResponseOutcome::kTruncated;
  }
  return outcome_;
}

}  // namespace portolan
