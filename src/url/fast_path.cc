#include "url/fast_path.h"

#include <cstring>

#include "base/check.h"
#include "url/byte_scan.h"
#include "url/code_points.h"
#include "url/parser.h"

namespace portolan {

using namespace url_internal;

namespace {

constexpr size_t kLongest = size_t{1} << 16;  // bytes; longer input goes to UrlParser

// The text is followed by '#', so that each of these sets ends a scan at its end.
constexpr char kSentinel = '#';

constexpr bool InSet(unsigned c, uint16_t encode_set) { return (ClassOf(c) & encode_set) != 0; }

// What ends a host of the plain kind.
constexpr ByteSet kHostEnd = ByteSet::Of([](unsigned c) {
  const auto byte = static_cast<uint8_t>(c);
  return !IsAlpha(byte) && !IsDigit(byte) && c != '-' && c != '.' && c != '_';
});
constexpr ByteSet kUpper = ByteSet::Of([](unsigned c) { return (c >= 'A' && c <= 'Z') || c == '/' || c == '#'; });
// What ends a path, or must be escaped in it; '?' and '#' are in the set of what is escaped.
constexpr ByteSet kPathEnd = ByteSet::Of([](unsigned c) { return InSet(c, kInPathSet) || c == '\\'; });
constexpr ByteSet kFirstSegmentEnd =
    ByteSet::Of([](unsigned c) { return InSet(c, kInPathSet) || c == '\\' || c == '/' || c == ':'; });
constexpr ByteSet kQueryEnd = ByteSet::Of([](unsigned c) { return InSet(c, kInSpecialQuerySet); });
constexpr ByteSet kFragmentEnd = ByteSet::Of([](unsigned c) { return InSet(c, kInFragmentSet); });

// A segment that begins like "." or "%2e" may have to be resolved.
bool MayBeDots(const char* at) { return *at == '.' || (*at == '%' && at[1] == '2' && (at[2] | 0x20) == 'e'); }

// Where the path ends, or null where a segment may be dots. `after_slash`: a segment begins at `at`.
const char* ScanPath(const char* at, bool after_slash) {
#if defined(__SSSE3__)
  unsigned carry = after_slash ? 1 : 0;
  while (true) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const auto equals = [&](char c) {
      return static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(block, _mm_set1_epi8(c))));
    };
    const unsigned ends = kPathEnd.Members(block);
    const unsigned slashes = equals('/');
    unsigned suspects = (slashes << 1 | carry) & (equals('.') | equals('%')) & 0xffffU;
    carry = slashes >> 15;
    if (ends != 0) suspects &= (ends & -ends) - 1;  // only those before the end
    for (; suspects != 0; suspects &= suspects - 1) {
      if (MayBeDots(at + std::countr_zero(suspects))) return nullptr;
    }
    if (ends != 0) return at + std::countr_zero(ends);
    at += 16;
  }
#else
  for (;; ++at) {
    if (after_slash && MayBeDots(at)) return nullptr;
    if (kPathEnd.Has(*at)) return at;
    after_slash = *at == '/';
  }
#endif
}

}  // namespace

