// RequestFields: the header fields of every request, in the forms for libcurl, for our own sockets and for the archive.
//
// The fields that all requests share are made once, in one form for each Audience; a conditional request puts its own
// before them. libcurl reads the lists and copies nothing, so a fetch allocates nothing for them.
//
// Fields that only the seeds' servers may see are archived as "Name: [not archived]", because archives are passed on to
// others.
//
// Thread: immutable after Create; views and lists live as long as this.

#pragma once

#include <curl/curl.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fetch/fetch_options.h"
#include "fetch/seed_hosts.h"
#include "flow/fetch.h"

namespace portolan {

class RequestFields {
 public:
  // kInvalidArgument for a field that contains a line end, or is not a header field.
  static Result<RequestFields> Create(const FetchOptions& options);

  RequestFields(RequestFields&&) = default;
  RequestFields(const RequestFields&) = delete;

  // The part that belongs to one fetch: its audience, and the fields before the shared ones if it is conditional. Must
  // not be moved while the fetch runs.
  struct Conditional {
    Audience audience = Audience::kAnyone;
    std::string etag_line;
    std::string modified_line;
    curl_slist etag_node{};
    curl_slist modified_node{};
  };

  // The list for CURLOPT_HTTPHEADER. What is not a validator (flow/visit.h) is left out.
  curl_slist* ListFor(const FetchTask& task, Conditional& conditional) const;

  // The request's head as libcurl sends it with that list, or as it is archived. `absolute_target`: to a proxy, in
  // plain HTTP.
  enum class Form : uint8_t { kSent, kArchived };
  std::string HeadFor(const FetchTask& task, const Conditional& conditional, bool absolute_target, Form form) const;
  // Do the two forms differ?
  bool KeepsSecrets(const Conditional& conditional) const { return Of(conditional).sent != Of(conditional).archived; }

 private:
  // The shared fields for one audience.
  struct Shared {
    std::vector<std::string> lines;
    std::vector<curl_slist> nodes;
    std::string sent;      // the lines with their endings, and the empty line
    std::string archived;  // likewise
  };

  RequestFields() = default;
  const Shared& Of(const Conditional& conditional) const { return shared_[static_cast<size_t>(conditional.audience)]; }

  std::array<Shared, 3> shared_;    // by Audience
  std::optional<SeedHosts> seeds_;  // none: all servers get the same
};

// Checks that it is a header field that the operator may add: "Name: value" on one line, and not one that the crawler
// sends itself.
Status CheckAddedField(std::string_view line);
// "name=value", as one or several with "; " between them.
Status CheckCookie(std::string_view text);
// "NAME:PASSWORD".
Status CheckLogin(std::string_view text);

}  // namespace portolan
