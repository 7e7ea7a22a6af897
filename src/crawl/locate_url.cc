#include "crawl/locate_url.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "budget/beast.h"
#include "crawl/crossing.h"
#include "crawl/hash_key_store.h"
#include "crawl/partition.h"
#include "crawl/pay_level.h"
#include "crawl/seed_list.h"
#include "crawl/shard.h"
#include "crawl/url_owner.h"
#include "disk/block_file.h"
#include "disk/committed.h"
#include "disk/drum.h"
#include "disk/queue.h"
#include "flow/url_record.h"
#include "frontier/frontier.h"
#include "frontier/snapshot.h"
#include "gate/gate_types.h"
#include "gate/robots_value.h"
#include "gate/rules_store.h"
#include "reputation/star.h"
#include "seen/url_seen.h"

namespace portolan {
namespace {

constexpr int kTries = 5;

// The names of a shard's structures: the defaults of their options, which are never changed.
struct Names {
  explicit Names(uint32_t shard)
      : seen(ShardName(shard, UrlSeenOptions().name)),
        star(ShardName(shard, StarOptions().name)),
        beast(ShardName(shard, BeastOptions().name)),
        gate(ShardName(shard, GateOptions().name)),
        frontier(ShardName(shard, FrontierOptions().name)),
        arrivals(ShardName(shard, kArrivals)),
        parked(ShardName(shard, TrapOptions().queue)),
        traps(ShardName(shard, TrapTable::Options().name)),
        idle(ShardName(shard, IdleParameters::Options().name)) {}

  std::string seen;
  std::string star;
  std::string beast;
  std::string gate;
  std::string frontier;
  std::string arrivals;
  std::string parked;
  std::string traps;
  std::string idle;
};

class Search {
 public:
  // `shard` is the one that owns the URL.
  Search(Env& env, const Manifest& manifest, const HashKey& key, uint32_t shard, std::string_view url,
         const LocateOptions& options)
      : env_(env), manifest_(manifest), key_(key), url_(url), options_(options), names_(shard) {
    result_.shard = shard;
  }

  Result<UrlWhereabouts> Run() {
    result_.sequence = manifest_.sequence();
    RETURN_IF_ERROR(InFrontier());
    if (!found()) RETURN_IF_ERROR(InPark());
    if (!found()) RETURN_IF_ERROR(InGate());
    if (!found()) RETURN_IF_ERROR(InBudget());
    RETURN_IF_ERROR(InSeen());
    RETURN_IF_ERROR(OfDomain());
    RETURN_IF_ERROR(OfForm());
    RETURN_IF_ERROR(OfRobots());
    return result_;
  }

 private:
  class HostItems;

  bool found() const { return result_.place != UrlPlace::kUnknown; }
  void Found(UrlPlace place, std::string detail) {
    result_.place = place;
    result_.detail = std::move(detail);
    result_.seen = true;
  }
  // True if it is a record of the URL. The robots.txt of an origin differs from a page with the same address.
  bool IsIt(std::string_view record) {
    const std::optional<UrlRecord> decoded = DecodeUrlRecord(record);
    if (!decoded || decoded->url != url_ || decoded->kind == UrlKind::kRobots) return false;
    result_.attempts = decoded->attempts;
    result_.via = decoded->via.ToString();
    return true;
  }
  void Say(std::string_view part, uint64_t bytes) const {
    if (options_.progress) options_.progress(part, bytes);
  }
  // True if the URL is in the queue of that name. A queue that does not exist is empty.
  Result<bool> InQueue(const std::string& name, std::string_view part) {
    ASSIGN_OR_RETURN(const ManifestSection* section, manifest_.Find(name, DiskQueue::kKind));
    if (section == nullptr || section->files.empty()) return false;
    Say(part, BytesOf(*section));
    bool there = false;
    RETURN_IF_ERROR(ForEachQueued(env_, manifest_.dir(), *section, [&](std::string_view record) {
      there = IsIt(record);
      return !there;
    }));
    return there;
  }

