// DnsCache: the answers for names, until they are too old.
//
// Thread: one owner. Memory bound: `max_entries`, each the name, its addresses and about 120 bytes; the least recently
// used entry is dropped. Ordered, not hashed: outsiders choose the names.

#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "flow/address.h"
#include "flow/outcome.h"

namespace portolan {

// The answer for a name.
struct DnsFact {
  FetchOutcome outcome = FetchOutcome::kDnsFailed;
  std::vector<Address> addresses;  // not empty when kAnswered
  int64_t expires_ns = 0;          // steady clock
};

class DnsCache {
 public:
  explicit DnsCache(size_t max_entries) : max_entries_(max_entries) {}

  void Put(const std::string& name, DnsFact fact);
  // Null when unknown or too old; valid until the next Put.
  const DnsFact* Find(const std::string& name, int64_t now_ns);

  size_t size() const { return by_name_.size(); }

 private:
  struct Entry {
    std::string name;
    DnsFact fact;
  };
  const size_t max_entries_;
  std::list<Entry> used_;  // most recently used first
  // Keys are views of the entries' names, which a list never moves.
  std::map<std::string_view, std::list<Entry>::iterator> by_name_;
};

}  // namespace portolan
