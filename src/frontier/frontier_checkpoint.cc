// The frontier's part of a checkpoint: writing and restoring the snapshot, and checking all invariants.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/check.h"
#include "base/hash.h"
#include "frontier/frontier.h"

namespace portolan {

Result<std::unique_ptr<Frontier>> Frontier::Open(Env& env, const Manifest& manifest, const FrontierOptions& options,
                                                 int64_t now_ns, int64_t unix_ns) {
  if (options.max_hosts == 0 || options.block_bytes == 0 || options.pull_step == 0 || options.max_resolving == 0 ||
      options.copy_hosts == 0 || options.connections_per_host == 0 ||
      options.connections_per_host > kMaxConnectionsPerHost || options.segment_size > (uint64_t{1} << 31)) {
    return Fail(ErrorCode::kInvalidArgument, "frontier: a bound of zero, or segments above 2 GiB");
  }
  if (options.lease_ns < 0 || (options.lease_ns > 0 && (options.lease_retry_ns <= 0 || options.epoch == 0 ||
                                                        options.lease_ns / 4 < options.lease_retry_ns))) {
    return Fail(ErrorCode::kInvalidArgument,
                "frontier: a lease of addresses needs an epoch and time for four attempts");
  }
  std::unique_ptr<Frontier> frontier(new Frontier(env, manifest.dir(), options));
  if (options.lease_ns > 0 && options.epoch > 1) {
    frontier->book_.SetQuietUntil(now_ns + ByOtherClock(options.lease_ns) + LongestHold(options.politeness));
  }
  frontier->now_ns_ = now_ns;
  frontier->calendar_offset_ns_ = unix_ns - now_ns;
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(options.name, kKind));
  FrontQueues::Options front{options.name, options.front_queues, options.segment_size, options.seed};
  if (section != nullptr) {
    // There were more queues than now: they are emptied like the others.
    ASSIGN_OR_RETURN(const uint64_t queues, section->Number("front_queues"));
    front.queues = std::max(front.queues, static_cast<uint32_t>(queues));
    ASSIGN_OR_RETURN(frontier->next_snapshot_, section->Number("next_snapshot"));
    front.seed = Mix64(front.seed + frontier->next_snapshot_);
  }
  ASSIGN_OR_RETURN(frontier->front_, FrontQueues::Open(env, manifest, front));
  ASSIGN_OR_RETURN(frontier->spill_,
                   SpillLog::Open(env, manifest, {options.name + "-spill", options.segment_size, Codec::kLz4}));
  if (section != nullptr) RETURN_IF_ERROR(frontier->Restore(*section, now_ns, unix_ns));
  return frontier;
}

// A snapshot on its way to disk. Jobs use it one after the other; the owner only when they are done.
struct Frontier::Saving {
  std::string path;
  Env* env = nullptr;
  ManifestSection section;  // its file is added at the end
  std::optional<SnapshotWriter> writer;
  Status status;
  std::function<void(Status)> done;

  void Write(const SnapshotCopy& part) {
    if (status && !writer) {
      auto created = SnapshotWriter::Create(*env, path);
      if (created) {
        writer = *std::move(created);
      } else {
        status = std::unexpected(created.error());
      }
    }
    if (status) status = part.WriteTo(*writer);
  }
  void Finish() {
    if (status) status = writer->Finish();
    if (status) {
      section.files.push_back({path.substr(path.rfind('/') + 1), writer->length()});
      section.numbers["items"] = writer->items();
    } else {
      // No manifest names the file, and on a full disk its space is needed.
      writer.reset();
      static_cast<void>(env->Remove(path));
    }
    std::exchange(done, nullptr)(status);
  }
};

namespace {

constexpr size_t kPieceBytes = size_t{1} << 20;   // size of a copy when it is handed to the writer
constexpr size_t kCopyBytes = size_t{256} << 10;  // copied in one part: 0.1 ms, or a few tenths with cache misses
constexpr uint32_t kCopyStep = 32;                // hosts between two checks of the bytes

int64_t Left(int64_t time_ns, int64_t now_ns) { return time_ns <= now_ns ? 0 : time_ns - now_ns; }

}  // namespace

