#include "warc/indexer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace portolan {
namespace {

std::vector<std::string> Index(const std::string& bytes) {
  IndexOptions options;
  options.fields = {"url"};
  std::vector<std::string> lines;
  EXPECT_TRUE(IndexArchive(MemorySource(bytes), options, [&](std::string_view line) { lines.emplace_back(line); }));
  return lines;
}

std::string Record(std::string_view uri) {
  return "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Date: 2020-01-02T03:04:05Z\r\nWARC-Target-URI: " + std::string(uri) +
         "\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n\r\nx\r\n\r\n";
}

TEST(IndexerTest, BytesOfAUrlThatAreNoUtf8StayApart) {
  EXPECT_EQ(Index(Record("http://a.test/caf\xe9?\xe9=1") + Record("http://a.test/caf\xe8") +
                  Record("http://a.test/caf\xc3\xa9")),
            (std::vector<std::string>{R"(test,a)/caf%e9?%e9=1 20200102030405 {"url": "http://a.test/caf%E9?%E9=1"})",
                                      R"(test,a)/caf%e8 20200102030405 {"url": "http://a.test/caf%E8"})",
                                      "test,a)/caf%c3%a9 20200102030405 {\"url\": \"http://a.test/caf\xc3\xa9\"}"}));
  EXPECT_EQ(Index("http://a.test/\xfc 10.0.0.1 20200102030405 text/html 1\nx\n"),
            (std::vector<std::string>{R"(test,a)/%fc 20200102030405 {"url": "http://a.test/%FC"})"}));
}

}  // namespace
}  // namespace portolan
