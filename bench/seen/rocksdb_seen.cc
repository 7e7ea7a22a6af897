#include "bench/seen/rocksdb_seen.h"

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <bit>
#include <cstring>

namespace portolan::bench {
namespace {

// Larger batches gain nothing more: a few dozen keys of a batch fall into each block as it is.
constexpr size_t kBatchLinks = 8192;

Error FromRocks(const rocksdb::Status& status) {
  return Error(status.IsCorruption() ? ErrorCode::kCorrupt : ErrorCode::kIo, "rocksdb: " + status.ToString());
}

}  // namespace

RocksDbSeen::RocksDbSeen(const UrlSeenOptions& options)
    : options_(options),
      batch_(kBatchLinks, kBatchLinks * 256),
      keys_(kBatchLinks * sizeof(uint64_t)),
      slices_(kBatchLinks),
      values_(kBatchLinks),
      statuses_(kBatchLinks) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(options.ram / 2);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10, false));
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.optimize_filters_for_memory = true;
  table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
  table.block_size = 4096;
  table.format_version = 5;
  db_options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  db_options_.create_if_missing = true;
  db_options_.compression = rocksdb::kNoCompression;
  db_options_.write_buffer_size = options.ram / 8;
  db_options_.max_write_buffer_number = 3;
  db_options_.memtable_whole_key_filtering = true;
  db_options_.memtable_prefix_bloom_size_ratio = 0.05;
  db_options_.level_compaction_dynamic_level_bytes = true;
  db_options_.max_bytes_for_level_base = options.ram / 2;
  db_options_.target_file_size_base = 32 << 20;
  db_options_.max_background_jobs = 2;
  db_options_.max_open_files = -1;
  db_options_.statistics = rocksdb::CreateDBStatistics();
  db_options_.statistics->set_stats_level(rocksdb::StatsLevel::kExceptHistogramOrTimers);
  read_.verify_checksums = false;
  write_.disableWAL = true;
}

RocksDbSeen::~RocksDbSeen() = default;

Result<std::unique_ptr<RocksDbSeen>> RocksDbSeen::Create(const UrlSeenOptions& options) {
  std::unique_ptr<RocksDbSeen> made(new RocksDbSeen(options));
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(made->db_options_, options.dir, &db);
  if (!status.ok()) return std::unexpected(FromRocks(status));
  made->db_.reset(db);
  return made;
}

Status RocksDbSeen::Add(uint64_t key, std::string_view text) {
  batch_.Add(key, text);
  return batch_.full() ? Check() : Status();
}

Status RocksDbSeen::Check() {
  const std::span<const KeyEntry> links = batch_.SortedUnique();
  for (size_t i = 0; i < links.size(); ++i) {
    char* const key = keys_.data() + i * sizeof(uint64_t);
    const uint64_t ordered = __builtin_bswap64(links[i].key());  // RocksDB compares bytes
    std::memcpy(key, &ordered, sizeof ordered);
    slices_[i] = rocksdb::Slice(key, sizeof ordered);
    values_[i].Reset();
  }
  db_->MultiGet(read_, db_->DefaultColumnFamily(), links.size(), slices_.data(), values_.data(), statuses_.data(),
                /*sorted_input=*/true);
  rocksdb::WriteBatch fresh;
  for (size_t i = 0; i < links.size(); ++i) {
    if (statuses_[i].ok()) continue;
    if (!statuses_[i].IsNotFound()) return std::unexpected(FromRocks(statuses_[i]));
    fresh.Put(slices_[i], rocksdb::Slice());
    options_.unique(batch_.text(links[i]));
  }
  batch_.Clear();
  const rocksdb::Status status = db_->Write(write_, &fresh);
  if (!status.ok()) return std::unexpected(FromRocks(status));
  return {};
}

Status RocksDbSeen::Finish() {
  if (!batch_.empty()) RETURN_IF_ERROR(Check());
  rocksdb::Status status = db_->Flush(rocksdb::FlushOptions());
  // Changing nothing, this returns when no compaction is pending any more.
  uint64_t pending = 1;
  uint64_t running = 1;
  while (status.ok() && (pending != 0 || running != 0)) {
    if (!db_->GetIntProperty(rocksdb::DB::Properties::kCompactionPending, &pending) ||
        !db_->GetIntProperty(rocksdb::DB::Properties::kNumRunningCompactions, &running)) {
      break;
    }
    if (pending != 0 || running != 0) db_->GetEnv()->SleepForMicroseconds(1000);
  }
  if (!status.ok()) return std::unexpected(FromRocks(status));
  return {};
}

std::optional<Traffic> RocksDbSeen::traffic() const {
  const rocksdb::Statistics& statistics = *db_options_.statistics;
  return Traffic{.read = statistics.getTickerCount(rocksdb::LAST_LEVEL_READ_BYTES) +
                         statistics.getTickerCount(rocksdb::NON_LAST_LEVEL_READ_BYTES),
                 .written = statistics.getTickerCount(rocksdb::FLUSH_WRITE_BYTES) +
                            statistics.getTickerCount(rocksdb::COMPACT_WRITE_BYTES)};
}

}  // namespace portolan::bench
