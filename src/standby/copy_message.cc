#include "standby/copy_message.h"

#include <algorithm>

#include "base/bytes.h"

namespace portolan {
namespace {

bool IsFileName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxCopyName && name != "." && name != ".." &&
         std::ranges::none_of(name, [](char c) { return c == '/' || static_cast<uint8_t>(c) <= ' ' || c == 0x7f; });
}

bool ReadFile(ByteReader& reader, CheckpointFile& file) {
  uint64_t place = 0;
  std::string_view name;
  if (!reader.ReadVarint(place) || place > UINT16_MAX || !reader.ReadString(name) || !IsFileName(name) ||
      !reader.ReadVarint(file.length) || file.length > kMaxCopyLength) {
    return false;
  }
  file.place = static_cast<uint32_t>(place);
  file.name = name;
  return true;
}

bool ReadList(ByteReader& reader, CopyAnswer& answer) {
  uint64_t count = 0;
  if (!reader.Read(answer.history) || !reader.ReadVarint(answer.sequence) ||
      !reader.ReadVarint(answer.manifest_length) || answer.manifest_length > kMaxCopyLength ||
      !reader.ReadVarint(answer.total) || answer.total > kMaxCopyFiles || !reader.ReadVarint(count) ||
      count > answer.total || count > reader.remaining()) {
    return false;
  }
  for (uint64_t i = 0; i < count; ++i) {
    CheckpointFile file;
    if (!ReadFile(reader, file)) return false;
    answer.files.push_back(std::move(file));
  }
  return true;
}

}  // namespace

std::string EncodeCopyRequest(const CopyRequest& request) {
  std::string out;
  AppendLe<uint8_t>(out, kCopyVersion);
  AppendLe<uint8_t>(out, static_cast<uint8_t>(request.kind));
  for (const uint64_t field : {request.sequence, request.index, request.offset, request.count}) {
    AppendVarint(out, field);
  }
  return out;
}

std::optional<CopyRequest> DecodeCopyRequest(std::string_view bytes) {
  ByteReader reader(bytes);
  CopyRequest request;
  uint8_t version = 0;
  uint8_t kind = 0;
  if (!reader.Read(version) || version != kCopyVersion || !reader.Read(kind) || kind < 1 || kind > 4) {
    return std::nullopt;
  }
  request.kind = static_cast<CopyRequest::Kind>(kind);
  for (uint64_t* const field : {&request.sequence, &request.index, &request.offset, &request.count}) {
    if (!reader.ReadVarint(*field) || *field > kMaxCopyLength) return std::nullopt;
  }
  if (!reader.done()) return std::nullopt;
  return request;
}

std::string EncodeCopyAnswer(const CopyAnswer& answer) {
  using Kind = CopyAnswer::Kind;
  std::string out;
  AppendLe<uint8_t>(out, kCopyVersion);
  AppendLe<uint8_t>(out, static_cast<uint8_t>(answer.kind));
  switch (answer.kind) {
    case Kind::kList:
      AppendLe<uint64_t>(out, answer.history);
      for (const uint64_t field : {answer.sequence, answer.manifest_length, answer.total}) AppendVarint(out, field);
      AppendVarint(out, answer.files.size());
      for (const CheckpointFile& file : answer.files) {
        AppendVarint(out, file.place);
        AppendString(out, file.name);
        AppendVarint(out, file.length);
      }
      break;
    case Kind::kSums:
      for (const uint64_t sum : answer.sums) AppendLe<uint64_t>(out, sum);
      break;
    case Kind::kBytes:
    case Kind::kFailed:
      out += answer.bytes;
      break;
    case Kind::kNoted:
    case Kind::kGone:
    case Kind::kRefused:
      break;
  }
  return out;
}

std::optional<CopyAnswer> DecodeCopyAnswer(std::string_view bytes) {
  using Kind = CopyAnswer::Kind;
  ByteReader reader(bytes);
  CopyAnswer answer;
  uint8_t version = 0;
  uint8_t kind = 0;
  if (!reader.Read(version) || version != kCopyVersion || !reader.Read(kind) || kind < 1 || kind > 7) {
    return std::nullopt;
  }
  answer.kind = static_cast<Kind>(kind);
  switch (answer.kind) {
    case Kind::kList:
      if (!ReadList(reader, answer)) return std::nullopt;
      break;
    case Kind::kSums:
      if (reader.remaining() % sizeof(uint64_t) != 0 || reader.remaining() > kMaxCopySums * sizeof(uint64_t)) {
        return std::nullopt;
      }
      while (!reader.done()) reader.Read(answer.sums.emplace_back());
      break;
    case Kind::kBytes:
    case Kind::kFailed: {
      std::string_view rest;
      if (reader.remaining() > kMaxCopyRead || !reader.ReadBytes(reader.remaining(), rest)) return std::nullopt;
      answer.bytes = rest;
      break;
    }
    case Kind::kNoted:
    case Kind::kGone:
    case Kind::kRefused:
      break;
  }
  if (!reader.done()) return std::nullopt;
  return answer;
}

}  // namespace portolan
