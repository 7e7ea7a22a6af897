// Any bytes as the texts of a graph's links, and any bytes as the texts to be written.
//
// The first byte says which. As a file: a reader gives texts in any order that it finds, or errors, and never leaves
// the file; checksums are made right first, too. As texts: what is written is found, in order and one by one.

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "base/crc32c.h"
#include "follow/link_texts.h"

namespace {

using namespace portolan;

constexpr size_t kFooter = 32;
constexpr int kMost = 2000;  // texts that are read, so that an input takes microseconds

void MakeRight(std::string& file) {
  if (file.size() < kFooter) return;
  char* const footer = file.data() + file.size() - kFooter;
  const auto index = LoadLe<uint64_t>(footer);
  const uint64_t room = file.size() - kFooter;
  if (index > room) return;
  for (uint64_t entry = index; entry + 16 <= room; entry += 16) {
    const auto offset = LoadLe<uint64_t>(file.data() + entry + 8);
    if (offset > index || index - offset < 13) continue;
    const auto stored = LoadLe<uint32_t>(file.data() + offset + 4);
    if (stored > index - offset - 13) continue;
    StoreLe(file.data() + offset, Crc32c(std::string_view(file).substr(offset + 4, 9 + stored)));
  }
  StoreLe(footer + 16, Crc32c(std::string_view(file).substr(index, room - index + 16)));
}

void ReadFile(std::string_view bytes) {
  auto texts = LinkTexts::Open(bytes);
  if (!texts) return;
  for (int i = 0; i < kMost; ++i) {
    const auto more = texts->Next();
    if (!more || !*more) break;
    CHECK(!texts->text().empty());
  }
  auto again = LinkTexts::Open(bytes);
  for (const uint64_t pair : {uint64_t{0}, uint64_t{1} << 32, uint64_t{5} << 32 | 7, ~uint64_t{0}, uint64_t{3}}) {
    (void)again->Find(pair);
  }
}

void WriteAndRead(std::string_view rest) {
  std::map<uint64_t, std::string> truth;
  ByteReader reader(rest);
  uint64_t pair = 0;
  uint8_t step = 0;
  uint8_t length = 0;
  while (truth.size() < kMost && reader.Read(step) && reader.Read(length)) {
    pair += step % 2 == 0 ? 1 + step / 2 : uint64_t{1} << 32;
    truth[pair] = std::string(1 + length * 8, static_cast<char>(step ^ length));
  }
  std::string file;
  LinkTextsWriter writer([&file](std::string_view bytes) -> Status {
    file.append(bytes);
    return {};
  });
  for (const auto& [at, text] : truth) CHECK(writer.Add(at, text));
  CHECK(writer.Finish());
  auto texts = LinkTexts::Open(file);
  CHECK(texts);
  for (const auto& [at, text] : truth) {
    CHECK(texts->Next().value());
    CHECK(texts->pair() == at && texts->text() == text);
  }
  CHECK(!texts->Next().value());
  auto again = LinkTexts::Open(file);
  for (const auto& [at, text] : truth) {
    CHECK(again->Find(at).value() == text);
    const auto none = truth.find(at + 1);
    CHECK(again->Find(at + 1).value() == (none == truth.end() ? "" : none->second));
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
  MakeRight(file);
  ReadFile(file);
  return 0;
}