bool UrlFastPath::Resolve(std::string_view input, const Url* base, bool with_fragment, Url& url) {
  DCHECK(base != &url);
  const std::string_view text = TrimControls(input);
  const size_t size = text.size();
  if (size > kLongest) return false;

  uint32_t scheme = 0;  // bytes of "http" or "https"
  if (size > 8 && std::memcmp(text.data(), "http", 4) == 0) {
    if (std::memcmp(text.data() + 4, "s://", 4) == 0) {
      scheme = 5;
    } else if (std::memcmp(text.data() + 4, "://", 3) == 0) {
      scheme = 4;
    }
  }
  const char first = size > 0 ? text[0] : kSentinel;
  uint32_t prefix = 0;  // bytes of the base that stay
  if (scheme == 0) {
    if (base == nullptr || !base->is_http() || base->size() > kLongest) return false;
    if (first == '/') {
      prefix = size > 1 && text[1] == '/' ? base->scheme_end_ + 1 : base->path_begin_;
    } else if (first == '?') {
      prefix = base->query_begin_;
    } else if (first == '#') {
      prefix = base->fragment_begin_;
    } else {
      prefix = base->query_begin_;
      while (base->text_[prefix - 1] != '/') --prefix;  // there is one: the path begins with it
    }
  }

  // Base and text are joined first and looked at afterwards, in our own buffer, where reading on is harmless.
  TextBuffer& out = url.text_;
  out.Clear();
  char* const begin = out.Reserve(prefix + size + 1 + kScanPadding + 16);
  if (prefix > 0) std::memcpy(begin, base->text_.data(), prefix);
  if (size > 0) std::memcpy(begin + prefix, text.data(), size);
  char* end = begin + prefix + size;
  std::memset(end, kSentinel, kScanPadding + 1);
  const auto offset = [&](const char* at) { return static_cast<uint32_t>(at - begin); };

  const char* at = nullptr;  // how far it is read
  if (scheme != 0 || (prefix != 0 && prefix == base->scheme_end_ + 1)) {
    if (scheme == 0) scheme = base->scheme_end_;
    url.scheme_kind_ = scheme == 5 ? UrlScheme::kHttps : UrlScheme::kHttp;
    url.scheme_end_ = scheme;
    char* const host = begin + scheme + 3;
    char* const host_end = begin + offset(kHostEnd.Find(host));
    if (host_end < end && *host_end != '/' && *host_end != '?' && *host_end != '#') return false;
    const char* last_label = host_end;
    while (last_label > host && last_label[-1] != '.') --last_label;
    // A last label that begins with a digit may make it an IPv4 address; an empty one hides the one before.
    if (last_label == host_end || IsDigit(static_cast<uint8_t>(*last_label))) return false;
    if (kUpper.Find(host) < host_end) {
      for (char* c = host; c < host_end; ++c) *c = static_cast<char>(Lower(static_cast<uint8_t>(*c)));
    }
    if (host_end == end || *host_end != '/') {
      std::memmove(host_end + 1, host_end, static_cast<size_t>(end - host_end) + kScanPadding);
      *host_end = '/';
      ++end;
    }
    url.username_begin_ = url.username_end_ = url.host_begin_ = offset(host);
    url.host_end_ = url.path_begin_ = offset(host_end);
    url.port_ = Url::kNoPort;
    url.host_kind_ = HostKind::kDomain;
    at = ScanPath(host_end, false);
  } else {
    url.scheme_kind_ = base->scheme_kind_;
    url.scheme_end_ = base->scheme_end_;
    url.username_begin_ = base->username_begin_;
    url.username_end_ = base->username_end_;
    url.host_begin_ = base->host_begin_;
    url.host_end_ = base->host_end_;
    url.path_begin_ = base->path_begin_;
    url.port_ = base->port_;
    url.host_kind_ = base->host_kind_;
    at = begin + prefix;
    if (first == '/') {
      at = ScanPath(at, false);
    } else if (first != '?' && first != '#') {
      if (*kFirstSegmentEnd.Find(at) == ':') return false;  // it may be a scheme
      at = ScanPath(at, true);
    }
  }
  if (at == nullptr) return false;
  url.opaque_path_ = false;

  url.query_begin_ = first == '#' ? base->query_begin_ : offset(at);
  if (at < end && *at == '?') at = kQueryEnd.Find(at + 1);
  if (at < end && *at != '#') return false;  // something to be escaped
  url.fragment_begin_ = offset(at);
  if (!with_fragment) {
    end = begin + offset(at);
  } else if (at < end) {
    // Fragments may hold '#', so the sentinel does not end this scan: the byte after the text does.
    *end = '\0';
    if (kFragmentEnd.Find(at + 1) != end) return false;
  }
  out.SetSize(offset(end));
  return true;
}

}  // namespace portolan
