// VirtualNats: the messaging server of a cluster in virtual time, as far as LinkTransport needs it, with everything
// that may go wrong there: messages are late, connections break with messages and answers on their way, the server is
// away, streams are full, messages are skipped or come twice on their way to the reader, datagrams are lost, late,
// doubled and out of order.
//
// What it keeps is what JetStream promises: what one connection published arrives in its order; what was acknowledged
// is there; a message with an id that came in the last two minutes is not stored again; numbers have no gaps.
//
// Thread: one. Memory: what is in the streams. The same seed gives the same faults.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cluster/link_transport.h"
#include "sim/virtual/virtual_time.h"

namespace portolan::sim {

class VirtualNats {
 public:
  struct Options {
    uint32_t shards = 1;
    uint64_t seed = 1;
    uint64_t stream_bytes = uint64_t{64} << 20;
    int64_t delay_ns = 5'000'000;                       // of a message, at most
    int64_t late_ns = 3'000'000'000;                    // of the few datagrams that are late
    bool faulty = true;                                 // false: nothing is lost, doubled or skipped
    int64_t begin_unix_ns = 1'700'000'000'000'000'000;  // the server's calendar at the beginning
    int64_t drift_ppm = 0;                              // how much faster than virtual time, in millionths
    int64_t late_answer_ns = 1'500'000'000;             // of a few questions for the time, one way, at most
  };
  struct Counts {
    uint64_t stored = 0;
    uint64_t duplicates = 0;  // of batches, by their id
    uint64_t full = 0;        // refused
    uint64_t lost = 0;        // batches and answers that a broken connection lost
    uint64_t datagrams_lost = 0;
  };

  VirtualNats(VirtualTime& time, const Options& options);

  // A connection of the process that holds that shard. It must not outlive this.
  // `clock` is that machine's; it outlives the connection.
  std::unique_ptr<LinkTransport> Connect(uint32_t shard, const Clock& clock);

  // Nothing passes between the server and that shard's machine, or anybody, until then.
  void Cut(uint32_t shard, int64_t until_ns);
  void CutAll(int64_t until_ns);
  bool Reachable(uint32_t shard) const { return time_.NowNs() >= cut_until_ns_[shard]; }
  // Somebody sets the server's calendar, or another server takes its place.
  void SetClock(int64_t step_ns) { clock_step_ns_ += step_ns; }
  // What it says.
  int64_t ServerUnixNs() const { return ServerUnixNs(time_.NowNs()); }
  // Somebody deletes a stream and makes it anew.
  void MakeAnew(uint32_t shard);

  const Counts& counts() const { return counts_; }

 private:
  class Link;
  struct Stream {
    int64_t created_ns = 1;
    uint64_t first = 1;  // number of the oldest message
    std::deque<std::string> messages;
    uint64_t bytes = 0;
    std::map<std::string, std::pair<uint64_t, int64_t>> ids;  // number and time
    uint64_t last() const { return first + messages.size() - 1; }
  };
  struct Wire;  // what of a Link messages on their way may still touch

  bool Chance(uint32_t one_in) { return options_.faulty && random_() % one_in == 0; }
  int64_t Delay() { return 1 + static_cast<int64_t>(random_() % static_cast<uint64_t>(options_.delay_ns)); }
  int64_t ServerUnixNs(int64_t virtual_ns) const {
    return options_.begin_unix_ns + clock_step_ns_ + virtual_ns + virtual_ns / 1000 * options_.drift_ppm / 1000;
  }
  LinkAck Store(uint32_t to, const std::string& id, std::string batch, uint64_t number);
  void WakeReaders(uint32_t shard);

  VirtualTime& time_;
  const Options options_;
  std::mt19937_64 random_;
  std::vector<Stream> streams_;
  std::vector<std::string> reports_;
  std::vector<int64_t> cut_until_ns_;                    // by shard
  std::vector<uint64_t> cuts_;                           // by shard
  std::vector<std::vector<std::weak_ptr<Wire>>> wires_;  // by shard
  int64_t clock_step_ns_ = 0;
  Counts counts_;
};

}  // namespace portolan::sim
