// SendWindow: the batches of one shard to one receiver that are not known to be stored. What is sent stays here until
// its acknowledgement, so that it can be sent again; what found no room in the stream waits here, and the window fills.
//
// Pure: the caller sends and reports. Memory bound: `bytes`, and what the caller adds without asking HasRoom again: the
// links of one page.

#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "cluster/link_batch_format.h"

namespace portolan {

class SendWindow {
 public:
  explicit SendWindow(uint64_t bytes) : max_bytes_(bytes) {}

  // True if another page's links may be added.
  bool HasRoom() const { return entries_.empty() || (entries_.size() < kLinkWindow && bytes_ < max_bytes_); }
  uint64_t next_number() const { return stored_ + entries_.size() + 1; }
  // The batch has next_number.
  void Add(std::string batch);

  // The oldest batch that is to be sent, or null: never one that is kLinkWindow or more above what is stored. It counts
  // as sent after MarkSent.
  const std::string* NextToSend(uint64_t& number) const;
  void MarkSent(uint64_t number);

  void Stored(uint64_t number);     // acknowledged; a number that is not here is ignored
  void SendAgain(uint64_t number);  // refused, or no answer

  // Every batch that is not known to be stored, in the order of the numbers.
  template <typename Visit>
  void ForEachUnstored(Visit&& visit) const {
    for (const Entry& entry : entries_) {
      if (entry.state != State::kStored) visit(entry.batch);
    }
  }

  // Every batch up to this number is in the stream.
  uint64_t stored() const { return stored_; }
  uint64_t sent() const { return stored_ + entries_.size(); }
  uint64_t bytes() const { return bytes_; }
  bool empty() const { return entries_.empty(); }

 private:
  enum class State : uint8_t { kWaiting, kSent, kStored };
  struct Entry {
    std::string batch;
    State state = State::kWaiting;
  };
  Entry* Find(uint64_t number);

  const uint64_t max_bytes_;
  std::deque<Entry> entries_;  // the first has the number stored_ + 1
  uint64_t stored_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace portolan
