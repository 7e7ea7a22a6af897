#include "url/parser.h"

#include <algorithm>

#include "base/check.h"
#include "url/host.h"
#include "url/percent.h"

namespace portolan {

using namespace url_internal;

namespace {

constexpr size_t kMaxHref = size_t{1} << 30;  // a base over it is refused: offsets have 32 bits

}  // namespace

namespace url_internal {

UrlScheme SchemeKind(std::string_view scheme) {
  if (scheme == "http") return UrlScheme::kHttp;
  if (scheme == "https") return UrlScheme::kHttps;
  if (scheme == "ws") return UrlScheme::kWs;
  if (scheme == "wss") return UrlScheme::kWss;
  if (scheme == "ftp") return UrlScheme::kFtp;
  if (scheme == "file") return UrlScheme::kFile;
  return UrlScheme::kOther;
}

uint32_t DefaultPort(UrlScheme scheme) {
  switch (scheme) {
    case UrlScheme::kHttp:
    case UrlScheme::kWs:
      return 80;
    case UrlScheme::kHttps:
    case UrlScheme::kWss:
      return 443;
    case UrlScheme::kFtp:
      return 21;
    case UrlScheme::kFile:
    case UrlScheme::kOther:
      break;
  }
  return Url::kNoPort;
}

bool IsDriveLetter(std::string_view text) {
  return text.size() == 2 && IsAlpha(static_cast<uint8_t>(text[0])) && (text[1] == ':' || text[1] == '|');
}

}  // namespace url_internal

UrlStatus UrlParser::Run(std::string_view input, bool with_fragment) {
  DCHECK(base_ != &url_);
  url_.Clear();
  with_fragment_ = with_fragment;
  input = TrimControls(input);
  if (input.size() > Url::kMaxInput || (base_ != nullptr && base_->size() > kMaxHref)) return UrlStatus::kTooLong;
  std::string without;
  if (std::any_of(input.begin(), input.end(), [](char c) { return Is(c, kTabOrNewline); })) {
    without.reserve(input.size());
    for (const char c : input) {
      if (!Is(c, kTabOrNewline)) without += c;
    }
    input = without;
  }
  const UrlStatus status = Parse(input);
  if (status != UrlStatus::kOk) url_.Clear();
  return status;
}

// scheme start state, scheme state, and the four small states that choose between authority and path
UrlStatus UrlParser::Parse(std::string_view input) {
  rest_ = input;
  size_t colon = 0;
  if (!input.empty() && IsAlpha(static_cast<uint8_t>(input[0]))) {
    while (colon < input.size() && Is(input[colon], kSchemeByte)) ++colon;
  }
  if (colon == 0 || colon == input.size() || input[colon] != ':') return NoSchemeState();

  SetScheme(input.substr(0, colon));
  rest_.remove_prefix(colon + 1);
  if (url_.scheme_kind_ == UrlScheme::kFile) return FileState();
  if (url_.is_special()) {
    // special relative or authority state
    if (base_ != nullptr && base_->scheme_kind_ == url_.scheme_kind_ && !rest_.starts_with("//")) {
      return RelativeState();
    }
    // special authority slashes state, special authority ignore slashes state
    while (!rest_.empty() && IsSlash(rest_[0])) rest_.remove_prefix(1);
    return AuthorityState();
  }
  if (rest_.starts_with('/')) {
    // path or authority state
    rest_.remove_prefix(1);
    if (rest_.starts_with('/')) {
      rest_.remove_prefix(1);
      return AuthorityState();
    }
    NoAuthority();
    BeginPath();
    return PathState();
  }
  return OpaquePathState();
}

UrlStatus UrlParser::NoSchemeState() {
  if (base_ == nullptr || base_->empty()) return UrlStatus::kNoScheme;
  if (base_->opaque_path_) {
    if (!rest_.starts_with('#')) return UrlStatus::kNoScheme;
    SetScheme(base_->scheme());
    NoAuthority();
    CopyPath();
    CopyQuery();
    return FragmentState();
  }
  SetScheme(base_->scheme());
  return base_->scheme_kind_ == UrlScheme::kFile ? FileState() : RelativeState();
}

UrlStatus UrlParser::RelativeState() {
  if (!rest_.empty() && IsSlash(rest_[0])) {
    rest_.remove_prefix(1);
    return RelativeSlashState();
  }
  CopyAuthority();
  CopyPath();
  if (rest_.starts_with('?')) {
    EndPath();
    return QueryState();
  }
  if (rest_.empty() || rest_[0] == '#') {
    EndPath();
    CopyQuery();
    return FragmentState();
  }
  ShortenPath();
  return PathState();
}

UrlStatus UrlParser::RelativeSlashState() {
  if (!rest_.empty() && IsSlash(rest_[0])) {
    if (url_.is_special()) {
      // special authority ignore slashes state
      while (!rest_.empty() && IsSlash(rest_[0])) rest_.remove_prefix(1);
    } else {
      rest_.remove_prefix(1);
    }
    return AuthorityState();
  }
  CopyAuthority();
  BeginPath();
  return PathState();
}

UrlStatus UrlParser::AuthorityState() {
  out_.Append("//");
  url_.username_begin_ = url_.username_end_ = At(out_.size());
  const size_t end = FindEnd(true);
  std::string_view authority = rest_.substr(0, end);
  rest_.remove_prefix(end);
  // Everything up to the last '@' is user and password; the first ':' parts them.
  if (const size_t at_sign = authority.rfind('@'); at_sign != std::string_view::npos) {
    const std::string_view credentials = authority.substr(0, at_sign);
    authority.remove_prefix(at_sign + 1);
    if (authority.empty()) return UrlStatus::kHostMissing;
    const size_t colon = credentials.find(':');
    AppendEncoded(credentials.substr(0, colon), kInUserinfoSet, out_);
    url_.username_end_ = At(out_.size());
    if (colon != std::string_view::npos && colon + 1 < credentials.size()) {
      out_.Push(':');
      AppendEncoded(credentials.substr(colon + 1), kInUserinfoSet, out_);
    }
    if (out_.size() > url_.username_begin_) out_.Push('@');
  }
  return HostState(authority);
}

UrlStatus UrlParser::HostState(std::string_view text) {
  bool inside_brackets = false;
  size_t colon = 0;
  for (; colon < text.size(); ++colon) {
    if (text[colon] == '[') inside_brackets = true;
    if (text[colon] == ']') inside_brackets = false;
    if (text[colon] == ':' && !inside_brackets) break;
  }
  const std::string_view host = text.substr(0, colon);
  const bool has_port = colon < text.size();
  url_.host_begin_ = At(out_.size());
  if (host.empty()) {
    if (url_.is_special() || has_port) return UrlStatus::kHostMissing;
    url_.host_kind_ = HostKind::kEmpty;
  } else if (const UrlStatus status = AppendHost(host, !url_.is_special(), out_, url_.host_kind_);
             status != UrlStatus::kOk) {
    return status;
  }
  url_.host_end_ = At(out_.size());
  if (has_port) {
    if (const UrlStatus status = PortState(text.substr(colon + 1)); status != UrlStatus::kOk) return status;
  }
  return PathStartState();
}

UrlStatus UrlParser::PortState(std::string_view digits) {
  uint32_t port = 0;
  for (const char c : digits) {
    if (!IsDigit(static_cast<uint8_t>(c))) return UrlStatus::kPortInvalid;
    port = port * 10 + static_cast<uint32_t>(c - '0');
    if (port > 0xffff) return UrlStatus::kPortInvalid;
  }
  if (digits.empty() || port == DefaultPort(url_.scheme_kind_)) return UrlStatus::kOk;
  url_.port_ = port;
  char text[6] = {':'};
  size_t size = sizeof text;
  for (; port > 9; port /= 10) text[--size] = static_cast<char>('0' + port % 10);
  text[--size] = static_cast<char>('0' + port);
  out_.Push(':');
  out_.Append({text + size, sizeof text - size});
  return UrlStatus::kOk;
}

UrlStatus UrlParser::FileState() {
  if (!rest_.empty() && IsSlash(rest_[0])) {
    rest_.remove_prefix(1);
    return FileSlashState();
  }
  if (base_ == nullptr || base_->scheme_kind_ != UrlScheme::kFile) {
    EmptyHost();
    BeginPath();
    return PathState();
  }
  CopyAuthority();
  CopyPath();
  if (rest_.starts_with('?')) {
    EndPath();
    return QueryState();
  }
  if (rest_.empty() || rest_[0] == '#') {
    EndPath();
    CopyQuery();
    return FragmentState();
  }
  if (StartsWithDriveLetter()) {
    out_.SetSize(url_.path_begin_);
  } else {
    ShortenPath();
  }
  return PathState();
}

UrlStatus UrlParser::FileSlashState() {
  if (!rest_.empty() && IsSlash(rest_[0])) {
    rest_.remove_prefix(1);
    return FileHostState();
  }
  if (base_ != nullptr && base_->scheme_kind_ == UrlScheme::kFile) {
    CopyAuthority();
    BeginPath();
    // A drive letter stays: /x on file:///C:/y is file:///C:/x.
    const std::string_view base_path = base_->path();
    const std::string_view first = base_path.substr(1, base_path.find('/', 1) - 1);
    if (!StartsWithDriveLetter() && IsDriveLetter(first) && first[1] == ':') {
      out_.Push('/');
      out_.Append(first);
    }
  } else {
    EmptyHost();
    BeginPath();
  }
  return PathState();
}

UrlStatus UrlParser::FileHostState() {
  const size_t end = FindEnd(true);
  const std::string_view host = rest_.substr(0, end);
  EmptyHost();
  if (IsDriveLetter(host)) {
    // It is a path's first segment and no host.
    BeginPath();
    return PathState();
  }
  rest_.remove_prefix(end);
  if (!host.empty()) {
    if (const UrlStatus status = AppendHost(host, false, out_, url_.host_kind_); status != UrlStatus::kOk)
      return status;
    url_.host_end_ = At(out_.size());
    if (url_.hostname() == "localhost") {
      out_.SetSize(url_.host_begin_);
      url_.host_end_ = url_.host_begin_;
      url_.host_kind_ = HostKind::kEmpty;
    }
  }
  return PathStartState();
}

bool UrlParser::StartsWithDriveLetter() const {
  return IsDriveLetter(rest_.substr(0, 2)) &&
         (rest_.size() == 2 || rest_[2] == '/' || rest_[2] == '\\' || rest_[2] == '?' || rest_[2] == '#');
}

size_t UrlParser::FindEnd(bool slashes) const {
  size_t end = 0;
  for (; end < rest_.size(); ++end) {
    const char c = rest_[end];
    if (c == '?' || c == '#' || (slashes && IsSlash(c))) break;
  }
  return end;
}

void UrlParser::SetScheme(std::string_view scheme) {
  char* to = out_.Reserve(scheme.size() + 1);
  for (const char c : scheme) *to++ = static_cast<char>(Lower(static_cast<uint8_t>(c)));
  *to = ':';
  out_.SetSize(scheme.size() + 1);
  url_.scheme_end_ = At(scheme.size());
  url_.scheme_kind_ = SchemeKind(url_.scheme());
}

void UrlParser::NoAuthority() {
  url_.username_begin_ = url_.username_end_ = url_.host_begin_ = url_.host_end_ = At(out_.size());
  url_.host_kind_ = HostKind::kNone;
}

void UrlParser::EmptyHost() {
  out_.Append("//");
  NoAuthority();
  url_.host_kind_ = HostKind::kEmpty;
}

// REQUIRES: the schemes of URL and base are the same.
void UrlParser::CopyAuthority() {
  const uint32_t end = base_->port_ == Url::kNoPort ? base_->host_end_ : base_->path_begin_;
  out_.Append(base_->Piece(base_->scheme_end_ + 1, end));
  url_.username_begin_ = base_->username_begin_;
  url_.username_end_ = base_->username_end_;
  url_.host_begin_ = base_->host_begin_;
  url_.host_end_ = base_->host_end_;
  url_.host_kind_ = base_->host_kind_;
  url_.port_ = base_->port_;
}

void UrlParser::CopyPath() {
  BeginPath();
  out_.Append(base_->path());
  url_.opaque_path_ = base_->opaque_path_;
}

void UrlParser::CopyQuery() {
  url_.query_begin_ = At(out_.size());
  out_.Append(base_->Piece(base_->query_begin_, base_->fragment_begin_));
}

}  // namespace portolan
