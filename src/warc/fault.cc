#include "warc/fault.h"

namespace portolan {

std::string_view FaultName(FaultKind kind) {
  switch (kind) {
    case FaultKind::kNotAnArchive:
      return "not-an-archive";
    case FaultKind::kGarbage:
      return "garbage";
    case FaultKind::kHeaderTooLong:
      return "header-too-long";
    case FaultKind::kTruncatedRecord:
      return "truncated-record";
    case FaultKind::kBadLength:
      return "bad-length";
    case FaultKind::kGzipData:
      return "gzip-data";
    case FaultKind::kGzipTruncated:
      return "gzip-truncated";
    case FaultKind::kGzipGarbage:
      return "gzip-garbage";
    case FaultKind::kSharedMember:
      return "shared-member";
    case FaultKind::kBadVersion:
      return "bad-version";
    case FaultKind::kBadHeaderLine:
      return "bad-header-line";
    case FaultKind::kMissingField:
      return "missing-field";
    case FaultKind::kDuplicateField:
      return "duplicate-field";
    case FaultKind::kEmptyField:
      return "empty-field";
    case FaultKind::kBadFieldValue:
      return "bad-field-value";
    case FaultKind::kBadDate:
      return "bad-date";
    case FaultKind::kMissingContentType:
      return "missing-content-type";
    case FaultKind::kWrongContentType:
      return "wrong-content-type";
    case FaultKind::kBadSegment:
      return "bad-segment";
    case FaultKind::kBadDigest:
      return "bad-digest";
    case FaultKind::kBlockDigest:
      return "block-digest-differs";
    case FaultKind::kPayloadDigest:
      return "payload-digest-differs";
    case FaultKind::kRepeatedId:
      return "repeated-record-id";
    case FaultKind::kBadRecordEnd:
      return "bad-record-end";
    case FaultKind::kArcVersion:
      return "arc-version";
    case FaultKind::kArcLine:
      return "arc-line";
  }
  return "unknown";
}

}  // namespace portolan
