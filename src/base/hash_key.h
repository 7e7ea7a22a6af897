// HashKey: the keyed 64-bit hash for names that outsiders choose and that decide where something is stored or what
// counts as equal: URLs, hosts, origins, pay-level domains, addresses.
//
// It depends on a secret of the crawl. So an attacker who knows this code still cannot fill one bucket of DRUM,
// overload one slot of a table, or make a host of their own share the clock, the rules or the budget of another host.
// Two of 10^10 keys collide with probability about 10^20 / 2^65 = 2.7 expected pairs: a crawl loses a handful of pages.
//
// It is XXH3-64 with a secret of its own, of the full 192 bytes, in place of the one that is printed in its
// source. Why that is enough against an attacker who does not see hashes:
//   - 17 bytes and more: each 16 (up to 240 bytes) or 8 (beyond) bytes of input are xored with their own words of the
//     secret, and the halves multiplied with each other; the products are added up. What two different inputs do to a
//     product depends on the other, unknown factor. The known ways to make many collide need a factor of 0 (guess a
//     word of the secret: 2^-64 per try, beyond 240 bytes 2^-32, where the factors are halves of words), or factors
//     that change places (guess the difference of two words).
//   - 9 to 16 bytes: the same with one product.
//   - up to 8 bytes: a bijection of the bytes xored with the secret, so different inputs of one length never collide;
//     which bucket they meet in depends on the xored word.
//   - a seed (XXH3_64bits_withSeed, …_withSecretandSeed) is not enough: up to 240 bytes it shifts the words of the
//     printed secret by one number, so their relations stay known.
// Limits: XXH3 is not a cryptographic function. An attacker who sees keyed hashes, or can time single look-ups, can
// find the secret. So keyed hashes and the secret stay in the crawl's own files and are never shown, logged or sent.
// SipHash-1-3, which is safe in that case, too, costs three times as much (32 ns for 70 bytes), twice per link.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace portolan {

// A secret and the hash that it makes. A value: every part that hashes gets a copy in its options. That costs each a
// member, but two crawls in one process have two keys, and a function's key is one of its arguments.
// Thread: const after construction.
class HashKey {
 public:
  using Words = std::array<uint64_t, 4>;  // what is stored: 32 random bytes

  // The public key: Hash equals Hash64. For tests, simulations and tables that outsiders cannot attack; a crawl makes
  // its own (crawl/hash_key_store.h).
  HashKey();
  static const HashKey& Known();

  // Each word of the secret is a hash of all 32 bytes under a seed of its own. On disk, in effect: it never changes.
  explicit HashKey(const Words& words);

  uint64_t Hash(std::string_view bytes) const;

  const Words& words() const { return words_; }  // all 0: the known key
  bool operator==(const HashKey&) const = default;

 private:
  static constexpr size_t kSecretSize = 192;  // the longest that XXH3 uses; at least 136

  std::array<unsigned char, kSecretSize> secret_;
  Words words_{};
};

}  // namespace portolan