void Frontier::StartFlush(std::function<void(Status)> done) {
  CHECK(!hosts_.taking_picture(), "a snapshot is being taken");
  if (saving_ && saving_->writer) retired_.push_back(saving_->path.substr(saving_->path.rfind('/') + 1));
  saving_ = std::make_shared<Saving>();
  saving_->env = &env_;
  saving_->path = JoinPath(dir_, fmt::format("{}-{:09}.snapshot", options_.name, next_snapshot_++));
  saving_->done = std::move(done);
  saving_->section.name = options_.name;
  saving_->section.kind = kKind;
  saving_->section.numbers = {{"front_queues", front_->queues()},
                              {"next_snapshot", next_snapshot_},
                              {"unix_ns", static_cast<uint64_t>(now_ns_ + calendar_offset_ns_)},
                              {"urls", counts().urls()}};
  copy_ = SnapshotCopy();
  bench_.ForEachRunning([&](const Workbench::Ip& ip) {
    // After a restore no request is outstanding: an address that is held by one is free after the delay.
    const int64_t free_ns = ip.holders.empty() ? ip.free_ns : now_ns_ + options_.politeness.ip_delay_ns;
    if (free_ns > now_ns_) copy_.Ip(ip.address, Left(free_ns, now_ns_));
  });
  for (const std::string& record : front_->drawn()) copy_.Url(SnapshotItem::kGate, record);
  hosts_.BeginPicture([this, now_ns = now_ns_](const Host& host) { CopyHost(host, now_ns); });
}

void Frontier::CopyHost(const Host& host, int64_t now_ns) {
  const bool in_flight = !host.flights.empty();
  SnapshotHost saved;
  saved.key = host.key;
  // A hit that is running counts as one that ends now.
  saved.free_left_ns = std::max(Left(host.free_ns, now_ns),
                                in_flight ? HostGap(options_.politeness, host.crawl_delay_ns, 0) : int64_t{0});
  saved.crawl_delay_ns = host.crawl_delay_ns;
  saved.address_left_ns = Left(host.address_expires_ns, now_ns);
  saved.ill_streak = host.ill_streak;
  saved.dns_failures = host.dns_failures;
  saved.address_at = host.address_at;
  if (host.doomed) saved.verdict = static_cast<uint8_t>(host.verdict);
  copy_.Host(saved, host.addresses);
  for (const Flight& flight : host.flights) copy_.Url(SnapshotItem::kHead, flight.record);
  copy_.Urls(SnapshotItem::kHead, host.queue.head());
  if (const auto* later = host.queue.later()) {
    for (const auto& item : *later) copy_.Later(Left(item.not_before_ns, now_ns), item.record);
  }
  if (const auto* blocks = host.queue.blocks()) {
    std::array<SpillRef, 1024> part;
    for (size_t at = 0; at < blocks->size(); at += part.size()) {
      const size_t count = std::min(part.size(), blocks->size() - at);
      std::copy_n(blocks->begin() + static_cast<ptrdiff_t>(at), count, part.begin());
      copy_.Blocks({part.data(), count});
    }
  }
  if (const auto* tail = host.queue.tail()) copy_.Urls(SnapshotItem::kTail, *tail);
}

bool Frontier::ContinueFlush(Executor& writer) {
  if (!hosts_.taking_picture()) return false;
  const size_t enough = copy_.bytes() + kCopyBytes;
  bool more = true;
  for (uint32_t left = options_.copy_hosts; more && left > 0 && copy_.bytes() < enough;) {
    const uint32_t step = std::min(left, kCopyStep);
    more = hosts_.ContinuePicture(step);
    left -= step;
  }
  if (more && copy_.bytes() < kPieceBytes) return true;
  writer.Submit([saving = saving_, part = copy_.Take(), more] {
    saving->Write(part);
    if (!more) saving->Finish();
  });
  return more;
}

Status Frontier::Flush() {
  Status flushed;
  StartFlush([&](Status status) { flushed = std::move(status); });
  InlineExecutor here;
  while (ContinueFlush(here)) {
  }
  return flushed;
}

ManifestSection Frontier::Describe() const { return saving_ ? saving_->section : described_; }

Status Frontier::Committed() {
  if (saving_) {
    for (const auto& file : described_.files) retired_.push_back(file.name);
    described_ = std::move(saving_->section);
    saving_.reset();
  }
  return RemoveUnnamed(env_, dir_, described_, retired_);
}

// Puts the items of a snapshot into an empty frontier. Hosts are scheduled when all items are read.
class Frontier::Restorer : public SnapshotSink {
 public:
  Restorer(Frontier& frontier, int64_t now_ns, int64_t passed_ns)
      : frontier_(frontier), now_ns_(now_ns), passed_ns_(passed_ns) {}

