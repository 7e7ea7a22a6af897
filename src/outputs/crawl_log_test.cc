#include "outputs/crawl_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "io/faulty_env.h"
#include "io/mem_env.h"
#include "outputs/log_text.h"

namespace portolan {
namespace {

using testing::ElementsAre;

PageResult Answer() {
  PageResult result;
  result.status = 200;
  result.wire_bytes = 5120;
  result.body_bytes = 20480;
  result.mime = "text/html";
  result.content_type = "text/html; charset=utf-8";
  result.title = "A \"title\" \u202e\x1b[2J \u00e4";
  result.version = HttpVersion::k11;
  result.fingerprint = 0xabc;
  result.times = {.begin_ns = 1, .end_ns = 143'000'001, .begin_unix_ns = 1'769'862'601'250'000'000};
  return result;
}

void Append(PageResult result, FetchLine about, std::string& out) {
  AppendLogLine(MakeLogLine(result, std::move(about)), out);
}

void Add(CrawlLog& log, FetchLine about) {
  PageResult result = Answer();
  log.Add(result, std::move(about));
}

TEST(CrawlLogTest, LineSaysWhatBecameOfAFetch) {
  std::string out;
  Append(
      Answer(),
      {.url = "http://a.test/\"", .address = *Address::Parse("192.0.2.7"), .depth = 2, .via = "http://a.test/from?\""},
      out);
  EXPECT_EQ(out, R"({"time":"2026-01-31T12:30:01.250Z","url":"http://a.test/\"","kind":"page","outcome":"answered",)"
                 R"("status":200,"bytes":5120,"decoded":20480,"ms":143,"depth":2,"via":"http://a.test/from?\"",)"
                 R"("mime":"text/html","content_type":"text/html; charset=utf-8",)"
                 R"("title":"A \"title\" \u202e\u001b[2J )"
                 "\u00e4"
                 R"(","ip":"192.0.2.7","http":"http/1.1","fingerprint":"0000000000000abc"})"
                 "\n");
  PageResult moved;
  moved.status = 301;
  moved.location = "../b";
  moved.links.Add("http://a.test/b", 1, 2, kFoundRedirect);
  out.clear();
  Append(std::move(moved), {.url = "http://a.test/a", .attempt = 3, .again = true}, out);
  EXPECT_EQ(out, R"({"time":"1970-01-01T00:00:00.000Z","url":"http://a.test/a","kind":"page","outcome":"answered",)"
                 R"("status":301,"redirect":"http://a.test/b","bytes":0,"decoded":0,"ms":0,"depth":0,"again":true,)"
                 R"("attempt":3,"location":"../b","links":1})"
                 "\n");
  PageResult failure;
  failure.kind = UrlKind::kRobots;
  failure.outcome = FetchOutcome::kTlsCertificate;
  failure.detail = "expired";
  out.clear();
  Append(std::move(failure), {.url = "https://b.test/robots.txt", .attempt = 2}, out);
  EXPECT_EQ(out, R"({"time":"1970-01-01T00:00:00.000Z","url":"https://b.test/robots.txt","kind":"robots",)"
                 R"("outcome":"tls_certificate","bytes":0,"decoded":0,"ms":0,"depth":0,"attempt":2,"detail":"expired"})"
                 "\n");
}

