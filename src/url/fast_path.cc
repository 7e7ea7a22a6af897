#include "url/fast_path.h"

#include <array>
#include <cstring>

#include "url/code_points.h"
#include "url/parser.h"

namespace portolan {

using namespace url_internal;

namespace {

constexpr size_t kLongest = size_t{1} << 16;  // bytes; longer input goes the long way

// What a byte does to the part that is being copied.
enum Step : uint8_t {
  kCopy,
  kSlash,
  kQuestion,
  kHash,
  kColon,
  kDecline,
};

constexpr std::array<Step, 256> MakeSteps(uint16_t encode_set) {
  std::array<Step, 256> steps{};
  for (unsigned c = 0; c < 256; ++c) steps[c] = (ClassOf(c) & encode_set) != 0 ? kDecline : kCopy;
  return steps;
}

constexpr auto kPathSteps = [] {
  auto steps = MakeSteps(kInPathSet);
  steps['/'] = kSlash;
  steps['?'] = kQuestion;
  steps['#'] = kHash;
  steps['\\'] = kDecline;
  return steps;
}();
constexpr auto kFirstSegmentSteps = [] {
  auto steps = kPathSteps;
  steps[':'] = kColon;
  return steps;
}();
constexpr auto kQuerySteps = [] {
  auto steps = MakeSteps(kInSpecialQuerySet);
  steps['#'] = kHash;
  return steps;
}();
constexpr auto kFragmentSteps = MakeSteps(kInFragmentSet);

// What a host's byte becomes; 0 for a byte that ends the host or is beyond this path.
constexpr auto kHostBytes = [] {
  std::array<char, 256> table{};
  for (unsigned c = 0; c < 128; ++c) {
    const auto byte = static_cast<uint8_t>(c);
    if (IsAlpha(byte) || IsDigit(byte) || c == '-' || c == '.' || c == '_') table[c] = static_cast<char>(Lower(byte));
  }
  return table;
}();

Step StepOf(const std::array<Step, 256>& steps, const char* at) { return steps[static_cast<uint8_t>(*at)]; }

// A segment that begins like "." or "%2e" may have to be resolved.
bool MayBeDots(const char* at, const char* end) {
  return at < end && (*at == '.' || (*at == '%' && end - at >= 3 && at[1] == '2' && (at[2] | 0x20) == 'e'));
}

}  // namespace

bool UrlFastPath::Resolve(std::string_view input, const Url* base, bool with_fragment, Url& url) {
  const std::string_view text = TrimControls(input);
  if (text.size() > kLongest) return false;
  const char* from = text.data();
  const char* const end = from + text.size();

  bool absolute = false;
  size_t scheme = 0;  // bytes of "http" or "https"
  if (text.size() > 8 && std::memcmp(from, "http", 4) == 0) {
    if (std::memcmp(from + 4, "s://", 4) == 0) {
      scheme = 5;
    } else if (std::memcmp(from + 4, "://", 3) == 0) {
      scheme = 4;
    }
    absolute = scheme != 0;
  }
  if (!absolute && (base == nullptr || !base->is_http() || base->size() > kLongest)) return false;

  TextBuffer& out = url.text_;
  out.Clear();
  // Nothing grows, but for a '/' where the path is empty.
  char* const begin = out.Reserve(text.size() + (base != nullptr ? base->size() : 0) + 8);
  char* to = begin;
  const auto copy_base = [&](uint32_t until) {
    std::memcpy(to, base->text_.data(), until);
    to += until;
  };
  const auto offset = [&] { return static_cast<uint32_t>(to - begin); };

  const auto* steps = &kPathSteps;
  if (absolute || (text.size() >= 2 && from[0] == '/' && from[1] == '/')) {
    if (absolute) {
      std::memcpy(to, from, 8);
      to += scheme + 3;
      from += scheme + 3;
      url.scheme_kind_ = scheme == 5 ? UrlScheme::kHttps : UrlScheme::kHttp;
      url.scheme_end_ = static_cast<uint32_t>(scheme);
    } else {
      copy_base(base->scheme_end_ + 3);
      from += 2;
      url.scheme_kind_ = base->scheme_kind_;
      url.scheme_end_ = base->scheme_end_;
    }
    url.username_begin_ = url.username_end_ = url.host_begin_ = offset();
    char* const host = to;
    char* last_label = to;
    while (from < end) {
      const char c = kHostBytes[static_cast<uint8_t>(*from)];
      if (c == 0) break;
      *to++ = c;
      ++from;
      if (c == '.') last_label = to;
    }
    // A last label that begins with a digit may make it an IPv4 address; an empty one hides the one before.
    if (to == host || last_label == to || IsDigit(static_cast<uint8_t>(*last_label))) return false;
    if (from < end && *from != '/' && *from != '?' && *from != '#') return false;
    url.host_end_ = url.path_begin_ = offset();
    url.port_ = Url::kNoPort;
    url.host_kind_ = HostKind::kDomain;
    if (from == end || *from != '/') *to++ = '/';
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
    if (from == end || *from == '#') {
      copy_base(base->fragment_begin_);
    } else if (*from == '?') {
      copy_base(base->query_begin_);
    } else if (*from == '/') {
      copy_base(base->path_begin_);
    } else {
      const size_t slash = base->text_.view().substr(0, base->query_begin_).rfind('/');
      copy_base(static_cast<uint32_t>(slash) + 1);
      if (MayBeDots(from, end)) return false;
      steps = &kFirstSegmentSteps;
    }
  }
  url.opaque_path_ = false;

  for (; from < end; ++from) {
    const Step step = StepOf(*steps, from);
    if (step == kCopy) {
      *to++ = *from;
    } else if (step == kSlash) {
      *to++ = '/';
      if (MayBeDots(from + 1, end)) return false;
      steps = &kPathSteps;
    } else {
      if (step == kDecline || step == kColon) return false;
      break;
    }
  }
  url.query_begin_ = offset();
  if (from < end && *from == '?') {
    *to++ = '?';
    for (++from; from < end; ++from) {
      const Step step = StepOf(kQuerySteps, from);
      if (step == kDecline) return false;
      if (step == kHash) break;
      *to++ = *from;
    }
  } else if (text.empty() || text[0] == '#') {
    url.query_begin_ = base->query_begin_;
  }
  url.fragment_begin_ = offset();
  if (from < end && with_fragment) {
    *to++ = '#';
    for (++from; from < end; ++from) {
      if (StepOf(kFragmentSteps, from) == kDecline) return false;
      *to++ = *from;
    }
  }
  out.SetSize(offset());
  return true;
}

}  // namespace portolan
