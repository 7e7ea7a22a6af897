#include "bench/seen/rocksdb_seen.h"

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <array>

namespace portolan::bench {
namespace {

// What a waiting link costs: entry and scratch, the end of its text, and some 80 bytes of text.
constexpr size_t kLinkBytes = 2 * sizeof(KeyEntry) + sizeof(uint32_t) + 80;
// Keys of one MultiGet: what RocksDB looks up together.
constexpr size_t kTogether = 32;

Error FromRocks(const rocksdb::Status& status) {
  return Error(status.IsCorruption() ? ErrorCode::kCorrupt : ErrorCode::kIo, "rocksdb: " + status.ToString());
}

}  // namespace

RocksDbSeen::RocksDbSeen(const UrlSeenOptions& options, bool batched)
    : options_(options),
      batched_(batched),
      batch_(options.ram / 8 / kLinkBytes + 64, options.ram / 8 / kLinkBytes * 80 + 4096) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(options.ram / 2, /*num_shard_bits=*/0, /*strict_capacity_limit=*/false,
                                           /*high_pri_pool_ratio=*/0.5);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10, false));
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.pin_top_level_index_and_filter = true;
  table.partition_filters = true;
  table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
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

Result<std::unique_ptr<RocksDbSeen>> RocksDbSeen::Create(const UrlSeenOptions& options, bool batched) {
  std::unique_ptr<RocksDbSeen> made(new RocksDbSeen(options, batched));
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(made->db_options_, options.dir, &db);
  if (!status.ok()) return std::unexpected(FromRocks(status));
  made->db_.reset(db);
  return made;
}

Status RocksDbSeen::Add(uint64_t key, std::string_view text) {
  if (!batched_) {
    const uint64_t bytes = __builtin_bswap64(key);
    const rocksdb::Slice slice(reinterpret_cast<const char*>(&bytes), sizeof bytes);
    rocksdb::Status status = db_->Get(read_, slice, &value_);
    if (status.ok()) return {};
    if (status.IsNotFound()) status = db_->Put(write_, slice, rocksdb::Slice());
    if (!status.ok()) return std::unexpected(FromRocks(status));
    options_.unique(text);
    return {};
  }
  batch_.Add(key, text);
  return batch_.full() ? Check() : Status();
}

Status RocksDbSeen::Check() {
  const std::span<const KeyEntry> links = batch_.SortedUnique();
  std::array<uint64_t, kTogether> keys;
  std::array<rocksdb::Slice, kTogether> slices;
  std::array<rocksdb::PinnableSlice, kTogether> values;
  std::array<rocksdb::Status, kTogether> statuses;
  rocksdb::WriteBatch fresh;
  for (size_t begin = 0; begin < links.size(); begin += kTogether) {
    const size_t count = std::min(kTogether, links.size() - begin);
    for (size_t i = 0; i < count; ++i) {
      keys[i] = __builtin_bswap64(links[begin + i].key());  // RocksDB compares bytes
      slices[i] = rocksdb::Slice(reinterpret_cast<const char*>(&keys[i]), sizeof keys[i]);
      values[i].Reset();
    }
    db_->MultiGet(read_, db_->DefaultColumnFamily(), count, slices.data(), values.data(), statuses.data(),
                  /*sorted_input=*/true);
    for (size_t i = 0; i < count; ++i) {
      if (statuses[i].ok()) continue;
      if (!statuses[i].IsNotFound()) return std::unexpected(FromRocks(statuses[i]));
      fresh.Put(slices[i], rocksdb::Slice());
      options_.unique(batch_.text(links[begin + i]));
    }
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
