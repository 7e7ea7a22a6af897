#include "bench/checkpoint/small_web.h"

#include <fmt/core.h>

#include <cmath>

#include "base/hash.h"
#include "sim/server/sim_server.h"

namespace portolan::bench {
namespace {

constexpr uint32_t kAddresses = 1 << 18;  // 127.64.0.0 and up

class SmallSite : public sim::Site {
 public:
  sim::Answer Respond(const sim::Request& request) const override {
    sim::Answer answer;
    if (request.path_and_query == "/robots.txt") {
      answer.headers = {{"Content-Type", "text/plain"}};
      answer.body = "User-agent: *\nDisallow: /private/\n";
    } else {
      answer.headers = {{"Content-Type", "text/html"}};
      answer.body = fmt::format("<title>{}</title><p>A page without links.", request.path_and_query);
    }
    return answer;
  }
  sim::DnsAnswer Resolve(std::string_view name) const override {
    sim::DnsAnswer answer;
    answer.v4 = {0x7f400000U + static_cast<uint32_t>(Hash64(name) % kAddresses)};
    answer.ttl_s = 86'400;
    return answer;
  }
  sim::Certificate CertificateOf(std::string_view) const override { return sim::Certificate::kGood; }
};

}  // namespace

Result<std::unique_ptr<SmallWeb>> SmallWeb::Start(uint64_t hosts) {
  sim::SimServerOptions options;
  ASSIGN_OR_RETURN(sim::SimSockets sockets, sim::BindSimSockets(options));
  auto web = std::make_unique<SmallWeb>();
  web->hosts_ = hosts;
  web->http_port_ = sockets.http.port;
  web->dns_port_ = sockets.dns.port;
  ASSIGN_OR_RETURN(web->child_, Child::Start(-1, [&](const Child::Parent& parent) -> Result<Child::Json> {
                     const SmallSite site;
                     ASSIGN_OR_RETURN(const auto server, sim::SimServer::Start(options, std::move(sockets), site));
                     parent.say_ready();
                     parent.wait_end();
                     server->Stop();
                     return Child::Json::object();
                   }));
  return web;
}

std::string SmallWeb::UrlOf(uint64_t number) const {
  uint64_t host = number;  // each gets its first page
  if (number >= hosts_) {
    const uint64_t mixed = Mix64(number);
    host = mixed % hosts_;
    if ((mixed >> 63) != 0) {
      const double part = static_cast<double>((mixed >> 11) & 0xffffffffU) / 4294967296.0;
      host = static_cast<uint64_t>(std::pow(part, 4) * static_cast<double>(hosts_));
    }
  }
  return fmt::format("http://h{}.test:{}/section-{}/page-{}.html", host, http_port_, Mix64(number) % 97, number);
}

Status SmallWeb::Stop() {
  RETURN_IF_ERROR(child_->Wait());
  return {};
}

}  // namespace portolan::bench
