// RequestFields: the header fields of every request, as libcurl wants them, as sockets send them and as the archive
// writes them.
//
// The fields that all requests share are made once, in one form for each Audience; a conditional request puts its own
// before them. libcurl reads the lists and copies nothing, so a fetch allocates nothing for them.
//
// What only the seeds' servers may see is archived as "Name: [not archived]": archives are handed on.
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
  // kInvalidArgument for a field that would end its line, or is no field.
  static Result<RequestFields> Create(const FetchOptions& options);

  RequestFields(RequestFields&&) = default;
  RequestFields(const RequestFields&) = delete;

  // What is one fetch's own: whom it speaks to, and the fields before the shared ones where it is conditional. Not
  // moved while it runs.
  struct Conditional {
    Audience audience = Audience::kAnyone;
    std::string etag_line;
    std::string modified_line;
    curl_slist etag_node{};
    curl_slist modified_node{};
  };

  // The list for CURLOPT_HTTPHEADER. Validators that hold control characters are left out.
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
  std::optional<SeedHosts> seeds_;  // none: everybody gets the same
};

// Is it a header field that a person may add: "Name: value" on one line, and none that the crawler makes itself?
Status CheckAddedField(std::string_view line);
// "name=value", as one or several with "; " between them.
Status CheckCookie(std::string_view text);
// "NAME:PASSWORD".
Status CheckLogin(std::string_view text);

}  // namespace portolan
