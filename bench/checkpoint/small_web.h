// SmallWeb: any number of hosts with any number of tiny pages without links, on the loopback in a process of its own.
//
// What a crawl knows is then exactly its seeds, and the server costs next to nothing beside the crawler.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "bench/crawl/child.h"

namespace portolan::bench {

class SmallWeb {
 public:
  static Result<std::unique_ptr<SmallWeb>> Start(uint64_t hosts);

  // Half of the pages are spread evenly, half are the larger the smaller the host's number: a few giants, and nobody
  // without a page. Distinct for distinct `number`.
  std::string UrlOf(uint64_t number) const;
  uint16_t dns_port() const { return dns_port_; }
  // Ends the server.
  Status Stop();

 private:
  uint64_t hosts_ = 0;
  uint16_t http_port_ = 0;
  uint16_t dns_port_ = 0;
  std::unique_ptr<Child> child_;
};

}  // namespace portolan::bench
