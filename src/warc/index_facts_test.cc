// The index lines that two other tools expect of their own samples: all of them, byte by byte.

#include <gtest/gtest.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "io/env.h"
#include "warc/indexer.h"

namespace portolan {
namespace {

const char* const kFacts = "../shared/data/warc/index_facts.json";

std::vector<std::string> SplitAt(const std::string& text) {
  std::vector<std::string> out;
  size_t at = 0;
  while (at <= text.size()) {
    const size_t comma = std::min(text.find(',', at), text.size());
    out.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return out;
}

// The options of cdxj-indexer's tests, in our words.
IndexOptions FromCdxjIndexer(const nlohmann::json& given, bool& sort) {
  IndexOptions options = CdxjIndexerStyle();
  for (const auto& [name, value] : given.items()) {
    if (name == "post_append") options.post_append = value;
    if (name == "cdx11") options.format = IndexFormat::kCdx11;
    if (name == "cdx09") options.format = IndexFormat::kCdx9;
    if (name == "records") options.records = SplitAt(value);
    if (name == "digest_records") options.fields.push_back("recordDigest");
    if (name == "fields") {
      for (const std::string& field : SplitAt(value)) options.fields.push_back(field);
    }
    if (name == "replace_fields") options.fields = SplitAt(value);
    if (name == "sort") sort = value;
  }
  return options;
}

// The command lines of warcio.js's tests: "index" lists every record as JSON, "cdx-index" captures.
IndexOptions FromWarcio(const std::string& command, const std::vector<std::string>& arguments) {
  IndexOptions options = WarcioStyle();
  if (command == "index") {
    options.format = IndexFormat::kJson;
    options.fields = {"offset", "warc-type", "warc-target-uri"};
    options.records = {"all"};
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--fields") options.fields = SplitAt(arguments[i + 1]);
    if (arguments[i] == "--all") options.records = {"all"};
    if (arguments[i] == "--format") {
      options.format = arguments[i + 1] == "cdx" ? IndexFormat::kCdx11 : IndexFormat::kJson;
      if (arguments[i + 1] == "json") options.fields.insert(options.fields.begin(), {"urlkey", "timestamp"});
    }
  }
  return options;
}

TEST(IndexFactsTest, EveryExpectedLineOfOtherToolsIsReproduced) {
  Env& env = Env::Posix();
  if (!env.Exists(kFacts)) GTEST_SKIP() << kFacts << " is not there";
  const auto text = ReadWholeFile(env, kFacts);
  ASSERT_TRUE(text.has_value());
  const auto facts = nlohmann::json::parse(*text);
  int passed = 0;
  for (const auto& fact : facts) {
    const std::string path = fact["warc"];
    const std::string tool = fact["source"];
    bool sort = false;
    IndexOptions options = tool == "webrecorder/cdxj-indexer"
                               ? FromCdxjIndexer(fact["options"], sort)
                               : FromWarcio(fact["command"], fact["options"].get<std::vector<std::string>>());
    options.filename = path.substr(path.rfind('/') + 1);
    // That test ran below its own root and asked for names from there.
    if (fact["options"].is_object() && fact["options"].contains("dir_root")) {
      options.filename = "test/data/" + options.filename;
    }
    const auto bytes = ReadWholeFile(env, "../shared/data/" + path);
    ASSERT_TRUE(bytes.has_value()) << path;
    std::vector<std::string> lines;
    const auto result =
        IndexArchive(MemorySource(*bytes), options, [&](std::string_view line) { lines.emplace_back(line); });
    ASSERT_TRUE(result.has_value());
    if (sort) std::sort(lines.begin(), lines.end());
    std::string index;
    for (const std::string& line : lines) index += line + "\n";
    EXPECT_EQ(index, fact["expected_index"].get<std::string>()) << fact["test"] << " " << path;
    passed += index == fact["expected_index"].get<std::string>();
  }
  std::printf("conformance warc_index %d/%zu\n", passed, facts.size());
  EXPECT_EQ(facts.size(), 29U);
  EXPECT_EQ(passed, static_cast<int>(facts.size()));
}

}  // namespace
}  // namespace portolan
