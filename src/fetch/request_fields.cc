#include "fetch/request_fields.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "flow/url_record.h"

namespace portolan {
namespace {

bool HasControl(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || static_cast<unsigned char>(c) == 0x7f;
  });
}

// The name of "Name: value"; empty if it is not a header field.
std::string_view NameOf(std::string_view line) {
  const size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  const bool good = colon != std::string_view::npos && !name.empty() &&
                    std::all_of(name.begin(), name.end(), IsTokenByte) && !HasControl(line) &&
                    !TrimBlanks(line.substr(colon + 1)).empty();
  return good ? name : std::string_view();
}

std::unexpected<Error> NoField(std::string_view line) {
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("'{}' is no header field: write 'Name: value' on one line", line));
}

bool IsAuthorization(std::string_view line) { return EqualsIgnoringCase(NameOf(line), "Authorization"); }

std::string Base64(std::string_view text) {
  std::string out(4 * ((text.size() + 2) / 3) + 1, '\0');  // OpenSSL ends it with a zero
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  out.resize(static_cast<size_t>(size));
  return out;
}

}  // namespace

Status CheckAddedField(std::string_view line) {
  const std::string_view name = NameOf(line);
  if (name.empty()) return NoField(line);
  struct Own {
    std::string_view name;
    std::string_view instead;
  };
  static constexpr std::array<Own, 7> kOwn = {{{"User-Agent", "politeness.user_agent (--user-agent)"},
                                               {"From", "politeness.from"},
                                               {"Accept", "fetch.accept"},
                                               {"Accept-Encoding", "fetch.accept_encoding"},
                                               {"Accept-Language", "fetch.accept_language (--accept-language)"},
                                               {"Cookie", "fetch.cookies (--cookie)"},
                                               {"Proxy-Authorization", "the proxy's URL"}}};
  for (const Own& own : kOwn) {
    if (!EqualsIgnoringCase(name, own.name)) continue;
    return Fail(ErrorCode::kInvalidArgument, fmt::format("'{}' has a setting of its own: {}", name, own.instead));
  }
  static constexpr std::array<std::string_view, 17> kForbidden = {"Host",
                                                                  "Connection",
                                                                  "Content-Length",
                                                                  "Content-Type",
                                                                  "Transfer-Encoding",
                                                                  "TE",
                                                                  "Trailer",
                                                                  "Upgrade",
                                                                  "Keep-Alive",
                                                                  "Expect",
                                                                  "Proxy-Connection",
                                                                  "If-None-Match",
                                                                  "If-Match",
                                                                  "If-Modified-Since",
                                                                  "If-Range",
                                                                  "If-Unmodified-Since",
                                                                  "Range"};
  for (const std::string_view one : kForbidden) {
    if (!EqualsIgnoringCase(name, one)) continue;
    return Fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is set by the crawler and cannot be given", name));
  }
  return {};
}

Status CheckCookie(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals != std::string_view::npos && equals > 0 && !HasControl(text) && TrimBlanks(text) == text) return {};
  return Fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is no cookie: write name=value", text));
}

Status CheckLogin(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon != std::string_view::npos && colon > 0 && !HasControl(text)) return {};
  return Fail(ErrorCode::kInvalidArgument, "wants NAME:PASSWORD on one line");
}

