#include "bench/seen/lmdb_seen.h"

#include <fstream>
#include <string>
#include <utility>

namespace portolan::bench {
namespace {

constexpr size_t kMapBytes = size_t{1} << 40;  // address space, not memory
// What a waiting link costs: entry and scratch, the end of its text, and some 80 bytes of text.
constexpr size_t kLinkBytes = 2 * sizeof(KeyEntry) + sizeof(uint32_t) + 80;

std::unexpected<Error> FromLmdb(int code, std::string_view what) {
  return Fail(code == MDB_CORRUPTED ? ErrorCode::kCorrupt : ErrorCode::kIo,
              std::string("lmdb: ") + std::string(what) + ": " + mdb_strerror(code));
}

Traffic ProcessTraffic() {
  Traffic traffic;
  std::ifstream file("/proc/self/io");
  std::string name;
  uint64_t value = 0;
  while (file >> name >> value) {
    if (name == "read_bytes:") traffic.read = value;
    if (name == "write_bytes:") traffic.written = value;
  }
  return traffic;
}

}  // namespace

LmdbSeen::LmdbSeen(const UrlSeenOptions& options, bool batched)
    : options_(options),
      batched_(batched),
      batch_(options.ram / 4 / kLinkBytes + 64, options.ram / 4 / kLinkBytes * 80 + 4096),
      before_(ProcessTraffic()) {}

LmdbSeen::~LmdbSeen() {
  if (open_ != nullptr) mdb_txn_abort(open_);
  if (env_ != nullptr) mdb_env_close(env_);
}

Result<std::unique_ptr<LmdbSeen>> LmdbSeen::Create(const UrlSeenOptions& options, bool batched) {
  std::unique_ptr<LmdbSeen> made(new LmdbSeen(options, batched));
  if (const int code = mdb_env_create(&made->env_); code != 0) return FromLmdb(code, "create");
  if (const int code = mdb_env_set_mapsize(made->env_, kMapBytes); code != 0) return FromLmdb(code, "map size");
  constexpr unsigned int kFlags =
      MDB_WRITEMAP | MDB_MAPASYNC | MDB_NOSYNC | MDB_NOMETASYNC | MDB_NORDAHEAD | MDB_NOLOCK | MDB_NOMEMINIT;
  if (const int code = mdb_env_open(made->env_, options.dir.c_str(), kFlags, 0644); code != 0) {
    return FromLmdb(code, "open");
  }
  MDB_txn* transaction = nullptr;
  if (const int code = mdb_txn_begin(made->env_, nullptr, 0, &transaction); code != 0) return FromLmdb(code, "begin");
  if (const int code = mdb_dbi_open(transaction, nullptr, MDB_INTEGERKEY | MDB_CREATE, &made->db_); code != 0) {
    mdb_txn_abort(transaction);
    return FromLmdb(code, "open the tree");
  }
  if (const int code = mdb_txn_commit(transaction); code != 0) return FromLmdb(code, "commit");
  return made;
}

Status LmdbSeen::Commit() {
  if (open_ == nullptr) return {};
  const int code = mdb_txn_commit(std::exchange(open_, nullptr));
  in_open_ = 0;
  if (code != 0) return FromLmdb(code, "commit");
  return {};
}

Status LmdbSeen::Add(uint64_t key, std::string_view text) {
  if (!batched_) {
    constexpr uint64_t kLinksPerTransaction = 100'000;
    if (in_open_++ == kLinksPerTransaction) RETURN_IF_ERROR(Commit());
    if (open_ == nullptr) {
      if (const int code = mdb_txn_begin(env_, nullptr, 0, &open_); code != 0) return FromLmdb(code, "begin");
    }
    MDB_val number{sizeof key, &key};
    MDB_val value{0, nullptr};
    const int code = mdb_put(open_, db_, &number, &value, MDB_NOOVERWRITE);
    if (code == MDB_KEYEXIST) return {};
    if (code != 0) return FromLmdb(code, "put");
    options_.unique(text);
    return {};
  }
  batch_.Add(key, text);
  return batch_.full() ? Check() : Status();
}

Status LmdbSeen::Check() {
  const std::span<const KeyEntry> links = batch_.SortedUnique();
  MDB_txn* transaction = nullptr;
  if (const int code = mdb_txn_begin(env_, nullptr, 0, &transaction); code != 0) return FromLmdb(code, "begin");
  MDB_cursor* cursor = nullptr;
  int code = mdb_cursor_open(transaction, db_, &cursor);
  for (size_t i = 0; i < links.size() && code == 0; ++i) {
    uint64_t number = links[i].key();
    MDB_val key{sizeof number, &number};
    MDB_val value{0, nullptr};
    code = mdb_cursor_put(cursor, &key, &value, MDB_NOOVERWRITE);
    if (code == MDB_KEYEXIST) {
      code = 0;
    } else if (code == 0) {
      options_.unique(batch_.text(links[i]));
    }
  }
  if (cursor != nullptr) mdb_cursor_close(cursor);
  if (code != 0) {
    mdb_txn_abort(transaction);
    return FromLmdb(code, "put");
  }
  batch_.Clear();
  if (code = mdb_txn_commit(transaction); code != 0) return FromLmdb(code, "commit");
  return {};
}

Status LmdbSeen::Finish() {
  if (!batch_.empty()) RETURN_IF_ERROR(Check());
  RETURN_IF_ERROR(Commit());
  if (const int code = mdb_env_sync(env_, 1); code != 0) return FromLmdb(code, "sync");
  return {};
}

std::optional<Traffic> LmdbSeen::traffic() const {
  const Traffic now = ProcessTraffic();
  return Traffic{.read = now.read - before_.read, .written = now.written - before_.written};
}

}  // namespace portolan::bench
