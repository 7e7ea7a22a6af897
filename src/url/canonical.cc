#include "url/canonical.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "url/code_points.h"
#include "url/parser.h"
#include "url/percent.h"
#include "url/query_names.h"

namespace portolan {

using namespace url_internal;

// Changes one part of a Url and moves the offsets of the parts after it.
class UrlEditor {
 public:
  explicit UrlEditor(Url& url) : url_(url), text_(url.text_) {}

  void DropFragment() { text_.SetSize(url_.fragment_begin_); }

  void DropUserInfo() {
    const uint32_t size = url_.host_begin_ - url_.username_begin_;
    if (size == 0) return;
    text_.Erase(url_.username_begin_, size);
    url_.username_end_ = url_.username_begin_;
    url_.host_begin_ -= size;
    url_.host_end_ -= size;
    MoveFromPath(-static_cast<int64_t>(size));
  }

  void DropHostDot() {
    const std::string_view host = url_.hostname();
    if (url_.host_kind_ != HostKind::kDomain || host.size() < 2 || host.back() != '.' || host[host.size() - 2] == '.') {
      return;
    }
    text_.Erase(url_.host_end_ - 1, 1);
    --url_.host_end_;
    MoveFromPath(-1);
  }

  void NormalizeEscapes() {
    const std::string_view rest = url_.href().substr(url_.path_begin_);
    if (rest.find('%') != std::string_view::npos) [[unlikely]] {
      NormalizeRange(url_.fragment_begin_, static_cast<uint32_t>(text_.size()));
      MoveFragment(NormalizeRange(url_.query_begin_, url_.fragment_begin_));
      MoveFromQuery(NormalizeRange(url_.path_begin_, url_.query_begin_));
    }
    if (url_.has_credentials()) {
      MoveFromPath(MoveHost(NormalizeRange(url_.username_end_, url_.host_begin_)));
      const int64_t grown = NormalizeRange(url_.username_begin_, url_.username_end_);
      url_.username_end_ = Moved(url_.username_end_, grown);
      MoveFromPath(MoveHost(grown));
    }
  }

  void DropPathSessions();
  void FilterQuery(CanonicalRules rules);
  void SortQuery();

  void CollapseSlashes() {
    const std::string_view path = url_.path();
    if (path.find("//") == std::string_view::npos) return;
    char* const begin = text_.data() + url_.path_begin_;
    char* const end = std::unique(begin, begin + path.size(), [](char a, char b) { return a == '/' && b == '/'; });
    const auto gap = static_cast<size_t>(begin + path.size() - end);
    text_.Erase(static_cast<size_t>(end - text_.data()), gap);
    MoveFromQuery(-static_cast<int64_t>(gap));
  }

  void DropIndexFile() {
    const std::string_view path = url_.path();
    const std::string_view last = path.substr(path.rfind('/') + 1);
    if (last.empty() || !IsIndexFile(last)) return;
    text_.Erase(url_.query_begin_ - last.size(), last.size());
    MoveFromQuery(-static_cast<int64_t>(last.size()));
  }

  void DropEmptyQuery() {
    if (url_.fragment_begin_ - url_.query_begin_ != 1) return;
    text_.Erase(url_.query_begin_, 1);
    --url_.fragment_begin_;
  }

 private:
  static uint32_t Moved(uint32_t offset, int64_t by) { return static_cast<uint32_t>(offset + by); }
  void MoveFragment(int64_t by) { url_.fragment_begin_ = Moved(url_.fragment_begin_, by); }
  void MoveFromQuery(int64_t by) {
    url_.query_begin_ = Moved(url_.query_begin_, by);
    MoveFragment(by);
  }
  void MoveFromPath(int64_t by) {
    url_.path_begin_ = Moved(url_.path_begin_, by);
    MoveFromQuery(by);
  }
  int64_t MoveHost(int64_t by) {
    url_.host_begin_ = Moved(url_.host_begin_, by);
    url_.host_end_ = Moved(url_.host_end_, by);
    return by;
  }

  int64_t NormalizeRange(uint32_t begin, uint32_t end);

