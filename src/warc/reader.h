// WarcReader: the records of a WARC (0.17 to 1.1) or ARC (1, 2) file, plain or gzip, one after the other.
//
//   WarcReader reader(source, options);
//   for (;;) {
//     ASSIGN_OR_RETURN(const bool more, reader.Next());
//     if (!more) break;
//     // reader.record() has the header; the block comes in pieces, as much of it as is wanted:
//     ASSIGN_OR_RETURN(const std::string_view piece, reader.ReadBlock());   // empty at its end
//     RETURN_IF_ERROR(reader.Finish());                                     // record().length is known now
//   }
//
// Damaged archives are data: an Error comes only from the source. Whatever the bytes, reading continues at the next
// record that can be found and counts what it skipped. Strict reading also checks every field and digest; each
// deviation is a Fault given to options.faults. fault.h says which faults are reported in which mode.
//
// Where reading continues: in gzip files at the next member; plain ones at the next line that begins with "WARC/" (in
// ARC files: that has the fields of a record's line). A Content-Length that is too long ends the record at the next
// member when a record begins there; one that is too short leaves bytes that are skipped.
//
// Memory bound: MemberStream's, one header (kMaxWarcHeader) and one HTTP head (kMaxHttpHead); never a block.
// Thread: one owner.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "warc/archived_chunks.h"
#include "warc/digest.h"
#include "warc/fault.h"
#include "warc/member_stream.h"
#include "warc/record.h"

namespace portolan {

enum class PayloadDigest : uint8_t { kNever, kIfMissing, kAlways };  // missing: no WARC-Payload-Digest in the header

struct WarcReaderOptions {
  bool strict = false;                                   // check fields and digests
  PayloadDigest payload_digest = PayloadDigest::kNever;  // fill record().payload_sha1
  uint64_t start = 0;                                    // offset in the file of the first record to read
  FaultSink faults;                                      // may be empty
};

struct WarcReaderStats {
  uint64_t records = 0;
  uint64_t block_bytes = 0;
  uint64_t faults = 0;
  uint64_t skipped_bytes = 0;   // decoded bytes that belong to no record
  uint64_t skipped_places = 0;  // how many runs of them
  uint64_t raw_skipped = 0;     // compressed bytes that could not be decoded
};

class WarcReader {
 public:
  WarcReader(ByteSource source, WarcReaderOptions options);

  Result<bool> Next();
  const WarcRecord& record() const { return record_; }

  // The next piece of the block, HTTP head included, valid until the next call; empty at its end.
  Result<std::string_view> ReadBlock();
  // The same without the HTTP head.
  Result<std::string_view> ReadPayload();
  // Reads the rest of the record and computes its length and digests. Next calls it if it was not called.
  Status Finish();

  ArchiveFormat format() const { return format_; }
  bool gzip() const { return stream_.gzip(); }
  uint64_t raw_position() const { return stream_.raw_position(); }
  WarcReaderStats stats() const;

 private:
  void Report(FaultKind kind, uint64_t offset, std::string detail);
  Result<bool> AtRecordStart();
  Status Skip(bool first);  // to the next record start, member or segment end
  Status ReadHeader();      // at a record start
  Status ReadWarcHeader();
  Status ReadArcHeader();
  Status ReadArcVersionBlock(const std::optional<uint64_t>& length);
  Status ReadHttpHead();
  void StartDigests();
  void UpdateDigests(std::string_view piece);
  void CheckDigests();
  Status EndRecord();
  Digester& DigesterFor(std::optional<Digester>& slot, DigestKind kind);

  WarcReaderOptions options_;
  WarcReaderStats stats_;
  MemberStream stream_;
  ArchiveFormat format_ = ArchiveFormat::kUnknown;
  WarcRecord record_;
  bool open_ = false;  // a record is begun and not finished

  bool seen_any_ = false;
  uint64_t block_left_ = 0;
  size_t pending_ = 0;         // bytes of the last piece, consumed at the next call
  uint64_t record_start_ = 0;  // decoded position
  uint64_t head_left_ = 0;     // bytes of the HTTP head still to come

  // Digests of the record at hand. A declared payload digest may be that of the bytes as sent or without chunking:
  // writers differ, so both are accepted.
  std::optional<ParsedDigest> want_block_;
  std::optional<ParsedDigest> want_payload_;
  std::optional<Digester> block_digester_;
  std::optional<Digester> payload_digester_;
  std::optional<Digester> unchunked_digester_;
  std::optional<Digester> sha1_;
  bool use_block_ = false;
  bool use_payload_ = false;
  bool use_unchunked_ = false;
  bool use_sha1_ = false;
  ArchivedChunks chunked_;
};

}  // namespace portolan
