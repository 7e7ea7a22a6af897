// Facts of other projects' tests about HTTP/1 responses, checked through ResponseParser and ChunkedDecoder.
//
// Every fact is either agreed with or stands below with the reason why not. RFC 9112 and browsers decide; parsers made
// for servers are stricter, and curl's verdicts often come from its command line.

#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/ascii.h"
#include "http/content_decoder.h"
#include "http/fact_files.h"
#include "http/response_parser.h"

namespace portolan {
namespace {

using Json = nlohmann::json;

struct Exclusion {
  const char* reason;
  std::set<int> ids;
};

const std::vector<Exclusion> kExclusions = {
    // Parsers stricter than RFC 9112 asks of a client, or than browsers are.
    {"lines that end in LF alone (RFC 9112 section 2.2 allows it, browsers do it)",
     {38, 40, 65, 93, 94, 95, 96, 97, 98, 99, 100, 101}},
    {"LF alone in chunked framing (browsers and curl take it)", {287, 288, 289, 290, 291}},
    {"a CR inside a line is a blank (RFC 9112 section 2.2 allows it; no browser refuses it yet)",
     {27,  28,  29,  30,  31,  32,  108, 109, 110, 111, 112, 113, 114, 115,
      116, 117, 118, 187, 188, 189, 190, 191, 192, 193, 194, 195, 196, 810}},
    {"an empty line before the status line (RFC 9112 section 2.2, llhttp and httparse skip it)", {85, 102}},
    {"more or other blanks in a status line (RFC 9112 section 4: lenient parsing on whitespace)",
     {35, 125, 126, 127, 142, 143, 144}},
    {"blanks before the first field are dropped (RFC 9112 section 2.2 allows it)", {34, 130, 147}},
    {"blanks before a colon are removed (RFC 9112 section 5.1, as a proxy must)", {132, 149}},
    {"a line that is no field is left out (browsers do)", {70, 131, 148, 181, 448}},
    {"a colon in a reason, a name's end or a value is allowed by the grammar; the test saw no effect of the field",
     {179, 180, 182, 183, 184, 185, 186}},
    {"a status below 100 or not of three digits (browsers take it; it means nothing, RFC 9110 section 15)",
     {199, 200, 201, 202, 203}},
    {"a Content-Length of 2^64 or more is refused (curl reads to the end)", {445}},
    {"bytes after a message that closes its connection are left to the caller", {5, 7}},
    {"chunk extensions are skipped unread, blanks after a size dropped (browsers do)", {75, 81, 83}},
    {"HTTP/1.2 is read as 1.1 (RFC 9110 section 2.5)", {372}},
    {"trailers are not read, so a NUL in one breaks nothing", {811}},
    {"a Content-Length that is no number is ignored (Fetch)", {383, 444, 452}},
    {"Content-Lengths are compared as text (Fetch)", {569}},
    {"transfer codings that were not asked for: the body lasts until close (RFC 9112 section 6.3)",
     {440, 453, 713, 738, 774, 775, 812}},
    // Not about the parser.
    {"another protocol: RTSP, ICE, HTTP/5.6, telnet", {42, 56, 57, 772}},
    {"HTTP/0.9 or an alias of HTTP: named kNoStatusLine, which the client's options turn into success",
     {364, 623, 644, 645, 827}},
    {"an upgrade was asked for", {9, 10, 770, 780}},
    {"the parser was told that no body follows, or to ignore the length", {20, 403, 495}},
    {"several Location fields: a matter of redirects", {512, 571}},
    {"the head's limit is ours", {616}},
    {"httparse gives no reason where it is not ASCII", {306}},
    {"curl: the command line's limits, conditions or files decide",
     {342, 345, 353, 371, 374, 404, 408, 424, 428, 473, 563, 591, 631, 643, 688, 721,
      722, 730, 734, 742, 753, 757, 769, 808, 817, 824, 843, 844, 845, 853, 854}},
};

bool Refused(ResponseOutcome outcome) {
  switch (outcome) {
    case ResponseOutcome::kGoing:
    case ResponseOutcome::kComplete:
    case ResponseOutcome::kTruncated:
    case ResponseOutcome::kCutHead:
      return false;
    default:
      return true;
  }
}

std::string WithoutLineEnds(std::string text) {
  std::erase_if(text, [](char c) { return c == '\r' || c == '\n'; });
  return text;
}

bool ChunkedBodyAgrees(const Json& fact, const std::string& raw) {
  ChunkedDecoder decoder;
  std::string out;
  std::string_view in = raw;
  decoder.Feed(in, out);
  const bool with_trailer = fact["consume_trailer"].get<bool>();
  const bool done = with_trailer ? decoder.state() == ChunkedDecoder::State::kDone : decoder.data_done();
  const std::string verdict = fact["verdict"];
  if (verdict == "reject") return decoder.state() == ChunkedDecoder::State::kBad;
  if (verdict == "incomplete") return !done && decoder.state() != ChunkedDecoder::State::kBad;
  return done && out == FromBase64(fact["decoded_b64"].get<std::string>()) &&
         (!with_trailer || in.size() == fact["bytes_left"].get<size_t>());
}

bool ChunkSizeAgrees(const Json& fact, const std::string& raw) {
  ChunkedDecoder decoder;
  std::string out;
  std::string_view in = raw;
  if (fact["consumed"].is_number()) in = in.substr(0, fact["consumed"].get<size_t>());
  const ChunkedDecoder::State state = decoder.Feed(in, out);
  const std::string verdict = fact["verdict"];
  if (verdict == "reject") return state == ChunkedDecoder::State::kBad;
  const bool read = state == ChunkedDecoder::State::kData || state == ChunkedDecoder::State::kTrailer;
  if (verdict == "incomplete") return !read && state != ChunkedDecoder::State::kBad;
  return read && decoder.chunk_size() == fact["size"].get<uint64_t>();
}

// The server sends 42 bytes and closes.
bool LengthAgrees(const Json& fact) {
  const std::string raw =
      "HTTP/1.1 200 OK\r\n" + fact["header_block"].get<std::string>() + "\r\n\r\n" + std::string(42, 'x');
  ResponseParser parser;
  std::string_view in = raw;
  parser.Feed(in);
  const ResponseOutcome outcome = parser.Finish();
  if (fact["verdict"] == "reject") return outcome == ResponseOutcome::kBadLength;
  return outcome == ResponseOutcome::kComplete && parser.body().size() == fact["expected_content_length"].get<size_t>();
}

bool FieldsAgree(const Json& expected, const HeaderFields& fields) {
  // A name of null continues the field before it.
  std::vector<std::pair<std::string, std::string>> wanted;
  for (const Json& field : expected) {
    const std::string value(TrimBlanks(field[1].get<std::string>()));
    if (field[0].is_null() && !wanted.empty()) {
      wanted.back().second += " " + value;
    } else {
      wanted.emplace_back(field[0].is_null() ? "bar" : field[0].get<std::string>(), value);
    }
  }
  if (wanted.size() != fields.size()) return false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (fields[i].name != wanted[i].first || fields[i].value != wanted[i].second) return false;
  }
  return true;
}

// llhttp lists every message of a connection, interim ones too.
bool MessagesAgree(const Json& messages, std::string_view raw) {
  for (const Json& message : messages) {
    if (!message.contains("status") || !message.value("headers_complete", false)) continue;
    const int status = message["status"];
    if (status >= 100 && status < 200 && status != 101) continue;
    ResponseParser parser;
    parser.Feed(raw);
    parser.Finish();
    if (parser.head().outcome != HeadOutcome::kRead || parser.head().status != status) return false;
    if (parser.head().reason != TrimBlanks(message["status_text"].get<std::string>())) return false;
    std::set<std::string> names;
    if (parser.head().fields.size() != message["headers"].size()) return false;
    for (size_t i = 0; i < parser.head().fields.size(); ++i) {
      if (parser.head().fields[i].name != message["headers"][i][0].get<std::string>()) return false;
    }
    if (WithoutLineEnds(parser.body()).substr(0, 16) != message["body"].get<std::string>().substr(0, 16) &&
        message["body"].get<std::string>().find('\\') == std::string::npos) {
      return false;
    }
  }
  return true;
}

bool Agrees(const Json& fact) {
  if (fact.contains("header_block")) return LengthAgrees(fact);
  std::string raw = FromBase64(fact["raw_b64"].get<std::string>());
  const std::string kind = fact.value("kind", "");
  if (kind == "chunked-body") return ChunkedBodyAgrees(fact, raw);
  if (kind == "chunk-size") return ChunkSizeAgrees(fact, raw);
  // curl's files write some carriage returns by name.
  for (size_t at = 0; (at = raw.find("%CR", at)) != std::string::npos;) raw.replace(at, 3, "\r");

  const std::string command = fact.value("client_command", "");
  ResponseParser parser({}, command.find("-I") != std::string::npos || command.find("--head") != std::string::npos);
  std::string_view in = raw;
  const ResponseOutcome before_close = parser.Feed(in);
  const ResponseOutcome outcome = parser.Finish();
  const std::string verdict = fact["verdict"];
  if (verdict == "curl-error") {
    if (Refused(outcome) || outcome == ResponseOutcome::kTruncated) return true;
    // Closed inside the head, curl misses the body that was promised.
    if (outcome == ResponseOutcome::kCutHead && parser.framing().length > 0) return true;
    const std::string coding = parser.head().fields.Joined("content-encoding");
    return !coding.empty() &&
           DecodeBody(parser.body(), CodingStack::Parse(coding), {}).outcome != DecodeOutcome::kWhole;
  }
  if (verdict == "reject") return Refused(outcome);
  if (verdict == "incomplete") return before_close == ResponseOutcome::kGoing;
  if (Refused(outcome)) return false;
  if (verdict == "accept" && outcome == ResponseOutcome::kTruncated) return false;
  const ResponseHead& head = parser.head();
  if (fact.contains("messages")) return MessagesAgree(fact["messages"], raw);
  if (fact.contains("headers") && !FieldsAgree(fact["headers"], head.fields)) return false;
  if (fact.contains("status") && fact["status"].is_number() && head.status != fact["status"].get<int>()) return false;
  if (fact.contains("status") && fact.contains("status_text") && fact["status_text"].is_string() &&
      IsAlpha(head.reason.empty() ? 'x' : head.reason.back()) &&
      head.reason != TrimBlanks(fact["status_text"].get<std::string>())) {
    return false;
  }
  if (fact.contains("x_frame_options_effective") && fact["x_frame_options_effective"].is_boolean()) {
    return (head.fields.Find("X-Frame-Options") == "DENY") == fact["x_frame_options_effective"].get<bool>();
  }
  return true;
}

TEST(ResponseFactsTest, EveryFactIsAgreedWithOrExcludedForAReason) {
  const auto file = ReadFacts("http/http_response_facts.jsonl");
  if (!file) GTEST_SKIP() << "no " << kFacts << "http";
  std::map<int, const char*> excluded;
  for (const Exclusion& exclusion : kExclusions) {
    for (const int id : exclusion.ids) EXPECT_TRUE(excluded.emplace(id, exclusion.reason).second) << id << " twice";
  }
  size_t passed = 0;
  size_t total = 0;
  for (const std::string_view line : LinesOf(*file)) {
    const Json fact = Json::parse(line);
    const int id = fact["id"];
    const bool agrees = Agrees(fact);
    const auto reason = excluded.find(id);
    if (reason != excluded.end()) {
      EXPECT_FALSE(agrees) << id << " need not be excluded: " << reason->second;
      continue;
    }
    ++total;
    passed += agrees ? 1 : 0;
    EXPECT_TRUE(agrees) << id << " " << fact["source"] << " " << fact["verdict"] << " " << fact["name"] << " "
                        << fact.value("curl_exit_code", Json()) << " " << fact.value("client_command", "");
  }
  for (const Exclusion& exclusion : kExclusions) {
    std::cout << exclusion.ids.size() << " excluded: " << exclusion.reason << std::endl;
  }
  std::cout << "conformance http-responses " << passed << "/" << total << std::endl;
  EXPECT_EQ(total, 857 - excluded.size());
  EXPECT_EQ(passed, total);
}

}  // namespace
}  // namespace portolan
