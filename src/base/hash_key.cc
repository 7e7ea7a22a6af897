#include "base/hash_key.h"

#include <cstring>

#include "base/bytes.h"
#include "base/hash.h"

namespace portolan {

HashKey::HashKey() {
  static_assert(sizeof(XXH3_kSecret) == kSecretSize);
  std::memcpy(secret_.data(), XXH3_kSecret, kSecretSize);
}

HashKey::HashKey(const Words& words) : words_(words) {
  char bytes[sizeof(Words)];
  for (size_t i = 0; i < words.size(); ++i) StoreLe(bytes + 8 * i, words[i]);
  for (size_t at = 0; at < kSecretSize; at += 8) {
    StoreLe(secret_.data() + at, Hash64({bytes, sizeof(bytes)}, /*seed=*/at / 8 + 1));
  }
}

const HashKey& HashKey::Known() {
  static const HashKey known;
  return known;
}

uint64_t HashKey::Hash(std::string_view bytes) const {
  return XXH3_64bits_withSecret(bytes.data(), bytes.size(), secret_.data(), kSecretSize);
}

}  // namespace portolan
