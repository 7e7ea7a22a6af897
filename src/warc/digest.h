// Digests as WARC writes them: "sha1:" and base32, or any of sha1, sha256, sha512, md5 in base32 or base16.
//
// Digester keeps one OpenSSL context and is reset, never rebuilt: fetching an algorithm from OpenSSL costs more than
// hashing a small page. Thread: one owner.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct evp_md_ctx_st;
struct evp_md_st;

namespace portolan {

enum class DigestKind : uint8_t { kSha1, kSha256, kSha512, kMd5 };

std::string_view DigestKindName(DigestKind kind);  // "sha1"
size_t DigestLength(DigestKind kind);              // bytes: 20 for sha1

class Digester {
 public:
  explicit Digester(DigestKind kind = DigestKind::kSha1);
  ~Digester();
  Digester(Digester&&) noexcept;
  Digester& operator=(Digester&&) noexcept;

  DigestKind kind() const { return kind_; }
  void Start();  // begins anew
  void Update(std::string_view bytes);
  std::string Finish();  // the raw digest; Start before the next use

 private:
  DigestKind kind_;
  evp_md_st* algorithm_;
  evp_md_ctx_st* context_;
};

std::string Base32(std::string_view bytes);  // RFC 4648 with upper-case letters, padded
std::string Base16(std::string_view bytes);  // lower case

// "sha1:" and base32.
std::string LabelledSha1(std::string_view raw);

struct ParsedDigest {
  DigestKind kind;
  std::string raw;
};

// Nothing when the label is unknown or the value does not have the algorithm's length in base32 or base16 (any case).
std::optional<ParsedDigest> ParseDigest(std::string_view text);

// Whether `text` is LABEL ":" VALUE at all, with letters and digits in both.
bool LooksLikeDigest(std::string_view text);

}  // namespace portolan
