#include "search/remote_part.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/text.h"

namespace portolan {

Result<RemoteAddress> RemoteAddress::Parse(std::string_view text) {
  const size_t colon = text.rfind(':');
  RemoteAddress address;
  if (colon != std::string_view::npos) {
    std::string_view host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    address.host = host;
    address.port = text.substr(colon + 1);
  }
  const bool number = !address.port.empty() && address.port.size() <= 5 &&
                      address.port.find_first_not_of("0123456789") == std::string::npos;
  if (address.host.empty() || address.host.size() > 253 || !number) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not an address of a part: write HOST:PORT, as 127.0.0.1:8019", Printable(text)));
  }
  return address;
}

// A socket that never blocks longer than it is told, and the bytes that came.
class RemoteConnection {
 public:
  RemoteConnection(const Clock& clock, int socket) : clock_(clock), socket_(socket) {}
  ~RemoteConnection() { ::close(socket_); }
  RemoteConnection(const RemoteConnection&) = delete;
  RemoteConnection& operator=(const RemoteConnection&) = delete;

  static Result<std::unique_ptr<RemoteConnection>> Open(const Clock& clock, const std::string& address,
                                                        int64_t deadline_ns) {
    const auto* const to = reinterpret_cast<const sockaddr*>(address.data());
    const int socket = ::socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket < 0) return std::unexpected(Error::FromErrno(errno, "a socket"));
    auto connection = std::make_unique<RemoteConnection>(clock, socket);
    const int yes = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    if (::connect(socket, to, static_cast<socklen_t>(address.size())) != 0) {
      if (errno != EINPROGRESS) return std::unexpected(Error::FromErrno(errno, "connect"));
      RETURN_IF_ERROR(connection->Wait(POLLOUT, deadline_ns));
      int error = 0;
      socklen_t size = sizeof(error);
      ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
      if (error != 0) return std::unexpected(Error::FromErrno(error, "connect"));
    }
    return connection;
  }

  Status Send(std::string_view bytes, int64_t deadline_ns) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent > 0) {
        bytes.remove_prefix(static_cast<size_t>(sent));
      } else if (errno == EAGAIN) {
        RETURN_IF_ERROR(Wait(POLLOUT, deadline_ns));
      } else if (errno != EINTR) {
        return std::unexpected(Error::FromErrno(errno, "send"));
      }
    }
    return {};
  }

  // The next message; its body is valid until the next call.
  Result<WireMessage> Receive(int64_t deadline_ns) {
    in_.erase(0, taken_);
    taken_ = 0;
    for (;;) {
      auto message = TakeWireMessage(in_);
      if (message) {
        taken_ = message->size;
        return message;
      }
      if (message.error().code() != ErrorCode::kNotFound) return message;
      // Also while bytes come, one by one.
      if (clock_.NowNs() > deadline_ns) return Late();
      char piece[1 << 14];
      const ssize_t got = ::recv(socket_, piece, sizeof(piece), 0);
      if (got > 0) {
        in_.append(piece, static_cast<size_t>(got));
      } else if (got == 0) {
        return Fail(ErrorCode::kIo, "the server ended the connection");
      } else if (errno == EAGAIN) {
        RETURN_IF_ERROR(Wait(POLLIN, deadline_ns));
      } else if (errno != EINTR) {
        return std::unexpected(Error::FromErrno(errno, "receive"));
      }
    }
  }

  // Whether it is as it was left: open, and nothing came that was not asked for.
  bool Fresh() const {
    char byte = 0;
    return taken_ == in_.size() && ::recv(socket_, &byte, 1, MSG_PEEK) < 0 && errno == EAGAIN;
  }

  SearchStatistics size;  // as the last greeting said

 private:
  static std::unexpected<Error> Late() { return Fail(ErrorCode::kIo, "no answer in time"); }

  Status Wait(short events, int64_t deadline_ns) const {
    for (;;) {
      const int64_t left = deadline_ns - clock_.NowNs();
      if (left <= 0) return Late();
      pollfd waiting{.fd = socket_, .events = events, .revents = 0};
      const int ready = ::poll(&waiting, 1, static_cast<int>(left / kMillisecond) + 1);
      if (ready > 0) return {};
      if (ready < 0 && errno != EINTR) return std::unexpected(Error::FromErrno(errno, "poll"));
    }
  }

  const Clock& clock_;
  const int socket_;
  std::string in_;
  size_t taken_ = 0;
};

