#include "frontier/snapshot.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/bytes.h"
#include "flow/outcome.h"
#include "frontier/host_table.h"

namespace portolan {
namespace {

void AppendAddress(std::string& out, const Address& address) {
  out += address.v6 ? '\6' : '\4';
  out.append(reinterpret_cast<const char*>(address.bytes.data()), address.v6 ? 16 : 4);
}

bool ReadAddress(ByteReader& in, Address& address) {
  uint8_t version = 0;
  if (!in.Read(version) || (version != 4 && version != 6)) return false;
  address = {};
  address.v6 = version == 6;
  std::string_view bytes;
  if (!in.ReadBytes(address.v6 ? 16 : 4, bytes)) return false;
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(address.bytes.data()));
  return !address.empty();
}

// Times left are never negative, and a year is more than any of them, so sums cannot overflow.
constexpr int64_t kYear = 366LL * 86'400 * 1'000'000'000;

void AppendTime(std::string& out, int64_t ns) {
  AppendVarint(out, static_cast<uint64_t>(std::clamp<int64_t>(ns, 0, kYear)));
}

bool ReadTime(ByteReader& in, int64_t& ns) {
  uint64_t value = 0;
  if (!in.ReadVarint(value) || value > static_cast<uint64_t>(kYear)) return false;
  ns = static_cast<int64_t>(value);
  return true;
}

}  // namespace

void AppendSnapshotHost(std::string& out, const SnapshotHost& host, std::span<const Address> addresses) {
  out += static_cast<char>(SnapshotItem::kHost);
  AppendLe<uint64_t>(out, host.key);
  AppendTime(out, host.free_left_ns);
  AppendTime(out, host.crawl_delay_ns);
  AppendTime(out, host.address_left_ns);
  out += static_cast<char>(host.ill_streak);
  out += static_cast<char>(host.dns_failures);
  out += static_cast<char>(host.verdict ? *host.verdict + 1 : 0);
  out += static_cast<char>(host.address_at);
  out += static_cast<char>(addresses.size());
  for (const Address& address : addresses) AppendAddress(out, address);
}

void AppendSnapshotLater(std::string& out, int64_t left_ns, std::string_view record) {
  out += static_cast<char>(SnapshotItem::kLater);
  AppendTime(out, left_ns);
  out += record;
}

void AppendSnapshotBlocks(std::string& out, std::span<const SpillRef> refs) {
  out += static_cast<char>(SnapshotItem::kBlocks);
  for (const SpillRef& ref : refs) {
    AppendLe<uint32_t>(out, ref.segment);
    AppendLe<uint32_t>(out, ref.offset);
    AppendLe<uint32_t>(out, ref.records);
  }
}

void AppendSnapshotIp(std::string& out, const Address& address, int64_t left_ns) {
  out += static_cast<char>(SnapshotItem::kIp);
  AppendAddress(out, address);
  AppendTime(out, left_ns);
}

std::string EncodeSnapshotHost(const SnapshotHost& host) {
  std::string out;
  AppendSnapshotHost(out, host, host.addresses);
  return out;
}

std::optional<SnapshotHost> DecodeSnapshotHost(std::string_view record) {
  ByteReader in(record);
  SnapshotHost host;
  uint8_t item = 0;
  uint8_t verdict = 0;
  uint8_t addresses = 0;
  if (!in.Read(item) || item != static_cast<uint8_t>(SnapshotItem::kHost) || !in.Read(host.key) ||
      !ReadTime(in, host.free_left_ns) || !ReadTime(in, host.crawl_delay_ns) || !ReadTime(in, host.address_left_ns) ||
      !in.Read(host.ill_streak) || !in.Read(host.dns_failures) || !in.Read(verdict) || !in.Read(host.address_at) ||
      !in.Read(addresses) || verdict > kFetchOutcomes || addresses > Host::kMaxAddresses ||
      (addresses > 0 && host.address_at >= addresses)) {
    return std::nullopt;
  }
  if (verdict > 0) host.verdict = static_cast<uint8_t>(verdict - 1);
  host.addresses.resize(addresses);
  for (Address& address : host.addresses) {
    if (!ReadAddress(in, address)) return std::nullopt;
  }
  if (!in.done()) return std::nullopt;
  return host;
}

