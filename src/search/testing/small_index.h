// Databases of pages for tests, in a directory of their own, made by the index's own DocumentMaker.

#pragma once

#include <gtest/gtest.h>
#include <xapian.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "index/document_maker.h"
#include "index/inlinks.h"
#include "index/schema.h"

namespace portolan {

struct TestPage {
  std::string url;
  std::string title;
  std::string text;
  std::string language = "en";
  std::string headings = "";
  std::vector<std::string> anchors = {};
  unsigned step = 0;  // of the static score
  std::string published = "";
  int64_t unix_ms = 1'700'000'000'000;
  uint64_t similarity = 0;
  std::string type = "text/html";
};

class TestIndex {
 public:
  TestIndex() {
    const auto* const info = testing::UnitTest::GetInstance()->current_test_info();
    dir_ = std::filesystem::temp_directory_path() / (std::string("portolan-search-") + info->test_suite_name() + "-" +
                                                     info->name() + "-" + std::to_string(::getpid()));
    std::filesystem::remove_all(dir_);
    std::filesystem::create_directories(dir_);
  }
  ~TestIndex() { std::filesystem::remove_all(dir_); }
  TestIndex(const TestIndex&) = delete;
  TestIndex& operator=(const TestIndex&) = delete;

  // The pages in `parts` databases, by host as the index does it; their directories.
  std::vector<std::string> Write(const std::vector<TestPage>& pages, uint32_t parts = 1) {
    auto maker = DocumentMaker::Create().value();
    std::vector<std::string> paths;
    std::vector<Xapian::WritableDatabase> databases;
    const std::string name = "index" + std::to_string(made_++);
    for (uint32_t part = 0; part < parts; ++part) {
      paths.push_back((dir_ / (name + "-" + std::to_string(part))).string());
      databases.emplace_back(paths.back(), Xapian::DB_CREATE_OR_OVERWRITE | Xapian::DB_NO_SYNC);
    }
    for (const TestPage& page : pages) {
      std::string main;
      AppendPackedRange(main, 0, 0, page.text.size());
      const TextRecord record{.url = page.url,
                              .unix_ms = page.unix_ms,
                              .title = page.title,
                              .published = page.published,
                              .language = page.language,
                              .headings = page.headings,
                              .text = page.text,
                              .main = page.text.empty() ? std::string_view() : main,
                              .type = page.type,
                              .similarity = page.similarity};
      Inlinks inlinks{.step = page.step};
      for (const std::string& anchor : page.anchors) inlinks.texts.push_back({anchor, 1});
      auto document = maker.Make(record, {}, inlinks.Pack()).value();
      databases[PartOf(DocumentMaker::HostOf(page.url), parts)].replace_document(IdTerm(page.url), document);
    }
    for (auto& database : databases) database.commit();
    return paths;
  }
  std::filesystem::path dir() const { return dir_; }

 private:
  std::filesystem::path dir_;
  int made_ = 0;
};

}  // namespace portolan
