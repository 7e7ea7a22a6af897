// bench cluster: links from one shard to three others through JetStream, on a nats-server on loopback that keeps its
// streams in files, beside bare JetStream: the same batches, ready made, published as fast as the server answers.
//
// The links are those of bench seen's pages that lead to other hosts, each with the page where it was found, as shards
// send them. Checked: every receiver gets exactly its links.
//
// Then whole crawls: what dividing one among nodes costs (efficiency.h).

#include <nats/nats.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "bench/benchmark.h"
#include "bench/cluster/efficiency.h"
#include "bench/flags.h"
#include "bench/seen/link_stream.h"
#include "cluster/link_receiver.h"
#include "cluster/link_sender.h"
#include "cluster/names.h"
#include "cluster/nats_transport.h"
#include "cluster/testing/nats_server.h"
#include "crawl/crossing.h"
#include "flow/url_record.h"
#include "io/process.h"

namespace portolan::bench {
namespace {

constexpr uint32_t kShards = 4;
constexpr uint32_t kSender = 3;
constexpr uint64_t kCluster = 1;
constexpr int kMostIdle = 100'000;
constexpr std::chrono::microseconds kIdle{100};

std::string_view HostOf(std::string_view url) {
  const size_t begin = url.find("://");
  if (begin == std::string_view::npos) return url;
  return url.substr(begin + 3, url.find('/', begin + 3) - begin - 3);
}

struct Message {
  uint32_t to;
  std::string bytes;
};

std::vector<Message> MakeMessages(uint64_t count) {
  std::vector<Message> messages;
  LinkStream stream({});
  std::string encoded;
  while (messages.size() < count) {
    const auto page = stream.NextPage();
    if (page.empty()) continue;
    const std::string_view from = page.front().text;
    for (const Link& link : page) {
      const std::string_view host = HostOf(link.text);
      const auto to = static_cast<uint32_t>(Hash64(host) % kShards);
      if (to == kSender || host == HostOf(from)) continue;
      EncodeLinkCrossing(link.key, EncodeUrlRecord({.depth = 3, .via = ViaOf(from, link.text), .url = link.text}),
                         encoded);
      messages.push_back({.to = to, .bytes = encoded});
    }
  }
  return messages;
}

struct Sum {
  uint64_t count = 0;
  uint64_t hash = 0;
  void Add(std::string_view message) {
    ++count;
    hash += Hash64(message);
  }
  bool operator==(const Sum&) const = default;
};

struct Timer {
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  int64_t processor = ProcessorNs();
  double Wall() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); }
  double Processor() const { return static_cast<double>(ProcessorNs() - processor) / 1e9; }
};

