// Any bytes as an HTTP/1 response: an outcome, the same one however the bytes are cut, within the limits.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "http/cache_control.h"
#include "http/mime.h"
#include "http/response_parser.h"
#include "http/sniff.h"

namespace {

struct Outcome {
  portolan::ResponseOutcome outcome;
  size_t left;
  std::string body;
  std::string trailer;
  std::string head;
  bool operator==(const Outcome&) const = default;
};

Outcome Run(std::string_view bytes, size_t piece) {
  const portolan::ResponseLimits limits{.head = {.max_bytes = 2000, .max_fields = 20}, .max_body = 300};
  portolan::ResponseParser parser(limits);
  size_t used = 0;
  while (used < bytes.size() && parser.outcome() == portolan::ResponseOutcome::kGoing) {
    std::string_view in = bytes.substr(used, piece);
    const size_t given = in.size();
    parser.Feed(in);
    used += given - in.size();
  }
  parser.Finish();
  CHECK(parser.body().size() <= limits.max_body);
  CHECK(parser.head().fields.size() <= limits.head.max_fields);
  std::string head = std::to_string(parser.head().status) + parser.head().reason;
  for (size_t i = 0; i < parser.head().fields.size(); ++i) {
    const auto field = parser.head().fields[i];
    head += std::string(field.name) + ":" + std::string(field.value) + ";";
    CHECK(parser.head().fields.Find(field.name).has_value());
  }
  return {parser.outcome(), bytes.size() - used, parser.body(), std::string(parser.trailer()), head};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Outcome whole = Run(bytes, bytes.size() + 1);
  CHECK(whole == Run(bytes, 1));
  CHECK(whole == Run(bytes, 7));

  const portolan::ResponseHead head = portolan::ParseResponseHead(bytes);
  if (head.outcome == portolan::HeadOutcome::kRead) {
    portolan::ParseCacheControl(head.fields.Joined("cache-control"));
    portolan::ExtractMimeType(head.fields);
    // Fields written out and read back are the same.
    std::string lines;
    for (size_t i = 0; i < head.fields.size(); ++i) {
      lines += std::string(head.fields[i].name) + ": " + std::string(head.fields[i].value) + "\r\n";
    }
    portolan::HeaderFields again;
    CHECK(again.Parse(lines, 1000));
    CHECK(again.size() == head.fields.size());
    for (size_t i = 0; i < again.size(); ++i) {
      CHECK(again[i].name == head.fields[i].name);
      CHECK(again[i].value == head.fields[i].value);
    }
  }
  return 0;
}
