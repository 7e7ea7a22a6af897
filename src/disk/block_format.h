// The layout of every data file: a header and then blocks. docs/formats/blocks.md describes it in full.
//
//   file   OFFSET SIZE   block  OFFSET SIZE
//   magic       0    8   crc32c      0    4   of every byte after this field, to the end of the payload
//   version     8    4   stored      4    4   bytes of payload that follow the header
//   crc32c     12    4   raw         8    4   bytes of payload once decoded
//   blocks     16        plain      12    4   leading payload bytes that are stored as they are, not compressed
//                        records    16    4   records in the payload (what they are depends on the file's kind)
//                        codec      20    1   how payload[plain..] is compressed
//                        kind       21    1   what the payload is, within the kind of file
//                        zero       22    2
//                        payload    24
//
// All numbers are little-endian. A block is valid if and only if its header fits, its lengths are within the limits
// below, its codec is known and its checksum matches.

#pragma once

#include <cstdint>
#include <string_view>

namespace portolan {

inline constexpr uint32_t kFormatVersion = 1;
inline constexpr size_t kFileHeaderSize = 16;
inline constexpr size_t kBlockHeaderSize = 24;
// No writer makes a larger payload, so a larger one is corrupt.
inline constexpr uint32_t kMaxBlockPayload = 64U << 20;

// On disk: never renumber.
enum class Codec : uint8_t { kNone = 0, kLz4 = 1, kZstd = 2 };

enum class FileKind : uint8_t {
  kQueue,    // records of a DiskQueue segment
  kTuples,   // aux texts of a DRUM batch, in arrival order, with the bucket of each
  kRows,     // rows (key, op, value) of a DRUM batch, in arrival order
  kRun,      // rows of a DRUM batch, bucket by bucket
  kZ,        // DRUM's repository: keys sorted and gap-coded, with values
  kAnswers,  // answers of a DRUM round, bucket by bucket
  kRules,    // compiled robots rules, one origin's robots.txt per block
  kLinks,    // the link log: pages and their links, with flags
  kText,     // the text log: what pages say
  kPages,    // pages with their hashes, for the search for duplicates
};
inline constexpr int kFileKinds = 10;

// Eight bytes; the first of a file.
constexpr std::string_view FileMagic(FileKind kind) {
  constexpr std::string_view kMagics[kFileKinds] = {"PTLQUEUE", "PTLTUPLE", "PTLROWS_", "PTLRUN__", "PTLZKEYS",
                                                    "PTLANSWR", "PTLRULES", "PTLLINKS", "PTLTEXT3", "PTLPAGES"};
  return kMagics[static_cast<size_t>(kind)];
}

constexpr std::string_view FileKindName(FileKind kind) {
  constexpr std::string_view kNames[kFileKinds] = {"queue segment",     "DRUM tuple log",   "DRUM row log", "DRUM run",
                                                   "DRUM repository Z", "DRUM answers",     "robots rules", "link log",
                                                   "text log",          "pages with hashes"};
  return kNames[static_cast<size_t>(kind)];
}

constexpr std::string_view CodecName(Codec codec) {
  constexpr std::string_view kNames[] = {"none", "lz4", "zstd"};
  return kNames[static_cast<size_t>(codec)];
}

}  // namespace portolan
