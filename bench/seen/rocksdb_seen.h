// RocksDbSeen: URLseen in RocksDB, an LSM tree, tuned for this work.
//
// Keys of 8 bytes with empty values, and RocksDB's own advice for point lookups: ten Bloom filter bits per key, hash
// indexes in data blocks, a filter on the memtable. Filters and indexes are partitioned and count into the block cache,
// so that RAM stays what it was given however large the crawl: half for the cache, three eighths for memtables, an
// eighth for the links that wait. Those are checked in key order, so that a block is read once per batch, by MultiGet,
// which asks the filters first; new ones go in as one WriteBatch. No log and no syncs, as none of the others has them;
// no compression, as hashes have nothing to compress.
//
// That is the batched mode, which turns the database into a batch method: text waits in RAM, keys come sorted and
// without repetition. The plain way asks for each link as it comes (Get, and Put if it is new): what a crawler does
// that uses a database instead of a method (Mercator-A, WebCrawler).
//
// Compaction runs on a thread of RocksDB: bind the process to one core to measure one core.

#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <memory>

#include "bench/seen/link_batch.h"
#include "bench/seen/url_seen.h"

namespace portolan::bench {

class RocksDbSeen : public UrlSeen {
 public:
  // REQUIRES: options.dir is an empty directory.
  static Result<std::unique_ptr<RocksDbSeen>> Create(const UrlSeenOptions& options, bool batched);
  ~RocksDbSeen() override;

  Status Add(uint64_t key, std::string_view text) override;
  // Also waits for the compaction that the writes have made due, so that its time and traffic are counted.
  Status Finish() override;
  std::optional<Traffic> traffic() const override;

 private:
  RocksDbSeen(const UrlSeenOptions& options, bool batched);
  Status Check();

  const UrlSeenOptions options_;
  const bool batched_;
  LinkBatch batch_;
  std::string value_;
  rocksdb::Options db_options_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::ReadOptions read_;
  rocksdb::WriteOptions write_;
};

}  // namespace portolan::bench
