#include "search/user_query.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/ascii.h"
#include "base/text.h"
#include "base/utf8.h"
#include "index/schema.h"
#include "url/url.h"

namespace portolan {
namespace {

// Blanks between words, with the ideographic space.
size_t BlankLength(std::string_view text) {
  if (text.empty()) return 0;
  if (text[0] == ' ' || (text[0] >= '\t' && text[0] <= '\r')) return 1;
  if (text.starts_with("\xc2\xa0")) return 2;
  return text.starts_with("\xe3\x80\x80") ? 3 : 0;
}

void SkipBlanks(std::string_view& rest) {
  while (const size_t blank = BlankLength(rest)) rest.remove_prefix(blank);
}

// “ ” „ as " is often typed by keyboards that mean well.
size_t QuoteLength(std::string_view text) {
  if (text.starts_with('"')) return 1;
  return text.starts_with("\xe2\x80\x9c") || text.starts_with("\xe2\x80\x9d") || text.starts_with("\xe2\x80\x9e") ? 3
                                                                                                                  : 0;
}

struct Token {
  std::string field;  // "site"; empty: words
  std::string text;
  bool quoted = false;
  bool minus = false;
};

constexpr std::string_view kFields[] = {"site", "lang", "type", "after", "before"};

// Takes the next token; nullopt: there is none.
std::optional<Token> TakeToken(std::string_view& rest) {
  SkipBlanks(rest);
  if (rest.empty()) return std::nullopt;
  Token token;
  if (rest.size() > 1 && rest[0] == '-' && BlankLength(rest.substr(1)) == 0) {
    token.minus = true;
    rest.remove_prefix(1);
  }
  for (const std::string_view field : kFields) {
    if (rest.size() > field.size() && rest[field.size()] == ':' &&
        EqualsIgnoringCase(rest.substr(0, field.size()), field)) {
      token.field = field;
      rest.remove_prefix(field.size() + 1);
      break;
    }
  }
  if (const size_t quote = QuoteLength(rest)) {
    token.quoted = true;
    rest.remove_prefix(quote);
    while (!rest.empty()) {
      if (const size_t end = QuoteLength(rest)) {
        rest.remove_prefix(end);
        break;
      }
      token.text += rest[0];
      rest.remove_prefix(1);
    }
    return token;
  }
  while (!rest.empty() && BlankLength(rest) == 0 && QuoteLength(rest) == 0) {
    token.text += rest[0];
    rest.remove_prefix(1);
  }
  return token;
}

// "2024", "2024-05", "2024-05-01" → "20240501", the first day of it. Empty: not a date.
std::string DayOf(std::string_view text) {
  std::string whole(text);
  if (whole.size() == 4) whole += "-01";
  if (whole.size() == 7) whole += "-01";
  return whole.size() == 10 ? PublishedValue(whole) : std::string();
}

// The host of "https://Example.org/page", "example.org/", "*.example.org", ".example.org".
std::string SiteOf(std::string_view text) {
  if (const size_t scheme = text.find("://"); scheme != std::string_view::npos) text.remove_prefix(scheme + 3);
  text = text.substr(0, text.find_first_of("/?#"));
  if (text.starts_with("*.")) text.remove_prefix(1);
  while (text.starts_with('.')) text.remove_prefix(1);
  while (text.ends_with('.')) text.remove_suffix(1);
  if (!text.starts_with('[')) text = text.substr(0, text.find(':'));
  const auto url = Url::Parse(fmt::format("http://{}/", text));
  return url ? std::string(url->hostname()) : std::string();
}

Status AddFilter(UserQuery& query, const Token& token) {
  const std::string text = LowerCase(token.text);
  if (token.field == "after" || token.field == "before") {
    const std::string day = DayOf(text);
    if (day.empty() || token.minus) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("'{}:{}' is not a date: write {}:2024, {}:2024-05 or {}:2024-05-01", token.field,
                              Printable(token.text.substr(0, 40)), token.field, token.field, token.field));
    }
    (token.field == "after" ? query.after : query.before) = day;
    return {};
  }
  using Kind = UserQuery::Filter::Kind;
  const Kind kind = token.field == "site" ? Kind::kSite : token.field == "lang" ? Kind::kLanguage : Kind::kType;
  const std::string value = kind == Kind::kSite ? SiteOf(text) : text;
  // Terms of the index are not longer.
  if (value.empty() || value.size() > kMaxIdUrl) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}:' needs a value, as in site:example.org, lang:de or type:application/pdf, without a "
                            "blank between",
                            token.field));
  }
  if (query.filters.size() >= kMaxQueryFilters) {
    return Fail(ErrorCode::kBusy,
                fmt::format("more than {} conditions of the kind site:, lang: and type:", kMaxQueryFilters));
  }
  query.filters.push_back({.kind = kind, .value = value, .excluded = token.minus});
  return {};
}

size_t WordsIn(std::string_view text) {
  size_t words = 0;
  for (SkipBlanks(text); !text.empty(); SkipBlanks(text)) {
    ++words;
    while (!text.empty() && BlankLength(text) == 0) text.remove_prefix(1);
  }
  return words;
}

}  // namespace

Result<UserQuery> UserQuery::Parse(std::string_view text) {
  if (text.size() > kMaxQueryBytes) {
    return Fail(ErrorCode::kBusy,
                fmt::format("the question has {} bytes; at most {} are allowed", text.size(), kMaxQueryBytes));
  }
  if (!IsUtf8(text)) return Fail(ErrorCode::kInvalidArgument, "the question is not UTF-8");
  UserQuery query;
  size_t words = 0;
  bool either = false;  // the last token was OR
  while (auto token = TakeToken(text)) {
    if (!token->field.empty()) {
      RETURN_IF_ERROR(AddFilter(query, *token));
      continue;
    }
    if (token->text == "OR" && !token->quoted && !token->minus) {
      either = !query.wanted.empty();
      continue;
    }
    const size_t more = WordsIn(token->text);
    if (more == 0) continue;
    words += more;
    if (words > kMaxQueryWords) {
      return Fail(ErrorCode::kBusy, fmt::format("the question has more than {} words", kMaxQueryWords));
    }
    Piece piece{.text = std::move(token->text), .phrase = token->quoted};
    if (token->minus) {
      query.unwanted.push_back(std::move(piece));
    } else if (either) {
      query.wanted.back().push_back(std::move(piece));
    } else {
      query.wanted.push_back({std::move(piece)});
    }
    either = false;
  }
  if (query == UserQuery())
    return Fail(ErrorCode::kInvalidArgument, "what to look for? There is no word in the question");
  return query;
}

}  // namespace portolan