Result<nlohmann::ordered_json> RunClusterBench(int argc, char** argv, Report& report) {
  uint64_t links = 500'000;
  CLI::App app("Links per second through JetStream between shards, beside bare JetStream.", "portolan bench cluster");
  app.add_option("--links", links, "links that are sent")->capture_default_str()->check(CLI::Range(1000, 20'000'000));
  EfficiencyOptions crawls;
  bool no_crawls = false;
  app.add_option("--pages", crawls.pages, "pages of the web that is crawled with 1, 2 and 4 nodes")
      ->capture_default_str()
      ->check(CLI::Range(100, 1'000'000));
  app.add_flag("--no-crawls", no_crawls, "only the exchange");
  RETURN_IF_ERROR(ParseFlags(app, argc, argv));
  if (!NatsServer::Installed()) return Fail(ErrorCode::kNotFound, "nats-server is not installed");
  NatsServer server;
  if (!server.Start()) return Fail(ErrorCode::kIo, "nats-server does not start");
  ASSIGN_OR_RETURN(const auto connection, NatsConnection::Connect({.url = server.url()}, Clock::Real()));
  for (const char* name : {"links", "bare"}) {
    for (uint32_t shard = 0; shard < kShards; ++shard) {
      RETURN_IF_ERROR(CreateLinkStream(*connection, name, shard, {}));
    }
  }
  const std::vector<Message> messages = MakeMessages(links);
  uint64_t raw = 0;
  std::array<Sum, kShards> sent;
  for (const Message& message : messages) {
    raw += message.bytes.size();
    sent[message.to].Add(message.bytes);
  }

  // Ours: encode, compress, publish, until everything is stored.
  ASSIGN_OR_RETURN(const auto transport,
                   NatsTransport::Open(*connection, {.cluster = "links", .shards = kShards, .shard = kSender}));
  ASSIGN_OR_RETURN(const auto sender, LinkSender::Create(*transport, {.cluster = "links",
                                                                      .cluster_id = kCluster,
                                                                      .shards = kShards,
                                                                      .sender = kSender,
                                                                      .epoch = 1,
                                                                      .may_send = {}}));
  const Timer sending;
  uint64_t since = 0;
  for (const Message& message : messages) {
    while (!sender->HasRoom(message.to)) {
      RETURN_IF_ERROR(sender->Pump());
      if (!sender->HasRoom(message.to)) std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    RETURN_IF_ERROR(sender->Send(message.to, message.bytes));
    if (++since % 64 == 0) RETURN_IF_ERROR(sender->Pump());  // as often as pages come
  }
  for (uint32_t shard = 0; shard < kSender; ++shard) sender->Flush(shard);
  while (!sender->AllStored()) {
    RETURN_IF_ERROR(sender->Pump());
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  const double send_wall = sending.Wall();
  const double send_processor = sending.Processor();
  const uint64_t wire = sender->bytes_published();

  // Ours: read, decompress, judge.
  const Timer taking;
  std::array<Sum, kShards> got;
  for (uint32_t shard = 0; shard < kSender; ++shard) {
    ASSIGN_OR_RETURN(const auto own,
                     NatsTransport::Open(*connection, {.cluster = "links", .shards = kShards, .shard = shard}));
    ASSIGN_OR_RETURN(const auto receiver,
                     LinkReceiver::Open(*own, {.cluster = "links", .cluster_id = kCluster, .shard = shard}, {}));
    int idle = 0;
    while (got[shard].count < sent[shard].count) {
      const auto taken = receiver->Take([&](const LinkBatchReader& batch) {
        for (const std::string_view message : batch.messages()) got[shard].Add(message);
      });
      if (!taken) return std::unexpected<Error>(taken.error());
      if (*taken > 0) {
        idle = 0;
      } else if (++idle > kMostIdle) {
        return Fail(ErrorCode::kCorrupt, "links did not arrive");
      } else {
        std::this_thread::sleep_for(kIdle);
      }
    }
  }
  const double take_wall = taking.Wall();
  const double take_processor = taking.Processor();
  if (got != sent) return Fail(ErrorCode::kCorrupt, "other links arrived than were sent");

  // The rival: the same batches are there already.
  std::vector<std::pair<uint32_t, std::string>> batches;
  std::array<LinkBatchWriter, kShards> writers;
  uint64_t number = 0;
  const auto finish = [&](uint32_t to) {
    batches.emplace_back(to, writers[to].Finish({.cluster = kCluster, .receiver = to, .epoch = 1, .number = ++number}));
  };
  for (const Message& message : messages) {
    if (*writers[message.to].Add(message.bytes)) continue;
    finish(message.to);
    (void)writers[message.to].Add(message.bytes);
  }
  for (uint32_t shard = 0; shard < kSender; ++shard) finish(shard);
  jsOptions options;
  jsOptions_Init(&options);
  options.PublishAsync.MaxPending = 3 * static_cast<int64_t>(kLinkWindow);
  options.PublishAsync.StallWait = 5000;
  jsCtx* js = nullptr;
  natsStatus status = natsConnection_JetStream(&js, connection->handle(), &options);
  const std::unique_ptr<jsCtx, void (*)(jsCtx*)> owner(js, jsCtx_Destroy);
  const Timer publishing;
  uint64_t bare_bytes = 0;
  for (const auto& [to, batch] : batches) {
    if (status != NATS_OK) break;
    bare_bytes += batch.size();
    status =
        js_PublishAsync(js, LinkSubject("bare", to).c_str(), batch.data(), static_cast<int>(batch.size()), nullptr);
  }
  if (status == NATS_OK) status = js_PublishAsyncComplete(js, nullptr);
  if (status != NATS_OK) return std::unexpected<Error>(NatsError(status, 0, "bare JetStream"));
  const double bare_wall = publishing.Wall();
  const double bare_processor = publishing.Processor();

  const auto count = static_cast<double>(messages.size());
  const auto row = [&](const char* name, double wall, double processor) {
    report.Line("{:<34} {:>10.0f} {:>14.0f} {:>12.1f}", name, count / wall, count / processor,
                static_cast<double>(wire) / wall / 1e6);
  };
  report.Line("{} links, {:.1f} bytes each, {:.1f} on the wire, {} batches", messages.size(),
              static_cast<double>(raw) / count, static_cast<double>(wire) / count, batches.size());
  report.Line("{:<34} {:>10} {:>14} {:>12}", "", "links/s", "links/CPU s", "wire MB/s");
  row("send until stored", send_wall, send_processor);
  row("take", take_wall, take_processor);
  row("bare JetStream, ready batches", bare_wall, bare_processor);
  nlohmann::ordered_json divided;
  if (!no_crawls) {
    ASSIGN_OR_RETURN(divided, MeasureEfficiency(crawls, report));
  }
  return nlohmann::ordered_json{{"links", messages.size()},
                                {"batches", batches.size()},
                                {"bytes_per_link", static_cast<double>(raw) / count},
                                {"wire_bytes_per_link", static_cast<double>(wire) / count},
                                {"send_links_per_s", count / send_wall},
                                {"send_links_per_cpu_s", count / send_processor},
                                {"take_links_per_s", count / take_wall},
                                {"take_links_per_cpu_s", count / take_processor},
                                {"bare_links_per_s", count / bare_wall},
                                {"bare_links_per_cpu_s", count / bare_processor},
                                {"bare_bytes", bare_bytes},
                                {"send_to_bare", bare_wall / send_wall},
                                {"efficiency", divided.is_object() ? divided["efficiency"] : nlohmann::ordered_json()},
                                {"crawls", divided}};
}

}  // namespace

PORTOLAN_BENCHMARK("cluster", "links per second between shards through JetStream, beside bare JetStream",
                   RunClusterBench);

}  // namespace portolan::bench
