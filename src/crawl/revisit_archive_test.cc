// Visits of one URL, one after the other, in an archive: each revisit leads to a capture that has the payload, and the
// index has the line that an indexer would write.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "io/clock.h"
#include "io/mem_env.h"
#include "outputs/outputs.h"
#include "parse/page_maker.h"
#include "warc/indexer.h"

namespace portolan {
namespace {

constexpr int64_t kStart = 1'769'862'601'250'000'000;  // 2026-01-31T12:30:01.250Z
constexpr int64_t kHour = 3'600'000'000'000;
const std::string kOne(600, '1');
const std::string kTwo(600, '2');

struct Visits {
  explicit Visits(bool content_seen)
      : maker(PageMaker::Create({.content_seen = content_seen, .visits = true, .seed = 1}).value()) {
    OutputsOptions options;
    options.warc.directories = {"warc"};
    options.threads = false;
    options.warc.writing.threads = false;
    outputs = Outputs::Open(env, clock, manifest, options).value();
  }

  // As the shard would. `first`: content-seen knows the payload from that URL's capture at that visit.
  void Visit(const std::string& url, int status, const std::string& fields, const std::string& body,
             const std::string& first = {}) {
    FetchResponse response;
    response.task.url = url;
    if (known.contains(url)) response.task.last = std::make_shared<const LastVisit>(known[url]);
    response.version = HttpVersion::k11;
    response.request_head = "GET / HTTP/1.1\r\n\r\n";
    response.response_head = fmt::format("HTTP/1.1 {} X\r\nContent-Type: text/html\r\n{}\r\n", status, fields);
    response.body = body;
    response.times.begin_unix_ns = kStart + kHour * visits++;
    PageResult result = maker.Make(std::move(response));
    FetchLine line;
    line.url = url;
    const LastVisit* const last = result.visit->last.get();
    if (result.visit->signals.change == PayloadChange::kSame) {
      line.revisit = true;
      line.duplicate_of = last->captured_url.empty() ? url : last->captured_url;
      line.duplicate_unix_ms = last->captured_unix_ms;
    } else if (!first.empty()) {
      line.revisit = true;
      line.duplicate_of = first;
      line.duplicate_unix_ms = known[first].captured_unix_ms;
    }
    known[url] = AfterVisit(result, line);
    outputs->Write(result, std::move(line));
  }

  struct Record {
    std::string type, url, date, digest, profile, refers_url, refers_date;
  };
  std::vector<Record> ReadBack() {
    EXPECT_TRUE(outputs->Finish());
    std::vector<Record> records;
    std::string bytes;
    std::string index;
    std::string name;
    const std::vector<std::string> files = env.List("warc").value();
    for (const std::string& file : files) {
      std::string& to = file.ends_with(".warc.gz") ? bytes : index;
      if (file.ends_with(".warc.gz")) name = file;
      to = ReadWholeFile(env, JoinPath("warc", file)).value();
    }
    WarcReaderOptions options;
    options.strict = true;
    options.faults = [](const Fault& fault) { ADD_FAILURE() << fault.detail; };
    WarcReader reader(MemorySource(bytes), options);
    std::vector<std::string> lines;
    while (reader.Next().value()) {
      while (!reader.ReadBlock().value().empty()) {
      }
      EXPECT_TRUE(reader.Finish());
      const WarcRecord& record = reader.record();
      if (record.type != WarcType::kResponse && record.type != WarcType::kRevisit) continue;
      const auto get = [&](std::string_view field) { return std::string(record.fields.Get(field)); };
      records.push_back({get("WARC-Type"), get("WARC-Target-URI"), get("WARC-Date"), get("WARC-Payload-Digest"),
                         get("WARC-Profile"), get("WARC-Refers-To-Target-URI"), get("WARC-Refers-To-Date")});
      const std::string offset = fmt::format("\"offset\": \"{}\"", record.offset);
      const size_t line = index.find(offset);
      EXPECT_NE(line, std::string::npos) << offset;
      const size_t begin = index.rfind('\n', line) + 1;
      lines.push_back(index.substr(begin, index.find('\n', line) - begin));
      const std::string digest = records.back().digest.substr(5);
      EXPECT_NE(lines.back().find(fmt::format("\"digest\": \"{}\"", digest)), std::string::npos) << lines.back();
      const bool revisit = lines.back().find("\"mime\": \"warc/revisit\"") != std::string::npos;
      EXPECT_EQ(revisit, record.type == WarcType::kRevisit) << lines.back();
    }
    return records;
  }

  MemEnv env;
  ManualClock clock{kStart};
  Manifest manifest = Manifest::Open(env, "state").value();
  PageMaker maker;
  std::unique_ptr<Outputs> outputs;
  std::map<std::string, LastVisit> known;
  int64_t visits = 0;
};

TEST(RevisitArchiveTest, EveryRevisitLeadsToAFullCaptureWithItsPayload) {
  for (const bool content_seen : {false, true}) {
    Visits visits(content_seen);
    const std::string a = "http://a.test/";
    const std::string b = "http://b.test/";
    visits.Visit(a, 200, "ETag: \"1\"\r\n", kOne);
    visits.Visit(a, 304, "ETag: \"1\"\r\n", "");
    visits.Visit(a, 200, "", kOne);
    visits.Visit(a, 200, "ETag: \"2\"\r\n", kTwo);
    visits.Visit(a, 304, "", "");
    visits.Visit(b, 200, "ETag: \"b\"\r\n", kTwo, content_seen ? a : "");  // a copy
    visits.Visit(b, 304, "", "");
    visits.Visit(b, 200, "ETag: \"b\"\r\n", kTwo);
    visits.Visit(a, 410, "", "gone");
    visits.Visit(a, 200, "ETag: \"2\"\r\n", kTwo);  // it is back, and its entry in content-seen was taken back
    const auto records = visits.ReadBack();
    ASSERT_EQ(records.size(), 10U);
    std::map<std::pair<std::string, std::string>, std::string> full;
    size_t revisits = 0;
    for (const auto& record : records) {
      if (record.type == "response") full[{record.url, record.date}] = record.digest;
    }
    for (const auto& record : records) {
      if (record.type != "revisit") continue;
      ++revisits;
      const auto found = full.find({record.refers_url, record.refers_date});
      ASSERT_NE(found, full.end()) << record.url << " " << record.date << " refers to nothing: " << record.refers_date;
      EXPECT_EQ(found->second, record.digest);
    }
    EXPECT_EQ(revisits, content_seen ? 6U : 5U);
    EXPECT_TRUE(records[1].profile.ends_with("/server-not-modified"));
    EXPECT_TRUE(records[2].profile.ends_with("/identical-payload-digest"));
    EXPECT_EQ(records[6].refers_url, content_seen ? a : b);
    EXPECT_EQ(records[8].type, "response");
  }
}

}  // namespace
}  // namespace portolan
