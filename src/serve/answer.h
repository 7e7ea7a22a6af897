// Answer: what goes back to a client. All errors have one form:
//
//   {"error":{"code":"not_in_graph","message":"https://example.org/x is not in the
//   graph","nearest_host":"example.org"}}
//
// `code` is for programs and does not change; `message` is a sentence for people.

#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace portolan {

struct Answer {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::string allow;   // with 405: the methods that the path has
  std::string policy;  // Content-Security-Policy; empty: nothing may be loaded or shown in a style of its own
};

// {"code":…,"message":…}; `more` is appended within: `,"nearest_host":"example.org"`.
std::string ErrorObject(std::string_view code, std::string_view message, std::string_view more = {});
Answer ErrorAnswer(int status, std::string_view code, std::string_view message, std::string_view more = {});
// Of an Error of ours: 400 what cannot be asked, 404 what is not there, 413 what is too much, 500 everything else.
Answer ErrorAnswer(const Error& error);

}  // namespace portolan
