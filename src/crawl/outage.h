// Outage: is it the web that fails, or our own network?
//
// If the cable is pulled, a crawl must not give up a million URLs. A single failure says nothing: hosts die all the
// time, and at the end of a crawl dead ones are all that is left. The sign of an outage is surprise: several hosts that
// answered before, at several addresses, fail one after the other, and no server answers in between.
//
//   connections   a failure to connect, or silence after it, counts if the host has answered in this run. Before any
//                 server has answered in this run (a crawl that is started without a network), the failure of any host
//                 counts. An answer from any server, whatever it says, cancels all of these.
//   names         a failure to resolve (SERVFAIL, silence) counts if it is the first of its host. An answer of a name
//                 server, even "no such name", cancels all of these. Answers from the resolver's cache say nothing.
//
// When `hosts` distinct hosts (and half as many addresses) have failed in one of the two ways, there is an outage of
// that kind. For names a witness must agree: the last name that was resolved is looked up once more, since all names of
// one zone may be broken. While names fail, two hosts are enough for an outage of connections as well. During an outage
// one probe at a time goes out; the next one begins 1 s after the end of the last, and this wait doubles up to 30 s.
// The first answer ends the outage.
//
// Until there is a verdict, failures that may be part of an outage are doubtful (`suspicious`): the shard holds them
// for a moment, and if it is an outage, their URLs go back as if they had not been tried.
//
// If all hosts that are left refuse us for good, there is no answer either. So when an outage of connections is an hour
// old and name servers still answer, it is called off: the hosts were the cause. Then nothing is counted until a server
// answers.
//
// Thread: the shard's; reads no clock. Memory bound: 64 KiB and 64 hosts. Durability: none. A resumed crawl begins
// without this knowledge, and finds an outage that lasts in the same way as a crawl that starts without a network.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "flow/address.h"
#include "flow/outcome.h"

namespace portolan {

struct OutageOptions {
  uint32_t hosts = 8;                       // distinct hosts that must fail; 0: outages are not detected
  int64_t hold_ns = 10'000'000'000;         // how long a doubtful failure is held
  int64_t first_probe_ns = 1'000'000'000;   // after the verdict
  int64_t last_probe_ns = 30'000'000'000;   // between two probes, at most
  int64_t call_off_ns = 3'600'000'000'000;  // after this time, an outage of connections ends if name servers answer
};

class Outage {
 public:
  enum class Sign : uint8_t {
    kAnswer,   // a server answered
    kFailure,  // no server answered
    kBroken,   // the transfer broke; the cause may be an outage or the server
    kNothing,  // says nothing about the network
  };
  static Sign SignOf(FetchOutcome outcome);
  static bool NameFailed(FetchOutcome outcome) {
    return outcome == FetchOutcome::kDnsFailed || outcome == FetchOutcome::kDnsTimeout;
  }

  explicit Outage(const OutageOptions& options) : options_(options) {}

  // A fetch ended at `end_ns` (now, or a little before).
  void OnFetch(uint64_t host, const Address& address, FetchOutcome outcome, int64_t end_ns, int64_t now_ns);
  // A name was looked up; `fresh`: a name server was asked, not the cache.
  void OnName(uint64_t host, FetchOutcome outcome, bool fresh, int64_t now_ns);

  // This name was resolved, so it can be a witness.
  void SetWitness(std::string_view name) { witness_ = name; }
  const std::string& witness() const { return witness_; }
  // True if the witness is to be looked up; once per doubt. OnWitness takes the answer.
  bool TakeWitnessQuestion();
  void OnWitness(FetchOutcome outcome, int64_t now_ns);
  // Another shard of the crawl found this outage. It is believed until a server or a name server answers here, and is
  // not counted here.
  void Believe(bool connections, bool names, int64_t now_ns);
  // The frontier was told that a name failed: its next failure is no surprise.
  void OnNameGivenUp(uint64_t host);

  bool connections_down() const { return connections_.down; }
  bool names_down() const { return names_.down; }
  bool down() const { return connections_.down || names_.down; }
  // For displays: "no network", "no name server answers"; empty if there is no outage.
  std::string_view what() const;
  uint64_t count() const { return count_; }  // so far; one that changes from names to connections or back counts once

  bool connections_suspicious() const { return !connections_.down && !connections_.hosts.empty(); }
  bool names_suspicious() const { return !names_.down && !names_.hosts.empty(); }
  bool witness_asked() const { return witness_asked_; }

  // The probes of one kind. REQUIRES for Began: MayProbe. Each Began is followed by one Ended.
  class Probes {
   public:
    bool MayProbe(int64_t now_ns) const { return !out_ && now_ns >= next_ns_; }
    void Began() { out_ = true; }
    void Ended(const OutageOptions& options, int64_t now_ns);
    void Reset(const OutageOptions& options, int64_t now_ns);
    bool out() const { return out_; }
    int64_t next_ns() const { return next_ns_; }

   private:
    bool out_ = false;
    int64_t next_ns_ = 0;
    int64_t wait_ns_ = 0;
  };
  Probes& fetch_probes() { return fetch_probes_; }
  Probes& name_probes() { return name_probes_; }
  const Probes& name_probes() const { return name_probes_; }
  const OutageOptions& options() const { return options_; }

 private:
  struct Track {
    bool down = false;
    int64_t since_ns = 0;
    std::vector<uint64_t> hosts;     // distinct, at most kMost
    std::vector<Address> addresses;  // likewise
  };
  static constexpr size_t kMost = 64;
  static constexpr size_t kRemembered = 4096;
  using Keys = std::array<uint64_t, kRemembered>;  // one entry per remainder; the last key stays

  static bool Has(const Keys& keys, uint64_t key) { return keys[key % kRemembered] == key; }
  static void Put(Keys& keys, uint64_t key) { keys[key % kRemembered] = key; }
  template <typename T>
  static void AddDistinct(std::vector<T>& values, const T& value);
  void FallIfProven(int64_t now_ns);  // for connections
  void Fall(Track& track, int64_t now_ns);
  void Rise(Track& track);

  const OutageOptions options_;
  Track connections_;
  Track names_;
  Probes fetch_probes_;
  Probes name_probes_;
  bool anything_answered_ = false;  // in this run
  bool called_off_ = false;
  std::string witness_;
  bool witness_wanted_ = false;
  bool witness_asked_ = false;
  uint64_t count_ = 0;
  Keys answered_{};       // hosts that have answered
  Keys name_failures_{};  // hosts whose names have failed
};

}  // namespace portolan
