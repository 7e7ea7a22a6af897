#include "http/headers.h"

#include <algorithm>
#include <cstring>

#include "base/ascii.h"

namespace portolan {
namespace {

constexpr bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view TrimLine(std::string_view line) {
  while (!line.empty() && IsBlank(line.front())) line.remove_prefix(1);
  while (!line.empty() && IsBlank(line.back())) line.remove_suffix(1);
  return line;
}

std::string_view TakeLine(std::string_view& bytes) {
  const size_t end = bytes.find('\n');
  const std::string_view line = bytes.substr(0, end);
  bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
  return line;
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return IsTokenByte(c); });
}

// "HTTP/1.1 200 OK" without its line end.
HeadOutcome ParseStatusLine(std::string_view line, ResponseHead& head) {
  if (!StartsWithIgnoringCase(line, "HTTP/")) return HeadOutcome::kNoStatusLine;
  line.remove_prefix(5);
  if (line.empty() || line[0] < '0' || line[0] > '3') return HeadOutcome::kBadStatusLine;
  head.version_major = static_cast<uint8_t>(line[0] - '0');
  line.remove_prefix(1);
  if (line.size() >= 2 && line[0] == '.' && IsDigit(line[1])) {
    head.version_minor = static_cast<uint8_t>(line[1] - '0');
    line.remove_prefix(2);
  } else if (head.version_major < 2) {
    return HeadOutcome::kBadStatusLine;
  }
  if (line.empty() || !IsBlank(line.front())) return HeadOutcome::kBadStatusLine;
  while (!line.empty() && IsBlank(line.front())) line.remove_prefix(1);
  size_t digits = 0;
  unsigned status = 0;
  while (digits < line.size() && digits < 4 && IsDigit(line[digits])) {
    status = status * 10 + static_cast<unsigned>(line[digits++] - '0');
  }
  if (digits != 3 || status < 100) return HeadOutcome::kBadStatusLine;
  line.remove_prefix(digits);
  if (!line.empty() && !IsBlank(line.front())) return HeadOutcome::kBadStatusLine;
  head.status = static_cast<uint16_t>(status);
  head.reason = TrimLine(line);
  return HeadOutcome::kRead;
}

}  // namespace

HeaderFields::Field HeaderFields::operator[](size_t index) const {
  const Span& span = spans_[index];
  const std::string_view bytes = bytes_;
  return Field{.name = bytes.substr(span.name, span.name_size), .value = bytes.substr(span.value, span.value_size)};
}

std::optional<std::string_view> HeaderFields::Find(std::string_view name) const {
  const std::string_view bytes = bytes_;
  for (const Span& span : spans_) {
    if (span.name_size == name.size() && EqualsIgnoringCase(bytes.substr(span.name, span.name_size), name)) {
      return bytes.substr(span.value, span.value_size);
    }
  }
  return std::nullopt;
}

std::string HeaderFields::Joined(std::string_view name) const {
  std::string joined;
  bool first = true;
  for (size_t i = 0; i < size(); ++i) {
    const Field field = (*this)[i];
    if (!EqualsIgnoringCase(field.name, name)) continue;
    if (!first) joined += ", ";
    first = false;
    joined += field.value;
  }
  return joined;
}

bool HeaderFields::Parse(std::string_view lines, size_t max_fields) {
  bytes_.clear();
  spans_.clear();
  skipped_lines_ = 0;
  if (lines.size() > UINT32_MAX || std::memchr(lines.data(), '\0', lines.size()) != nullptr) return false;
  bytes_.reserve(lines.size());
  bool foldable = false;  // the line before was a field, so that this one may continue it
  while (!lines.empty()) {
    std::string_view line = TakeLine(lines);
    const bool folded = !line.empty() && (line.front() == ' ' || line.front() == '\t');
    line = TrimLine(line);
    if (folded) {
      if (!foldable) {
        skipped_lines_ += line.empty() ? 0 : 1;
      } else if (!line.empty()) {
        // The value of the last field is the end of bytes_.
        Span& last = spans_.back();
        if (last.value_size != 0) bytes_ += ' ';
        bytes_ += line;
        last.value_size = static_cast<uint32_t>(bytes_.size() - last.value);
      }
      continue;
    }
    if (line.empty()) continue;
    const size_t colon = line.find(':');
    const std::string_view name = TrimLine(line.substr(0, colon));
    foldable = colon != std::string_view::npos && IsToken(name);
    if (!foldable) {
      ++skipped_lines_;
      continue;
    }
    if (spans_.size() == max_fields) return false;
    const std::string_view value = TrimLine(line.substr(colon + 1));
    Span span;
    span.name = static_cast<uint32_t>(bytes_.size());
    span.name_size = static_cast<uint32_t>(name.size());
    bytes_ += name;
    span.value = static_cast<uint32_t>(bytes_.size());
    span.value_size = static_cast<uint32_t>(value.size());
    bytes_ += value;
    spans_.push_back(span);
  }
  std::replace(bytes_.begin(), bytes_.end(), '\r', ' ');
  return true;
}

