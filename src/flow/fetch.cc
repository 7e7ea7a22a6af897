#include "flow/fetch.h"

namespace portolan {

std::string_view HttpVersionName(HttpVersion version) {
  switch (version) {
    case HttpVersion::k09:
      return "http/0.9";
    case HttpVersion::k10:
      return "http/1.0";
    case HttpVersion::k11:
      return "http/1.1";
    case HttpVersion::k2:
      return "h2";
    case HttpVersion::kUnknown:
      break;
  }
  return "";
}

}  // namespace portolan
