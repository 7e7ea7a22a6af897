// A URL as the WHATWG URL Standard defines it: parsed, resolved against a base, serialised, every component at hand.
//
// One buffer holds the serialised URL; the components are offsets into it:
//
//   https://user:pass@example.com:1234/foo/bar?baz#quux
//        |  |   |     |          |    |       |   |    |
//        |  |   |     |          |    |       |   |    `-- size()
//        |  |   |     |          |    |       |   `------- fragment_begin: the '#', or size() where there is none
//        |  |   |     |          |    |       `----------- query_begin: the '?', or fragment_begin
//        |  |   |     |          |    `------------------- path_begin
//        |  |   |     |          `------------------------ host_end: then ':' and the port, or nothing, or "/." (below)
//        |  |   |     `----------------------------------- host_begin
//        |  |   `----------------------------------------- username_end: then ':' and the password, or '@', or nothing
//        |  `--------------------------------------------- username_begin
//        `------------------------------------------------ scheme_end: the ':'
//
// Without an authority ("mailto:x", "foo:/bar") the four offsets from username_begin to host_end all stand right after
// the ':'. A path of such a URL that begins with "//" is kept apart from an authority by "/." before path_begin, as the
// standard serialises it ("web+demo:/.//not-a-host/"). CheckOffsets() is this drawing as code.
//
// Where we depart from the standard: input over kMaxInput bytes is refused (offsets have 32 bits), and so is a host
// over kMaxIdnaHost bytes that is not ASCII (Punycode takes quadratic time). Input that is not UTF-8 is read as the
// standard's decoder does: each broken sequence is one U+FFFD.
//
// Thread: a Url has one owner. Parsing keeps no state between calls, apart from ICU's immutable tables.
// Memory bound: nine bytes per byte of input (a broken byte becomes %EF%BF%BD), fourteen where a query encoder cannot
// write U+FFFD (%26%2365533%3B), plus the base.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "url/query_encoder.h"
#include "url/text_buffer.h"

namespace portolan {

// Why there is no URL. The words in quotation marks are the standard's validation errors.
enum class UrlStatus : uint8_t {
  kOk,
  kNoScheme,       // "missing-scheme-non-relative-URL": relative, and no base that could help
  kHostMissing,    // "host-missing": a special URL, or one with a port or user, without a host
  kHostForbidden,  // "host-invalid-code-point", "domain-invalid-code-point"
  kHostIdna,       // "domain-to-ASCII"
  kHostIpv4,       // "IPv4-non-numeric-part", "IPv4-too-many-parts", "IPv4-out-of-range-part"
  kHostIpv6,       // "IPv6-unclosed" and its relatives
  kPortInvalid,    // "port-invalid", "port-out-of-range"
  kTooLong,        // over our own bounds (see above)
};
std::string_view UrlStatusName(UrlStatus status);

// The standard's special schemes and the rest.
enum class UrlScheme : uint8_t { kOther, kHttp, kHttps, kWs, kWss, kFtp, kFile };

enum class HostKind : uint8_t { kNone, kEmpty, kDomain, kIpv4, kIpv6, kOpaque };

class Url {
 public:
  static constexpr size_t kMaxInput = size_t{16} << 20;    // bytes; data: URLs of real pages stay below
  static constexpr size_t kMaxIdnaHost = size_t{4} << 10;  // bytes; a name in the DNS has at most 253
  static constexpr uint32_t kNoPort = 0x10000;

  Url() = default;
  Url(const Url&) = default;
  Url& operator=(const Url&) = default;
  Url(Url&& other) noexcept { *this = std::move(other); }
  Url& operator=(Url&& other) noexcept;  // leaves `other` empty

  // `base` may be null. The text may be anything.
  static std::optional<Url> Parse(std::string_view input, const Url* base = nullptr);

  // The same into this object, whose buffer is reused. Unless kOk is returned, the object is empty afterwards.
  // `query_encoder` is that of the document where the input stands; null for UTF-8.
  // REQUIRES: base is not this object, and input is not a view of it.
  UrlStatus Assign(std::string_view input, const Url* base = nullptr, QueryEncoder* query_encoder = nullptr);
  // Assign, without what follows the first '#'.
  UrlStatus AssignWithoutFragment(std::string_view input, const Url* base = nullptr);

  void Clear();
  bool empty() const { return text_.size() == 0; }
  size_t size() const { return text_.size(); }

  // Views are valid until the next change of this object.
  std::string_view href() const { return text_.view(); }
  std::string_view scheme() const { return Piece(0, scheme_end_); }                    // "https"
  std::string_view username() const { return Piece(username_begin_, username_end_); }  // percent-encoded
  std::string_view password() const;
  std::string_view hostname() const { return Piece(host_begin_, host_end_); }  // "example.com", "[::1]"
  std::string_view port_text() const;                                          // "1234", "" where default or none
  std::string_view host() const;                                               // "example.com:1234"
  std::string_view path() const { return Piece(path_begin_, query_begin_); }
  std::string_view query() const;                                                          // without '?'
  std::string_view fragment() const;                                                       // without '#'
  std::string_view path_and_query() const { return Piece(path_begin_, fragment_begin_); }  // the request target of HTTP

  // As the DOM's URL object spells them.
  std::string_view protocol() const { return Piece(0, empty() ? 0 : scheme_end_ + 1); }  // "https:"
  std::string_view search() const;                                                       // "?baz", "" where empty
  std::string_view hash() const;                                                         // "#quux", "" where empty

  bool has_authority() const { return host_kind_ != HostKind::kNone; }
  bool has_credentials() const { return host_begin_ > username_begin_; }
  bool has_query() const { return query_begin_ < fragment_begin_; }     // "?" alone counts
  bool has_fragment() const { return fragment_begin_ < text_.size(); }  // "#" alone counts
  bool has_opaque_path() const { return opaque_path_; }
  bool is_special() const { return scheme_kind_ != UrlScheme::kOther; }
  bool is_http() const { return scheme_kind_ == UrlScheme::kHttp || scheme_kind_ == UrlScheme::kHttps; }

  UrlScheme scheme_kind() const { return scheme_kind_; }
  HostKind host_kind() const { return host_kind_; }
  uint32_t port() const { return port_; }  // kNoPort where default or none
  uint32_t effective_port() const;         // with the scheme's default; kNoPort where it has none

  // Whether the offsets rise and the bytes at them are those of the drawing. For tests and fuzzers.
  bool CheckOffsets() const;

  // Whether text and offsets are the same, as they must be when two ways of parsing agree. For tests and fuzzers.
  bool IdenticalTo(const Url& other) const;

  friend bool operator==(const Url& a, const Url& b) { return a.href() == b.href(); }

 private:
  friend class UrlParser;
  friend class UrlFastPath;
  friend class UrlEditor;

  void CopyOffsets(const Url& other);
  std::string_view Piece(uint32_t begin, uint32_t end) const { return {text_.data() + begin, end - begin}; }

  TextBuffer text_;
  uint32_t scheme_end_ = 0;
  uint32_t username_begin_ = 0;
  uint32_t username_end_ = 0;
  uint32_t host_begin_ = 0;
  uint32_t host_end_ = 0;
  uint32_t path_begin_ = 0;
  uint32_t query_begin_ = 0;
  uint32_t fragment_begin_ = 0;
  uint32_t port_ = kNoPort;
  UrlScheme scheme_kind_ = UrlScheme::kOther;
  HostKind host_kind_ = HostKind::kNone;
  bool opaque_path_ = false;
};

}  // namespace portolan
