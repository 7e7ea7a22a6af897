#include "fetch/head_collector.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"

namespace portolan {
namespace {

constexpr std::string_view kContentLength = "content-length:";

std::optional<uint64_t> Number(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end == text.data()) return std::nullopt;
  return value;
}

}  // namespace

void HeadCollector::Begin(const HeadLimits& limits) {
  limits_ = limits;
  head_.clear();
  bytes_ = 0;
  lines_ = 0;
  status_ = 0;
  whole_ = false;
  content_length_.reset();
}

void HeadCollector::StatusLine(std::string_view line) {
  const size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return;
  const size_t digits = line.find_first_not_of(' ', blank);
  if (digits == std::string_view::npos) return;
  int status = 0;
  std::from_chars(line.data() + digits, line.data() + std::min(line.size(), digits + 3), status);
  status_ = status;
  content_length_.reset();
  head_.clear();
  if (line.starts_with("HTTP/2")) {
    head_ = "HTTP/1.1";
    head_ += line.substr(blank);
  } else {
    head_ = line;
  }
}

HeadCollector::Verdict HeadCollector::Line(std::string_view line) {
  bytes_ += line.size();
  if (bytes_ > limits_.max_bytes || ++lines_ > limits_.max_fields + 2) return Verdict::kTooLarge;
  if (whole_) return Verdict::kGoing;  // a trailer
  if (status_ == 0) {
    StatusLine(line);
    return Verdict::kGoing;
  }
  head_ += line;
  if (line == "\r\n" || line == "\n") {
    if (status_ >= 100 && status_ < 200 && status_ != 101) {
      head_.clear();
      status_ = 0;
      return Verdict::kGoing;
    }
    whole_ = true;
    return Verdict::kWhole;
  }
  if (StartsWithIgnoringCase(line, kContentLength)) {
    const auto length = Number(line.substr(kContentLength.size()));
    if (length && content_length_ && *length != *content_length_) return Verdict::kConflict;
    if (length) content_length_ = length;
  }
  return Verdict::kGoing;
}

}  // namespace portolan
