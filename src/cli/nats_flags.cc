#include "cli/nats_flags.h"

#include <fmt/core.h>

#include <cstdlib>

#include "base/log.h"
#include "cluster/node_record.h"

namespace portolan {
namespace {

constexpr int64_t kTellAwayNs = 30 * kSecond;

}  // namespace

NatsOptions NatsFlags::Options(const std::string& name) const {
  NatsOptions options;
  if (const char* const given = std::getenv(kNatsVariable); given != nullptr && *given != '\0') options.url = given;
  if (!url.empty()) options.url = url;
  options.ca_file = ca;
  options.certificate_file = cert;
  options.key_file = key;
  options.credentials_file = creds;
  options.name = name;
  return options;
}

void AddNatsFlags(VerbApp& app, NatsFlags& flags) {
  app->add_option("--nats", flags.url,
                  "nats-server, with JetStream: nats://[USER:PASSWORD@]HOST:PORT, several with commas\n"
                  "(default $PORTOLAN_NATS, or nats://127.0.0.1:4222)")
      ->type_name("URL");
  app->add_option("--nats-ca", flags.ca, "TLS: trust this authority (PEM)")->type_name("FILE");
  auto* cert = app->add_option("--nats-cert", flags.cert, "TLS: this program's certificate (PEM)")->type_name("FILE");
  auto* key = app->add_option("--nats-key", flags.key, "TLS: its key (PEM)")->type_name("FILE");
  cert->needs(key);
  key->needs(cert);
  app->add_option("--nats-creds", flags.creds, "Credentials of a NATS account (JWT and seed)")->type_name("FILE");
}

Result<std::unique_ptr<NatsConnection>> ConnectToNats(const NatsOptions& options, StopRequest* stop) {
  int64_t told_ns = -kTellAwayNs;
  StopRequest never;
  const auto wait = [&](const NatsWait& waited) {
    if (waited.waited_ns - told_ns >= kTellAwayNs) {
      told_ns = waited.waited_ns;
      Log(LogLevel::kWarn, "NATS does not answer: trying again until it does",
          {{"url", NatsUrlForPeople(options.url)}, {"why", waited.reason}, {"waited_s", waited.waited_ns / kSecond}});
    }
    return !(stop != nullptr ? *stop : never).WaitFor(options.retry_ns);
  };
  return NatsConnection::Connect(options, Clock::Real(), wait);
}

int ComplainOfNats(const Error& error) {
  const int code = Complain(error);
  return error.code() == ErrorCode::kClosed ? kExitSystem : code;
}

Result<OpenCluster> OpenClusterOf(const NatsOptions& options, const std::string& cluster, const std::string& version,
                                  StopRequest* stop) {
  OpenCluster open;
  for (;;) {
    ASSIGN_OR_RETURN(open.connection, ConnectToNats(options, stop));
    auto store = ClusterStore::Open(*open.connection, cluster);
    if (store) {
      open.store = *std::move(store);
      break;
    }
    // The server went away again: wait for it, too.
    if (store.error().code() != ErrorCode::kClosed || (stop != nullptr && stop->made()))
      return std::unexpected(store.error());
  }
  auto settings = DecodeClusterSettings(open.store->settings());
  if (!settings) return std::unexpected(std::move(settings).error().Context(fmt::format("cluster {}", cluster)));
  open.settings = *std::move(settings);
  if (version.empty()) return open;
  ASSIGN_OR_RETURN(const StoreEntry entry, open.store->Read(kVersionKey));
  if (entry.value == version) return open;
  return Fail(ErrorCode::kUnsupported,
              fmt::format("cluster {} is worked on by portolan {}, this is {}: use that version on all nodes, or stop "
                          "them all and call 'portolan cluster upgrade'",
                          cluster, entry.value, version));
}

}  // namespace portolan