class RemoteAsker : public PartAsker {
 public:
  RemoteAsker(RemotePart& part, std::unique_ptr<RemoteConnection> connection)
      : part_(part), connection_(std::move(connection)) {}
  ~RemoteAsker() override {
    if (clean_) part_.Return(std::move(connection_));
  }

  Result<std::map<std::string, uint64_t>> Languages() override {
    return Step<std::map<std::string, uint64_t>>([&](int64_t deadline) -> Result<std::map<std::string, uint64_t>> {
      constexpr size_t kMostLanguages = 10'000;
      std::string ask;
      AppendWireMessage(ask, WireAsk::kAllTerms, kLanguagePrefix);
      RETURN_IF_ERROR(connection_->Send(ask, deadline));
      std::map<std::string, uint64_t> languages;
      std::string last(kLanguagePrefix);
      for (size_t i = 0;; ++i) {
        ASSIGN_OR_RETURN(const auto body, Reply(WireReply::kAllTerms, true, deadline));
        if (!body) return languages;
        ASSIGN_OR_RETURN(auto term, ParseWireTerm(*body, last));
        if (i >= kMostLanguages) return Fail(ErrorCode::kCorrupt, "it has languages without end");
        last = std::move(term.first);
        if (last.starts_with(kLanguagePrefix) && last.find('-') == std::string::npos) {
          languages[last.substr(kLanguagePrefix.size())] = term.second;
        }
      }
    });
  }

  Result<SearchStatistics> Begin(const QueryPlan& plan) override {
    return Step<SearchStatistics>([&](int64_t deadline) -> Result<SearchStatistics> {
      std::string ask;
      AppendWireMessage(ask, WireAsk::kQuery, WireQuery(plan));
      RETURN_IF_ERROR(connection_->Send(ask, deadline));
      ASSIGN_OR_RETURN(const auto body, Reply(WireReply::kStatistics, false, deadline));
      return ParseWireStatistics(*body, plan);
    });
  }

  Result<PartHits> Finish(const QueryPlan& plan, const SearchStatistics& all, uint32_t most, uint32_t count) override {
    return Step<PartHits>([&](int64_t deadline) -> Result<PartHits> {
      std::string ask;
      AppendWireMessage(ask, WireAsk::kMset, WireMset(plan, all, most, count));
      RETURN_IF_ERROR(connection_->Send(ask, deadline));
      ASSIGN_OR_RETURN(const auto body, Reply(WireReply::kResults, false, deadline));
      return ParseWireResults(*body, most, count);
    });
  }

  // All are asked for at once.
  Result<std::vector<PartDocument>> Documents(const std::vector<uint32_t>& docids) override {
    return Step<std::vector<PartDocument>>([&](int64_t deadline) -> Result<std::vector<PartDocument>> {
      constexpr size_t kAtOnce = 100;  // the server sends while we do not read yet: its socket holds so many
      std::vector<PartDocument> documents;
      for (size_t begin = 0; begin < docids.size(); begin += kAtOnce) {
        const size_t end = std::min(begin + kAtOnce, docids.size());
        std::string ask;
        for (size_t i = begin; i < end; ++i) {
          std::string body;
          AppendWireNumber(body, docids[i]);
          AppendWireMessage(ask, WireAsk::kDocument, body);
        }
        RETURN_IF_ERROR(connection_->Send(ask, deadline));
        for (size_t i = begin; i < end; ++i) {
          ASSIGN_OR_RETURN(PartDocument document, ReadDocument(deadline));
          documents.push_back(std::move(document));
        }
      }
      return documents;
    });
  }

  // The server's newest revision.
  Status Reopen() {
    return Step<void>([&](int64_t deadline) -> Status {
      std::string ask;
      AppendWireMessage(ask, WireAsk::kReopen, "");
      RETURN_IF_ERROR(connection_->Send(ask, deadline));
      ASSIGN_OR_RETURN(const auto body, Reply(WireReply::kUpdate, true, deadline));
      if (!body) return {};
      ASSIGN_OR_RETURN(connection_->size, ParseWireUpdate(*body));
      return {};
    });
  }

  Status Greet() {
    return Step<void>([&](int64_t deadline) -> Status {
      ASSIGN_OR_RETURN(const auto body, Reply(WireReply::kUpdate, false, deadline));
      ASSIGN_OR_RETURN(connection_->size, ParseWireUpdate(*body));
      return {};
    });
  }

