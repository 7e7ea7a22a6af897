// What the WARC and ARC fuzz targets share: any bytes are read twice, from a source that answers in full and from one
// that answers in small pieces, strictly and tolerantly. All must tell of the same records.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "warc/reader.h"

namespace portolan {

// Everything that can be told of a file.
struct Told {
  std::string records;
  std::string faults;
};

inline Told Tell(std::string_view bytes, bool strict, bool short_reads) {
  Told told;
  uint64_t step = 1;
  uint64_t next = 0;
  const ByteSource source = [&](uint64_t offset, char* to, size_t count) -> Result<size_t> {
    CHECK(offset == next, "the source is read in order");
    if (offset >= bytes.size()) return 0;
    if (short_reads) count = std::min<size_t>(count, step = step * 5 % 97 + 1);
    const size_t got = bytes.copy(to, count, offset);
    next += got;
    return got;
  };
  WarcReaderOptions options;
  options.strict = strict;
  options.payload_digest = PayloadDigest::kAlways;
  options.faults = [&](const Fault& fault) {
    CHECK(fault.offset <= bytes.size());
    told.faults += std::string(FaultName(fault.kind)) + "@" + std::to_string(fault.offset) + "\n";
  };
  WarcReader reader(source, options);
  uint64_t last = 0;
  while (reader.Next().value()) {
    const WarcRecord& record = reader.record();
    CHECK(record.offset >= last && record.offset <= bytes.size());
    last = record.offset;
    uint64_t hash = 0;
    uint64_t length = 0;
    for (;;) {
      const std::string_view piece = reader.ReadBlock().value();
      if (piece.empty()) break;
      CHECK(piece.size() <= MemberStream::kWholeDecoded + kMaxWarcHeader, "pieces are bounded");
      // Cuts between pieces are not part of what is told.
      for (const char c : piece) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
      length += piece.size();
    }
    CHECK(reader.Finish().has_value());
    CHECK(length == record.block_read && length <= record.block_length);
    CHECK(record.http.length <= record.block_length);
    CHECK(record.offset + record.length <= bytes.size());
    told.records += std::to_string(record.offset) + "+" + std::to_string(record.length) + " " +
                    std::string(record.type_name()) + " " + std::string(record.uri()) + " " + record.Timestamp() + " " +
                    std::to_string(hash) + " " + std::to_string(Hash64(record.payload_sha1)) + "\n";
  }
  CHECK(!reader.Next().value(), "the end stays the end");
  return told;
}

inline void CheckReader(std::string_view bytes) {
  const Told strict = Tell(bytes, true, false);
  const Told pieces = Tell(bytes, true, true);
  CHECK(strict.records == pieces.records && strict.faults == pieces.faults, "short reads change nothing");
  CHECK(strict.records == Tell(bytes, false, false).records, "strict reading finds the same records");
}

}  // namespace portolan