  Status InFrontier();
  Result<bool> InSpill(const std::vector<SpillRef>& refs);
  Status InPark();
  Status OfForm();
  Status InGate();
  Status InBudget();
  Status InSeen();
  Status InSeen(const ManifestSection& seen);
  Result<bool> Arrives();
  Status OfDomain();
  Status OfRobots();

  Env& env_;
  const Manifest& manifest_;
  const HashKey key_;
  const std::string_view url_;
  const LocateOptions& options_;
  const Names names_;
  UrlWhereabouts result_;
};

// Searches the snapshot's items for the URL, and collects the blocks of its host.
class Search::HostItems : public SnapshotSink {
 public:
  explicit HostItems(Search& search) : search_(search), key_(HostKey(search.url_, search.key_)) {}

  Status OnHost(const SnapshotHost& host) override {
    ours_ = host.key == key_;
    if (ours_) clock_ns = host.free_left_ns;
    return {};
  }
  Status OnUrl(SnapshotItem item, std::string_view record) override {
    if (!search_.found() && search_.IsIt(record)) {
      if (item == SnapshotItem::kGate) {
        search_.Found(UrlPlace::kFront, "taken from the front queues, on its way to its host's queue");
      } else {
        search_.Found(UrlPlace::kBack, fmt::format("in its host's queue, with {} before it", before));
      }
    } else if (ours_ && item != SnapshotItem::kGate && !search_.found()) {
      ++before;
    }
    return {};
  }
  Status OnLater(int64_t left_ns, std::string_view record) override {
    if (!search_.found() && search_.IsIt(record)) {
      search_.Found(UrlPlace::kBack, fmt::format("in its host's queue, to be tried again {:.0f} s after the checkpoint",
                                                 static_cast<double>(left_ns) / 1e9));
    }
    return {};
  }
  Status OnBlock(const SpillRef& ref) override {
    if (ours_) {
      blocks.push_back(ref);
      before += ref.records;
    }
    return {};
  }
  Status OnIp(const Address&, int64_t) override { return {}; }

  std::vector<SpillRef> blocks;
  uint64_t before = 0;
  int64_t clock_ns = 0;

 private:
  Search& search_;
  const uint64_t key_;
  bool ours_ = false;
};

Status Search::InFrontier() {
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest_.Find(names_.frontier, Frontier::kKind));
  if (section == nullptr || section->files.empty()) return {};
  ASSIGN_OR_RETURN(const uint64_t unix_ns, section->Number("unix_ns"));
  result_.checkpoint_unix_ns = static_cast<int64_t>(unix_ns);
  ASSIGN_OR_RETURN(const uint64_t items, section->Number("items"));
  ASSIGN_OR_RETURN(const uint64_t front_queues, section->Number("front_queues"));
  Say("the frontier's snapshot", BytesOf(*section));
  HostItems sink(*this);
  RETURN_IF_ERROR(
      ReadSnapshot(env_, JoinPath(manifest_.dir(), section->files[0].name), section->files[0].length, items, sink));
  if (!found()) {
    ASSIGN_OR_RETURN(const bool spilled, InSpill(sink.blocks));
    if (spilled)
      Found(UrlPlace::kBack, fmt::format("in the part of its host's queue ({}) that is on disk", sink.before));
  }
  for (uint64_t i = 0; i < front_queues && !found(); ++i) {
    ASSIGN_OR_RETURN(const bool there, InQueue(fmt::format("{}-front{:02}", names_.frontier, i), "the front queues"));
    if (there) Found(UrlPlace::kFront, fmt::format("in front queue {} of {}", i, front_queues));
  }
  return {};
}

Result<bool> Search::InSpill(const std::vector<SpillRef>& refs) {
  if (refs.empty()) return false;
  const std::string name = names_.frontier + "-spill";
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest_.Find(name, SpillLog::kKind));
  if (section == nullptr) return Fail(ErrorCode::kCorrupt, fmt::format("{}: not in the manifest", name));
  Say("its host's URLs on disk", refs.size() * (16 << 10));
  std::optional<BlockFileReader> reader;
  uint32_t opened = 0;
  RecordBlockReader records;
  for (const SpillRef& ref : refs) {
    const std::string file = fmt::format("{}-{:09}.spill", name, ref.segment);
    if (!reader || opened != ref.segment) {
      BlockFileReader::Options options;
      options.read_ahead = size_t{24} << 10;
      for (const auto& entry : section->files) {
        if (entry.name == file) options.length = entry.length;
      }
      ASSIGN_OR_RETURN(reader, BlockFileReader::Open(env_, JoinPath(manifest_.dir(), file), FileKind::kQueue, options));
      opened = ref.segment;
    }
    reader->Seek(ref.offset, reader->length());
    ASSIGN_OR_RETURN(const std::optional<Block> block, reader->Next());
    if (!block) return Fail(ErrorCode::kCorrupt, fmt::format("{}: no block at {}", file, ref.offset));
    records.Start(*block, 0);
    while (records.Next()) {
      if (IsIt(records.record())) return true;
    }
  }
  return false;
}

