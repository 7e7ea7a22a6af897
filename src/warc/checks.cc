#include "warc/checks.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/utf8.h"
#include "warc/digest.h"

namespace portolan {
namespace {

enum class ValueKind : uint8_t { kText, kUri, kBracketedUri, kDate, kNumber, kIp, kMediaType, kDigest };

// In which types of record a field may, must or must not occur: bits of WarcType.
constexpr uint32_t Bit(WarcType type) { return 1U << static_cast<unsigned>(type); }
template <typename... Types>
constexpr uint32_t Bits(Types... types) {
  return (Bit(types) | ...);
}
constexpr uint32_t kAll = ~0U;
constexpr uint32_t kContents = Bits(WarcType::kResponse, WarcType::kResource, WarcType::kRequest, WarcType::kRevisit,
                                    WarcType::kConversion, WarcType::kContinuation);

struct FieldRule {
  std::string_view name;
  ValueKind kind;
  uint32_t must;      // types that need it
  uint32_t must_not;  // types that may not have it
  bool repeatable = false;
};

// ISO 28500:2017, clause 5 (fields) and 6 (record types).
constexpr std::array kRules = {
    FieldRule{warc_field::kType, ValueKind::kText, kAll, 0},
    FieldRule{warc_field::kRecordId, ValueKind::kBracketedUri, kAll, 0},
    FieldRule{warc_field::kDate, ValueKind::kDate, kAll, 0},
    FieldRule{warc_field::kContentLength, ValueKind::kNumber, kAll, 0},
    FieldRule{warc_field::kContentType, ValueKind::kMediaType, 0, Bit(WarcType::kContinuation)},
    FieldRule{warc_field::kConcurrentTo, ValueKind::kBracketedUri, 0,
              Bits(WarcType::kWarcinfo, WarcType::kConversion, WarcType::kContinuation), true},
    FieldRule{warc_field::kBlockDigest, ValueKind::kDigest, 0, 0},
    FieldRule{warc_field::kPayloadDigest, ValueKind::kDigest, 0, 0},
    FieldRule{warc_field::kIpAddress, ValueKind::kIp, 0,
              Bits(WarcType::kWarcinfo, WarcType::kConversion, WarcType::kContinuation)},
    FieldRule{warc_field::kRefersTo, ValueKind::kBracketedUri, 0,
              Bits(WarcType::kWarcinfo, WarcType::kResponse, WarcType::kResource, WarcType::kRequest,
                   WarcType::kContinuation)},
    FieldRule{warc_field::kRefersToTargetUri, ValueKind::kUri, 0, 0},
    FieldRule{warc_field::kRefersToDate, ValueKind::kDate, 0, 0},
    FieldRule{warc_field::kTargetUri, ValueKind::kUri, kContents, Bit(WarcType::kWarcinfo)},
    FieldRule{warc_field::kTruncated, ValueKind::kText, 0, 0},
    FieldRule{warc_field::kWarcinfoId, ValueKind::kBracketedUri, 0, Bit(WarcType::kWarcinfo)},
    FieldRule{warc_field::kFilename, ValueKind::kText, 0, ~(Bit(WarcType::kWarcinfo) | Bit(WarcType::kOther))},
    FieldRule{warc_field::kProfile, ValueKind::kUri, Bit(WarcType::kRevisit), 0},
    FieldRule{warc_field::kIdentifiedPayloadType, ValueKind::kMediaType, 0, 0},
    FieldRule{warc_field::kSegmentNumber, ValueKind::kNumber, Bit(WarcType::kContinuation), 0},
    FieldRule{warc_field::kSegmentOriginId, ValueKind::kBracketedUri, Bit(WarcType::kContinuation),
              ~(Bit(WarcType::kContinuation) | Bit(WarcType::kOther))},
    FieldRule{warc_field::kSegmentTotalLength, ValueKind::kNumber, 0,
              ~(Bit(WarcType::kContinuation) | Bit(WarcType::kOther))},
    FieldRule{warc_field::kProtocol, ValueKind::kText, 0, 0, true},
    FieldRule{warc_field::kCipherSuite, ValueKind::kText, 0, 0},
};

bool IsUri(std::string_view text) {
  if (!HasScheme(text) || text.find(':') + 1 == text.size()) return false;
  return std::ranges::all_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte > 0x20 && byte != 0x7f && c != '<' && c != '>' && c != '"';
  });
}

bool IsMediaType(std::string_view text) {
  const std::string_view type = MediaType(text);
  const size_t slash = type.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == type.size()) return false;
  return std::ranges::all_of(type,
                             [](char c) {
                               return c > 0x20 && c < 0x7f &&
                                      std::string_view("()<>@,;:\\\"[]?={}").find(c) == std::string_view::npos;
                             }) &&
         std::ranges::count(type, '/') == 1;
}

bool IsValid(ValueKind kind, std::string_view value, std::string_view version) {
  switch (kind) {
    case ValueKind::kText:
      return true;
    case ValueKind::kUri:
      // 0.17 to 1.0 print the grammar with angle brackets around every URI, and a few writers followed it.
      if (version != "1.1" && value.starts_with('<') && value.ends_with('>')) value = value.substr(1, value.size() - 2);
      return IsUri(value);
    case ValueKind::kBracketedUri:
      return value.size() > 2 && value.starts_with('<') && value.ends_with('>') &&
             IsUri(value.substr(1, value.size() - 2));
    case ValueKind::kDate: {
      const auto time = ParseWarcDate(value);
      return time && (version == "1.1" || (!time->partial && time->fraction_digits == 0));
    }
    case ValueKind::kNumber:
      return ParseDecimal(value).has_value();
    case ValueKind::kIp:
      return IsIpAddress(value);
    case ValueKind::kMediaType:
      return IsMediaType(value);
    case ValueKind::kDigest:
      return LooksLikeDigest(value);
  }
  return true;
}

