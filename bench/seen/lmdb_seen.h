// LmdbSeen: URLseen in LMDB, a B+ tree in a memory map, tuned for this work.
//
// Integer keys of 8 bytes with empty values, written through the map without syncs. Links wait until a quarter of RAM
// is full of them and then go through the tree in key order, one transaction a batch: neighbouring keys fall into the
// same pages, and each page is copied once a batch at most.
//
// That is the batched mode, which turns the database into a batch method. The plain mode puts each link as it comes, in
// a transaction that is committed now and then: what a crawler does that uses a database instead of a method.
//
// LMDB has no cache of its own, so that RAM beyond the batch is the page cache, which only the system can bound: run it
// in a memory cgroup to hold it to its share. Its traffic is the process's, by /proc/self/io: measure it alone.

#pragma once

#include <lmdb.h>

#include <memory>

#include "bench/seen/link_batch.h"
#include "bench/seen/url_seen.h"

namespace portolan::bench {

class LmdbSeen : public UrlSeen {
 public:
  // REQUIRES: options.dir is an empty directory.
  static Result<std::unique_ptr<LmdbSeen>> Create(const UrlSeenOptions& options, bool batched);
  ~LmdbSeen() override;

  Status Add(uint64_t key, std::string_view text) override;
  // Also syncs, so that what the page cache still holds is written and counted.
  Status Finish() override;
  std::optional<Traffic> traffic() const override;

 private:
  LmdbSeen(const UrlSeenOptions& options, bool batched);
  Status Commit();
  Status Check();

  const UrlSeenOptions options_;
  const bool batched_;
  MDB_txn* open_ = nullptr;  // of the plain way
  uint64_t in_open_ = 0;
  LinkBatch batch_;
  MDB_env* env_ = nullptr;
  MDB_dbi db_ = 0;
  Traffic before_;  // of the process when this began
};

}  // namespace portolan::bench
