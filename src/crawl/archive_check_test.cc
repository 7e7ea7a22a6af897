#include "crawl/archive_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "io/clock.h"
#include "io/mem_env.h"
#include "outputs/warc_output.h"
#include "parse/page_maker.h"

namespace portolan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* kDir = "warc";
constexpr const char* kMerged = "index.cdxj";

FetchResponse Answer(int n, const std::string& head, const std::string& body) {
  FetchResponse response;
  response.task.url = "http://h" + std::to_string(n % 3) + ".test/" + std::to_string(n);
  response.task.address = *Address::Parse("192.0.2.7");
  response.request_head = "GET / HTTP/1.1\r\n\r\n";
  response.response_head = head;
  response.body = body;
  response.times.begin_unix_ns = 1'769'862'601'250'000'000 + int64_t{n} * 1'000'000'000;
  return response;
}

// Everything that a line can have, and odd answers that index and record might interpret differently.
std::vector<ArchiveItem> Items(std::optional<uint64_t> seed) {
  PageMakerOptions options;
  options.archive_metadata = true;
  options.seed = seed;
  PageMaker maker = PageMaker::Create(options).value();
  std::vector<FetchResponse> answers;
  const std::string html = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n";
  for (int n = 0; n < 20; ++n) answers.push_back(Answer(n, html, "<title>" + std::to_string(n) + "</title>"));
  answers.push_back(Answer(20, "HTTP/1.1 302 Found\r\nLocation: /\xff\xe4\"\r\nContent-Type: a/b\r\n\r\n", "moved"));
  answers.push_back(Answer(21, "HTTP/1.1 300 Many\r\nLocation: /one\r\n\r\n", ""));
  answers.push_back(Answer(22, "HTTP/1.1 304 Not Modified\r\nLocation: /two\r\n\r\n", ""));
  answers.push_back(Answer(23, "http/1.0 404\r\n\r\n", "\x89PNG\r\n\x1a\n"));
  answers.push_back(
      Answer(24, "HTTP/1.1 200 OK\r\nContent-Type: \xfftext/plain;a\r\nContent-Type: b/c\r\n\r\n", "text"));
  answers.push_back(Answer(25, "HTTP/1.1 200 OK\r\nContent-Type: TEXT/HTML\r\nContent-Length: 9\r\n\r\n", "cut"));
  answers.back().outcome = FetchOutcome::kBodyCut;
  answers.push_back(Answer(26, "HTTP/1.1 200 OK\r\nContent-Type:\r\n\r\n", ""));
  std::vector<ArchiveItem> items;
  for (FetchResponse& answer : answers) {
    items.push_back(maker.Make(std::move(answer)).archive);
    EXPECT_FALSE(items.back().bytes.empty());
  }
  return items;
}

class ArchiveCheckTest : public testing::Test {
 protected:
  void SetUp() override { Write(/*finish=*/true, Items(1)); }

  void Write(bool finish, std::vector<ArchiveItem> items) {
    const Manifest manifest = Manifest::Open(env_, "state").value();
    WarcOutput::Options options;
    options.directories = {kDir};
    options.files.file_size = 8 << 10;
    options.writing.threads = false;
    auto archive = WarcOutput::Open(env_, Clock::Real(), manifest, options).value();
    for (ArchiveItem& item : items) archive->Write(std::move(item));
    if (!finish) {
      ASSERT_TRUE(archive->Flush());
      return;
    }
    ASSERT_TRUE(archive->Finish());
    for (const std::string& name : Names()) {
      if (name.ends_with(".part")) {
        ASSERT_TRUE(env_.Remove(JoinPath(kDir, name)));
      }
    }
    ASSERT_TRUE(MergeArchiveIndex(env_, {kDir}, kMerged));
  }

  std::vector<std::string> Names() { return env_.List(kDir).value(); }

  std::vector<std::string> Indexes() {
    std::vector<std::string> paths;
    for (const std::string& name : Names()) {
      if (name.find(".cdxj") != std::string::npos) paths.push_back(JoinPath(kDir, name));
    }
    return paths;
  }