Status Search::InPark() {
  ASSIGN_OR_RETURN(const bool there, InQueue(names_.parked, "the parked URLs"));
  if (there) Found(UrlPlace::kParked, "parked");
  return {};
}

// What is known of URLs of this form.
Status Search::OfForm() {
  ASSIGN_OR_RETURN(const ManifestSection* parked, manifest_.Find(names_.parked, DiskQueue::kKind));
  if (parked == nullptr) return {};
  ASSIGN_OR_RETURN(PayLevelDomains domains, PayLevelDomains::Create(key_));
  const uint64_t host = HostKey(url_, key_);
  ASSIGN_OR_RETURN(const auto table, TrapTable::OpenCommitted(env_, manifest_, {.name = names_.traps}));
  const UrlShape shape = ShapeOf(url_, host, domains.Key(url_, host), key_);
  if (const TrapVerdict verdict = table->Judge(shape); verdict.known) {
    result_.form = fmt::format("{}: {}, its price is {}", ShapeWords(url_, shape, verdict.group),
                               YieldWords(verdict.seen, verdict.points), verdict.price);
  }
  ASSIGN_OR_RETURN(const auto idle, IdleParameters::OpenCommitted(env_, manifest_, {.name = names_.idle, .key = key_}));
  result_.idle = idle->IdleOf(url_, host);
  if (!result_.idle.empty() && !idle->Without(url_, host, result_.shorter)) result_.shorter.clear();
  return {};
}

Status Search::InGate() {
  ASSIGN_OR_RETURN(const bool waits, InQueue(names_.gate + "_qr", "URLs that wait for robots.txt"));
  if (waits) Found(UrlPlace::kRobots, "waits until robots.txt of its origin is fetched");
  if (found()) return {};
  ASSIGN_OR_RETURN(const bool later, InQueue(names_.gate + "_qu", "URLs whose robots.txt could not be fetched"));
  if (later) Found(UrlPlace::kRobots, "robots.txt of its origin could not be fetched; it will be tried again");
  if (found()) return {};
  ASSIGN_OR_RETURN(const ManifestSection* cache, manifest_.Find(names_.gate + "_cache", Drum::kKind));
  if (cache == nullptr) return {};
  Say("URLs whose rules are looked up", BytesOf(*cache));
  return ForEachTuple(env_, manifest_.dir(), *cache, [&](std::string_view aux, bool answered) {
    if (answered || !IsIt(aux)) return true;
    Found(UrlPlace::kRobots, "the rules of its origin are being looked up");
    return false;
  });
}

