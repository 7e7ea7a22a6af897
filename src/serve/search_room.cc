#include "serve/search_room.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/log.h"
#include "base/text.h"

namespace portolan {
namespace {

// The policy says to browsers what the page is anyway: no scripts, nothing from elsewhere.
Answer HtmlAnswer(std::string body) {
  return {.type = "text/html; charset=utf-8",
          .body = std::move(body),
          .policy =
              "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; "
              "frame-ancestors 'none'"};
}

// `flag`, `flag=1`; "0" and absence are no.
Result<bool> FlagOf(const Request& request, std::string_view name) {
  const bool there = std::ranges::any_of(request.parameters, [&](const auto& pair) { return pair.first == name; });
  ASSIGN_OR_RETURN(const std::string value, request.One(name, "0"));
  return there && value != "0";
}

Result<SearchQuestion> ReadQuestion(const Request& request) {
  RETURN_IF_ERROR(request.Only({"q", "limit", "offset", "json", "explain"}));
  SearchQuestion question;
  ASSIGN_OR_RETURN(question.words, request.One("q", ""));
  ASSIGN_OR_RETURN(question.limit, request.Number("limit", 10, 1, SearchRoom::kMaxLimit));
  ASSIGN_OR_RETURN(question.offset, request.Number("offset", 0, 0, kMaxDepth));
  ASSIGN_OR_RETURN(question.explain, FlagOf(request, "explain"));
  return question;
}

Answer HtmlError(const SearchPage& page, const Error& error) {
  Answer answer = HtmlAnswer(SearchHtml(page, &error));
  answer.status = error.code() == ErrorCode::kNotFound ? 503 : ErrorAnswer(error).status;
  return answer;
}

Answer JsonError(const Error& error) {
  return error.code() == ErrorCode::kNotFound ? ErrorAnswer(503, "no_index", error.message()) : ErrorAnswer(error);
}

}  // namespace

std::string SearchRoom::summary() const { return "What the pages say: their words, best pages first."; }

std::vector<Route> SearchRoom::Routes() {
  return {{.path = "/search",
           .form = true,
           .summary = "pages with these words; for programs with &json",
           .example = "/search?q=",
           .handle = [this](const Request& request) { return Search(request); }},
          {.path = "/cached",
           .summary = "the text of a page when it was fetched",
           .example = "/cached?url=https://example.org/",
           .handle = [this](const Request& request) { return Cached(request); }}};
}

Result<std::string> SearchRoom::Health() {
  auto health = searcher_.Health();
  // A crawl need not have an index.
  if (!health && health.error().code() == ErrorCode::kNotFound) return "no index (yet)";
  return health;
}

Answer SearchRoom::Search(const Request& request) {
  const auto json = FlagOf(request, "json");
  const auto question = ReadQuestion(request);
  if (!json) return ErrorAnswer(json.error());
  if (!question) return *json ? JsonError(question.error()) : HtmlError({}, question.error());
  SearchPage page{.question = *question};
  if (question->words.empty() && !*json) {
    return HtmlAnswer(SearchHtml(page, nullptr));
  }
  const auto found = searcher_.Ask(*question);
  if (!found) return *json ? JsonError(found.error()) : HtmlError(page, found.error());
  if (*json) return {.body = SearchJson(*found)};
  return HtmlAnswer(SearchHtml(*found, nullptr));
}

Answer SearchRoom::Cached(const Request& request) {
  if (const Status only = request.Only({"url"}); !only) return ErrorAnswer(only.error());
  const auto url = request.One("url", "");
  if (!url) return ErrorAnswer(url.error());
  if (url->empty()) return ErrorAnswer(400, "bad_request", "which URL? Add ?url= with the URL, percent-encoded");
  const auto page = searcher_.Cached(*url);
  if (!page && page.error().code() == ErrorCode::kNotFound) {
    return ErrorAnswer(404, "not_in_index", page.error().message());
  }
  if (!page) return ErrorAnswer(page.error());
  return HtmlAnswer(CachedHtml(*page));
}

}  // namespace portolan
