// Any bytes as a dictionary of URLs, and any bytes as its keys.
//
// The first byte says which. As a file: a reader gives keys or errors, and never leaves the file; a file that is in
// order finds each key that it gives. Checksums would stop nearly every mutation, so those of the footer and of a root
// of level 0 are made right first. As keys (lines, sorted): what is written is found, in both directions.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "graph/url_dictionary.h"
#include "graph/url_dictionary_format.h"

namespace {

using namespace portolan;
using namespace portolan::graph;

constexpr uint64_t kMostKeys = 500;  // that are read, so that an input takes microseconds

void MakeChecksumsRight(std::string& file) {
  if (file.size() < kUrlDictionaryFooterSize) return;
  char* const footer = file.data() + file.size() - kUrlDictionaryFooterSize;
  const auto offset = LoadLe<uint64_t>(footer + 8);
  const auto size = LoadLe<uint64_t>(footer + 16);
  const auto level = LoadLe<uint32_t>(footer + 24);
  if (offset < file.size() && size >= 4 && size <= file.size() - offset) {
    const std::string_view entries(file.data() + offset, size - 4);
    StoreLe<uint32_t>(file.data() + offset + size - 4, UrlDictionaryChecksum(level, 0, entries));
  }
  StoreLe<uint32_t>(footer + 32, Crc32c(std::string_view(footer, 32)));
}

void ReadFile(std::string_view bytes) {
  const auto dictionary = UrlDictionary::Open(bytes);
  if (!dictionary) return;
  std::vector<std::string> keys;
  UrlDictionary::Scan scan(*dictionary);
  bool sorted = true;
  while (keys.size() < kMostKeys && scan.Next()) {
    sorted &= keys.empty() || keys.back() < scan.key();
    CHECK(scan.number() == keys.size());
    keys.emplace_back(scan.key());
  }
  std::string got;
  for (uint64_t i = 0; i < keys.size(); ++i) {
    CHECK(dictionary->Get(i, got));
    CHECK(got == keys[i]);
    const auto found = dictionary->Find(keys[i]);
    // Within one block there are no separators that could be wrong.
    if (sorted && dictionary->size() <= kUrlDictionaryFanout && scan.status() && keys.size() == dictionary->size()) {
      CHECK(found && *found == i);
    }
  }
  for (const uint64_t number : {dictionary->size() / 2, dictionary->size() - 1, dictionary->size()}) {
    (void)dictionary->Get(number, got);
  }
  for (const std::string_view key : {"", "com,", "\xff"}) {
    const auto bound = dictionary->LowerBound(key);
    CHECK(!bound || *bound <= dictionary->size());
  }
}

void WriteAndRead(std::string_view lines) {
  std::vector<std::string> keys;
  for (size_t begin = 0; begin <= lines.size() && keys.size() < kMostKeys;) {
    const size_t end = std::min(lines.find('\n', begin), lines.size());
    if (end - begin <= kMaxUrlKey) keys.emplace_back(lines.substr(begin, end - begin));
    begin = end + 1;
  }
  std::ranges::sort(keys);
  keys.erase(std::ranges::unique(keys).begin(), keys.end());
  std::string file;
  UrlDictionaryWriter writer([&file](std::string_view bytes) -> Status {
    file.append(bytes);
    return {};
  });
  for (const std::string& key : keys) CHECK(writer.Add(key));
  CHECK(writer.Finish());
  const auto dictionary = UrlDictionary::Open(file);
  CHECK(dictionary && dictionary->size() == keys.size());
  std::string got;
  for (uint64_t i = 0; i < keys.size(); ++i) {
    CHECK(dictionary->Get(i, got) && got == keys[i]);
    CHECK(dictionary->Find(keys[i]).value() == i);
    const std::string_view half = std::string_view(keys[i]).substr(0, keys[i].size() / 2);
    const auto bound = static_cast<uint64_t>(std::ranges::lower_bound(keys, half) - keys.begin());
    CHECK(dictionary->LowerBound(half).value() == bound);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 'k') {
    WriteAndRead(rest);
    return 0;
  }
  std::string file(rest);
  ReadFile(file);
  MakeChecksumsRight(file);
  ReadFile(file);
  return 0;
}
