// RequestFields: the header fields of every request, as libcurl wants them and as the archive writes them.
//
// The fields that all requests share are made once; a conditional request puts its own before them. libcurl reads the
// lists and copies nothing, so a fetch allocates nothing for them.
//
// Thread: immutable after Create; views and lists live as long as this.

#pragma once

#include <curl/curl.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fetch/fetch_options.h"
#include "flow/fetch.h"

namespace portolan {

class RequestFields {
 public:
  // kInvalidArgument for a field that would end its line, or is no field.
  static Result<RequestFields> Create(const FetchOptions& options);

  RequestFields(RequestFields&&) = default;
  RequestFields(const RequestFields&) = delete;

  // What is before the shared fields of a conditional request. Belongs to one fetch; not moved while it runs.
  struct Conditional {
    std::string etag_line;
    std::string modified_line;
    curl_slist etag_node{};
    curl_slist modified_node{};
  };

  // The list for CURLOPT_HTTPHEADER. Validators that hold control characters are left out.
  curl_slist* ListFor(const FetchTask& task, Conditional& conditional) const;

  // The request's head as libcurl sends it with that list. `absolute_target`: to a proxy, in plain HTTP.
  std::string HeadFor(const FetchTask& task, const Conditional& conditional, bool absolute_target) const;

 private:
  RequestFields() = default;

  std::vector<std::string> lines_;
  std::vector<curl_slist> nodes_;
  std::string text_;  // the lines with their endings, and the empty line
};

}  // namespace portolan
