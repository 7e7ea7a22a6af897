// Clusters of pages with nearly the same text, or with the same bytes, of all that a DupPages has.
//
// Two pages are near if the hashes of their texts differ in at most `bits` bits; a cluster is what is connected by such
// pairs. So a chain is one cluster: its ends may differ in more bits than `bits`, and each member says how far it is
// from the representative, which is the page that was fetched first. With `exact` a cluster is the pages with one
// fingerprint.
//
// Everything is sorting and passes over files: pages by hash; the pairs (content/near_pairs.h); their groups
// (content/near_groups.h); pages by group; the groups that are wanted, the largest first; their pages by number, to
// take the URLs from the file of pages; and the lines of the answer. So no cluster is too large.
//
// The groups are stored in DIR/near-BITS.z (docs/formats/dups.md) and used again until there are new pages. When there
// are few new ones, the old groups are taken over, and the new texts are compared with all (content/near_batch.h): the
// old pairs are not looked for again.
//
// Thread: one caller. Memory bound: options.memory, about. Disk: in the worst phase about 100 bytes per page, in
// nameless files, and the lines of the answer.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "follow/dup_pages.h"
#include "io/env.h"

namespace portolan {

struct DupOptions {
  int bits = 3;
  bool exact = false;
  uint64_t min_size = 2;  // pages of a cluster
  uint64_t limit = 20;    // clusters; 0: all
  uint64_t members = 0;   // pages of a cluster that are given; 0: all
  std::string url;        // only the cluster of this page
  size_t memory = size_t{256} << 20;
  DupPages::Progress progress;

  static constexpr size_t kMinMemory = size_t{8} << 20;
};

struct DupMember {
  uint64_t cluster = 0;  // from 0, the largest first
  uint64_t size = 0;     // pages of the cluster
  uint64_t place = 0;    // among them, by time; 0 is the representative
  int bits = 0;          // in which its text's hash differs from the representative's
  bool same_bytes = false;
  std::string_view url;
};

struct DupSummary {
  uint64_t pages = 0;       // in the log
  uint64_t with_text = 0;   // of them: with a similarity hash
  uint64_t clusters = 0;    // of at least min_size pages
  uint64_t clustered = 0;   // pages in them
  uint64_t parts = 0;       // NearPairs::parts(): not 0 means that pairs may have been missed
  bool url_found = false;   // the page of options.url is in the log …
  bool url_hashed = false;  // … and has the hash that is asked for
};

// The members of the clusters that are wanted, cluster by cluster. REQUIRES: memory >= kMinMemory.
using DupVisitor = std::function<Status(const DupMember& member)>;
Result<DupSummary> ListDups(Env& env, const DupPages& pages, const DupOptions& options, const DupVisitor& each);

}  // namespace portolan
