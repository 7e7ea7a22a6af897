#include "crawl/hash_key_store.h"

#include <fmt/core.h>

#include <string>

#include "io/rng.h"

namespace portolan {
namespace {

std::string WordName(size_t i) { return fmt::format("word{}", i); }

}  // namespace

Result<HashKey> HashKeyStore::Make() {
  ASSIGN_OR_RETURN(const auto words, SystemRandomWords());
  return HashKey(words);
}

Result<HashKey> HashKeyStore::Read(const Manifest& manifest) {
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(kSection, kSection));
  if (section == nullptr) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: the manifest has no section {}", manifest.dir(), kSection));
  }
  HashKey::Words words;
  for (size_t i = 0; i < words.size(); ++i) {
    ASSIGN_OR_RETURN(words[i], section->Number(WordName(i)));
  }
  return words == HashKey::Words{} ? HashKey() : HashKey(words);
}

ManifestSection HashKeyStore::Describe() const {
  ManifestSection section;
  section.name = section.kind = kSection;
  for (size_t i = 0; i < key_.words().size(); ++i) section.numbers[WordName(i)] = key_.words()[i];
  return section;
}

}  // namespace portolan
