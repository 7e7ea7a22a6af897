// Router: which path belongs to which room of the server, and everything that is the same for all of them: the check of
// the Host field, methods, the bound of a body, errors as JSON, the page with all paths, the health check.
//
// A room (the link graph; later search and others) is a class that names its paths and answers requests for them. It
// sees parsed requests and no sockets, and so does the router: serve/http_server.h is the only part that does.
//
// Thread: rooms are added, and the address is set, before the first request; after that any number of threads.
// Memory bound: none of its own but copies of one request per thread; bodies have at most kMaxBody bytes, answers what
// their room allows. At the bounds: 413.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "serve/answer.h"
#include "serve/request.h"

namespace portolan {

inline constexpr size_t kMaxBody = size_t{8} << 20;

struct Route {
  std::string path;         // "/graph/out": matched exactly
  bool takes_body = false;  // POST is allowed, with JSON
  bool form = false;        // '+' in its parameters is a blank
  std::string summary;      // for the page with all paths
  std::string example;      // of a target
  std::function<Answer(const Request&)> handle;
};

class Room {
 public:
  virtual ~Room() = default;
  virtual std::string name() const = 0;  // "graph"
  virtual std::string summary() const = 0;
  virtual std::vector<Route> Routes() = 0;
  // One sentence on what is served now, or what keeps it from serving.
  virtual Result<std::string> Health() = 0;
};

class Router {
 public:
  // `title` is shown on the page with all paths: the directory that is served.
  explicit Router(std::string title) : title_(std::move(title)) {}

  // Must outlive the router. REQUIRES: its paths are new.
  void Add(Room& room);
  // Where it is served: the names that clients may call it by.
  void SetAddress(std::string host, uint16_t port);

  // The answer to a request that is refused for its head, before its body is read.
  std::optional<Answer> Refuse(const RawRequest& raw) const;
  // The answer to any request. Never throws.
  Answer Handle(const RawRequest& raw) const;

 private:
  const Route* Find(std::string_view path) const;
  Answer Index() const;
  Answer Health() const;
  Answer NoSuchPath(std::string_view path) const;

  const std::string title_;
  std::string host_;
  uint16_t port_ = 0;
  std::vector<Room*> rooms_;
  std::vector<Route> routes_;  // a few
};

}  // namespace portolan
