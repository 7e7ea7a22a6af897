// FirstCapture: the first capture of a payload, as the table in RAM and its log hold it, and how a payload is named.
//
// A payload is known by 128 bits: a keyed 64-bit hash of its SHA-1, which decides where it is stored, and 64 bits of
// the SHA-1 itself. Two different payloads are taken for one with a probability of n² / 2^129: 10^-19 among 10^10
// payloads. That matters, because a payload that is wrongly taken for a copy is not archived; 64 bits alone would lose
// a few of 10^10. (Someone who can make two texts with one SHA-1 can only have one of these two stored.)
//
// On disk (docs/formats/content.md), one record: the URL, and then kTrailer bytes. The URL comes first, so that
// neighbours share their beginnings (disk/record_block.h).

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/hash_key.h"

namespace portolan {

struct PayloadKey {
  uint64_t key = 0;    // keyed
  uint64_t check = 0;  // of the SHA-1

  bool operator==(const PayloadKey&) const = default;
};

PayloadKey PayloadKeyOf(const std::array<char, 20>& sha1, const HashKey& key);

struct FirstCapture {
  PayloadKey payload;
  std::string_view url;
  int64_t unix_ms = 1;   // when it was fetched; at least 1
  uint16_t depth = 0;    // links from a seed
  uint8_t type = 0;      // of the detected MIME type, 8 bits of a hash
  bool ours = true;      // this shard is the payload's owner, and its DRUM hears of it
  bool removal = false;  // not a capture: it takes back an earlier one of this payload and URL

  bool operator==(const FirstCapture&) const = default;
};

uint8_t TypeOf(std::string_view mime);

// The longest URL that is remembered, in bytes. Payloads of pages with longer ones are archived in full.
inline constexpr size_t kMaxFirstUrl = 4000;

// On disk: never renumber.
inline constexpr size_t kFirstTrailer = 28;
enum FirstFlag : uint8_t { kFirstOurs = 1 << 0, kFirstRemoval = 1 << 1 };

void EncodeFirstCapture(const FirstCapture& capture, std::string& out);  // replaces `out`
// nullopt: it is not a record. The URL is a view of `bytes`.
std::optional<FirstCapture> DecodeFirstCapture(std::string_view bytes);

}  // namespace portolan
