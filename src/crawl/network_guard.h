// NetworkGuard: what is fetched, asked and believed while the network is in doubt, gone, or out of descriptors.
//
// Three things that are not the web's fault must not end a URL:
//   - an outage (outage.h says when it is one). Failures that may be its doing are held until the verdict, then they go
//     back as kNetworkDown; while it lasts single probes are sent; names wait here to be asked for again;
//   - name servers that do not answer: likewise, with a witness, a name that was resolved before;
//   - a shortage of descriptors: no more connections than were open when it was met, none at all for a second, and
//     gradually more again.
//
// Thread: one owner, the shard. No clock. Memory bound: results that are held are in flight, so at most one per
// connection; names at most frontier.max_resolving. Nothing of it is in a checkpoint: what is held is in flight there,
// names are asked for again.

#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "crawl/outage.h"
#include "flow/address.h"
#include "flow/fetch.h"
#include "flow/page_result.h"

namespace portolan {

class NetworkGuard {
 public:
  NetworkGuard(const OutageOptions& options, uint32_t connections, FetchPort& port)
      : outage_(options), most_connections_(connections), connections_(connections), port_(port) {}

  const Outage& outage() const { return outage_; }
  // Outages that began since the last call.
  uint64_t TakeNewOutages();

  // ---- fetches

  struct Permit {
    bool fetch = false;         // URLs may be dispatched …
    bool probe_only = false;    // … a single one: the next fetch is a probe (ProbeBegan)
    int64_t again_ns = kNever;  // where not: ask again then; kNever: an event will change it
  };
  Permit MayFetch(int64_t now_ns);
  void ProbeBegan(uint64_t fetch) {
    probe_id_ = fetch;
    outage_.fetch_probes().Began();
  }

  // A fetch ended. True: it may be an outage's doing; Hold it. `enough_hosts`: the crawl has as many active ones as a
  // verdict needs.
  bool OnFetch(const PageResult& result, uint64_t host, const Address& address, bool enough_hosts, int64_t now_ns);
  void Hold(PageResult&& result, int64_t now_ns) {
    held_.push_back({std::move(result), now_ns + outage_.options().hold_ns});
  }
  // The next held result whose verdict is known or whose time is up, as it is to be taken; null: none. `ending`:
  // nothing is fetched any more, so all of them go back.
  const PageResult* NextKnown(bool ending, int64_t now_ns);
  PageResult TakeKnown();  // REQUIRES: NextKnown gave it.
  // The first of them, whatever its time; null: none.
  const PageResult* first_held() const { return held_.empty() ? nullptr : &held_.front().result; }

  // ---- descriptors

  // There was none for a fetch or a name, with so many fetches in flight. True: it is the first for a while.
  bool OnShortage(size_t in_flight, int64_t now_ns);
  uint32_t connections() const { return connections_; }  // that may be used now

  // ---- names

  static constexpr uint64_t kWitness = 0;  // ResolveTask::host of a question that is not the frontier's

  void AskName(uint64_t host, std::string_view name);
  // True: it is to be told to the frontier (NameOf and Forget then); otherwise it is kept here, or nobody waits for it.
  bool OnResolved(const Resolution& resolution, bool enough_hosts, int64_t now_ns);
  // The next kept failure that is to be believed; null: none.
  const Resolution* NextBelieved(bool ending, int64_t now_ns);
  void DropBelieved() { doubtful_names_.pop_front(); }
  // What is asked for, empty where nothing is; and no more.
  std::string_view NameOf(uint64_t host) const;
  void Forget(uint64_t host, bool failed);
  bool asks_names() const { return !names_asked_.empty(); }
  // Sends the questions that are due.
  void AskWaiting(int64_t now_ns);

  // A turn is wanted then, for what is held and asked here. `room`: for the first held result.
  int64_t NextWake(bool room) const;
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

 private:
  struct Held {
    PageResult result;
    int64_t until_ns = 0;
  };
  struct DoubtfulName {
    Resolution resolution;
    int64_t until_ns = 0;
  };
  uint64_t AskFirst();
  bool has_question() const { return !names_waiting_.empty() || (outage_.names_down() && !outage_.witness().empty()); }

  Outage outage_;
  uint64_t outages_told_ = 0;
  uint64_t probe_id_ = 0;       // the fetch that is a probe
  uint64_t name_probe_ = 0;     // the host whose name is one
  bool probe_witness_ = false;  // whose turn it is among those who are asked for as probes

  const uint32_t most_connections_;
  uint32_t connections_;
  int64_t shortage_ns_ = 0;     // when it was found that there are too few, or more were tried
  int64_t short_until_ns_ = 0;  // nothing is fetched before

  std::deque<Held> held_;                    // all of them in flight
  std::deque<DoubtfulName> doubtful_names_;  // with the next two at most frontier.max_resolving
  std::deque<uint64_t> names_waiting_;       // hosts whose name could not be asked for, or not with success
  std::unordered_map<uint64_t, std::string> names_asked_;  // by host, those that wait included; never iterated
  FetchPort& port_;
};

}  // namespace portolan