  Url& url_;
  TextBuffer& text_;
};

// Rewrites the escapes within [begin, end) and says by how much that grew. Afterwards each '%' begins an escape in
// upper case of a byte that is not unreserved, and a second time changes nothing. (That is why a lone '%' must become
// "%25": in "%%36%31" decoding alone would put together a new "%61".)
int64_t UrlEditor::NormalizeRange(uint32_t begin, uint32_t end) {
  const std::string_view range = text_.view().substr(begin, end - begin);
  const size_t first = range.find('%');
  if (first == std::string_view::npos) return 0;
  size_t lone = 0;
  for (size_t at = first; at < range.size(); ++at) lone += range[at] == '%' && EscapeAt(range, at) < 0;
  // Room for what grows: the range's rest moves right, and is then read ahead of the writing.
  const size_t tail = text_.size() - (begin + first);
  if (lone > 0) {
    text_.Reserve(lone * 2);
    char* const from = text_.data() + begin + first;
    std::memmove(from + lone * 2, from, tail);
    text_.SetSize(text_.size() + lone * 2);
  }
  char* to = text_.data() + begin + first;
  const std::string_view moved(to + lone * 2, range.size() - first);
  const auto upper = [](char c) { return static_cast<char>(c >= 'a' && c <= 'f' ? c - 0x20 : c); };
  for (size_t at = 0; at < moved.size();) {
    const char c = moved[at];
    if (c != '%') {
      *to++ = c;
      ++at;
      continue;
    }
    const int byte = EscapeAt(moved, at);
    if (byte < 0) {
      *to++ = '%';
      *to++ = '2';
      *to++ = '5';
      ++at;
    } else if (Is(static_cast<char>(byte), kUnreserved)) {
      *to++ = static_cast<char>(byte);
      at += 3;
    } else {
      const char high = upper(moved[at + 1]);
      const char low = upper(moved[at + 2]);
      *to++ = '%';
      *to++ = high;
      *to++ = low;
      at += 3;
    }
  }
  const char* const rest = moved.data() + moved.size();
  const auto gap = static_cast<size_t>(rest - to);
  text_.Erase(static_cast<size_t>(to - text_.data()), gap);
  return static_cast<int64_t>(lone * 2) - static_cast<int64_t>(gap);
}

// Takes session ids out of the path: ";jsessionid=…" after a segment, and whole segments of ASP.NET. A segment that
// would become a dot segment without its session id keeps it: resolving it now could leave the directory that the
// server meant.
void UrlEditor::DropPathSessions() {
  const std::string_view path = url_.path();
  if (path.find(';') == std::string_view::npos && path.find('(') == std::string_view::npos) return;
  char* const begin = text_.data() + url_.path_begin_;
  char* to = begin;
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find('/', at + 1), path.size());
    const std::string_view segment = path.substr(at + 1, end - at - 1);
    at = end;
    char* const segment_begin = to;
    *to++ = '/';
    size_t piece_end = 0;
    for (size_t piece = 0; piece <= segment.size(); piece = piece_end + 1) {
      piece_end = std::min(segment.find(';', piece), segment.size());
      const std::string_view parameter = segment.substr(piece, piece_end - piece);
      if (piece > 0) {
        if (IsSessionPathParameter(parameter)) continue;
        *to++ = ';';
      }
      std::memmove(to, parameter.data(), parameter.size());
      to += parameter.size();
    }
    const std::string_view left(segment_begin + 1, static_cast<size_t>(to - segment_begin - 1));
    if (left.size() < segment.size() && DotSegment(left) != 0) {
      const std::string_view lost = segment.substr(left.size());
      std::memmove(to, lost.data(), lost.size());
      to += lost.size();
    } else if (end < path.size() && IsSessionSegment(left)) {
      to = segment_begin;
    }
  }
  const auto gap = static_cast<size_t>(begin + path.size() - to);
  if (gap == 0) return;
  text_.Erase(static_cast<size_t>(to - text_.data()), gap);
  MoveFromQuery(-static_cast<int64_t>(gap));
}

void UrlEditor::FilterQuery(CanonicalRules rules) {
  if (!url_.has_query()) return;
  const bool sessions = rules.Has(CanonicalRule::kDropSessionIds);
  const bool tracking = rules.Has(CanonicalRule::kDropTracking);
  const std::string_view query = url_.query();
  char* const begin = text_.data() + url_.query_begin_ + 1;
  char* to = begin;
  bool kept_any = false;
  for (size_t at = 0; at <= query.size();) {
    const size_t end = std::min(query.find('&', at), query.size());
    const std::string_view parameter = query.substr(at, end - at);
    at = end + 1;
    if ((sessions && IsSessionParameter(parameter)) || (tracking && IsTrackingParameter(parameter))) continue;
    if (kept_any) *to++ = '&';
    kept_any = true;
    std::memmove(to, parameter.data(), parameter.size());
    to += parameter.size();
  }
  // If no parameter is left, the '?' is dropped, too.
  if (!kept_any) --to;
  const auto gap = static_cast<size_t>(begin + query.size() - to);
  if (gap == 0) return;
  text_.Erase(static_cast<size_t>(to - text_.data()), gap);
  MoveFragment(-static_cast<int64_t>(gap));
}