  // The findings, with memory for everything and with hardly any.
  std::vector<std::string> Errors(bool finished = true) {
    std::vector<std::string> found[2];
    for (const bool little : {false, true}) {
      counts_ = {};
      CheckSink sink;
      sink.error = [&](const std::string& error) { found[little ? 1 : 0].push_back(error); };
      ArchiveCheckOptions options{
          .directories = {kDir}, .prefix = "PORTOLAN", .index_file = kMerged, .finished = finished, .sort = {}};
      if (little) options.sort = {.dir = "tmp", .memory = 100};
      EXPECT_TRUE(env_.CreateDirs("tmp"));
      EXPECT_TRUE(CheckArchive(env_, env_, options, sink, counts_));
      EXPECT_THAT(env_.List("tmp").value(), IsEmpty());
    }
    EXPECT_EQ(found[0], found[1]);
    return found[0];
  }

  std::vector<std::string> Lines(const std::string& path) {
    std::vector<std::string> lines;
    const std::string text = ReadWholeFile(env_, path).value();
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at);
      lines.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    return lines;
  }
  void SetLines(const std::string& path, const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    ASSERT_TRUE(ReplaceFile(env_, path, text));
  }
  // Changes a value in a line, the third unless another is named.
  void Alter(const std::string& path, const std::string& field, const std::string& value, size_t number = 2) {
    std::vector<std::string> lines = Lines(path);
    std::string& line = lines.at(number);
    const size_t blank = line.find(' ');
    const size_t begin = line.find('{');
    std::string key = line.substr(0, blank);
    std::string timestamp = line.substr(blank + 1, begin - blank - 2);
    auto object = nlohmann::ordered_json::parse(line.substr(begin));
    (field == "key" ? key : field == "timestamp" ? timestamp : object[field].get_ref<std::string&>()) = value;
    line = key + " " + timestamp + " " + object.dump();
    SetLines(path, lines);
  }

  MemEnv env_;
  ArchiveCounts counts_;
};

TEST_F(ArchiveCheckTest, WhatACrawlWritesIsWhole) {
  EXPECT_THAT(Errors(), IsEmpty());
  EXPECT_GT(counts_.warc_files, 1U);
  EXPECT_EQ(counts_.captures, 27U);
  EXPECT_EQ(counts_.warc_records, 3 * 27 + counts_.warc_files);
  EXPECT_EQ(counts_.cdxj_lines, 27U);
  EXPECT_EQ(counts_.merged_lines, 27U);
  EXPECT_EQ(counts_.repeated + counts_.repeated_ids, 0U);
}

TEST_F(ArchiveCheckTest, EveryValueOfALineIsComparedWithTheRecord) {
  const std::string index = Indexes()[0];
  const std::string good = ReadWholeFile(env_, index).value();
  const std::pair<const char*, const char*> changes[] = {
      {"key", "test,h0)/000"}, {"timestamp", "20260131123000"}, {"url", "http://x.test/"},
      {"mime", "text/plain"},  {"mime-detected", "a/b"},        {"status", "404"},
      {"length", "5"},         {"filename", "another.warc.gz"}, {"digest", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}};
  for (const auto& [field, value] : changes) {
    Alter(index, field, value);
    ASSERT_TRUE(env_.Remove(kMerged));  // its own comparison is another test
    ASSERT_TRUE(MergeArchiveIndex(env_, {kDir}, kMerged));
    const std::vector<std::string> errors = Errors();
    EXPECT_THAT(errors, Contains(StartsWith(index + ":3: " + field + " is \"" + value + "\", but the record says \"")));
    ASSERT_TRUE(ReplaceFile(env_, index, good));
  }
  Alter(index, "offset", "1");
  EXPECT_THAT(Errors(), Contains(StartsWith(index + ":3: no capture begins at 1 of ")));
  EXPECT_THAT(Errors(), Contains(HasSubstr(": a capture that is missing in " + index)));
}

TEST_F(ArchiveCheckTest, LinesThatAreGoneOrThereTwiceOrOutOfOrder) {
  const std::string index = Indexes()[0];
  const std::vector<std::string> good = Lines(index);
  std::vector<std::string> lines = good;
  lines.erase(lines.begin() + 4);
  SetLines(index, lines);
  std::vector<std::string> errors = Errors();
  ASSERT_EQ(errors.size(), 2U) << testing::PrintToString(errors);
  EXPECT_THAT(errors[0], HasSubstr(": a capture that is missing in " + index));
  EXPECT_THAT(errors[1], HasSubstr(": is not in the index of any WARC file"));

  lines = good;
  lines.insert(lines.begin() + 4, lines[4]);
  SetLines(index, lines);
  errors = Errors();
  ASSERT_EQ(errors.size(), 2U) << testing::PrintToString(errors);
  EXPECT_THAT(errors[0], HasSubstr("already has line 5"));
  EXPECT_THAT(errors[1], StartsWith("index.cdxj: lacks " + index + ":"));

  lines = good;
  std::swap(lines[1], lines[2]);
  SetLines(index, lines);
  EXPECT_THAT(Errors(), ElementsAre(index + ":3: out of order"));
}

