// TrapPark: the shard's view of traps: which URLs are not fetched now because those of their form gave nothing new, and
// when they are looked at again.
//
// Before a URL goes to the robots loop, and again when its turn has come, the shard asks Hold. If the URL's group is
// suspect (budget/trap_table.h) the URL is parked in a queue on disk, unless it is the group's next probe. Nothing is
// dropped:
//
//   - When something new was found in a suspect group, the queue is read again from the beginning (a scan): URLs whose
//     groups are no longer suspect, and probes, go back to the robots loop, the others to the queue's end. While there
//     is other work a scan waits for kScanFetches fetches, or one for each sixteen parked URLs, so that reading the
//     queue costs little per page.
//   - When the crawl has nothing else to do, the queue is scanned once, and again as long as the scan before led to
//     something new.
//   - What is then still parked stays so: it is counted, 'portolan why' names the form and its figures, and the crawl
//     ends.
//
// So a trap of any size costs `evidence` fetches and log2(n) probes of n URLs, with budgets or without. With budgets,
// URLs of suspect groups also cost more of their domain's budget (Price).
//
// It also learns which parameters never change the page (budget/idle_parameters.h).
//
// Thread: one owner, the shard. No clock, no randomness. Memory bound: the tables', kForms forms of about 150 bytes,
// 768 KiB of recent domains. Disk: the parked URLs. Durability: Checkpointables(), all in one manifest.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash_key.h"
#include "base/result.h"
#include "budget/idle_parameters.h"
#include "budget/trap_table.h"
#include "crawl/pay_level.h"
#include "disk/queue.h"
#include "flow/page_result.h"
#include "flow/url_record.h"

namespace portolan {

struct TrapOptions {
  bool enabled = false;
  bool parameters = true;  // leave out parameters that never change the page
  HashKey key;             // the crawl's
  TrapTable::Options table;
  IdleParameters::Options idle;
  std::string name = "trap_park";
  std::string queue = "parked";
};

// A form whose URLs were parked in this run.
struct ParkedForm {
  std::string host;
  std::string form;
  uint64_t urls = 0;
  uint32_t seen = 0;    // observations, when the last one was parked
  uint32_t points = 0;  // likewise
};

// "1 of its last 40 fetches brought something new"
std::string YieldWords(uint32_t seen, uint32_t points);

class TrapPark : public Checkpointable {
 public:
  static constexpr uint64_t kScanFetches = 1000;
  static constexpr size_t kForms = 64;
  static constexpr size_t kNotes = 64;
  static constexpr std::string_view kKind = "trap_park";

  static Result<std::unique_ptr<TrapPark>> Open(Env& env, const Manifest& manifest, const TrapOptions& options);

  // 1 … TrapTable::kMaxPrice: units of its domain's budget.
  uint32_t Price(std::string_view url, uint64_t host_key);
  // What to do with a URL that is about to go on: to the robots loop, and again when its turn to be fetched has come,
  // since much may have been learnt in between.
  enum class Turn : uint8_t { kFetch, kProbe, kPark };
  Turn Hold(const UrlRecord& record, uint64_t host_key);
  Status Park(std::string_view record) { return queue_->Append(record); }

  // A URL ended without a fetch.
  void OnUnfetched(std::string_view url, uint64_t host_key) {
    table_->GiveHostBack(HostShapeOf(host_key, domains_.Key(url, host_key), options_.key));
  }
  // A fetch ended.
  void Observe(const UrlRecord& record, uint64_t host_key, const PageResult& result);

  // True if it began a scan. `idle`: the crawl has nothing else to do.
  bool BeginScan(bool idle);
  bool scanning() const { return scan_left_ > 0; }
  // The next parked record of a scan that is to be fetched; looks at up to `max`. Empty: none of them is.
  Result<std::optional<std::string>> NextReleased(uint64_t max);

  // The URL without parameters that never change the page; false if there are none.
  bool Without(std::string_view url, uint64_t host_key, std::string& out) const {
    return options_.enabled && options_.parameters && idle_->Without(url, host_key, out);
  }

  uint64_t parked() const { return queue_->size(); }
  std::vector<ParkedForm> Forms(size_t max) const;  // those with most URLs first
  // What was learnt about parameters, in sentences, since the last call; at most kNotes.
  std::vector<std::string> TakeNotes() { return std::exchange(notes_, {}); }
  bool has_notes() const { return !notes_.empty(); }

  std::vector<Checkpointable*> Checkpointables();
  Status Flush() override;
  ManifestSection Describe() const override { return described_; }
  Status Committed() override { return {}; }

 private:
  TrapPark(PayLevelDomains domains, const TrapOptions& options) : options_(options), domains_(std::move(domains)) {}
  UrlShape Shape(std::string_view url, uint64_t host_key) {
    return ShapeOf(url, host_key, domains_.Key(url, host_key), options_.key);
  }
  Turn Judge(std::string_view url, uint64_t host_key, bool count);

  const TrapOptions options_;
  PayLevelDomains domains_;
  std::unique_ptr<TrapTable> table_;
  std::unique_ptr<IdleParameters> idle_;
  std::unique_ptr<DiskQueue> queue_;
  uint64_t scan_left_ = 0;      // parked URLs that the scan has still to look at
  uint64_t news_ = 0;           // new things in suspect groups since the last scan began
  uint64_t fetches_ = 0;        // observed since then
  bool refused_hosts_ = false;  // since then, because their domain has too many that are new
  bool scanned_idle_ = false;   // the crawl was idle once, and everything parked was looked at
  std::map<std::pair<std::string, std::string>, ParkedForm> forms_;  // by host and form; for displays only
  std::vector<std::string> notes_;
  ManifestSection described_;
};

}  // namespace portolan