  Status OnHost(const SnapshotHost& saved) override {
    if (frontier_.hosts_.Find(saved.key) != kNoHost) return Broken("a host occurs twice");
    id_ = frontier_.hosts_.Insert(saved.key);
    alike_.clear();
    Host& host = frontier_.hosts_[id_];
    host.crawl_delay_ns = saved.crawl_delay_ns;
    // It may have been hit after the snapshot, just before the end: in any case it waits its own delay from now.
    host.free_ns =
        std::max(Time(saved.free_left_ns), now_ns_ + HostGap(frontier_.options_.politeness, saved.crawl_delay_ns, 0));
    host.polite_ns = host.free_ns;  // the reason of its wait is not stored
    host.address_expires_ns = Time(saved.address_left_ns);
    host.addresses = saved.addresses;
    host.address_at = saved.address_at;
    host.ill_streak = saved.ill_streak;
    host.dns_failures = saved.dns_failures;
    host.doomed = saved.verdict.has_value();
    if (saved.verdict) host.verdict = static_cast<FetchOutcome>(*saved.verdict);
    if (!host.addresses.empty()) frontier_.bench_.Bind(id_, host.addresses[host.address_at]);
    return {};
  }

  Status OnUrl(SnapshotItem item, std::string_view record) override {
    const auto url = DecodeUrlRecord(record);
    if (!url) return Broken("bytes that are not a URL record");
    if (item == SnapshotItem::kGate) {
      frontier_.front_->RestoreDrawn(record);
      return {};
    }
    RETURN_IF_ERROR(CheckHost(*url));
    BackQueue& queue = frontier_.hosts_[id_].queue;
    if (item == SnapshotItem::kHead) {
      queue.RestoreHead(record);
    } else {
      queue.RestoreTail(record);
    }
    return {};
  }

  Status OnLater(int64_t left_ns, std::string_view record) override {
    const auto url = DecodeUrlRecord(record);
    if (!url) return Broken("bytes that are not a URL record");
    RETURN_IF_ERROR(CheckHost(*url));
    frontier_.hosts_[id_].queue.PushLater(record, Time(left_ns));
    return {};
  }

  Status OnBlock(const SpillRef& ref) override {
    if (id_ == kNoHost) return Broken("a block without a host");
    RETURN_IF_ERROR(frontier_.spill_->Adopt(ref));
    frontier_.hosts_[id_].queue.RestoreBlock(ref);
    return {};
  }

  Status OnIp(const Address& address, int64_t left_ns) override {
    frontier_.bench_.RestoreClock(address, Time(left_ns));
    return {};
  }

 private:
  static std::unexpected<Error> Broken(std::string_view what) {
    return Fail(ErrorCode::kCorrupt, fmt::format("snapshot of the frontier: {}", what));
  }
  Status CheckHost(const UrlRecord& url) {
    // Nearly all URLs of a host have the same beginning, up to the slash after its name: only the first is parsed.
    if (!alike_.empty() && url.url.starts_with(alike_)) return {};
    if (id_ == kNoHost || HostKey(url.url, frontier_.options_.key) != frontier_.hosts_[id_].key) {
      return Broken(fmt::format("'{}' in the queue of another host", url.url));
    }
    constexpr size_t kAfterScheme = 8;  // length of "https://", or of "http://" and a letter
    const size_t slash = url.url.find('/', kAfterScheme);
    alike_.assign(slash == std::string_view::npos ? std::string_view() : url.url.substr(0, slash + 1));
    return {};
  }
  // The calendar time at which it would have run out, but at most the time that was left.
  int64_t Time(int64_t left_ns) const {
    return now_ns_ + std::clamp<int64_t>(left_ns - std::max<int64_t>(passed_ns_, 0), 0, left_ns);
  }

  Frontier& frontier_;
  const int64_t now_ns_;
  const int64_t passed_ns_;  // by the calendar, since the snapshot
  uint32_t id_ = kNoHost;
  std::string alike_;  // the common beginning of this host's URLs
};

Status Frontier::Restore(const ManifestSection& section, int64_t now_ns, int64_t unix_ns) {
  ASSIGN_OR_RETURN(const uint64_t items, section.Number("items"));
  ASSIGN_OR_RETURN(const uint64_t saved_unix, section.Number("unix_ns"));
  ASSIGN_OR_RETURN(const uint64_t urls, section.Number("urls"));
  if (section.files.size() != 1) {
    return Fail(ErrorCode::kCorrupt, fmt::format("section {}: {} snapshots", section.name, section.files.size()));
  }
  described_ = section;
  // Hosts and addresses that were contacted after the snapshot are not known here. So for one delay nothing is hit.
  const PolitenessOptions& politeness = options_.politeness;
  quiet_until_ns_ = now_ns + HostGap(politeness, 0, 0);
  bench_.SetQuietUntil(now_ns + politeness.ip_delay_ns);
  Restorer restorer(*this, now_ns, unix_ns - static_cast<int64_t>(saved_unix));
  RETURN_IF_ERROR(ReadSnapshot(env_, JoinPath(dir_, section.files[0].name), section.files[0].length, items, restorer));
  spill_->DropDead();
  for (uint32_t id = 0; id < hosts_.slots(); ++id) {
    const BackQueue& queue = hosts_[id].queue;
    if (queue.head().empty() && queue.blocks() != nullptr) {
      return Fail(ErrorCode::kCorrupt, "snapshot of the frontier: a queue without its head");
    }
    Schedule(id, now_ns);
  }
  if (counts().urls() != urls) {
    return Fail(ErrorCode::kCorrupt, fmt::format("snapshot of the frontier: it has {} URLs, but the manifest says {}",
                                                 counts().urls(), urls));
  }
  return Check(false);  // each record was checked when it was read
}

