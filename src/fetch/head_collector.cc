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

bool HeadCollector::StatusLine(std::string_view line) {
  const ResponseHead read = ParseResponseHead(line);
  if (read.outcome != HeadOutcome::kRead || read.status == 0) return false;
  status_ = read.status;
  content_length_.reset();
  if (read.version_major == 2) {
    head_ = "HTTP/1.1";
    head_ += line.substr(std::min(line.size(), line.find(' ')));
  } else {
    head_ = line;
  }
  return true;
}

HeadCollector::Verdict HeadCollector::Line(std::string_view line) {
  bytes_ += line.size();
  if (bytes_ > limits_.max_bytes || ++lines_ > limits_.max_fields + 2) return Verdict::kTooLarge;
  if (whole_) return Verdict::kGoing;  // a trailer
  if (status_ == 0) {
    return StatusLine(line) ? Verdict::kGoing : Verdict::kNotHttp;
  }
  head_ += line;
  // libcurl takes any line that begins so for the empty one.
  if (line.starts_with('\r') || line.starts_with('\n')) {
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
