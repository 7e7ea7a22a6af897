// Pages of ../shared/data as the crawler reads them, on made-up hosts, for tests and benchmarks. Empty where that
// folder is absent.

#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "flow/output_records.h"
#include "parse/page_maker.h"

namespace portolan {

struct RealPage {
  std::string url;
  std::string record;  // of the text log
};

inline std::vector<RealPage> LoadRealPages(const std::string& folder, size_t most) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error)) {
    if (entry.is_regular_file() && entry.path().extension() == ".html") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  auto maker = PageMaker::Create({.text_log = true}).value();
  std::vector<RealPage> pages;
  for (const auto& path : paths) {
    if (pages.size() >= most) break;
    std::ifstream file(path, std::ios::binary);
    FetchResponse response;
    const size_t number = pages.size();
    response.task.url = "https://www.site" + std::to_string(number % 37) + ".test/page/" + std::to_string(number);
    response.response_head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
    response.body.assign(std::istreambuf_iterator<char>(file), {});
    response.times.begin_unix_ns = 1'700'000'000'000'000'000;
    const PageResult result = maker.Make(std::move(response));
    for (const OutputItem& item : result.outputs) {
      if (item.output != OutputId::kText) continue;
      PackedRecords records(item.records);
      while (records.Next()) {
        const auto page = ParseTextRecord(records.record());
        if (page) pages.push_back({std::string(page->url), std::string(records.record())});
      }
    }
  }
  return pages;
}

}  // namespace portolan
