// The origin for which a robots.txt is fetched, encoded in the URL of the request.
//
// An answer counts for the origin that was asked, also where redirects led to another one (RFC 9309 section 2.3.1.2).
// So the record of a redirected request carries that origin as a fragment: canonical URLs have none, and none is ever
// sent to a server. So the request needs no separate table and survives whatever its record survives.
//   http://a.example/robots.txt                              the origin's own
//   https://www.a.example/robots.txt#http://a.example        where a redirect led, for http://a.example

#pragma once

#include <string>
#include <string_view>

#include "flow/url_record.h"

namespace portolan {

inline std::string RobotsUrl(std::string_view origin) { return std::string(origin) + "/robots.txt"; }

// What to fetch: the URL without the fragment.
inline std::string_view RobotsTarget(std::string_view request) { return request.substr(0, request.find('#')); }

// The origin for which it is fetched.
inline std::string_view RobotsOrigin(std::string_view request) {
  const size_t hash = request.find('#');
  return hash == std::string_view::npos ? OriginOf(request) : request.substr(hash + 1);
}

inline std::string RedirectedRobotsUrl(std::string_view target, std::string_view origin) {
  return std::string(RobotsTarget(target)) + "#" + std::string(origin);
}

}  // namespace portolan
