#include "sim/server/server_context.h"

#include <fmt/chrono.h>

#include <ctime>

namespace portolan::sim {

SharedAnswer ServerContext::Ask(const RequestFacts& request, const ConnectionFacts& connection, int64_t unix_ns) {
  Request asked;
  asked.method = request.method;
  asked.host = request.host;
  asked.path_and_query = request.path_and_query;
  asked.if_none_match = request.if_none_match;
  asked.if_modified_since = request.if_modified_since;
  asked.accept_encoding = request.accept_encoding;
  asked.user_agent = request.user_agent;
  asked.tls = connection.tls;
  asked.unix_ns = unix_ns;
  asked.earlier = visits.Visit(connection.client, connection.tls, request.host, request.path_and_query);
  return site.RespondShared(asked);
}

std::string_view ServerContext::Date(int64_t unix_ns) {
  const int64_t second = unix_ns / kSecond;
  if (second != date_second_) {
    date_second_ = second;
    date_ = fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", fmt::gmtime(static_cast<std::time_t>(second)));
  }
  return date_;
}

}  // namespace portolan::sim
