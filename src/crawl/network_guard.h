// NetworkGuard: what is fetched, looked up and believed while the network is in doubt, or descriptors are short.
//
// Three things that are not the web's fault must not end a URL:
//   - an outage (defined in outage.h). Failures that an outage may have caused are held until the verdict, then they go
//     back as kNetworkDown. While it lasts single probes are sent; names wait here to be looked up again;
//   - name servers that do not answer: likewise, with a witness, which is a name that was resolved before;
//   - a shortage of descriptors: no more connections than were open when it happened, no new fetch for a second, then
//     gradually more again.
//
// Thread: one owner, the shard. No clock. Memory bound: held results are in flight, so at most one per connection;
// names at most frontier.max_resolving. It is not part of a checkpoint: held results are in flight there, and names are
// looked up again.

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
  void BelieveOutage(bool connections, bool names, int64_t now_ns) { outage_.Believe(connections, names, now_ns); }
  // Outages that began since the last call.
  uint64_t TakeNewOutages();

  // ---- fetches

  struct Permit {
    bool fetch = false;         // URLs may be dispatched
    bool probe_only = false;    // only one of them: the next fetch is a probe (ProbeBegan)
    int64_t again_ns = kNever;  // if not: when to ask again; kNever: an event will change it
  };
  Permit MayFetch(int64_t now_ns);
  void ProbeBegan(uint64_t fetch) {
    probe_id_ = fetch;
    outage_.fetch_probes().Began();
  }

  // A fetch ended. True: an outage may have caused its failure; the caller must Hold it. `enough_hosts`: the crawl has
  // as many active hosts as a verdict needs.
  bool OnFetch(const PageResult& result, uint64_t host, const Address& address, bool enough_hosts, int64_t now_ns);
  void Hold(PageResult&& result, int64_t now_ns) {
    held_.push_back({std::move(result), now_ns + outage_.options().hold_ns});
  }
  // The next held result for which there is a verdict or whose time is up, with its final outcome; null: none.
  // `ending`: nothing is fetched any more, so all of them go back.
  const PageResult* NextKnown(bool ending, int64_t now_ns);
  PageResult TakeKnown();  // REQUIRES: NextKnown returned it.
  // The oldest held result, whatever its time; null: none.
  const PageResult* first_held() const { return held_.empty() ? nullptr : &held_.front().result; }

  // ---- descriptors

  // There was no descriptor for a fetch or a look-up, with this many fetches in flight. True: the first for a while.
  bool OnShortage(size_t in_flight, int64_t now_ns);
  uint32_t connections() const { return connections_; }  // that may be used now

  // ---- names

  static constexpr uint64_t kWitness = 0;  // ResolveTask::host of a look-up that is not for the frontier

  void AskName(uint64_t host, std::string_view name);
  // True: the caller passes it to the frontier (with NameOf and Forget). False: it is held here, or not asked for.
  bool OnResolved(const Resolution& resolution, bool enough_hosts, int64_t now_ns);
  // The next held failure that is to be believed; null: none.
  const Resolution* NextBelieved(bool ending, int64_t now_ns);
  void DropBelieved() { doubtful_names_.pop_front(); }
  // The name that is being looked up for `host`; empty: none. Forget removes it.
  std::string_view NameOf(uint64_t host) const;
  void Forget(uint64_t host, bool failed);
  bool asks_names() const { return !names_asked_.empty(); }
  // Sends the look-ups that are due.
  void AskWaiting(int64_t now_ns);

  // When a turn is wanted for what is held and looked up here. `room`: there is room for the first held result.
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
  uint64_t name_probe_ = 0;     // the host whose look-up is a probe
  bool probe_witness_ = false;  // whether the witness is the next probe, or a waiting name

  const uint32_t most_connections_;
  uint32_t connections_;
  int64_t shortage_ns_ = 0;     // when the shortage was noticed, or when more connections were last allowed
  int64_t short_until_ns_ = 0;  // nothing is fetched before this time

  std::deque<Held> held_;                                  // all of them count as in flight
  std::deque<DoubtfulName> doubtful_names_;                // together with the next two at most frontier.max_resolving
  std::deque<uint64_t> names_waiting_;                     // hosts whose look-up could not be sent, or failed
  std::unordered_map<uint64_t, std::string> names_asked_;  // by host, those that wait included; never iterated
  FetchPort& port_;
};

}  // namespace portolan
