// The URL Standard's basic URL parser (without state override), writing straight into a Url.
//
// The standard walks one code point at a time and keeps records; here each state takes its whole component at once and
// appends it to the URL's buffer, which is possible because every state's output stands right of the one before. States
// have the standard's names.

#pragma once

#include <string>
#include <string_view>

#include "url/code_points.h"
#include "url/query_encoder.h"
#include "url/url.h"

namespace portolan {

class UrlParser {
 public:
  // `base` may be null, and so may `query_encoder`: UTF-8. REQUIRES: base is not &url.
  UrlParser(Url& url, const Url* base, QueryEncoder* query_encoder = nullptr)
      : url_(url), out_(url.text_), base_(base), query_encoder_(query_encoder) {}

  UrlStatus Run(std::string_view input, bool with_fragment);

 private:
  UrlStatus Parse(std::string_view input);
  UrlStatus NoSchemeState();
  UrlStatus RelativeState();
  UrlStatus RelativeSlashState();
  UrlStatus AuthorityState();
  UrlStatus HostState(std::string_view text);
  UrlStatus PortState(std::string_view digits);
  UrlStatus FileState();
  UrlStatus FileSlashState();
  UrlStatus FileHostState();
  UrlStatus PathStartState();
  UrlStatus PathState();
  UrlStatus OpaquePathState();
  UrlStatus QueryState();
  UrlStatus FragmentState();

  bool IsSlash(char c) const { return c == '/' || (c == '\\' && url_.is_special()); }
  bool StartsWithDriveLetter() const;
  // Where path, authority or the like ends: at a '?', a '#', the end, and (for an authority) at a slash.
  size_t FindEnd(bool slashes) const;

  void SetScheme(std::string_view scheme);
  void NoAuthority();
  void EmptyHost();
  void CopyAuthority();
  void CopyPath();
  void CopyQuery();
  void BeginPath();
  void ShortenPath();
  void AppendSegment(std::string_view segment, bool last);
  void EndPath();
  void AppendQuery(std::string_view query);

  Url& url_;
  TextBuffer& out_;
  const Url* base_;
  QueryEncoder* query_encoder_;
  std::string_view rest_;  // the input that is still to be read
  bool with_fragment_ = true;
};

namespace url_internal {

// A place in a URL, as UrlView stores it.
inline uint32_t At(size_t offset) { return static_cast<uint32_t>(offset); }

// REQUIRES: scheme is in lower case.
UrlScheme SchemeKind(std::string_view scheme);
// Url::kNoPort where the scheme has none.
uint32_t DefaultPort(UrlScheme scheme);
// A letter and ':' or '|'.
bool IsDriveLetter(std::string_view text);
// 1 for "." and 2 for "..", with dots also as "%2e"; 0 for any other segment.
int DotSegment(std::string_view segment);
// The input without C0 controls and blanks at both ends.
inline std::string_view TrimControls(std::string_view input) {
  while (!input.empty() && static_cast<uint8_t>(input.front()) <= ' ') input.remove_prefix(1);
  while (!input.empty() && static_cast<uint8_t>(input.back()) <= ' ') input.remove_suffix(1);
  return input;
}

}  // namespace url_internal
}  // namespace portolan
