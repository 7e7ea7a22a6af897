#include "content/first_capture.h"

#include "base/bytes.h"
#include "base/hash.h"

namespace portolan {

PayloadKey PayloadKeyOf(const std::array<char, 20>& sha1, const HashKey& key) {
  return {.key = key.Hash(std::string_view(sha1.data(), sha1.size())), .check = LoadLe<uint64_t>(sha1.data())};
}

uint8_t TypeOf(std::string_view mime) { return static_cast<uint8_t>(Hash64(mime)); }

void EncodeFirstCapture(const FirstCapture& capture, std::string& out) {
  out.assign(capture.url);
  AppendLe(out, capture.payload.key);
  AppendLe(out, capture.payload.check);
  AppendLe(out, static_cast<uint64_t>(capture.unix_ms));
  AppendLe(out, capture.depth);
  AppendLe(out, capture.type);
  AppendLe(out, static_cast<uint8_t>((capture.ours ? kFirstOurs : 0) | (capture.removal ? kFirstRemoval : 0)));
}

std::optional<FirstCapture> DecodeFirstCapture(std::string_view bytes) {
  if (bytes.size() < kFirstTrailer || bytes.size() > kFirstTrailer + kMaxFirstUrl) return std::nullopt;
  FirstCapture capture;
  capture.url = bytes.substr(0, bytes.size() - kFirstTrailer);
  ByteReader in(bytes.substr(capture.url.size()));
  uint64_t unix_ms = 0;
  uint8_t flags = 0;
  if (!in.Read(capture.payload.key) || !in.Read(capture.payload.check) || !in.Read(unix_ms) ||
      !in.Read(capture.depth) || !in.Read(capture.type) || !in.Read(flags)) {
    return std::nullopt;
  }
  capture.unix_ms = static_cast<int64_t>(unix_ms);
  if (capture.unix_ms < 1 || (flags & ~(kFirstOurs | kFirstRemoval)) != 0) return std::nullopt;
  capture.ours = (flags & kFirstOurs) != 0;
  capture.removal = (flags & kFirstRemoval) != 0;
  return capture;
}

}  // namespace portolan
