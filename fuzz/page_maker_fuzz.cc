// Any bytes as an answer, head and body: a PageResult with links inside their buffer, each once, and WARC records that
// a strict reader takes without a fault. Also as the answer to a second visit, whose validators the answer may repeat.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/hash.h"
#include "base/hash_key.h"
#include "outputs/warc_directory.h"
#include "parse/page_maker.h"
#include "warc/cdxj.h"
#include "warc/reader.h"

namespace {

using portolan::FetchOutcome;
using portolan::FetchResponse;
using portolan::PageMaker;
using portolan::PageResult;

PageMaker& Maker(bool all) {
  static PageMaker plain = PageMaker::Create({.seed = 1}).value();
  static PageMaker full = [] {
    portolan::PageMakerOptions options;
    options.seed = 2;
    options.embeds = true;
    options.requisites = true;
    options.similarity = true;
    options.text_log = true;
    options.archive_metadata = true;
    options.max_links = 50;
    options.decode.max_output = 100'000;
    options.visits = true;
    return PageMaker::Create(options).value();
  }();
  return all ? full : plain;
}

}  // namespace

// The first byte is the setup; the head ends behind the first empty line.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint8_t setup = data[0];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  FetchResponse response;
  response.task.url = "http://a.test/dir/page?q";
  response.task.kind = static_cast<portolan::UrlKind>((setup & 3) % 3);
  response.task.address = portolan::Address::V4(0x7f000001);
  response.outcome = static_cast<FetchOutcome>(setup >> 2 & 3);  // the four with an answer
  response.version = portolan::HttpVersion::k11;
  response.request_head = "GET /dir/page?q HTTP/1.1\r\nHost: a.test\r\n\r\n";
  const size_t end = text.find("\r\n\r\n");
  response.response_head = text.substr(0, end == std::string_view::npos ? end : end + 4);
  response.body = end == std::string_view::npos ? std::string_view() : text.substr(end + 4);
  response.times.begin_unix_ns = 1'769'862'601'250'000'000;
  if ((setup & 32) != 0) {
    portolan::LastVisit last;
    if ((setup & 64) != 0) last.validators = {"\"a\"", "Sun, 06 Nov 1994 08:49:37 GMT"};
    last.payload_sha1.fill('x');
    last.captured_unix_ms = (setup & 128) != 0 ? 1'769'000'000'123 : 0;
    response.task.last = std::make_shared<const portolan::LastVisit>(std::move(last));
  }

  const PageResult result = Maker((setup & 16) != 0).Make(std::move(response));
  std::set<uint64_t> hashes;
  for (const portolan::FoundLink& link : result.links.links) {
    CHECK(link.begin + link.size <= result.links.text.size());
    CHECK(link.hash == portolan::Hash64(result.links.UrlOf(link)));
    CHECK(link.host_hash == portolan::HostKey(result.links.UrlOf(link), portolan::HashKey::Known()));
    CHECK(hashes.insert(link.hash).second, "a link twice");
  }
  if (result.visit != nullptr) {
    const portolan::Validators& next = result.visit->validators;
    CHECK(next.etag.empty() || portolan::IsValidator(next.etag));
    CHECK(next.last_modified.empty() || portolan::IsValidator(next.last_modified));
    for (const portolan::LinkHint& hint : result.visit->hints) CHECK(hint.link < result.links.links.size());
  }
  CHECK(result.robots.has_value() == (result.kind == portolan::UrlKind::kRobots));
  if (result.archive.bytes.empty()) return 0;

  portolan::WarcReaderOptions options;
  options.strict = true;
  options.faults = [](const portolan::Fault& fault) { CHECK(false, "{}", fault.detail); };
  portolan::WarcReader reader(portolan::MemorySource(result.archive.bytes), options);
  bool found = false;
  for (;;) {
    const auto more = reader.Next();
    CHECK(more.has_value());
    if (!*more) break;
    CHECK(reader.Finish().has_value());
    found = found || (reader.record().offset == result.archive.response_begin &&
                      reader.record().length == result.archive.response_length &&
                      reader.record().type == (result.archive.mime == "warc/revisit" ? portolan::WarcType::kRevisit
                                                                                     : portolan::WarcType::kResponse));
  }
  CHECK(found);
  std::string line_text;
  portolan::AppendCdxjLine(result.archive, 0, "a.warc.gz", line_text);
  line_text.pop_back();  // its line end
  const auto line = portolan::ParseCdxj(line_text);
  CHECK(line.has_value());
  return 0;
}
