#include "flow/visit.h"

#include <algorithm>

namespace portolan {

bool IsValidator(std::string_view value) {
  return !value.empty() && value.size() <= kMaxValidator && std::ranges::none_of(value, [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7f;
  });
}

std::string_view PayloadChangeName(PayloadChange change) {
  switch (change) {
    case PayloadChange::kUnknown:
      break;
    case PayloadChange::kNotModified:
      return "not_modified";
    case PayloadChange::kSame:
      return "same";
    case PayloadChange::kOther:
      return "other";
  }
  return "unknown";
}

}  // namespace portolan
