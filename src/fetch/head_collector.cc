#include "fetch/head_collector.h"

#include <algorithm>

#include "base/ascii.h"

namespace portolan {
namespace {

constexpr std::string_view kContentLength = "content-length:";

// The first number of the field's value, which may be a list.
std::optional<uint64_t> LengthOf(std::string_view value, bool& too_large) {
  value = TrimBlanks(value);
  const auto end = std::ranges::find_if_not(value, IsDigit);
  return ParseLength(value.substr(0, static_cast<size_t>(end - value.begin())), too_large);
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
    bool too_large = false;
    const auto length = LengthOf(line.substr(kContentLength.size()), too_large);
    if (too_large || (length && content_length_ && *length != *content_length_)) return Verdict::kBadLength;
    if (length) content_length_ = length;
  }
  return Verdict::kGoing;
}

}  // namespace portolan
