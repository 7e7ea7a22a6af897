#include "serve/answer.h"

#include <fmt/core.h>

#include "base/log.h"

namespace portolan {

std::string ErrorObject(std::string_view code, std::string_view message, std::string_view more) {
  return fmt::format(R"({{"code":{},"message":{}{}}})", JsonQuote(code), JsonQuote(message), more);
}

Answer ErrorAnswer(int status, std::string_view code, std::string_view message, std::string_view more) {
  return {.status = status, .body = fmt::format("{{\"error\":{}}}\n", ErrorObject(code, message, more))};
}

Answer ErrorAnswer(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kInvalidArgument:
      return ErrorAnswer(400, "bad_request", error.message());
    case ErrorCode::kNotFound:
      return ErrorAnswer(404, "not_found", error.message());
    case ErrorCode::kBusy:
      return ErrorAnswer(413, "too_much", error.message());
    case ErrorCode::kCorrupt:
      return ErrorAnswer(500, "damaged", error.message());
    default:
      return ErrorAnswer(500, ErrorCodeName(error.code()), error.message());
  }
}

}  // namespace portolan