std::string_view HeadOutcomeName(HeadOutcome outcome) {
  switch (outcome) {
    case HeadOutcome::kRead:
      return "read";
    case HeadOutcome::kNoStatusLine:
      return "no-status-line";
    case HeadOutcome::kBadStatusLine:
      return "bad-status-line";
    case HeadOutcome::kBadField:
      return "bad-field";
    case HeadOutcome::kTooManyFields:
      return "too-many-fields";
    case HeadOutcome::kTooLarge:
      return "too-large";
  }
  return "unknown";
}

ResponseHead ParseResponseHead(std::string_view bytes, const HeadLimits& limits) {
  ResponseHead head;
  while (!bytes.empty() && (bytes.front() == '\r' || bytes.front() == '\n')) bytes.remove_prefix(1);
  if (bytes.size() > limits.max_bytes) {
    head.outcome = HeadOutcome::kTooLarge;
    return head;
  }
  head.outcome = ParseStatusLine(TakeLine(bytes), head);
  if (head.outcome != HeadOutcome::kRead) return head;
  if (head.reason.find('\0') != std::string::npos || bytes.find('\0') != std::string_view::npos) {
    head.outcome = HeadOutcome::kBadField;
  } else if (!head.fields.Parse(bytes, limits.max_fields)) {
    head.outcome = HeadOutcome::kTooManyFields;
  }
  return head;
}

std::optional<uint64_t> ParseLength(std::string_view digits, bool& too_large) {
  too_large = false;
  if (digits.empty() || !std::ranges::all_of(digits, IsDigit)) return std::nullopt;
  uint64_t length = 0;
  for (const char c : digits) {
    const auto digit = static_cast<uint64_t>(c - '0');
    too_large = too_large || length > (UINT64_MAX - digit) / 10;
    length = length * 10 + digit;
  }
  return too_large ? std::nullopt : std::optional(length);
}

std::optional<uint64_t> ContentLength(const HeaderFields& fields, bool& bad) {
  bad = false;
  std::optional<std::string_view> candidate;
  for (size_t i = 0; i < fields.size(); ++i) {
    const HeaderFields::Field field = fields[i];
    if (!EqualsIgnoringCase(field.name, "content-length")) continue;
    std::string_view list = field.value;
    for (;;) {
      const size_t comma = list.find(',');
      const std::string_view value = TrimBlanks(list.substr(0, comma));
      if (candidate && *candidate != value) {
        bad = true;
        return std::nullopt;
      }
      candidate = value;
      if (comma == std::string_view::npos) break;
      list.remove_prefix(comma + 1);
    }
  }
  if (!candidate) return std::nullopt;
  return ParseLength(*candidate, bad);
}

Framing FramingOf(const ResponseHead& head, bool answers_head_request) {
  Framing framing;
  if (answers_head_request || (head.status >= 100 && head.status < 200) || head.status == 204 || head.status == 304) {
    return framing;
  }
  // The last coding decides; what stands before it was applied to the body first.
  bool transfer_encoding = false;
  std::string_view last;
  for (size_t i = 0; i < head.fields.size(); ++i) {
    const HeaderFields::Field field = head.fields[i];
    if (!EqualsIgnoringCase(field.name, "transfer-encoding")) continue;
    transfer_encoding = true;
    std::string_view list = field.value;
    while (!list.empty()) {
      const size_t comma = list.find(',');
      const std::string_view coding = TrimBlanks(list.substr(0, comma));
      list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
      if (coding.empty()) continue;
      if (!last.empty() && !EqualsIgnoringCase(last, "identity")) framing.coded_transfer = true;
      last = coding;
    }
  }
  if (transfer_encoding && !EqualsIgnoringCase(last, "identity")) {
    const bool chunked = EqualsIgnoringCase(last, "chunked");
    framing.kind = chunked ? BodyFraming::kChunked : BodyFraming::kUntilClose;
    framing.coded_transfer = framing.coded_transfer || !chunked;
    return framing;
  }
  bool bad = false;
  const std::optional<uint64_t> length = ContentLength(head.fields, bad);
  framing.kind = bad ? BodyFraming::kBadLength : length ? BodyFraming::kLength : BodyFraming::kUntilClose;
  framing.length = length.value_or(0);
  return framing;
}

}  // namespace portolan