void UrlEditor::SortQuery() {
  if (!url_.has_query()) return;
  text_.Reserve(url_.query().size() + 1);  // where the sorted parameters are written before they replace the others
  const std::string_view query = url_.query();
  const auto for_each = [&](auto visit) {
    for (size_t at = 0; at <= query.size();) {
      const size_t end = std::min(query.find('&', at), query.size());
      visit(query.substr(at, end - at));
      at = end + 1;
    }
  };
  std::string_view before;
  bool sorted = true;
  size_t count = 0;
  for_each([&](std::string_view parameter) {
    sorted = sorted && before <= parameter;
    before = parameter;
    ++count;
  });
  if (sorted) return;

  std::array<std::string_view, 64> few;  // more parameters than a query that means something has
  std::vector<std::string_view> many(count > few.size() ? count : 0);
  const std::span<std::string_view> parameters = many.empty() ? std::span(few).first(count) : std::span(many);
  size_t index = 0;
  for_each([&](std::string_view parameter) { parameters[index++] = parameter; });
  // Equal ones are the same bytes, so their order does not matter.
  std::sort(parameters.begin(), parameters.end());
  char* const joined = text_.data() + text_.size();
  char* to = joined;
  for (const std::string_view parameter : parameters) {
    to = std::copy(parameter.begin(), parameter.end(), to);
    *to++ = '&';
  }
  std::memcpy(text_.data() + url_.query_begin_ + 1, joined, query.size());
}

std::string_view CanonicalRuleName(CanonicalRule rule) {
  switch (rule) {
    case CanonicalRule::kDropFragment:
      return "drop-fragment";
    case CanonicalRule::kNormalizeEscapes:
      return "normalize-escapes";
    case CanonicalRule::kDropEmptyQuery:
      return "drop-empty-query";
    case CanonicalRule::kDropUserInfo:
      return "drop-user-info";
    case CanonicalRule::kDropSessionIds:
      return "drop-session-ids";
    case CanonicalRule::kDropTracking:
      return "drop-tracking";
    case CanonicalRule::kSortQuery:
      return "sort-query";
    case CanonicalRule::kDropIndexFile:
      return "drop-index-file";
    case CanonicalRule::kDropHostDot:
      return "drop-host-dot";
    case CanonicalRule::kCollapseSlashes:
      return "collapse-slashes";
  }
  return "unknown";
}

std::optional<CanonicalRule> ParseCanonicalRule(std::string_view name) {
  for (uint32_t bit = 1; bit <= CanonicalRules::All().bits(); bit <<= 1) {
    if (CanonicalRuleName(static_cast<CanonicalRule>(bit)) == name) return static_cast<CanonicalRule>(bit);
  }
  return std::nullopt;
}

bool Canonicalize(Url& url, CanonicalRules rules) {
  if (!url.is_http()) return false;
  UrlEditor editor(url);
  if (rules.Has(CanonicalRule::kDropFragment)) editor.DropFragment();
  if (rules.Has(CanonicalRule::kNormalizeEscapes)) editor.NormalizeEscapes();
  if (rules.Has(CanonicalRule::kDropUserInfo)) editor.DropUserInfo();
  if (rules.Without(CanonicalRules::Default()) == CanonicalRules::None()) return true;
  if (rules.Has(CanonicalRule::kDropHostDot)) editor.DropHostDot();
  if (rules.Has(CanonicalRule::kDropSessionIds)) editor.DropPathSessions();
  if (rules.HasAny(CanonicalRule::kDropSessionIds | CanonicalRule::kDropTracking)) editor.FilterQuery(rules);
  if (rules.Has(CanonicalRule::kSortQuery)) editor.SortQuery();
  if (rules.Has(CanonicalRule::kCollapseSlashes)) editor.CollapseSlashes();
  if (rules.Has(CanonicalRule::kDropIndexFile)) editor.DropIndexFile();
  if (rules.Has(CanonicalRule::kDropEmptyQuery)) editor.DropEmptyQuery();
  return true;
}

}  // namespace portolan
