// Responder: requests in, Answers out, as the place behind the URL determines.
//
// Thread: any number at a time. Memory: the bomb, made once when it is first asked for.

#pragma once

#include <mutex>
#include <string>

#include "sim/world/page_html.h"
#include "sim/world/web.h"

namespace portolan::sim {

class Responder {
 public:
  explicit Responder(const Web& web) : web_(web) {}

  Answer Respond(const Request& request) const;
  DnsAnswer Resolve(std::string_view host_name) const;

 private:
  void Page(const Request& request, uint32_t hid, uint64_t page, Answer& answer) const;
  void Robots(const Request& request, uint32_t hid, uint64_t hop, Answer& answer) const;
  void Sitemap(const Request& request, uint32_t hid, uint64_t part, Answer& answer) const;
  // True where the client has this version already: the answer is then a 304.
  bool Validate(const Request& request, uint32_t hid, uint64_t page, const PageLook& look, Answer& answer) const;
  void Redirect(uint32_t hid, uint64_t page, Answer& answer) const;
  void Fault(uint32_t hid, uint64_t page, Answer& answer) const;
  void Encode(const Request& request, uint32_t hid, Answer& answer) const;
  void Notice(int status, std::string_view words, Answer& answer) const;
  std::string ContentType(uint32_t hid) const;

  const Web& web_;
  mutable std::once_flag bomb_made_;
  mutable std::string bomb_;
};

}  // namespace portolan::sim
