#include "warc/digest.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "warc/fields.h"

namespace portolan {
namespace {

struct Algorithm {
  DigestKind kind;
  std::string_view name;  // as WARC labels it
  const char* openssl_name;
  size_t length;
};
constexpr std::array kAlgorithms = {
    Algorithm{DigestKind::kSha1, "sha1", "SHA1", 20},
    Algorithm{DigestKind::kSha256, "sha256", "SHA256", 32},
    Algorithm{DigestKind::kSha512, "sha512", "SHA512", 64},
    Algorithm{DigestKind::kMd5, "md5", "MD5", 16},
};
const Algorithm& Find(DigestKind kind) { return kAlgorithms[static_cast<size_t>(kind)]; }

constexpr std::string_view kBase32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

std::optional<std::string> FromBase32(std::string_view text) {
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (char c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
    const size_t value = kBase32.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    bits = (bits << 5 | static_cast<uint32_t>(value)) & 0xfff;
    count += 5;
    if (count >= 8) out += static_cast<char>(bits >> (count -= 8));
  }
  return out;
}

std::optional<std::string> FromBase16(std::string_view text) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  std::string out;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    const int high = digit(text[i]);
    const int low = digit(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
  }
  return out;
}

}  // namespace

std::string_view DigestKindName(DigestKind kind) { return Find(kind).name; }
size_t DigestLength(DigestKind kind) { return Find(kind).length; }

Digester::Digester(DigestKind kind)
    : kind_(kind), algorithm_(EVP_MD_fetch(nullptr, Find(kind).openssl_name, nullptr)), context_(EVP_MD_CTX_new()) {
  CHECK(algorithm_ != nullptr && context_ != nullptr, "{} is not in this OpenSSL", Find(kind).openssl_name);
  Start();
}

Digester::~Digester() {
  EVP_MD_CTX_free(context_);
  EVP_MD_free(algorithm_);
}

Digester::Digester(Digester&& other) noexcept
    : kind_(other.kind_),
      algorithm_(std::exchange(other.algorithm_, nullptr)),
      context_(std::exchange(other.context_, nullptr)) {}

Digester& Digester::operator=(Digester&& other) noexcept {
  std::swap(kind_, other.kind_);
  std::swap(algorithm_, other.algorithm_);
  std::swap(context_, other.context_);
  return *this;
}

void Digester::Start() { CHECK(EVP_DigestInit_ex2(context_, algorithm_, nullptr) == 1); }
void Digester::Update(std::string_view bytes) { CHECK(EVP_DigestUpdate(context_, bytes.data(), bytes.size()) == 1); }

std::string Digester::Finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> raw;
  unsigned int length = 0;
  CHECK(EVP_DigestFinal_ex(context_, raw.data(), &length) == 1);
  return std::string(reinterpret_cast<const char*>(raw.data()), length);
}

std::string Base32(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 4) / 5 * 8);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = (bits << 8 | static_cast<unsigned char>(c)) & 0xfff;
    count += 8;
    while (count >= 5) out += kBase32[(bits >> (count -= 5)) & 31];
  }
  if (count > 0) out += kBase32[(bits << (5 - count)) & 31];
  while (out.size() % 8 != 0) out += '=';
  return out;
}

std::string Base16(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out += kDigits[static_cast<unsigned char>(c) >> 4];
    out += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

std::string LabelledSha1(std::string_view raw) { return "sha1:" + Base32(raw); }

std::optional<ParsedDigest> ParseDigest(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string label = LowerCase(TrimBlanks(text.substr(0, colon)));
  std::erase(label, '-');  // "sha-1" is seen too
  std::string_view value = TrimBlanks(text.substr(colon + 1));
  while (value.ends_with('=')) value.remove_suffix(1);
  for (const Algorithm& algorithm : kAlgorithms) {
    if (label != algorithm.name) continue;
    std::optional<std::string> raw;
    if (value.size() == algorithm.length * 2) {
      raw = FromBase16(value);
    } else if (value.size() == (algorithm.length * 8 + 4) / 5) {
      raw = FromBase32(value);
    }
    if (!raw || raw->size() != algorithm.length) return std::nullopt;
    return ParsedDigest{algorithm.kind, *std::move(raw)};
  }
  return std::nullopt;
}

bool LooksLikeDigest(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size()) return false;
  return std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
}

}  // namespace portolan