Result<RequestFields> RequestFields::Create(const FetchOptions& options) {
  RequestFields fields;
  struct Line {
    std::string text;
    Audience audience;
  };
  std::vector<Line> lines;
  const auto add = [&](std::string_view name, std::string_view value, Audience audience = Audience::kAnyone) {
    if (!value.empty()) lines.push_back({fmt::format("{}: {}", name, value), audience});
  };
  add("User-Agent", options.user_agent);
  add("From", options.from);
  add("Accept", options.accept);
  add("Accept-Encoding", options.accept_encoding);
  add("Accept-Language", options.accept_language);
  const ForSeeds& own = options.for_seeds;
  for (const std::string& line : own.headers) {
    lines.push_back({line, IsAuthorization(line) ? Audience::kOrigin : Audience::kDomain});
  }
  add("Cookie", fmt::format("{}", fmt::join(own.cookies, "; ")), Audience::kDomain);
  if (!own.login.empty()) add("Authorization", "Basic " + Base64(own.login), Audience::kOrigin);
  for (const Line& line : lines) {
    if (NameOf(line.text).empty()) return NoField(line.text);
    if (line.audience != Audience::kAnyone && !fields.seeds_) {
      ASSIGN_OR_RETURN(fields.seeds_, SeedHosts::Create(own.seeds));
    }
  }

  for (size_t i = 0; i < fields.shared_.size(); ++i) {
    Shared& shared = fields.shared_[i];
    for (const Line& line : lines) {
      if (line.audience > static_cast<Audience>(i)) continue;
      shared.lines.push_back(line.text);
      shared.sent.append(line.text).append("\r\n");
      const bool secret = line.audience != Audience::kAnyone;
      shared.archived += secret ? fmt::format("{}: [not archived]\r\n", NameOf(line.text)) : line.text + "\r\n";
    }
    shared.sent += "\r\n";
    shared.archived += "\r\n";
    // A name without a value removes libcurl's own field.
    if (options.accept.empty()) shared.lines.emplace_back("Accept:");
    if (!options.proxy.empty()) shared.lines.emplace_back("Proxy-Connection:");
    shared.nodes.resize(shared.lines.size());
    for (size_t n = 0; n < shared.nodes.size(); ++n) {
      shared.nodes[n].data = shared.lines[n].data();
      shared.nodes[n].next = n + 1 < shared.nodes.size() ? &shared.nodes[n + 1] : nullptr;
    }
  }
  return fields;
}

curl_slist* RequestFields::ListFor(const FetchTask& task, Conditional& conditional) const {
  conditional.audience = seeds_ ? seeds_->Of(task.url) : Audience::kAnyone;
  const std::vector<curl_slist>& nodes = Of(conditional).nodes;
  // libcurl's lists are not const, but it only reads them.
  auto* list = const_cast<curl_slist*>(nodes.empty() ? nullptr : nodes.data());
  conditional.etag_line.clear();
  conditional.modified_line.clear();
  if (task.last == nullptr) return list;
  const auto put = [&](std::string_view name, const std::string& value, std::string& line, curl_slist& node) {
    if (!IsValidator(value)) return;
    line.append(name).append(value);
    node = {line.data(), list};
    list = &node;
  };
  const Validators& validators = task.last->validators;
  put("If-Modified-Since: ", validators.last_modified, conditional.modified_line, conditional.modified_node);
  put("If-None-Match: ", validators.etag, conditional.etag_line, conditional.etag_node);
  return list;
}

std::string RequestFields::HeadFor(const FetchTask& task, const Conditional& conditional, bool absolute_target,
                                   Form form) const {
  const std::string& shared = form == Form::kSent ? Of(conditional).sent : Of(conditional).archived;
  const std::string_view origin = OriginOf(task.url);
  const std::string_view authority = origin.substr(std::min(origin.size(), origin.find("://") + 3));
  std::string_view target = absolute_target ? std::string_view(task.url) : PathAndQueryOf(task.url);
  target = target.substr(0, target.find('#'));
  std::string head;
  head.reserve(64 + target.size() + authority.size() + conditional.etag_line.size() + conditional.modified_line.size() +
               shared.size());
  head.append("GET ").append(target).append(" HTTP/1.1\r\nHost: ").append(authority).append("\r\n");
  for (const std::string* line : {&conditional.etag_line, &conditional.modified_line}) {
    if (!line->empty()) head.append(*line).append("\r\n");
  }
  head.append(shared);
  return head;
}

}  // namespace portolan