Status Search::InBudget() {
  ASSIGN_OR_RETURN(const ManifestSection* beast, manifest_.Find(names_.beast, Beast::kKind));
  if (beast != nullptr) {
    ASSIGN_OR_RETURN(const uint64_t ring, beast->Number("ring"));
    ASSIGN_OR_RETURN(const uint64_t tick, beast->Number("tick"));
    for (uint64_t ahead = 0; ahead < ring; ++ahead) {
      const uint64_t slot = (tick + ahead) % ring;
      ASSIGN_OR_RETURN(const bool there,
                       InQueue(fmt::format("{}-q{:04}", names_.beast, slot), "the queues of the budgets"));
      if (!there) continue;
      Found(UrlPlace::kBudgetQueue, ahead == 0 ? "in the queue that is being read" : "");
      result_.queues_ahead = ahead;
      return {};
    }
    ASSIGN_OR_RETURN(const bool failed, InQueue(names_.beast + "-failed", "URLs behind all budget queues (Q_F)"));
    if (failed) Found(UrlPlace::kBudgetFailed, "behind all budget queues, until its budget is looked up again");
  }
  if (found()) return {};
  ASSIGN_OR_RETURN(const ManifestSection* domains, manifest_.Find(Star::DomainsSection(names_.star), Drum::kKind));
  if (domains == nullptr) return {};
  Say("URLs whose domain's budget is looked up", BytesOf(*domains));
  return ForEachTuple(env_, manifest_.dir(), *domains, [&](std::string_view aux, bool answered) {
    if (answered || aux.size() <= kVouchAuxSize) return true;
    const std::optional<StarAux> decoded = DecodeStarAux(aux);
    if (!decoded || !IsIt(decoded->record)) return true;
    Found(UrlPlace::kBudgetQueue, "the budget of its domain is being looked up");
    return false;
  });
}

Status Search::InSeen() {
  if (result_.seen) return {};
  ASSIGN_OR_RETURN(const ManifestSection* seen, manifest_.Find(names_.seen, Drum::kKind));
  if (seen != nullptr) RETURN_IF_ERROR(InSeen(*seen));
  if (result_.seen || found()) return {};
  ASSIGN_OR_RETURN(const bool seed, InQueue(kSeedQueue, "seeds that wait"));
  if (seed) Found(UrlPlace::kUnchecked, "a seed; whether it is new has not been checked yet");
  if (found()) return {};
  ASSIGN_OR_RETURN(const bool arrives, Arrives());
  if (arrives) {
    Found(UrlPlace::kUnchecked, "found on a page of another shard; whether it is new has not been checked yet");
  }
  return {};
}

// True if the URL is among the links from other shards that wait to be checked.
Result<bool> Search::Arrives() {
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest_.Find(names_.arrivals, DiskQueue::kKind));
  if (section == nullptr || section->files.empty()) return false;
  Say("links that came from other shards", BytesOf(*section));
  bool there = false;
  RETURN_IF_ERROR(ForEachQueued(env_, manifest_.dir(), *section, [&](std::string_view message) {
    const std::optional<Crossing> crossing = DecodeCrossing(message);
    there = crossing && crossing->kind == Crossing::Kind::kLink && IsIt(crossing->record);
    return !there;
  }));
  return there;
}

Status Search::InSeen(const ManifestSection& seen) {
  Say("all URLs that were seen", BytesOf(seen));
  ASSIGN_OR_RETURN(const auto in_z, FindInZ(env_, manifest_.dir(), seen, 0, key_.Hash(url_)));
  result_.seen = in_z.has_value();
  if (result_.seen) return {};
  return ForEachTuple(env_, manifest_.dir(), seen, [&](std::string_view aux, bool answered) {
    if (!IsIt(aux)) return true;
    if (answered) {
      result_.seen = true;
    } else {
      Found(UrlPlace::kUnchecked, "found on a page; whether it is new has not been checked yet");
    }
    return false;
  });
}

Status Search::OfDomain() {
  ASSIGN_OR_RETURN(PayLevelDomains domains, PayLevelDomains::Create(key_));
  const std::string_view host = HostOf(url_);
  result_.domain_name = domains.Name(host);
  ASSIGN_OR_RETURN(const ManifestSection* star, manifest_.Find(names_.star, Star::kKind));
  result_.budgets = star != nullptr;
  if (star == nullptr) return {};
  Say("its domain", 0);
  ASSIGN_OR_RETURN(result_.domain, FindDomain(env_, manifest_, domains.Key(url_, HostKey(url_, key_)), names_.star));
  return {};
}