TEST_F(ArchiveCheckTest, MergedIndexHasTheLinesOfAllFilesAndNoOthers) {
  const std::vector<std::string> good = Lines(kMerged);
  SetLines(kMerged, {});
  EXPECT_EQ(Errors().size(), good.size());
  EXPECT_THAT(Errors(), Contains("index.cdxj: lacks " + Indexes()[0] + ":1"));

  std::vector<std::string> lines = good;
  lines.erase(lines.begin() + 7);
  SetLines(kMerged, lines);
  EXPECT_THAT(Errors(), ElementsAre(StartsWith("index.cdxj: lacks warc/PORTOLAN-")));

  lines = good;
  lines.insert(lines.begin() + 7, lines[7]);
  SetLines(kMerged, lines);
  EXPECT_THAT(Errors(), ElementsAre("index.cdxj:9: occurs more often than in the index of its WARC file"));

  SetLines(kMerged, good);
  Alter(kMerged, "status", "500");
  EXPECT_THAT(Errors(), ElementsAre(StartsWith("index.cdxj:3: differs from warc/PORTOLAN-")));

  lines = good;
  std::swap(lines[1], lines[2]);
  SetLines(kMerged, lines);
  EXPECT_THAT(Errors(), ElementsAre("index.cdxj:3: out of order"));

  ASSERT_TRUE(env_.Remove(kMerged));
  EXPECT_THAT(Errors(), ElementsAre("index.cdxj: missing, although all WARC files are finished"));
}

TEST_F(ArchiveCheckTest, WhileFilesGrowTheMergedIndexMayBeOldOrMissing) {
  const std::vector<std::string> good = Lines(kMerged);
  SetLines(kMerged, {good[0], good[2]});
  EXPECT_THAT(Errors(/*finished=*/false), IsEmpty());
  SetLines(kMerged, {good[2], "no line", good[0]});
  EXPECT_THAT(Errors(/*finished=*/false), ElementsAre("index.cdxj:2: out of order", StartsWith("index.cdxj:2: no ")));
  ASSERT_TRUE(env_.Remove(kMerged));
  EXPECT_THAT(Errors(/*finished=*/false), IsEmpty());
}

TEST_F(ArchiveCheckTest, TheIndexOfAGrowingFileIsComparedToo) {
  for (const std::string& name : Names()) ASSERT_TRUE(env_.Remove(JoinPath(kDir, name)));
  Write(/*finish=*/false, Items(2));
  EXPECT_THAT(Errors(/*finished=*/false), IsEmpty());
  const std::string part = Indexes().back();
  ASSERT_TRUE(part.ends_with(".part"));
  Alter(part, "status", "500", 0);
  EXPECT_THAT(Errors(/*finished=*/false),
              ElementsAre(StartsWith(part + ":1: status is \"500\", but the record says \"")));
}

TEST_F(ArchiveCheckTest, RecordsWithTheIdOfAnotherAreNamed) {
  for (const std::string& name : Names()) ASSERT_TRUE(env_.Remove(JoinPath(kDir, name)));
  std::vector<ArchiveItem> items = Items(3);
  std::vector<ArchiveItem> again = Items(3);  // as after a resume with the same seed
  items.push_back(std::move(again[0]));
  Write(/*finish=*/true, std::move(items));
  const std::vector<std::string> errors = Errors();
  EXPECT_EQ(errors.size(), 3U) << testing::PrintToString(errors);
  for (const std::string& error : errors)
    EXPECT_THAT(error, HasSubstr(": has the WARC-Record-ID of another record, at "));
  EXPECT_EQ(counts_.repeated_ids, 3U);
  EXPECT_EQ(counts_.repeated, 1U);
}

}  // namespace
}  // namespace portolan
