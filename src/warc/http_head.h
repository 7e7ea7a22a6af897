// The head of an archived HTTP message: first line and fields, read tolerantly.
//
// Archives hold what servers really sent (bare line feeds, missing reasons, HTTP/2 rewritten as HTTP/1.1), so nothing
// is rejected here; a block that does not begin like HTTP has no head.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "warc/fields.h"

namespace portolan {

struct HttpHead {
  bool present = false;
  bool request = false;
  int status = 0;      // of an answer; 0 when it is not three digits
  std::string method;  // of a request
  std::string target;
  std::string version;  // "HTTP/1.1"
  FieldList fields;
  size_t length = 0;  // bytes with the empty line: the payload begins here

  void Clear();
};

// Where the head of a message ends (after its empty line), or npos when `text` holds no empty line. `from` is where an
// earlier search of a shorter text stopped.
size_t FindHeadEnd(std::string_view text, size_t from = 0);

// Whether these first bytes begin an HTTP answer or request.
bool LooksLikeHttpResponse(std::string_view text);
bool LooksLikeHttpRequest(std::string_view text);

// Reads the head in `text`, which is all of it. Leaves `head` absent when it begins like neither.
void ParseHttpHead(std::string_view text, HttpHead& head);

// The type without its parameters: "text/html" from "text/html; charset=x", and from "text/html charset=x" too.
std::string_view MediaType(std::string_view content_type);

}  // namespace portolan
