// WarcRecord: one record of an archive as the reader hands it out, WARC and ARC in the same shape.
//
// An ARC record is a `response`, its version block a `warcinfo`; its `fields` carry the names of the ARC standard.
// Views are valid until the reader goes to the next record.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "warc/fields.h"
#include "warc/http_head.h"
#include "warc/warc_format.h"
#include "warc/warc_time.h"

namespace portolan {

enum class ArchiveFormat : uint8_t { kUnknown, kWarc, kArc1, kArc2 };

struct WarcRecord {
  ArchiveFormat format = ArchiveFormat::kUnknown;
  WarcType type = WarcType::kOther;
  std::string version;  // "1.1"; of ARC "1" or "2"
  FieldList fields;

  // In the file as it is stored. `length` is what a reader must read to get the record: to the end of the gzip member,
  // or in a plain file to the end of the block. Known after WarcReader::Finish.
  uint64_t offset = 0;
  uint64_t length = 0;
  // Another record is in the same gzip member, so offset and length do not identify this one.
  bool shared_member = false;

  uint64_t header_length = 0;  // decoded bytes from the version line to the empty line
  uint64_t block_length = 0;   // as the header declares it
  uint64_t block_read = 0;     // bytes of the block seen so far; less than declared after Finish: the record is cut

  HttpHead http;

  // After Finish, where the options asked for it: raw SHA-1 of the payload (the block without its HTTP head).
  std::string payload_sha1;

  bool is_arc() const { return format == ArchiveFormat::kArc1 || format == ArchiveFormat::kArc2; }
  std::string_view uri() const;           // without the angle brackets that some writers put around it
  std::string_view content_type() const;  // of the block
  std::optional<WarcTime> time() const;
  std::string_view type_name() const;  // as the record spells it, of ARC "response" or "warcinfo"
  // The 14 digits of CDXJ. For an ARC date that is not in the calendar: its first 14 digits as they are, if it has
  // them; "00000000000000" for a date that cannot be read.
  std::string Timestamp() const;
};

}  // namespace portolan
