// Fault: one way in which an archive departs from its format, and where.
//
// Strict reading reports them all. Offsets are places in the file as it is stored: for a gzip file the start of the
// member, for a plain one the byte (or the record's first byte, where the fault is about a whole record).

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace portolan {

enum class FaultKind : uint8_t {
  // Found by every reader.
  kNotAnArchive,     // the file begins with neither a WARC nor an ARC record
  kGarbage,          // bytes that belong to no record
  kHeaderTooLong,    // no end of the header within kMaxWarcHeader
  kTruncatedRecord,  // the file, or the gzip member, ends inside a record
  kBadLength,        // Content-Length missing, not a number, or not the block's length
  kGzipData,         // a gzip member that does not decompress, or whose checksum differs
  kGzipTruncated,    // the file ends inside a gzip member
  kGzipGarbage,      // bytes between or after gzip members
  kSharedMember,     // several records in one gzip member: only the first can be found by offset
  // Found by strict reading only.
  kBadVersion,
  kBadHeaderLine,
  kMissingField,
  kDuplicateField,
  kEmptyField,
  kBadFieldValue,
  kBadDate,
  kMissingContentType,
  kWrongContentType,
  kBadSegment,
  kBadDigest,      // not an algorithm and a value
  kBlockDigest,    // the block's digest differs
  kPayloadDigest,  // the payload's digest differs
  kRepeatedId,     // another record had this WARC-Record-ID before; found by `warc check`, which reads them all
  kBadRecordEnd,   // not ended by CRLF CRLF (WARC), or by a line end (ARC)
  kArcVersion,     // no version block at the front, or an unknown one
  kArcLine,        // a field of an ARC record's line is not what it should be
};

// "bad-date": fixed words, for scripts.
std::string_view FaultName(FaultKind kind);

struct Fault {
  FaultKind kind;
  uint64_t offset = 0;
  std::string detail;  // a short sentence, one line
};

using FaultSink = std::function<void(const Fault&)>;

}  // namespace portolan
