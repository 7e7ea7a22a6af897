#include "serve/router.h"

#include <fmt/core.h>

#include <charconv>
#include <exception>

#include "base/ascii.h"
#include "base/check.h"
#include "base/log.h"
#include "base/text.h"

namespace portolan {
namespace {

constexpr std::string_view kIndexPath = "/";
constexpr std::string_view kHealthPath = "/healthz";

// "application/json; charset=utf-8" is one.
bool IsJson(std::string_view content_type) {
  return EqualsIgnoringCase(TrimBlanks(content_type.substr(0, content_type.find(';'))), "application/json");
}

std::string_view MethodsOf(const Route& route) { return route.takes_body ? "GET, HEAD, POST" : "GET, HEAD"; }

}  // namespace

void Router::Add(Room& room) {
  rooms_.push_back(&room);
  for (Route& route : room.Routes()) {
    CHECK(Find(route.path) == nullptr && route.path != kIndexPath && route.path != kHealthPath);
    routes_.push_back(std::move(route));
  }
}

void Router::SetAddress(std::string host, uint16_t port) {
  host_ = std::move(host);
  port_ = port;
}

const Route* Router::Find(std::string_view path) const {
  for (const Route& route : routes_) {
    if (route.path == path) return &route;
  }
  return nullptr;
}

Answer Router::NoSuchPath(std::string_view path) const {
  std::vector<std::string_view> paths = {kHealthPath};
  for (const Route& route : routes_) paths.emplace_back(route.path);
  const std::string shown = Printable(path.substr(0, 200));
  const std::string_view nearest = path.size() < 100 ? NearestWord(path, paths) : std::string_view();
  return ErrorAnswer(404, "no_such_path",
                     nearest.empty() ? fmt::format("there is no {} here; GET / lists what is", shown)
                                     : fmt::format("there is no {} here; did you mean {}?", shown, nearest));
}

std::optional<Answer> Router::Refuse(const RawRequest& raw) const {
  if (!IsOwnHost(raw.host, host_, port_)) {
    return ErrorAnswer(403, "host_refused",
                       fmt::format("the request is for '{}', which is not this server: use http://127.0.0.1:{}/",
                                   Printable(raw.host.substr(0, 200)), port_));
  }
  Request request;
  if (const Status parsed = ParseTarget(raw.target, request); !parsed) return ErrorAnswer(parsed.error());
  const Route* const route = Find(request.path);
  if (route == nullptr && request.path != kIndexPath && request.path != kHealthPath) return NoSuchPath(request.path);
  const bool takes_body = route != nullptr && route->takes_body;
  const bool reads = raw.method == "GET" || raw.method == "HEAD";
  if (!reads && !(raw.method == "POST" && takes_body)) {
    const std::string_view methods = route == nullptr ? "GET, HEAD" : MethodsOf(*route);
    Answer answer = ErrorAnswer(405, "method_not_allowed", fmt::format("{} takes {}", request.path, methods));
    answer.allow = methods;
    return answer;
  }
  if (reads) {
    if (raw.chunked || (!raw.content_length.empty() && raw.content_length != "0")) {
      return ErrorAnswer(400, "bad_request", "GET and HEAD have no body here: send the list of URLs with POST");
    }
    return std::nullopt;
  }
  if (!IsJson(raw.content_type)) {
    return ErrorAnswer(415, "not_json", "the body of a POST is JSON: send it with Content-Type: application/json");
  }
  if (!raw.content_encoding.empty() && !EqualsIgnoringCase(raw.content_encoding, "identity")) {
    return ErrorAnswer(415, "coded_body", "send the body without a Content-Encoding");
  }
  if (raw.chunked) return std::nullopt;
  if (raw.content_length.empty()) {
    return ErrorAnswer(411, "no_length", "a POST says how long its body is: send Content-Length");
  }
  uint64_t length = 0;
  const auto [end, error] =
      std::from_chars(raw.content_length.data(), raw.content_length.data() + raw.content_length.size(), length);
  if (error == std::errc::invalid_argument || end != raw.content_length.data() + raw.content_length.size()) {
    return ErrorAnswer(400, "bad_request", "the Content-Length is not a number");
  }
  if (error != std::errc() || length > kMaxBody) {
    return ErrorAnswer(413, "body_too_large", fmt::format("a body has at most {} bytes: send several", kMaxBody));
  }
  return std::nullopt;
}

Answer Router::Handle(const RawRequest& raw) const {
  try {
    if (std::optional<Answer> refused = Refuse(raw)) return *std::move(refused);
    if (raw.body.size() > kMaxBody) {
      return ErrorAnswer(413, "body_too_large", fmt::format("a body has at most {} bytes: send several", kMaxBody));
    }
    Request request{
        .method = raw.method == "HEAD" ? "GET" : raw.method, .path = {}, .parameters = {}, .body = raw.body};
    if (const Status parsed = ParseTarget(raw.target, request); !parsed) return ErrorAnswer(parsed.error());
    if (request.path == kIndexPath) return Index();
    if (request.path == kHealthPath) return Health();
    const Route* const route = Find(request.path);
    if (route == nullptr) return NoSuchPath(request.path);
    if (route->form) {
      if (const Status parsed = ParseTarget(raw.target, request, true); !parsed) return ErrorAnswer(parsed.error());
    }
    return route->handle(request);
  } catch (const std::exception& error) {  // out of memory above all
    return ErrorAnswer(500, "internal", fmt::format("the server failed: {}", error.what()));
  }
}

Answer Router::Health() const {
  bool well = true;
  std::string rooms;
  for (Room* const room : rooms_) {
    const Result<std::string> health = room->Health();
    well = well && health.has_value();
    rooms += fmt::format(R"({}{}:{{"ok":{},"message":{}}})", rooms.empty() ? "" : ",", JsonQuote(room->name()),
                         health.has_value(), JsonQuote(health ? *health : health.error().message()));
  }
  return {.status = well ? 200 : 503, .body = fmt::format("{{\"ok\":{},\"rooms\":{{{}}}}}\n", well, rooms)};
}

Answer Router::Index() const {
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Portolan: {0}</title>\n<h1>Portolan: "
      "{0}</h1>\n",
      EscapeHtml(title_));
  for (Room* const room : rooms_) {
    const Result<std::string> health = room->Health();
    page += fmt::format("<h2>{}</h2>\n<p>{}</p>\n<p>{}</p>\n<ul>\n", EscapeHtml(room->name()),
                        EscapeHtml(room->summary()), EscapeHtml(health ? *health : health.error().message()));
    for (const Route& route : room->Routes()) {
      page += fmt::format("<li><code>{}</code> ({}): {}<br><a href=\"{}\">{}</a></li>\n", EscapeHtml(route.path),
                          MethodsOf(route), EscapeHtml(route.summary), EscapeHtml(route.example),
                          EscapeHtml(route.example));
    }
    page += "</ul>\n";
  }
  page += fmt::format("<p><a href=\"{0}\">{0}</a>: whether all of it can be served.</p>\n</html>\n", kHealthPath);
  return {.type = "text/html; charset=utf-8", .body = std::move(page)};
}

}  // namespace portolan
