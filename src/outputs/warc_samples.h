// For tests of this folder: items to archive, and the whole archive read back and judged.

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/hash.h"
#include "flow/page_result.h"
#include "io/env.h"
#include "outputs/warc_directory.h"
#include "warc/cdxj.h"
#include "warc/reader.h"
#include "warc/writer.h"

namespace portolan {

inline std::string SampleUrl(int n) { return "http://h" + std::to_string(n % 7) + ".test/" + std::to_string(n); }

inline ArchiveItem SampleItem(int n, size_t body = 200) {
  thread_local WarcWriter writer = WarcWriter::Create({}).value();
  const std::string url = SampleUrl(n);
  ArchiveItem item;
  WarcRecordSpec spec;
  spec.date = {.seconds = 1'769'862'601 + n};
  spec.target_uri = url;
  spec.type = WarcType::kRequest;
  spec.id = {.high = static_cast<uint64_t>(n), .low = 1};
  const WarcId response_id{.high = static_cast<uint64_t>(n), .low = 2};
  spec.concurrent_to = std::span(&response_id, 1);
  spec.http_head = "GET / HTTP/1.1\r\n\r\n";
  writer.Append(spec, item.bytes);
  spec.type = WarcType::kResponse;
  spec.id = response_id;
  spec.concurrent_to = {};
  spec.http_head = "HTTP/1.1 200 OK\r\n\r\n";
  std::string payload = url;
  for (size_t i = 0; payload.size() < body; ++i) payload += static_cast<char>('!' + Mix64(i * 7919 + n) % 90);
  spec.payload = payload;
  item.response_begin = static_cast<uint32_t>(item.bytes.size());
  item.response_length = static_cast<uint32_t>(writer.Append(spec, item.bytes).length);
  item.key = "test,h" + std::to_string(n % 7) + ")/" + std::to_string(n);
  item.unix_seconds = spec.date.seconds;
  item.url = url;
  return item;
}

// Reads every WARC file and index of the directories and expects them to be without fault and to agree. Gives the URLs
// of the responses, sorted.
inline std::vector<std::string> JudgeArchive(Env& env, const std::vector<std::string>& dirs, bool finished) {
  std::vector<std::string> urls;
  std::vector<std::string> indexed;
  std::map<std::string, std::string> warcs;
  for (const std::string& dir : dirs) {
    const std::vector<std::string> names = env.List(dir).value();
    for (const std::string& name : names) {
      const std::string path = JoinPath(dir, name);
      const std::string bytes = ReadWholeFile(env, path).value();
      if (name.ends_with(".warc.gz")) {
        WarcReaderOptions options;
        options.strict = true;
        options.faults = [&](const Fault& fault) { ADD_FAILURE() << path << ": " << fault.detail; };
        WarcReader reader(MemorySource(bytes), options);
        size_t records = 0;
        while (reader.Next().value()) {
          EXPECT_TRUE(reader.Finish());
          EXPECT_EQ(reader.record().type == WarcType::kWarcinfo, records == 0) << path;
          if (reader.record().type == WarcType::kResponse) urls.emplace_back(reader.record().uri());
          ++records;
        }
        EXPECT_GT(records, 0U) << path;
      }
      const bool part = name.ends_with(".cdxj.part");
      EXPECT_FALSE(finished && part) << path;
      EXPECT_EQ(name.find(".tmp"), std::string::npos) << path;
      if (!part && (!name.ends_with(".cdxj") || name == "index.cdxj")) continue;
      std::vector<std::string> lines;
      for (size_t at = 0; at < bytes.size();) {
        const size_t end = bytes.find('\n', at);
        EXPECT_NE(end, std::string::npos) << path;
        if (end == std::string::npos) break;
        lines.push_back(bytes.substr(at, end - at));
        at = end + 1;
      }
      EXPECT_TRUE(part || std::ranges::is_sorted(lines)) << path;
      for (const std::string& text : lines) {
        const CdxjLine line = ParseCdxj(text).value();
        const std::string warc_path = JoinPath(dir, line.Get("filename"));
        if (!warcs.contains(warc_path)) warcs[warc_path] = ReadWholeFile(env, warc_path).value();
        const std::string& warc = warcs[warc_path];
        const uint64_t offset = std::stoull(std::string(line.Get("offset")));
        const uint64_t length = std::stoull(std::string(line.Get("length")));
        EXPECT_LE(offset + length, warc.size());
        const std::string member = warc.substr(offset, length);
        WarcReader reader(MemorySource(member), {});
        EXPECT_TRUE(reader.Next().value());
        EXPECT_EQ(reader.record().type, WarcType::kResponse);
        EXPECT_EQ(reader.record().uri(), line.Get("url"));
        EXPECT_TRUE(reader.Finish());
        EXPECT_EQ(reader.record().length, length);
        indexed.emplace_back(line.Get("url"));
      }
    }
  }
  std::ranges::sort(urls);
  std::ranges::sort(indexed);
  EXPECT_EQ(urls, indexed);
  return urls;
}

inline std::vector<std::string> SampleUrls(int count) {
  std::vector<std::string> urls;
  for (int n = 0; n < count; ++n) urls.push_back(SampleUrl(n));
  std::ranges::sort(urls);
  return urls;
}

}  // namespace portolan
