// What a request to the server asks for, read from its bytes: path and parameters of the target, the list of URLs in
// a body, the name by which the client called us.
//
// Percent-encoding is strict: a '%' without two hex digits is an error and not a character, so that a URL that was not
// encoded is noticed. '+' is a plus sign, since URLs have no blanks and many have a '+'; only paths that forms of pages
// send to (Route::form) take it as a blank.
//
// Thread: functions without state. Memory: a copy of what is read. Any bytes give a value or kInvalidArgument with a
// sentence for the client.

#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace portolan {

// As it came from the network. Valid during the call.
struct RawRequest {
  std::string_view method;  // "GET"
  std::string_view target;  // "/graph/out?url=…"
  std::string_view host;    // the field Host; empty: there is none
  // The body, and what the head says about it.
  std::string_view content_type;
  std::string_view content_encoding;
  std::string_view content_length;  // as it is there; empty: there is none
  bool chunked = false;
  std::string_view body;
};

struct Request {
  std::string_view method;  // of those that the path allows; HEAD is handled as GET
  std::string path;
  std::vector<std::pair<std::string, std::string>> parameters;  // decoded, in the order in which they came
  std::string_view body;

  // The only value of a parameter, or `otherwise`. kInvalidArgument: it is there twice.
  Result<std::string> One(std::string_view name, std::string_view otherwise) const;
  Result<uint64_t> Number(std::string_view name, uint64_t otherwise, uint64_t least, uint64_t most) const;
  // kInvalidArgument: there is a parameter that is none of these.
  Status Only(std::initializer_list<std::string_view> names) const;
};

// Fills path and parameters. `form`: '+' in a parameter is a blank, as browsers send what was typed into a form.
Status ParseTarget(std::string_view target, Request& request, bool form = false);

// A JSON list of strings, and nothing else; at most `most` of them. kBusy: there are more.
Result<std::vector<std::string>> ParseUrlList(std::string_view json, size_t most);

// Whether a Host field names this machine with this port: localhost, 127.0.0.1, [::1] or `own`. Any other name is that
// of a web page whose author let it point to 127.0.0.1, to read what a browser of this machine may see.
bool IsOwnHost(std::string_view host, std::string_view own, uint16_t port);

}  // namespace portolan
