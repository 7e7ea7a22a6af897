#include "url/url.h"

#include <tuple>

#include "url/code_points.h"
#include "url/fast_path.h"
#include "url/parser.h"

namespace portolan {

std::string_view UrlStatusName(UrlStatus status) {
  switch (status) {
    case UrlStatus::kOk:
      return "ok";
    case UrlStatus::kNoScheme:
      return "no-scheme";
    case UrlStatus::kHostMissing:
      return "host-missing";
    case UrlStatus::kHostForbidden:
      return "host-forbidden";
    case UrlStatus::kHostIdna:
      return "host-idna";
    case UrlStatus::kHostIpv4:
      return "host-ipv4";
    case UrlStatus::kHostIpv6:
      return "host-ipv6";
    case UrlStatus::kPortInvalid:
      return "port-invalid";
    case UrlStatus::kTooLong:
      return "too-long";
  }
  return "unknown";
}

std::optional<Url> Url::Parse(std::string_view input, const Url* base) {
  std::optional<Url> url(std::in_place);
  if (url->Assign(input, base) != UrlStatus::kOk) url.reset();
  return url;
}

UrlStatus Url::Assign(std::string_view input, const Url* base, QueryEncoder* query_encoder) {
  if (UrlFastPath::Resolve(input, base, true, *this)) return UrlStatus::kOk;
  return UrlParser(*this, base, query_encoder).Run(input, true);
}

UrlStatus Url::AssignWithoutFragment(std::string_view input, const Url* base) {
  if (UrlFastPath::Resolve(input, base, false, *this)) return UrlStatus::kOk;
  return UrlParser(*this, base).Run(input, false);
}

Url& Url::operator=(Url&& other) noexcept {
  if (this == &other) return *this;
  text_ = std::move(other.text_);
  CopyOffsets(other);
  other.Clear();
  return *this;
}

void Url::Clear() {
  text_.Clear();
  CopyOffsets(Url());
}

void Url::CopyOffsets(const Url& other) {
  scheme_end_ = other.scheme_end_;
  username_begin_ = other.username_begin_;
  username_end_ = other.username_end_;
  host_begin_ = other.host_begin_;
  host_end_ = other.host_end_;
  path_begin_ = other.path_begin_;
  query_begin_ = other.query_begin_;
  fragment_begin_ = other.fragment_begin_;
  port_ = other.port_;
  scheme_kind_ = other.scheme_kind_;
  host_kind_ = other.host_kind_;
  opaque_path_ = other.opaque_path_;
}

std::string_view Url::password() const {
  if (!has_credentials() || text_[username_end_] != ':') return {};
  return Piece(username_end_ + 1, host_begin_ - 1);
}

std::string_view Url::port_text() const {
  return port_ == kNoPort ? std::string_view() : Piece(host_end_ + 1, path_begin_);
}

std::string_view Url::host() const { return Piece(host_begin_, port_ == kNoPort ? host_end_ : path_begin_); }

std::string_view Url::query() const {
  return has_query() ? Piece(query_begin_ + 1, fragment_begin_) : std::string_view();
}

std::string_view Url::fragment() const {
  return has_fragment() ? text_.view().substr(fragment_begin_ + 1) : std::string_view();
}

std::string_view Url::search() const {
  const std::string_view with_mark = Piece(query_begin_, fragment_begin_);
  return with_mark.size() <= 1 ? std::string_view() : with_mark;
}

std::string_view Url::hash() const {
  const std::string_view with_mark = text_.view().substr(fragment_begin_);
  return with_mark.size() <= 1 ? std::string_view() : with_mark;
}

uint32_t Url::effective_port() const { return port_ != kNoPort ? port_ : url_internal::DefaultPort(scheme_kind_); }

bool Url::IdenticalTo(const Url& other) const {
  const auto fields = [](const Url& url) {
    return std::tuple(url.href(), url.scheme_end_, url.username_begin_, url.username_end_, url.host_begin_,
                      url.host_end_, url.path_begin_, url.query_begin_, url.fragment_begin_, url.port_,
                      url.scheme_kind_, url.host_kind_, url.opaque_path_);
  };
  return fields(*this) == fields(other);
}

bool Url::CheckOffsets() const {
  using url_internal::Is;
  const std::string_view text = text_.view();
  if (text.empty()) return *this == Url() && path_begin_ == 0 && !has_authority();
  const bool rising = scheme_end_ < username_begin_ && username_begin_ <= username_end_ &&
                      username_end_ <= host_begin_ && host_begin_ <= host_end_ && host_end_ <= path_begin_ &&
                      path_begin_ <= query_begin_ && query_begin_ <= fragment_begin_ && fragment_begin_ <= text.size();
  if (!rising || text[scheme_end_] != ':' || scheme_end_ == 0) return false;
  if (url_internal::SchemeKind(scheme()) != scheme_kind_) return false;

  const std::string_view after_scheme = text.substr(scheme_end_ + 1);
  if (has_authority()) {
    if (!after_scheme.starts_with("//") || username_begin_ != scheme_end_ + 3) return false;
    if (host_begin_ > username_begin_) {
      if (text[host_begin_ - 1] != '@') return false;
      if (text[username_end_] != ':' && username_end_ != host_begin_ - 1) return false;
      if (username().empty() && password().empty()) return false;
    } else if (username_end_ != username_begin_) {
      return false;
    }
    if ((host_kind_ == HostKind::kEmpty) != hostname().empty()) return false;
    if ((host_kind_ == HostKind::kIpv6) != hostname().starts_with('[')) return false;
  } else {
    if (username_begin_ != scheme_end_ + 1 || host_end_ != username_begin_) return false;
    const std::string_view dot = Piece(host_end_, path_begin_);
    if (!dot.empty() && dot != "/.") return false;
    // The path must not read as an authority, unless it is kept apart.
    if (dot.empty() == path().starts_with("//")) return false;
  }
  if (has_authority() && (port_ == kNoPort) != (path_begin_ == host_end_)) return false;
  if (port_ != kNoPort) {
    if (!has_authority() || port_ > 0xffff || text[host_end_] != ':' || port_text().empty()) return false;
    if (port_ == url_internal::DefaultPort(scheme_kind_)) return false;
  }
  if (opaque_path_ && (has_authority() || path().starts_with('/'))) return false;
  if (!opaque_path_ && !path().empty() && !path().starts_with('/')) return false;
  if (is_special() && path().empty()) return false;
  if (path().find_first_of("?#") != std::string_view::npos) return false;
  if (query().find('#') != std::string_view::npos) return false;
  return (query_begin_ == fragment_begin_ || text[query_begin_] == '?') &&
         (fragment_begin_ == text.size() || text[fragment_begin_] == '#');
}

}  // namespace portolan
