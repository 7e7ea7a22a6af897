#include "outputs/log_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "io/mem_env.h"
#include "io/rng.h"
#include "outputs/crawl_log.h"
#include "warc/gzip_member.h"

namespace portolan {
namespace {

using testing::HasSubstr;

constexpr char kDir[] = "log";

std::string LineOf(const std::string& url, int status) {
  PageResult result;
  result.outcome = FetchOutcome::kAnswered;
  result.status = status;
  result.detail = "\",\"url\":\"http://a.example/\",\"kind\":";
  FetchLine line;
  line.url = url;
  std::string text;
  AppendLogLine(MakeLogLine(result, std::move(line)), text);
  return text;
}

std::vector<std::string> Search(Env& env, const std::string& url) {
  std::vector<std::string> lines;
  EXPECT_TRUE(ForEachLogLine(env, kDir, url, [&](std::string_view line) { lines.emplace_back(line); }));
  return lines;
}

void Write(MemEnv& env, const std::string& name, const std::string& text) {
  ASSERT_TRUE(env.CreateDirs(kDir));
  const auto file = env.Open(JoinPath(kDir, name), OpenMode::kAppend).value();
  ASSERT_TRUE(file->Append(text));
}

TEST(LogSearchTest, FindsEachLineOnceInOrder) {
  MemEnv env;
  EXPECT_TRUE(Search(env, "http://a.example/").empty());
  EXPECT_EQ(LogBytes(env, kDir).value(), 0U);
  Rng rng(1);
  std::vector<std::vector<int>> want(50);
  uint64_t bytes = 0;
  for (int file = 1; file <= 3; ++file) {
    std::string text;
    for (int i = 0; i < 8000; ++i) {
      const uint64_t page = rng.Below(want.size());
      const int status = static_cast<int>(100 + rng.Below(500));
      want[page].push_back(status);
      text += LineOf("http://a.example/" + std::to_string(page), status);
    }
    bytes += text.size();
    EXPECT_GT(text.size(), size_t{1} << 20);
    const std::string name = "crawl-0000" + std::to_string(file) + ".jsonl";
    if (file == 1) {  // in members that end anywhere
      GzipMember gzip = GzipMember::Create(1).value();
      std::string packed;
      gzip.Append(std::string_view(text).substr(0, 700'001), packed);
      gzip.Append(std::string_view(text).substr(700'001), packed);
      bytes -= text.size() - packed.size();
      Write(env, name + ".gz", packed);
    } else {
      Write(env, name, text);
    }
  }
  Write(env, "other.jsonl", LineOf("http://a.example/1", 999));
  EXPECT_EQ(LogBytes(env, kDir).value(), bytes);
  for (size_t page = 0; page < want.size(); ++page) {
    const auto lines = Search(env, "http://a.example/" + std::to_string(page));
    ASSERT_EQ(lines.size(), want[page].size());
    for (size_t i = 0; i < lines.size(); ++i) {
      EXPECT_THAT(lines[i], HasSubstr("\"status\":" + std::to_string(want[page][i]) + ","));
      EXPECT_TRUE(lines[i].starts_with("{\"time\"") && lines[i].ends_with("}"));
    }
  }
  EXPECT_TRUE(Search(env, "http://a.example/").empty()) << "what a detail says is not a URL";
}

TEST(LogSearchTest, HalfLinesAndLongOnesAreLeftOut) {
  MemEnv env;
  const std::string url = "http://a.example/x";
  Write(env, "crawl-00001.jsonl", std::string(3 << 20, 'x') + "\n" + LineOf(url, 200) + LineOf(url, 404).substr(0, 90));
  ASSERT_EQ(Search(env, url).size(), 1U);
  EXPECT_THAT(Search(env, url)[0], HasSubstr("\"status\":200"));
}

}  // namespace
}  // namespace portolan
