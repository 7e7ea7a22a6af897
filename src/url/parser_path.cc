// The parser's states from the path on: path, opaque path, query, fragment.

#include <algorithm>

#include "url/parser.h"
#include "url/percent.h"

namespace portolan {

using namespace url_internal;

namespace url_internal {

int DotSegment(std::string_view segment) {
  int dots = 0;
  while (!segment.empty()) {
    if (segment[0] == '.') {
      segment.remove_prefix(1);
    } else if (segment.size() >= 3 && segment[0] == '%' && segment[1] == '2' && (segment[2] | 0x20) == 'e') {
      segment.remove_prefix(3);
    } else {
      return 0;
    }
    if (++dots > 2) return 0;
  }
  return dots;
}

}  // namespace url_internal

UrlStatus UrlParser::PathStartState() {
  BeginPath();
  if (url_.is_special() || rest_.starts_with('/')) {
    if (!rest_.empty() && IsSlash(rest_[0])) rest_.remove_prefix(1);
    return PathState();
  }
  if (rest_.empty() || rest_[0] == '?' || rest_[0] == '#') {
    EndPath();
    return QueryState();
  }
  return PathState();
}

UrlStatus UrlParser::PathState() {
  const size_t path_end = FindEnd(false);
  std::string_view path = rest_.substr(0, path_end);
  rest_.remove_prefix(path_end);
  while (true) {
    size_t end = 0;
    while (end < path.size() && !IsSlash(path[end])) ++end;
    const bool last = end == path.size();
    AppendSegment(path.substr(0, end), last);
    if (last) break;
    path.remove_prefix(end + 1);
  }
  EndPath();
  return QueryState();
}

UrlStatus UrlParser::OpaquePathState() {
  NoAuthority();
  BeginPath();
  url_.opaque_path_ = true;
  const size_t end = FindEnd(false);
  std::string_view path = rest_.substr(0, end);
  rest_.remove_prefix(end);
  // A blank before '?' or '#' would be lost if those were removed later, so that one is encoded.
  const bool blank_at_end = !rest_.empty() && path.ends_with(' ');
  if (blank_at_end) path.remove_suffix(1);
  AppendEncoded(path, kInC0Set, out_);
  if (blank_at_end) out_.Append("%20");
  url_.query_begin_ = At(out_.size());
  return QueryState();
}

// REQUIRES: rest_ is empty or begins with '?' or '#'.
UrlStatus UrlParser::QueryState() {
  url_.query_begin_ = At(out_.size());
  if (rest_.starts_with('?')) {
    const size_t end = std::min(rest_.find('#'), rest_.size());
    out_.Push('?');
    AppendQuery(rest_.substr(1, end - 1));
    rest_.remove_prefix(end);
  }
  return FragmentState();
}

void UrlParser::AppendQuery(std::string_view query) {
  if (!url_.is_special()) return AppendEncoded(query, kInQuerySet, out_);
  const bool always_utf8 = url_.scheme_kind_ == UrlScheme::kWs || url_.scheme_kind_ == UrlScheme::kWss;
  if (query_encoder_ == nullptr || always_utf8 ||
      std::none_of(query.begin(), query.end(), [](char c) { return Is(c, kInC0Set); })) {
    return AppendEncoded(query, kInSpecialQuerySet, out_);
  }
  AppendEncoded(query, kInSpecialQuerySet, *query_encoder_, out_);
}

// REQUIRES: rest_ is empty or begins with '#'.
UrlStatus UrlParser::FragmentState() {
  url_.fragment_begin_ = At(out_.size());
  if (!rest_.empty() && with_fragment_) {
    out_.Push('#');
    AppendEncoded(rest_.substr(1), kInFragmentSet, out_);
  }
  return UrlStatus::kOk;
}

void UrlParser::BeginPath() { url_.path_begin_ = At(out_.size()); }

void UrlParser::ShortenPath() {
  const std::string_view path = out_.view().substr(url_.path_begin_);
  if (path.empty()) return;
  const size_t slash = path.rfind('/');
  if (url_.scheme_kind_ == UrlScheme::kFile && slash == 0 && IsDriveLetter(path.substr(1)) && path[2] == ':') return;
  out_.SetSize(url_.path_begin_ + slash);
}

void UrlParser::AppendSegment(std::string_view segment, bool last) {
  switch (DotSegment(segment)) {
    case 2:
      ShortenPath();
      [[fallthrough]];
    case 1:
      if (last) out_.Push('/');
      return;
    default:
      break;
  }
  out_.Push('/');
  if (url_.scheme_kind_ == UrlScheme::kFile && out_.size() == url_.path_begin_ + 1 && IsDriveLetter(segment)) {
    out_.Push(segment[0]);
    out_.Push(':');
    return;
  }
  AppendEncoded(segment, kInPathSet, out_);
}

// Keeps a path that begins with two slashes apart from an authority, as the serialiser does.
void UrlParser::EndPath() {
  if (url_.has_authority()) return;
  if (!out_.view().substr(url_.path_begin_).starts_with("//")) return;
  out_.Insert(url_.path_begin_, "/.");
  url_.path_begin_ += 2;
}

}  // namespace portolan
