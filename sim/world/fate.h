// Fate: the kind and fault of a numbered page, where redirects lead, and when a page changes.
//
// All are asked of the content host (HostFacts::content), so that mirrors share them. Only pages without children in
// the tree of their host can get a faulty kind.
//
// Changes are a Poisson process (life.h).

#pragma once

#include <cstdint>

#include "sim/world/atlas.h"
#include "sim/world/draw.h"
#include "sim/world/life.h"
#include "sim/world/paths.h"

namespace portolan::sim {

class Fate {
 public:
  Fate(const WorldParams& params, uint64_t seed, const Atlas& atlas);

  PageKind Kind(uint32_t content, uint64_t page) const;
  // kNone for all but kFault; and for a decompression bomb, which is a kFault of the body only.
  WireFault Fault(uint32_t content, uint64_t page) const;
  bool IsBomb(uint32_t content, uint64_t page) const {
    return Kind(content, page) == PageKind::kFault && Fault(content, page) == WireFault::kNone;
  }
  // Does a client that reads the answer to its end get the whole page?
  bool ShowsBody(uint32_t content, uint64_t page) const;

  struct Target {
    bool same_host = true;
    uint32_t hid = 0;  // where it is not the same host
    uint64_t page = 0;
  };
  Target Redirect(uint32_t content, uint64_t page) const;
  // The page whose body a duplicate or near duplicate shows.
  uint64_t Source(uint32_t content, uint64_t page) const;
  // Are all links of this page spelt so that they mean the same on another page?
  bool IsPortable(uint32_t content, uint64_t page) const;

  LastChangeOf Change(uint32_t content, uint64_t page, int64_t unix_ns) const;
  // The mean time between two changes of the page; 0: it never changes.
  double ChangeNs(uint32_t content, uint64_t page) const;

 private:
  static constexpr size_t kKinds = 14;
  static constexpr size_t kFaults = 14;  // the last: a bomb

  uint64_t seed_;
  const Atlas& atlas_;
  double kind_sums_[kKinds] = {};  // running sums of the rates, in the order of PageKind
  double fault_sums_[kFaults] = {};
  double loop_;
  double change_ns_;
  double change_sigma_;
  int64_t epoch_ns_;
};

}  // namespace portolan::sim
