// RocksDbSeen: URLseen in RocksDB, an LSM tree, as one who knows it would set it up for this work.
//
// Keys of 8 bytes with empty values. Links are checked in sorted batches by MultiGet, which asks the Bloom filters
// first and reads neighbouring keys together; new ones go in as one WriteBatch. No log and no syncs, as none of the
// others has them; no compression, as hashes have nothing to compress; ten filter bits a key; filters and indexes count
// into the block cache, so that RAM stays what it was given: half for the cache, three eighths for memtables.
//
// Compaction runs on a thread of RocksDB: bind the process to one core to measure one core.

#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <memory>
#include <vector>

#include "bench/seen/link_batch.h"
#include "bench/seen/url_seen.h"

namespace portolan::bench {

class RocksDbSeen : public UrlSeen {
 public:
  // REQUIRES: options.dir is an empty directory.
  static Result<std::unique_ptr<RocksDbSeen>> Create(const UrlSeenOptions& options);
  ~RocksDbSeen() override;

  Status Add(uint64_t key, std::string_view text) override;
  // Also waits for the compaction that the writes have made due, so that its time and traffic are counted.
  Status Finish() override;
  std::optional<Traffic> traffic() const override;

 private:
  explicit RocksDbSeen(const UrlSeenOptions& options);
  Status Check();

  const UrlSeenOptions options_;
  LinkBatch batch_;
  rocksdb::Options db_options_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::ReadOptions read_;
  rocksdb::WriteOptions write_;
  // Arguments of MultiGet, kept between batches.
  std::vector<char> keys_;
  std::vector<rocksdb::Slice> slices_;
  std::vector<rocksdb::PinnableSlice> values_;
  std::vector<rocksdb::Status> statuses_;
};

}  // namespace portolan::bench
