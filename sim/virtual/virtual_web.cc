#include "sim/virtual/virtual_web.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/hash.h"
#include "flow/url_record.h"
#include "sim/world/draw.h"

namespace portolan::sim {
namespace {

Address AddressV6(uint64_t high, uint64_t low) {
  Address address;
  address.v6 = true;
  for (int i = 0; i < 8; ++i) {
    address.bytes[static_cast<size_t>(i)] = static_cast<uint8_t>(high >> (56 - 8 * i));
    address.bytes[static_cast<size_t>(8 + i)] = static_cast<uint8_t>(low >> (56 - 8 * i));
  }
  return address;
}

// The simulated web lives on loopback addresses; a name that points elsewhere leads out of it.
bool IsInside(const Address& address) { return address.v6 ? address == AddressV6(0, 1) : address.bytes[0] == 127; }

std::vector<Address> AddressesOf(const DnsAnswer& answer) {
  std::vector<Address> addresses;
  for (const uint32_t v4 : answer.v4) addresses.push_back(Address::V4(v4));
  for (const auto& [high, low] : answer.v6) addresses.push_back(AddressV6(high, low));
  return addresses;
}

}  // namespace

VirtualWeb::VirtualWeb(const World& world, VirtualTime& time, FetchEvents& handler, HitSink* hits, Options options)
    : world_(world),
      time_(time),
      handler_(handler),
      hits_(hits),
      options_(std::move(options)),
      truth_(world, options_.agent, options_.key, options_.visits) {}

void VirtualWeb::Resolve(ResolveTask&& task) {
  ++counts_.resolves;
  Resolution resolution{.host = task.host};
  int64_t took_ns = 5 * kMillisecond + static_cast<int64_t>(Unit(Mix64(task.host)) * 40.0 * kMillisecond);
  if (const auto literal = Address::Parse(task.name)) {
    resolution.addresses = {*literal};
    resolution.ttl_s = 86400;
    resolution.fresh = false;
    took_ns = 0;
  } else if (const Options::Outage* outage = OutageAt(time_.NowNs()); outage != nullptr && outage->names) {
    ++counts_.lost;
    resolution.outcome = outage->silent ? FetchOutcome::kDnsTimeout : FetchOutcome::kDnsFailed;
    took_ns = outage->silent ? options_.limits.dns_ns : kMillisecond;
  } else {
    const DnsAnswer answer = world_.Resolve(task.name);
    int rcode = 0;
    resolution.ttl_s = answer.ttl_s;
    switch (answer.fault) {
      case DnsFault::kNone:
      case DnsFault::kSlow:
        took_ns += answer.fault == DnsFault::kSlow ? answer.delay_ns : 0;
        resolution.addresses = AddressesOf(answer);
        if (resolution.addresses.empty()) {
          resolution.outcome = FetchOutcome::kDnsNotFound;
        } else {
          std::erase_if(resolution.addresses, [](const Address& address) { return !IsInside(address); });
          if (resolution.addresses.empty()) resolution.outcome = FetchOutcome::kAddressForbidden;
        }
        break;
      case DnsFault::kNotFound:
        resolution.outcome = FetchOutcome::kDnsNotFound;
        rcode = 3;
        break;
      case DnsFault::kServFail:
        resolution.outcome = FetchOutcome::kDnsFailed;
        rcode = 2;
        break;
      case DnsFault::kSilent:
        took_ns = options_.limits.dns_ns;
        break;
    }
    if (took_ns >= options_.limits.dns_ns) {
      took_ns = options_.limits.dns_ns;
      resolution.outcome = FetchOutcome::kDnsTimeout;
      resolution.addresses.clear();
    }
    if (hits_ != nullptr) hits_->OnDns(time_.TrueUnixNs(), task.name, "A", rcode);
  }
  time_.At(time_.NowNs() + took_ns,
           [this, alive = std::weak_ptr(alive_), resolution = std::move(resolution)]() mutable {
             if (!alive.expired()) handler_.OnResolved(std::move(resolution));
           });
}

void VirtualWeb::Fetch(FetchTask&& task) {
  ++counts_.fetches;
  Exchange exchange = Plan(std::move(task));
  Lose(exchange);
  if (exchange.requested && hits_ != nullptr) Tell(exchange);
  const int64_t end_ns = exchange.end_ns();
  DeliverAt(end_ns, Keep(std::move(exchange)));
}

void VirtualWeb::DeliverAt(int64_t time_ns, uint32_t slot) {
  deliveries_.resize(under_way_.size());
  deliveries_[slot] = next_delivery_++;
  time_.At(time_ns, [this, alive = std::weak_ptr(alive_), slot, delivery = deliveries_[slot]] {
    if (alive.expired() || deliveries_[slot] != delivery) return;
    deliveries_[slot] = 0;
    Deliver(slot);
  });
}

void VirtualWeb::CancelFetches() {
  for (uint32_t slot = 0; slot < deliveries_.size(); ++slot) {
    if (deliveries_[slot] == 0) continue;
    Exchange& exchange = under_way_[slot];
    exchange.answer.reset();
    exchange.status = 0;
    exchange.body_bytes = 0;
    exchange.outcome = FetchOutcome::kCancelled;
    exchange.first_byte_ns = 0;
    exchange.took_ns = time_.NowNs() - exchange.begin_ns;
    DeliverAt(time_.NowNs(), slot);
  }
}

const VirtualWeb::Options::Outage* VirtualWeb::OutageAt(int64_t time_ns) const {
  for (const Options::Outage& outage : options_.outages) {
    if (time_ns >= outage.begin_ns && time_ns < outage.end_ns) return &outage;
  }
  return nullptr;
}

void VirtualWeb::Lose(Exchange& exchange) {
  for (const Options::Outage& outage : options_.outages) {
    const bool under_way = outage.begin_ns > exchange.begin_ns && outage.begin_ns < exchange.end_ns();
    if (!outage.connections || !under_way || !exchange.requested) continue;
    ++counts_.lost;
    exchange.answer.reset();
    exchange.status = 0;
    exchange.body_bytes = 0;
    exchange.outcome = FetchOutcome::kFirstByteTimeout;
    exchange.first_byte_ns = 0;
    exchange.took_ns = options_.limits.first_byte_ns;
    return;
  }
}

uint32_t VirtualWeb::Keep(Exchange&& exchange) {
  if (free_.empty()) {
    under_way_.push_back(std::move(exchange));
    return static_cast<uint32_t>(under_way_.size() - 1);
  }
  const uint32_t slot = free_.back();
  free_.pop_back();
  under_way_[slot] = std::move(exchange);
  return slot;
}

Exchange VirtualWeb::Plan(FetchTask&& task) {
  Exchange exchange;
  exchange.task = std::move(task);
  exchange.begin_ns = time_.NowNs();
  exchange.begin_unix_ns = time_.TrueUnixNs();
  exchange.took_ns = kMillisecond;  // what it takes to be turned away
  const std::string_view url = exchange.task.url;
  const std::string_view host_name = HostOf(url);
  exchange.tls = url.starts_with("https:");
  if (const Options::Outage* outage = OutageAt(exchange.begin_ns); outage != nullptr && outage->connections) {
    ++counts_.lost;
    exchange.outcome = outage->silent ? FetchOutcome::kConnectTimeout : FetchOutcome::kUnreachable;
    if (outage->silent) exchange.took_ns = options_.limits.connect_ns;
    return exchange;
  }

  if (options_.descriptors > 0 && under_way_.size() - free_.size() >= options_.descriptors) {
    ++counts_.lost;
    exchange.outcome = FetchOutcome::kShortage;
    return exchange;
  }
  const auto host = world_.FindHost(host_name);
  if (!host || !IsAddressOf(host_name, exchange.task.address)) {
    ++counts_.wrong_address;
    exchange.outcome = FetchOutcome::kConnectRefused;
    return exchange;
  }
  if (exchange.tls && !world_.TlsWorks(*host)) {
    exchange.outcome = FetchOutcome::kTlsCertificate;
    return exchange;
  }
  exchange.requested = true;
  exchange.place = world_.Find(host_name, PathAndQueryOf(url));
  exchange.page_kind = world_.KindOf(exchange.place);

  // A host has its speed, and each request its luck.
  const uint64_t host_hash = Mix64(world_.seed() ^ Hash64(host_name));
  const uint64_t luck = Mix64(Hash64(url) ^ Mix64(static_cast<uint64_t>(exchange.begin_ns)));
  const double slowness = world_.IsSpam(host->domain) ? world_.params().spam_slowness : 1;
  const double latency_ns =
      slowness * world_.params().latency_ms * 1e6 * (0.25 + 1.5 * Unit(host_hash)) * (0.5 + Unit(luck));
  exchange.first_byte_ns = std::max<int64_t>(static_cast<int64_t>(latency_ns), 1);
  exchange.body_bytes = static_cast<uint64_t>(world_.params().page_bytes * (0.25 + 1.5 * Unit(Mix64(Hash64(url)))));
  PlanAnswer(exchange);
  return exchange;
}

bool VirtualWeb::NeedsBytes(const Exchange& exchange) const {
  if (exchange.tls != world_.HostIsTls(exchange.place.host)) return true;  // a redirect to the right scheme
  if (options_.render || exchange.task.kind == UrlKind::kRobots) return true;
  if (world_.StateOf(exchange.place, exchange.begin_unix_ns) != PageState::kAlive) return true;
  if (world_.AnswersUnasked(exchange.place)) return true;
  if (exchange.place.place_class == PlaceClass::kNothing || exchange.place.place_class == PlaceClass::kRobots) {
    return true;
  }
  switch (exchange.page_kind) {
    case PageKind::kRedirect:
    case PageKind::kRedirectLoop:
    case PageKind::kServerError:
    case PageKind::kFlaky:
      return true;
    case PageKind::kFault:
      // A fault that is not on the wire is a bomb, and that is not made if it is not read.
      return world_.FaultOf(exchange.place) != WireFault::kNone;
    default:
      return false;
  }
}

void VirtualWeb::PlanAnswer(Exchange& exchange) {
  const auto transfer_ns = [this](uint64_t bytes) {
    return static_cast<int64_t>(static_cast<double>(bytes) / options_.bytes_per_second * 1e9);
  };
  const bool bytes = NeedsBytes(exchange);
  // What the answer says about change is in its head.
  const bool visits = (options_.visits || exchange.task.revisit()) && exchange.place.place_class == PlaceClass::kPage &&
                      exchange.page_kind != PageKind::kFault;
  if (bytes || visits) {
    if (bytes) ++counts_.rendered;
    Request request;
    request.head_alone = !bytes;
    request.host = HostOf(exchange.task.url);
    request.path_and_query = PathAndQueryOf(exchange.task.url);
    if (exchange.task.conditional()) {
      request.if_none_match = exchange.task.last->validators.etag;
      request.if_modified_since = exchange.task.last->validators.last_modified;
    }
    request.accept_encoding = options_.render ? std::string_view("gzip, deflate, br, zstd") : std::string_view();
    request.user_agent = options_.user_agent;
    request.tls = exchange.tls;
    request.unix_ns = exchange.begin_unix_ns;
    request.earlier = EarlierOf(exchange);
    exchange.answer = world_.Respond(request);
    if (bytes || exchange.answer->status == 304) exchange.body_bytes = exchange.answer->body.size();
    exchange.took_ns = exchange.first_byte_ns + transfer_ns(exchange.body_bytes);
    if (bytes) return ApplyWireFault(options_.limits, exchange);
    exchange.status = exchange.answer->status;
    if (exchange.status != 200) return;
  }
  exchange.took_ns = exchange.first_byte_ns + transfer_ns(exchange.body_bytes);
  exchange.status = 200;
  switch (exchange.page_kind) {
    case PageKind::kNotFound:
      exchange.status = 404;
      break;
    case PageKind::kGone:
      exchange.status = 410;
      break;
    case PageKind::kForbidden:
      exchange.status = 403;
      break;
    case PageKind::kFault:
      exchange.outcome = FetchOutcome::kBomb;
      break;
    default:
      break;
  }
}

uint32_t VirtualWeb::EarlierOf(const Exchange& exchange) {
  if (exchange.page_kind != PageKind::kFlaky || exchange.place.place_class != PlaceClass::kPage) return 0;
  return earlier_[world_.DenseNumber(exchange.place.host, exchange.place.number)]++;
}

bool VirtualWeb::IsAddressOf(std::string_view host_name, const Address& address) const {
  if (address.empty() || !IsInside(address)) return false;
  const DnsAnswer answer = world_.Resolve(host_name);
  const std::vector<Address> addresses = AddressesOf(answer);
  return std::find(addresses.begin(), addresses.end(), address) != addresses.end();
}

void VirtualWeb::Tell(const Exchange& exchange) {
  const std::string address = exchange.task.address.ToString();
  Hit hit;
  hit.unix_ns = exchange.begin_unix_ns;
  hit.end_ns = exchange.begin_unix_ns + exchange.took_ns;
  hit.connection = ++connection_;
  hit.address = address;
  hit.host = HostOf(exchange.task.url);
  hit.tls = exchange.tls;
  hit.method = "GET";
  hit.path_and_query = PathAndQueryOf(exchange.task.url);
  hit.user_agent = options_.user_agent;
  hit.conditional = exchange.task.conditional();
  hit.status = exchange.status;
  hit.bytes = exchange.body_bytes;
  hits_->OnHit(hit);
}

void VirtualWeb::Deliver(uint32_t slot) {
  Exchange exchange = std::move(under_way_[slot]);
  free_.push_back(slot);
  if (options_.render) {
    handler_.OnResponse(MakeFetchResponse(std::move(exchange), options_.user_agent));
  } else {
    handler_.OnPage(truth_.Make(exchange));
  }
}

}  // namespace portolan::sim