FaultKind FaultOf(ValueKind kind, std::string_view name) {
  if (kind == ValueKind::kDate) return FaultKind::kBadDate;
  if (kind == ValueKind::kDigest) return FaultKind::kBadDigest;
  return name == warc_field::kContentLength ? FaultKind::kBadLength : FaultKind::kBadFieldValue;
}

void CheckLines(std::string_view header, const FieldFaults& faults, const ReportFault& report) {
  if (faults.no_colon > 0) report(FaultKind::kBadHeaderLine, "a header line without a colon");
  if (faults.bad_name > 0) report(FaultKind::kBadHeaderLine, "a field name that is not a token");
  if (faults.bare_line_feed > 0) report(FaultKind::kBadHeaderLine, "a header line not ended by CRLF");
  if (faults.extra_return > 0) report(FaultKind::kBadHeaderLine, "a header line ended by CR CR LF");
  if (faults.lost_continuation > 0) report(FaultKind::kBadHeaderLine, "a continuation line with nothing before it");
  if (!IsUtf8(header)) report(FaultKind::kBadHeaderLine, "the header is not UTF-8");
}

void CheckContentType(const WarcRecord& record, const ReportFault& report) {
  const auto type = record.fields.Find(warc_field::kContentType);
  if (!type) {
    if (record.block_length > 0 && record.type != WarcType::kContinuation) {
      report(FaultKind::kMissingContentType, "a block without Content-Type");
    }
  } else if (record.type == WarcType::kWarcinfo && !type->empty() &&
             !EqualsIgnoringCase(MediaType(*type), "application/warc-fields")) {
    report(FaultKind::kWrongContentType, fmt::format("a warcinfo of type '{}'", *type));
  }
}

void CheckSegment(const WarcRecord& record, const ReportFault& report) {
  const auto text = record.fields.Find(warc_field::kSegmentNumber);
  if (!text) return;
  const auto number = ParseDecimal(*text);
  if (!number) return;  // already reported
  if (record.type == WarcType::kContinuation ? *number < 2 : *number != 1) {
    report(FaultKind::kBadSegment, fmt::format("segment {} of a {}", *number, record.type_name()));
  }
}

}  // namespace

void CheckWarcHeader(const WarcRecord& record, std::string_view header, const FieldFaults& line_faults,
                     const ReportFault& report) {
  constexpr std::array<std::string_view, 4> kVersions = {"0.17", "0.18", "1.0", "1.1"};
  if (std::ranges::find(kVersions, record.version) == kVersions.end()) {
    report(FaultKind::kBadVersion, fmt::format("version 'WARC/{}'", record.version));
  }
  CheckLines(header, line_faults, report);
  const uint32_t type = Bit(record.type);
  for (const FieldRule& rule : kRules) {
    const size_t count = record.fields.Count(rule.name);
    if (count == 0) {
      if ((rule.must & type) != 0) report(FaultKind::kMissingField, fmt::format("no {}", rule.name));
      continue;
    }
    if (count > 1 && !rule.repeatable) report(FaultKind::kDuplicateField, fmt::format("{} {} times", rule.name, count));
    if ((rule.must_not & type) != 0) {
      report(FaultKind::kBadFieldValue, fmt::format("{} is not allowed in a {}", rule.name, record.type_name()));
    }
    for (size_t i = 0; i < record.fields.size(); ++i) {
      const FieldList::Field field = record.fields[i];
      if (!EqualsIgnoringCase(field.name, rule.name)) continue;
      if (field.value.empty()) {
        report(FaultKind::kEmptyField, fmt::format("{} is empty", rule.name));
      } else if (!IsValid(rule.kind, field.value, record.version)) {
        report(FaultOf(rule.kind, rule.name), fmt::format("{}: '{}'", rule.name, field.value.substr(0, 200)));
      }
    }
  }
  CheckContentType(record, report);
  CheckSegment(record, report);
}

void CheckArcLine(const ArcLine& line, const ReportFault& report) {
  const auto bad = [&](std::string_view name, std::string_view value) {
    report(FaultKind::kArcLine, fmt::format("{}: '{}'", name, value.substr(0, 200)));
  };
  if (line.by_words) report(FaultKind::kArcLine, "fields not as in the version, or not separated by one blank");
  if (line.extra_return) report(FaultKind::kArcLine, "a line ended by CR CR LF");
  // A dash means unknown.
  if (!IsUri(line.url) && !line.is_version_block()) bad("URL", line.url);
  if (line.ip != "-" && !IsIpAddress(line.ip)) bad("IP-address", line.ip);
  if (line.date != "-" && (line.date.size() != 14 || !ParseDigits(line.date))) {
    report(FaultKind::kBadDate, fmt::format("Archive-date: '{}'", line.date));
  }
  if (line.mime.empty() || line.mime.find('\\') != std::string_view::npos) bad("Content-type", line.mime);
  if (!line.LengthValue()) report(FaultKind::kBadLength, fmt::format("Archive-length: '{}'", line.length));
  if (!line.result_code.empty() && line.result_code != "-" && !ParseDecimal(line.result_code)) {
    bad("Result-code", line.result_code);
  }
}

}  // namespace portolan
