#include "parse/stored_head.h"

#include <fmt/core.h>

#include <iterator>

#include "base/ascii.h"
#include "base/check.h"
#include "warc/http_head.h"

namespace portolan {
namespace {

constexpr std::string_view kPrefix = "X-Crawler-";

bool IsOneOf(std::string_view name) {
  return EqualsIgnoringCase(name, "transfer-encoding") || EqualsIgnoringCase(name, "content-length");
}

// Whether a body may follow at all: in these answers Content-Length describes another answer.
bool HasBody(int status) { return status >= 200 && status != 204 && status != 304; }

bool IsTrue(std::string_view raw, const ResponseHead& parsed, uint64_t body) {
  if (!raw.starts_with("HTTP/") || FindHeadEnd(raw) != raw.size()) return false;
  if (!HasBody(parsed.status)) return true;
  if (parsed.fields.Find("transfer-encoding")) return false;
  if (!parsed.fields.Find("content-length")) return true;
  bool bad = false;
  const auto length = ContentLength(parsed.fields, bad);
  return length == body;
}

}  // namespace

std::string_view StoredHead(std::string_view raw, const ResponseHead& parsed, uint64_t body, std::string& scratch) {
  CHECK(parsed.outcome == HeadOutcome::kRead);
  if (IsTrue(raw, parsed, body)) return raw;
  scratch.clear();
  const bool has_body = HasBody(parsed.status);
  bool renamed = false;
  bool status_line = true;
  while (!raw.empty()) {
    const size_t end = raw.find('\n');
    std::string_view line = raw.substr(0, end);
    raw.remove_prefix(end == std::string_view::npos ? raw.size() : end + 1);
    while (line.ends_with('\r')) line.remove_suffix(1);  // readers treat "\r\r\n" as an empty line, too
    while (status_line && line.starts_with('\r')) line.remove_prefix(1);
    // If there are empty lines before the last one, readers would expect the body after the first.
    if (line.empty()) continue;
    const bool folded = line.front() == ' ' || line.front() == '\t';
    if (!status_line && !folded && has_body && IsOneOf(TrimBlanks(line.substr(0, line.find(':'))))) {
      scratch += kPrefix;
      renamed = true;
    }
    // Our parser accepts "http/1.1"; archive readers do not.
    if (status_line && !line.starts_with("HTTP/")) {
      scratch += "HTTP/";
      line.remove_prefix(5);
    }
    scratch += line;
    scratch += "\r\n";
    status_line = false;
  }
  if (renamed) fmt::format_to(std::back_inserter(scratch), "Content-Length: {}\r\n", body);
  scratch += "\r\n";
  return scratch;
}

}  // namespace portolan
