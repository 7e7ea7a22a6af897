// What a copy of a crawl's files asks of the machine that works on the crawl, and what it is answered
// (docs/formats/copy.md). The transport carries one request and one answer at a time and may lose either.
//
//   list    the files of a checkpoint, some at a time. It holds that checkpoint's files until another one is listed
//   read    bytes of one of these files, or of the manifest
//   sums    hashes of pieces of one of these files
//   have    the asker's copy of that checkpoint is durable
//
// Decode returns nothing for bytes that are not a message. Memory bound: kMaxCopyAnswer.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "standby/checkpoint_files.h"

namespace portolan {

inline constexpr uint8_t kCopyVersion = 1;
inline constexpr uint64_t kCopyPiece = uint64_t{1} << 20;      // bytes that one hash is of
inline constexpr uint64_t kMaxCopyRead = 512 * 1024;           // of one read; a message of NATS has at most 1 MiB
inline constexpr uint64_t kMaxCopySums = 16;                   // of one answer
inline constexpr uint64_t kMaxCopyListBytes = 256 * 1024;      // of files in one answer, about
inline constexpr uint64_t kMaxCopyFiles = uint64_t{1} << 24;   // of one checkpoint
inline constexpr uint64_t kMaxCopyLength = uint64_t{1} << 50;  // of one file
inline constexpr size_t kMaxCopyName = 255;

// On the wire: never renumber.
struct CopyRequest {
  enum class Kind : uint8_t { kList = 1, kRead = 2, kSums = 3, kHave = 4 };
  Kind kind = Kind::kList;
  uint64_t sequence = 0;  // of the checkpoint; kList with 0: the newest
  uint64_t index = 0;     // of the file in the list; kList: of the first one wanted. kRead: the manifest is after them
  uint64_t offset = 0;    // kRead: of the first byte; kSums: of the first piece, in pieces
  uint64_t count = 0;     // bytes, or pieces

  bool operator==(const CopyRequest&) const = default;
};

struct CopyAnswer {
  enum class Kind : uint8_t {
    kList = 1,
    kBytes = 2,
    kSums = 3,
    kNoted = 4,
    kGone = 5,     // that checkpoint is not held any more: list the newest
    kFailed = 6,   // the disk there failed, or there is no checkpoint yet: `bytes` says why
    kRefused = 7,  // the request is not one, or is of another version
  };
  Kind kind = Kind::kRefused;
  uint64_t history = 0;               // kList: of the crawl's files (copy_mark.h)
  uint64_t sequence = 0;              // kList
  uint64_t manifest_length = 0;       // kList
  uint64_t total = 0;                 // kList: files of the checkpoint
  std::vector<CheckpointFile> files;  // kList: from the wanted one on
  std::vector<uint64_t> sums;         // kSums
  std::string bytes;                  // kBytes, kFailed

  bool operator==(const CopyAnswer&) const = default;
};

std::string EncodeCopyRequest(const CopyRequest& request);
std::optional<CopyRequest> DecodeCopyRequest(std::string_view bytes);

std::string EncodeCopyAnswer(const CopyAnswer& answer);
// Names of files are names, never paths.
std::optional<CopyAnswer> DecodeCopyAnswer(std::string_view bytes);

}  // namespace portolan