TEST(CrawlLogTest, AVisitAfterTheFirstSaysWhatChanged) {
  const auto line_of = [](int status, FetchLine about) {
    PageResult result;
    result.status = status;
    about.url = "http://a.test/";
    about.visited = true;
    std::string out;
    Append(std::move(result), std::move(about), out);
    return out;
  };
  using testing::HasSubstr;
  using testing::Not;
  constexpr int64_t kMs = 1'769'862'601'250;
  EXPECT_THAT(line_of(304, {.duplicate_unix_ms = kMs, .change = PayloadChange::kNotModified}),
              HasSubstr(R"("depth":0,"visit":"not_modified","unchanged_since":"2026-01-31T12:30:01.250Z"})"));
  const std::string same = line_of(
      200,
      {.duplicate_of = "http://a.test/", .duplicate_unix_ms = kMs, .revisit = true, .change = PayloadChange::kSame});
  EXPECT_THAT(same, HasSubstr(R"("visit":"same","unchanged_since":"2026-01-31T12:30:01.250Z")"));
  EXPECT_THAT(same, Not(HasSubstr("duplicate"))) << "it is no copy of another page";
  EXPECT_THAT(line_of(410, {.change = PayloadChange::kOther, .gone = true}),
              HasSubstr(R"("visit":"other","gone":true)"));
  EXPECT_THAT(
      line_of(200, {.duplicate_of = "http://b.test/", .duplicate_unix_ms = kMs, .change = PayloadChange::kOther}),
      HasSubstr(R"("visit":"other","duplicate_of":"http://b.test/","duplicate_time":)"));
}

int Lines(Env& env) {
  int lines = 0;
  const auto files = ListLogFiles(env, "log", kCrawlLogNames).value();
  for (const auto& [serial, file] : files) {
    const auto text = LogText::Open(env, file).value();
    EXPECT_TRUE(ForEachLineOf(*text, 1 << 20, [&](std::string_view) {
      ++lines;
      return true;
    }));
  }
  return lines;
}

TEST(CrawlLogTest, FilesAreClosedAtTheirSizeAndEachLineIsThereOnce) {
  for (const bool threads : {false, true}) {
    MemEnv env;
    Manifest manifest = Manifest::Open(env, "state").value();
    LogOutputOptions options;
    options.files.dir = "log";
    options.files.file_size = 200'000;
    options.writing.threads = threads;
    {
      auto log = CrawlLog::Open(env, manifest, options).value();
      Checkpointable* const all[] = {log.get()};
      ASSERT_TRUE(manifest.Commit(all));
      for (int n = 0; n < 5000; ++n) {
        const std::string url = "http://a.test/" + std::to_string(n);
        Add(*log, {.url = url});
      }
      ASSERT_TRUE(manifest.Commit(all));
      EXPECT_EQ(Lines(env), 5000);
      Add(*log, {.url = "http://a.test/after"});
      ASSERT_TRUE(log->Flush());  // and no commit
    }
    EXPECT_EQ(Lines(env), 5001);
    Manifest again = Manifest::Open(env, "state").value();
    auto log = CrawlLog::Open(env, again, options).value();
    EXPECT_EQ(Lines(env), 5000);
    const auto files = ListLogFiles(env, "log", kCrawlLogNames).value();
    ASSERT_GT(files.size(), 2U);
    EXPECT_FALSE(files.rbegin()->second.packed) << "tail -f works on the one that grows";
    Checkpointable* const all[] = {log.get()};
    ASSERT_TRUE(again.Commit(all));
    ASSERT_TRUE(log->FinishPacking());
    const auto packed = ListLogFiles(env, "log", kCrawlLogNames).value();
    for (const auto& [serial, file] : packed) {
      EXPECT_EQ(file.packed, serial != files.rbegin()->first) << serial;
    }
    EXPECT_EQ(env.List("log").value()[0], "crawl-00001.jsonl.gz");
    EXPECT_EQ(env.List("log").value().size(), files.size()) << "the plain ones are gone";
    EXPECT_EQ(Lines(env), 5000);
  }
}

TEST(CrawlLogTest, ShowsItsLinesWithoutACheckpointAndIsCutBackAfterACrash) {
  for (const bool threads : {false, true}) {
    MemEnv env;
    Manifest manifest = Manifest::Open(env, "state").value();
    LogOutputOptions options;
    options.files.dir = "log";
    options.writing.threads = threads;
    {
      auto log = CrawlLog::Open(env, manifest, options).value();
      Checkpointable* const all[] = {log.get()};
      ASSERT_TRUE(manifest.Commit(all));
      for (int n = 0; n < 3; ++n) Add(*log, {.url = "http://a.test/"});
      EXPECT_EQ(Lines(env), 0);
      log->Show();
      for (int tries = 0; Lines(env) < 3 && tries < 3000; ++tries) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      EXPECT_EQ(Lines(env), 3);
      ASSERT_TRUE(manifest.Commit(all));
      Add(*log, {.url = "http://a.test/later"});
      for (int tries = 0; Lines(env) < 4 && tries < 3000; ++tries) {
        log->Show();
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      EXPECT_EQ(Lines(env), 4);
    }
    Manifest again = Manifest::Open(env, "state").value();
    auto log = CrawlLog::Open(env, again, options).value();
    EXPECT_EQ(Lines(env), 3) << "what no checkpoint knows is fetched, and logged, again";
  }
}

TEST(CrawlLogTest, FullDiskPausesAndLosesNothing) {
  MemEnv base;
  FaultyEnv env(base);
  Manifest manifest = Manifest::Open(env, "state").value();
  LogOutputOptions options;
  options.files.dir = "log";
  options.writing.threads = false;
  int errors = 0;
  options.writing.on_error = [&](const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNoSpace);
    ++errors;
  };
  auto log = CrawlLog::Open(env, manifest, options).value();
  Checkpointable* const all[] = {log.get()};
  ASSERT_TRUE(manifest.Commit(all));
  env.SetPlan({.space = 1000});
  for (int n = 0; n < 100; ++n) Add(*log, {.url = "http://a.test/"});
  EXPECT_EQ(log->Flush().error().code(), ErrorCode::kNoSpace);
  EXPECT_TRUE(log->stalled());
  EXPECT_EQ(log->Flush().error().code(), ErrorCode::kNoSpace) << "a stalled log says why";
  EXPECT_EQ(errors, 1);
  env.AddSpace(1 << 20);
  log->Resume();
  ASSERT_TRUE(manifest.Commit(all));
  EXPECT_EQ(Lines(env), 100);
}

TEST(CrawlLogTest, ASyncThatFoundNoRoomIsTheEnd) {
  for (const uint64_t at : {3, 4}) {  // open, append, sync, directory sync
    MemEnv base;
    FaultyEnv env(base);
    Manifest manifest = Manifest::Open(env, "state").value();
    LogOutputOptions options;
    options.files.dir = "log";
    options.writing.threads = false;
    auto log = CrawlLog::Open(env, manifest, options).value();
    Checkpointable* const all[] = {log.get()};
    ASSERT_TRUE(manifest.Commit(all));
    env.SetPlan({.full_at = env.operations() + at});
    Add(*log, {.url = "http://a.test/"});
    EXPECT_EQ(log->Flush().error().code(), ErrorCode::kIo) << at;
    log->Resume();
    EXPECT_TRUE(log->stalled());
    EXPECT_EQ(log->Flush().error().code(), ErrorCode::kIo) << at;
  }
}

TEST(CrawlLogTest, LogOfAnotherCrawlIsRefused) {
  MemEnv env;
  ASSERT_TRUE(env.CreateDirs("log"));
  ASSERT_TRUE(ReplaceFile(env, "log/crawl-00003.jsonl", "x\n"));
  const Manifest manifest = Manifest::Open(env, "state").value();
  LogOutputOptions options;
  options.files.dir = "log";
  options.writing.threads = false;
  EXPECT_EQ(CrawlLog::Open(env, manifest, options).error().code(), ErrorCode::kExists);
}

}  // namespace
}  // namespace portolan