Status Frontier::CheckInvariants() const { return Check(true); }

Status Frontier::Check(bool records) const {
  const auto broken = [](std::string what) { return Fail(ErrorCode::kCorrupt, "frontier: " + std::move(what)); };
  RETURN_IF_ERROR(bench_.CheckInvariants());
  if (!timers_.Ordered()) return broken("timers out of order");
  std::array<uint32_t, kHostStates> states{};
  uint64_t urls = 0;
  uint64_t flights = 0;
  uint64_t near = 0;
  uint64_t on_disk = 0;
  for (uint32_t id = 0; id < hosts_.slots(); ++id) {
    const Host& host = hosts_[id];
    ++states[static_cast<size_t>(host.state)];
    if (host.state == HostState::kFree) continue;
    if (hosts_.Find(host.key) != id) return broken(fmt::format("host {} is not under its key", id));
    urls += host.queue.size();
    near += std::min(host.queue.size(), HostTable::kNear);
    on_disk += host.queue.on_disk();
    if ((host.state == HostState::kLingering) && !host.queue.empty()) return broken("a host with URLs lingers");
    if (host.state != HostState::kLingering && host.state != HostState::kInFlight && host.queue.empty()) {
      return broken(fmt::format("an empty back queue in state {}", static_cast<int>(host.state)));
    }
    flights += host.flights.size();
    if (host.flights.size() > options_.connections_per_host) return broken("too many URLs of a host in flight");
    if (host.state == HostState::kInFlight && !host.queue.empty() &&
        host.flights.size() < options_.connections_per_host) {
      return broken("a host waits for its URLs in flight where one more may go");
    }
    if (host.state == HostState::kLingering && !host.flights.empty()) return broken("a host in flight lingers");
    for (const Flight& flight : host.flights) {
      if (flight.record.empty()) return broken("a slot without its URL");
    }
    const bool timed = host.state == HostState::kLingering || host.state == HostState::kDnsLater;
    const bool placed = timed || host.state == HostState::kReady;
    if (placed != (host.place != TimedHeap::kOutside)) return broken("a host in no heap, or in one too many");
    if (timed && timers_.at(host.place).id != id) return broken("a timer of another host");
    if (host.state == HostState::kReady) {
      if (host.addresses.empty()) return broken("a host without address is ready");
      if (bench_.TimeOf(id) < host.free_ns) return broken("a host would be hit before its clock has passed");
    }
    if (!records) continue;
    // All URLs must belong to one host. Those on disk were checked when they were routed.
    bool one_host = true;
    const auto check = [&](std::string_view bytes) {
      const auto record = DecodeUrlRecord(bytes);
      one_host = one_host && record && HostKey(record->url, options_.key) == host.key;
    };
    host.queue.head().ForEach(check);
    if (const auto* tail = host.queue.tail()) tail->ForEach(check);
    if (const auto* later = host.queue.later()) {
      for (const auto& item : *later) check(item.record);
    }
    if (!one_host) return broken("a back queue with URLs of another host");
  }
  const auto count = [&](HostState state) { return states[static_cast<size_t>(state)]; };
  if (hosts_.size() + count(HostState::kFree) != hosts_.slots() || count(HostState::kLingering) != lingering_ ||
      flights != in_flight_ || count(HostState::kResolving) != resolving_ ||
      count(HostState::kAwaiting) != awaiting_.size() || count(HostState::kFailing) != failing_.size() ||
      count(HostState::kLingering) + count(HostState::kDnsLater) != timers_.size()) {
    return broken("the counts of hosts by state are wrong");
  }
  if (urls != hosts_.urls() || near != hosts_.near_urls() || on_disk != spill_->records()) {
    return broken(fmt::format("{} URLs counted as {}, {} of them near as {}, {} on disk as {}", urls, hosts_.urls(),
                              near, hosts_.near_urls(), on_disk, spill_->records()));
  }
  if (resolving_ > options_.max_resolving) return broken("too many names are asked for");
  return {};
}

}  // namespace portolan