Status Search::OfRobots() {
  ASSIGN_OR_RETURN(const ManifestSection* cache, manifest_.Find(names_.gate + "_cache", Drum::kKind));
  result_.robots = "robots.txt of its origin has not been fetched yet";
  if (cache == nullptr) return {};
  Say("the rules of its origin", BytesOf(*cache));
  const uint64_t origin = OriginKey(url_, key_);
  std::optional<RobotsRef> ref;
  ASSIGN_OR_RETURN(const auto value, FindInZ(env_, manifest_.dir(), *cache, kRobotsValueSize, origin));
  if (value) ref = DecodeRobotsRef(value->data());
  RETURN_IF_ERROR(
      ForEachRow(env_, manifest_.dir(), *cache, kRobotsValueSize, [&](DrumOp op, uint64_t key, std::string_view row) {
        if (key == origin && op != DrumOp::kCheck) ref = DecodeRobotsRef(row.data());
      }));
  if (!ref) return {};
  if (ref->position == kRobotsAllowAll) {
    result_.robots = "its origin has no robots.txt: everything is allowed";
    result_.robots_allowed = true;
    return {};
  }
  if (ref->position < RulesStore::kFirstPosition) {
    result_.robots = "robots.txt of its origin could not be fetched";
    return {};
  }
  RulesStore::Options options;
  options.name = names_.gate + "_rules";
  ASSIGN_OR_RETURN(const auto store, RulesStore::Open(env_, manifest_, options));  // opening writes nothing
  ASSIGN_OR_RETURN(const RobotsRules* rules, store->Get(ref->position));
  if (rules == nullptr) {
    result_.robots = "the rules of its origin have expired";
    return {};
  }
  result_.robots_allowed = rules->Allows(PathAndQueryOf(url_));
  result_.robots =
      *result_.robots_allowed ? "robots.txt of its origin allows it" : "robots.txt of its origin forbids it";
  return {};
}

}  // namespace

std::string_view UrlPlaceName(UrlPlace place) {
  switch (place) {
    case UrlPlace::kUnknown:
      return "unknown";
    case UrlPlace::kUnchecked:
      return "unchecked";
    case UrlPlace::kBudgetQueue:
      return "budget_queue";
    case UrlPlace::kBudgetFailed:
      return "budget_failed";
    case UrlPlace::kRobots:
      return "robots";
    case UrlPlace::kFront:
      return "front";
    case UrlPlace::kBack:
      return "back";
    case UrlPlace::kParked:
      return "parked";
  }
  return "unknown";
}

Status WithCommitted(Env& env, const std::string& state_dir, const std::function<Status(const Manifest&)>& work) {
  uint64_t before = 0;
  Status failed;
  for (int tries = 0; tries < kTries; ++tries) {
    const auto manifest = Manifest::Read(env, state_dir);
    if (!manifest) {
      // The manifest was replaced between listing the directory and opening the file.
      failed = std::unexpected(manifest.error());
      continue;
    }
    if (!failed && manifest->sequence() == before) return failed;
    before = manifest->sequence();
    failed = work(*manifest);
    if (failed) return failed;
  }
  return failed;
}

Result<UrlWhereabouts> LocateUrl(Env& env, std::string_view url, const LocateOptions& options) {
  UrlWhereabouts found;
  RETURN_IF_ERROR(WithCommitted(env, options.state_dir, [&](const Manifest& manifest) -> Status {
    ASSIGN_OR_RETURN(const HashKey key, HashKeyStore::Read(manifest));
    ASSIGN_OR_RETURN(const uint32_t shards, Shard::CountIn(manifest));
    ASSIGN_OR_RETURN(const bool phases, Shard::HasPhases(manifest));
    ASSIGN_OR_RETURN(UrlOwner owner, UrlOwner::Create(key, {.shards = std::max(1U, shards), .by_phases = phases}));
    const uint32_t shard = owner.Of(url);
    Search search(env, manifest, key, shard, url, options);
    ASSIGN_OR_RETURN(found, search.Run());
    found.shards = std::max(1U, shards);
    ASSIGN_OR_RETURN(found.schedule,
                     FindScheduled(env, manifest, options.refresh, found.shards, shard, url, options.unix_ns));
    return {};
  }));
  return found;
}

}  // namespace portolan