 private:
  template <typename T, typename F>
  Result<T> Step(F&& f) {
    clean_ = false;
    Result<T> result = f(part_.clock_.NowNs() + part_.step_ns_);
    if (!result) return std::unexpected(std::move(result).error().Context(part_.name_));
    clean_ = true;
    return result;
  }

  // The body of the next message; nullopt: it is the end of a list, which `may_end`.
  Result<std::optional<std::string_view>> Reply(WireReply type, bool may_end, int64_t deadline) {
    ASSIGN_OR_RETURN(const WireMessage message, connection_->Receive(deadline));
    if (message.type == static_cast<uint8_t>(type)) return message.body;
    if (may_end && message.type == static_cast<uint8_t>(WireReply::kDone)) return std::nullopt;
    if (message.type == static_cast<uint8_t>(WireReply::kException)) {
      const std::string text = WireErrorText(message.body);
      // What Xapian says of a database that changed: the question may be asked again.
      const bool changed = text.find("discarded") != std::string::npos;
      return Fail(changed ? ErrorCode::kClosed : ErrorCode::kIo, "the server says: " + text);
    }
    return Fail(ErrorCode::kCorrupt, fmt::format("it answers with a message of type {}", message.type));
  }

  Result<PartDocument> ReadDocument(int64_t deadline) {
    ASSIGN_OR_RETURN(const auto first, Reply(WireReply::kDocumentData, false, deadline));
    const std::string data(*first);
    std::string values[8];
    for (size_t i = 0;; ++i) {
      ASSIGN_OR_RETURN(const auto body, Reply(WireReply::kValue, true, deadline));
      if (!body) break;
      ASSIGN_OR_RETURN(auto value, ParseWireValue(*body));
      if (i > 100) return Fail(ErrorCode::kCorrupt, "a page has values without end");
      if (value.first < std::size(values)) values[value.first] = std::move(value.second);
    }
    auto document = DecodePartDocument(data, values[kFetchedSlot], values[kPublishedSlot], values[kSimilaritySlot]);
    if (!document) return Fail(ErrorCode::kCorrupt, "a page is not as the schema says");
    return *std::move(document);
  }

  RemotePart& part_;
  std::unique_ptr<RemoteConnection> connection_;
  bool clean_ = true;
};

Result<std::unique_ptr<RemotePart>> RemotePart::Make(const Clock& clock, const std::string& text, int64_t step_ns) {
  ASSIGN_OR_RETURN(const RemoteAddress address, RemoteAddress::Parse(text));
  const addrinfo hints{.ai_flags = AI_NUMERICSERV, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found); error != 0) {
    return Fail(ErrorCode::kNotFound, fmt::format("{}: {}", Printable(text), ::gai_strerror(error)));
  }
  std::unique_ptr<RemotePart> part(new RemotePart(clock, text, step_ns));
  part->address_.assign(reinterpret_cast<const char*>(found->ai_addr), found->ai_addrlen);
  ::freeaddrinfo(found);
  return part;
}

RemotePart::RemotePart(const Clock& clock, std::string name, int64_t step_ns)
    : clock_(clock), name_(std::move(name)), step_ns_(step_ns) {}

RemotePart::~RemotePart() = default;

void RemotePart::Return(std::unique_ptr<RemoteConnection> connection) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMaxIdle) idle_.push_back(std::move(connection));
}

Result<std::unique_ptr<PartAsker>> RemotePart::Ask(int64_t /*deadline_ns*/) {
  for (;;) {
    std::unique_ptr<RemoteConnection> connection;
    {
      const std::lock_guard lock(mutex_);
      if (idle_.empty()) break;
      connection = std::move(idle_.back());
      idle_.pop_back();
    }
    if (!connection->Fresh()) continue;
    auto asker = std::make_unique<RemoteAsker>(*this, std::move(connection));
    RETURN_IF_ERROR(asker->Reopen());
    return asker;
  }
  auto connection = RemoteConnection::Open(clock_, address_, clock_.NowNs() + step_ns_);
  if (!connection) return std::unexpected(std::move(connection).error().Context(name_));
  auto asker = std::make_unique<RemoteAsker>(*this, *std::move(connection));
  RETURN_IF_ERROR(asker->Greet());
  return asker;
}

}  // namespace portolan