Result<SnapshotWriter> SnapshotWriter::Create(Env& env, const std::string& path) {
  ASSIGN_OR_RETURN(BlockFileWriter file, BlockFileWriter::Create(env, path, FileKind::kQueue, Codec::kLz4));
  return SnapshotWriter(std::move(file));
}

Status SnapshotWriter::Add(std::string_view record) {
  block_.Add(record);
  ++items_;
  if (block_.size() < kBlockBytes) return {};
  RETURN_IF_ERROR(file_.Append(block_.Finish(kBlockKind)));
  block_.Clear();
  return {};
}

Status SnapshotWriter::Url(SnapshotItem item, std::string_view record) {
  scratch_.assign(1, static_cast<char>(item));
  scratch_ += record;
  return Add(scratch_);
}

Status SnapshotWriter::Finish() {
  if (!block_.empty()) RETURN_IF_ERROR(file_.Append(block_.Finish(kBlockKind)));
  block_.Clear();
  return file_.Sync();
}

namespace {

// False if the item is not valid; an error of the sink goes to `status`.
bool GiveItem(std::string_view record, SnapshotSink& sink, Status& status) {
  if (record.empty()) return false;
  const auto item = static_cast<SnapshotItem>(record[0]);
  const std::string_view rest = record.substr(1);
  ByteReader in(rest);
  int64_t left_ns = 0;
  switch (item) {
    case SnapshotItem::kHost: {
      const auto host = DecodeSnapshotHost(record);
      if (!host) return false;
      status = sink.OnHost(*host);
      return true;
    }
    case SnapshotItem::kHead:
    case SnapshotItem::kTail:
    case SnapshotItem::kGate:
      status = sink.OnUrl(item, rest);
      return true;
    case SnapshotItem::kLater:
      if (!ReadTime(in, left_ns)) return false;
      status = sink.OnLater(left_ns, rest.substr(in.position()));
      return true;
    case SnapshotItem::kBlocks: {
      if (rest.size() % 12 != 0) return false;
      SpillRef ref;
      while (status && in.Read(ref.segment) && in.Read(ref.offset) && in.Read(ref.records)) status = sink.OnBlock(ref);
      return true;
    }
    case SnapshotItem::kIp: {
      Address address;
      if (!ReadAddress(in, address) || !ReadTime(in, left_ns) || !in.done()) return false;
      status = sink.OnIp(address, left_ns);
      return true;
    }
  }
  return false;
}

}  // namespace

Status ReadSnapshot(Env& env, const std::string& path, uint64_t length, uint64_t items, SnapshotSink& sink) {
  BlockFileReader::Options options;
  options.length = length;
  ASSIGN_OR_RETURN(BlockFileReader file, BlockFileReader::Open(env, path, FileKind::kQueue, options));
  RecordBlockReader records;
  uint64_t seen = 0;
  for (;;) {
    ASSIGN_OR_RETURN(const std::optional<Block> block, file.Next());
    if (!block) break;
    records.Start(*block, 0);
    for (; records.Next(); ++seen) {
      Status status;
      if (!GiveItem(records.record(), sink, status)) {
        return Fail(ErrorCode::kCorrupt,
                    fmt::format("{}: block at {}: item {} is not valid", path, block->offset, seen));
      }
      if (!status) return Status(std::unexpected(std::move(status).error().Context(path)));
    }
    if (!records.ok()) {
      return Fail(ErrorCode::kCorrupt, fmt::format("{}: block at {}: its records do not parse", path, block->offset));
    }
  }
  if (seen != items) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: it has {} items instead of {}", path, seen, items));
  }
  return {};
}

}  // namespace portolan
