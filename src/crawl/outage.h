// Outage: is it the web that fails, or our own network?
//
// A crawl whose cable is pulled must not write off a million URLs. A single failure says nothing: hosts die all the
// time, and at the end of a crawl dead ones are all that is left. What tells an outage is surprise: hosts that answered
// before, several of them and at several addresses, fail one after the other, and no server answers in between.
//
//   connections   a failure to connect, or silence after it, counts when the host has answered in this run; before
//                 anything at all has answered in this run (a crawl that is started without a network), whoever fails.
//                 An answer from any server, whatever it says, takes all of it back.
//   names         a failure to resolve (SERVFAIL, silence) counts when it is the first of its host; an answer of a name
//                 server, "no such name" too, takes all of it back. Answers from the resolver's memory say nothing.
//
// With `hosts` distinct hosts (and half as many addresses) on one of the two there is an outage of it. Of names only
// when a witness agrees: the last name that was resolved is asked for once more, since all names of one zone may be
// broken. Without names two hosts are enough for an outage of connections as well. While the outage lasts one probe at
// a time goes out, the next one 1 s after the end of the last, doubling up to 30 s. The first answer ends it.
//
// Until there is a verdict, failures that may be part of an outage are doubtful (`suspicious`): the shard holds them
// for a moment, and gives the URLs back unharmed if it comes to that.
//
// Where hosts that are left have all turned away from us for good there is no answer either. So when an outage of
// connections is an hour old and name servers still answer, it is called off: it was the hosts after all. Nothing is
// counted then until a server answers.
//
// Thread: the shard's; reads no clock. Memory bound: 64 KiB and 64 hosts. Durability: none; a resumed crawl begins
// with nothing known, and an outage that lasts is found again in the way of a crawl without a network.

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
  uint32_t hosts = 8;                       // distinct ones that must fail; 0: there are no outages
  int64_t hold_ns = 10'000'000'000;         // for which a doubtful failure is held
  int64_t first_probe_ns = 1'000'000'000;   // after the verdict
  int64_t last_probe_ns = 30'000'000'000;   // between two probes, at most
  int64_t call_off_ns = 3'600'000'000'000;  // an outage of connections with name servers that answer
};

class Outage {
 public:
  enum class Sign : uint8_t {
    kAnswer,   // a server said something
    kFailure,  // nobody there
    kBroken,   // it ended in a way that an outage could be the cause of, or the server
    kNothing,  // not about the network at all
  };
  static Sign SignOf(FetchOutcome outcome);
  static bool NameFailed(FetchOutcome outcome) {
    return outcome == FetchOutcome::kDnsFailed || outcome == FetchOutcome::kDnsTimeout;
  }

  explicit Outage(const OutageOptions& options) : options_(options) {}

  // A fetch ended at `end_ns` (now, or a little before).
  void OnFetch(uint64_t host, const Address& address, FetchOutcome outcome, int64_t end_ns, int64_t now_ns);
  // A name was looked up; `fresh`: a name server was asked for it.
  void OnName(uint64_t host, FetchOutcome outcome, bool fresh, int64_t now_ns);

  // The name that was asked for was resolved: it can be a witness.
  void SetWitness(std::string_view name) { witness_ = name; }
  const std::string& witness() const { return witness_; }
  // Is the witness to be asked? Once for each time; OnWitness is the answer.
  bool TakeWitnessQuestion();
  void OnWitness(FetchOutcome outcome, int64_t now_ns);
  // A failure of a name was told to the frontier: the next one is no surprise.
  void OnNameGivenUp(uint64_t host);

  bool connections_down() const { return connections_.down; }
  bool names_down() const { return names_.down; }
  bool down() const { return connections_.down || names_.down; }
  // For people: "no network", "no name server answers"; empty when all is well.
  std::string_view what() const;
  uint64_t count() const { return count_; }  // outages so far; one that goes over from one to the other counts once

  bool connections_suspicious() const { return !connections_.down && !connections_.hosts.empty(); }
  bool names_suspicious() const { return !names_.down && !names_.hosts.empty(); }
  bool witness_asked() const { return witness_asked_; }

  // Probes of one kind. REQUIRES for Began: MayProbe; each is followed by one Ended.
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
  using Keys = std::array<uint64_t, kRemembered>;  // one place for each remainder; the last one stays

  static bool Has(const Keys& keys, uint64_t key) { return keys[key % kRemembered] == key; }
  static void Put(Keys& keys, uint64_t key) { keys[key % kRemembered] = key; }
  template <typename T>
  static void AddDistinct(std::vector<T>& values, const T& value);
  void FallIfProven(int64_t now_ns);  // the connections
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
  Keys answered_{};       // hosts that did
  Keys name_failures_{};  // hosts whose names failed
};

}  // namespace portolan
