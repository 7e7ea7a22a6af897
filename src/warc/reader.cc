#include "warc/reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "warc/arc_line.h"
#include "warc/checks.h"

namespace portolan {
namespace {

constexpr size_t kFirstLook = 4096;  // most headers fit

WarcType TypeNamed(std::string_view name) {
  for (size_t i = 0; i < static_cast<size_t>(WarcType::kOther); ++i) {
    if (EqualsIgnoringCase(name, kWarcTypeNames[i])) return static_cast<WarcType>(i);
  }
  return WarcType::kOther;
}

bool IsWarcStart(std::string_view text) { return EqualsIgnoringCase(text.substr(0, 5), "WARC/"); }

int VersionOfLine(std::string_view line, ArchiveFormat format) {
  if (format == ArchiveFormat::kUnknown || line.starts_with("filedesc:")) return GuessArcVersion(line);
  return format == ArchiveFormat::kArc2 ? 2 : 1;
}

}  // namespace

WarcReader::WarcReader(ByteSource source, WarcReaderOptions options)
    : options_(std::move(options)), stream_(std::move(source), options_.start, [this](const Fault& fault) {
        Report(fault.kind, fault.offset, fault.detail);
      }) {}

void WarcReader::Report(FaultKind kind, uint64_t offset, std::string detail) {
  ++stats_.faults;
  if (options_.faults) options_.faults({kind, offset, std::move(detail)});
}

WarcReaderStats WarcReader::stats() const {
  WarcReaderStats stats = stats_;
  stats.raw_skipped = stream_.skipped_raw();
  return stats;
}

Result<bool> WarcReader::AtRecordStart() {
  ASSIGN_OR_RETURN(std::string_view view, stream_.Peek(5));
  if (format_ != ArchiveFormat::kArc1 && format_ != ArchiveFormat::kArc2 && IsWarcStart(view)) return true;
  if (format_ == ArchiveFormat::kWarc) return false;
  // The whole line, unless it cannot be one.
  for (size_t want = kFirstLook, from = 0;; want *= 2) {
    const size_t end = view.find('\n', from);
    if (end != std::string_view::npos || want > kMaxArcLine) {
      const std::string_view line = view.substr(0, std::min(end, kMaxArcLine));
      return ParseArcLine(line, VersionOfLine(line, format_)).has_value();
    }
    from = view.size();
    if (from == 0 || !((view[0] | 32) >= 'a' && (view[0] | 32) <= 'z')) return false;
    ASSIGN_OR_RETURN(view, stream_.Peek(want));
    if (view.size() == from) return ParseArcLine(view, VersionOfLine(view, format_)).has_value();
  }
}

Result<bool> WarcReader::Next() {
  if (open_) RETURN_IF_ERROR(Finish());
  for (;;) {
    ASSIGN_OR_RETURN(const std::string_view view, stream_.Peek(1));
    if (view.empty()) {
      ASSIGN_OR_RETURN(const bool more, stream_.NextSegment());
      if (more) continue;
      if (!seen_any_ && stats_.faults == 0) Report(FaultKind::kNotAnArchive, options_.start, "no record");
      return false;
    }
    ASSIGN_OR_RETURN(const bool start, AtRecordStart());
    if (!start) {
      RETURN_IF_ERROR(Skip(!seen_any_));
      continue;
    }
    seen_any_ = true;
    RETURN_IF_ERROR(ReadHeader());
    if (!open_) continue;
    ++stats_.records;
    return true;
  }
}

Status WarcReader::Skip(bool first) {
  const auto place = stream_.Where();
  const uint64_t from = stream_.position();
  bool at_line = false;
  uint64_t looked_at = from;  // no record begins here
  for (;;) {
    ASSIGN_OR_RETURN(const std::string_view view, stream_.Peek(1));
    if (view.empty()) break;
    if (stream_.position() > looked_at && (at_line || stream_.AtMember())) {
      ASSIGN_OR_RETURN(const bool start, AtRecordStart());
      if (start) break;
      looked_at = stream_.position();
      continue;  // the view may have moved
    }
    at_line = false;
    // To the end of the next line, or to the next member.
    const size_t line_end = view.find('\n');
    size_t take = line_end == std::string_view::npos ? view.size() : line_end + 1;
    const auto member = stream_.ToNextMember();
    if (member && *member < take)
      take = *member;
    else
      at_line = line_end != std::string_view::npos;
    stream_.Consume(take);
  }
  const uint64_t skipped = stream_.position() - from;
  stats_.skipped_bytes += skipped;
  ++stats_.skipped_places;
  if (first && !seen_any_) {
    seen_any_ = true;
    Report(FaultKind::kNotAnArchive, place.offset, "the file begins with neither a WARC nor an ARC record");
  } else {
    Report(FaultKind::kGarbage, place.offset, fmt::format("{} bytes that belong to no record", skipped));
  }
  return {};
}

Status WarcReader::ReadHeader() {
  const auto place = stream_.Where();
  record_.offset = place.offset;
  record_.length = 0;
  record_.shared_member = place.inner > 0;
  record_.fields.Clear();
  record_.http.Clear();
  record_.block_read = 0;
  record_.payload_sha1.clear();
  record_start_ = stream_.position();
  head_left_ = 0;
  pending_ = 0;
  if (record_.shared_member) {
    Report(FaultKind::kSharedMember, place.offset, "a record that does not begin its gzip member");
  }
  ASSIGN_OR_RETURN(const std::string_view view, stream_.Peek(5));
  if (IsWarcStart(view)) {
    RETURN_IF_ERROR(ReadWarcHeader());
  } else {
    RETURN_IF_ERROR(ReadArcHeader());
  }
  if (!open_) return {};
  block_left_ = record_.block_length;
  RETURN_IF_ERROR(ReadHttpHead());
  StartDigests();
  return {};
}

Status WarcReader::ReadWarcHeader() {
  size_t end = std::string_view::npos;
  size_t from = 0;
  std::string_view view;
  for (size_t want = kFirstLook;; want *= 2) {
    ASSIGN_OR_RETURN(view, stream_.Peek(want));
    end = FindHeadEnd(view.substr(0, kMaxWarcHeader), from);
    if (end != std::string_view::npos || view.size() < want || want >= kMaxWarcHeader) break;
    from = view.size();
  }
  if (end == std::string_view::npos) {
    if (view.size() >= kMaxWarcHeader) {
      Report(FaultKind::kHeaderTooLong, record_.offset, fmt::format("no end within {} bytes", kMaxWarcHeader));
    } else {
      Report(FaultKind::kTruncatedRecord, record_.offset, "the header is cut");
    }
    // Past the version line, so that the search continues after it.
    const size_t line = view.find('\n');
    const size_t skip = std::min({line == std::string_view::npos ? view.size() : line + 1, view.size()});
    stream_.Consume(skip);
    stats_.skipped_bytes += skip;
    ++stats_.skipped_places;
    return {};
  }
  const std::string_view header = view.substr(0, end);
  const size_t line_end = header.find('\n');
  std::string_view version = header.substr(5, line_end - 5);
  FieldFaults line_faults;
  const size_t returns = WithoutReturns(version);
  if (returns == 0) ++line_faults.bare_line_feed;
  if (returns > 1) ++line_faults.extra_return;
  format_ = record_.format = ArchiveFormat::kWarc;
  record_.version = TrimBlanks(version);
  record_.fields.Parse(header.substr(line_end + 1), &line_faults);
  record_.type = TypeNamed(record_.fields.Get(warc_field::kType));
  record_.header_length = end;
  const auto length = ParseDecimal(record_.fields.Get(warc_field::kContentLength));
  record_.block_length = length.value_or(0);
  if (options_.strict) {
    CheckWarcHeader(record_, header, line_faults,
                    [this](FaultKind kind, std::string detail) { Report(kind, record_.offset, std::move(detail)); });
  } else if (!length) {
    Report(FaultKind::kBadLength, record_.offset, "no usable Content-Length");
  }
  stream_.Consume(end);
  open_ = true;
  return {};
}

Status WarcReader::ReadArcHeader() {
  size_t end = std::string_view::npos;
  std::string_view view;
  for (size_t want = kFirstLook;; want *= 2) {
    ASSIGN_OR_RETURN(view, stream_.Peek(want));
    end = view.find('\n');
    if (end != std::string_view::npos || view.size() < want || want >= kMaxArcLine) break;
  }
  const size_t line_length = std::min({end, view.size(), kMaxArcLine});
  const std::string_view line = view.substr(0, line_length);
  const int version = VersionOfLine(line, format_);
  const auto arc = ParseArcLine(line, version);
  if (!arc) {  // AtRecordStart has said that it is one
    stream_.Consume(line_length);
    return {};
  }
  const bool had_format = format_ != ArchiveFormat::kUnknown;
  format_ = record_.format = version == 2 ? ArchiveFormat::kArc2 : ArchiveFormat::kArc1;
  record_.type = arc->is_version_block() ? WarcType::kWarcinfo : WarcType::kResponse;
  record_.fields.Add("URL", arc->url);
  record_.fields.Add("IP-address", arc->ip);
  record_.fields.Add("Archive-date", arc->date);
  record_.fields.Add("Content-type", arc->mime);
  if (version == 2) {
    record_.fields.Add("Result-code", arc->result_code);
    record_.fields.Add("Checksum", arc->checksum);
    record_.fields.Add("Location", arc->location);
    record_.fields.Add("Offset", arc->offset);
    record_.fields.Add("Filename", arc->filename);
  }
  record_.fields.Add("Archive-length", arc->length);
  const auto length = arc->LengthValue();
  if (options_.strict) {
    CheckArcLine(*arc, [this](FaultKind kind, std::string detail) { Report(kind, record_.offset, std::move(detail)); });
    if (!had_format && !arc->is_version_block()) {
      Report(FaultKind::kArcVersion, record_.offset, "the file begins without a version block");
    }
  } else if (!length) {
    Report(FaultKind::kBadLength, record_.offset, "no usable Archive-length");
  }
  record_.header_length = std::min(line_length + 1, view.size());
  record_.block_length = length.value_or(0);
  const bool version_block = arc->is_version_block();
  stream_.Consume(record_.header_length);
  open_ = true;
  if (version_block) RETURN_IF_ERROR(ReadArcVersionBlock(length));
  record_.version = format_ == ArchiveFormat::kArc2 ? "2" : "1";
  return {};
}

// The block of a version block: "1 0 InternetArchive" and the line of field names. It says which version the file has,
// and where its length cannot be read it is those two lines.
Status WarcReader::ReadArcVersionBlock(const std::optional<uint64_t>& length) {
  ASSIGN_OR_RETURN(const std::string_view view, stream_.Peek(kFirstLook));
  const std::string_view block = view.substr(0, length ? std::min<uint64_t>(*length, view.size()) : view.size());
  if (block.starts_with("2 ")) {
    format_ = record_.format = ArchiveFormat::kArc2;
  } else if (!block.starts_with("1 ") && options_.strict) {
    Report(FaultKind::kArcVersion, record_.offset,
           fmt::format("version '{}'", block.substr(0, block.find('\n')).substr(0, 40)));
  }
  if (!length) {
    const size_t first = block.find('\n');
    const size_t second = first == std::string_view::npos ? first : block.find('\n', first + 1);
    record_.block_length = second == std::string_view::npos ? 0 : second + 1;
  }
  return {};
}

Status WarcReader::ReadHttpHead() {
  const bool may = record_.is_arc() ? record_.type == WarcType::kResponse
                                    : record_.type == WarcType::kResponse || record_.type == WarcType::kRequest ||
                                          record_.type == WarcType::kRevisit;
  if (!may || block_left_ == 0) return {};
  const auto bounded = [&](std::string_view view) {
    size_t limit = static_cast<size_t>(std::min<uint64_t>(block_left_, kMaxHttpHead));
    // The block ends with its member when a record begins in the next one; HTTP heads do not span members.
    if (const auto member = stream_.ToNextMember()) limit = std::min(limit, *member);
    return view.substr(0, limit);
  };
  size_t from = 0;
  for (size_t want = kFirstLook;; want *= 2) {
    ASSIGN_OR_RETURN(const std::string_view view, stream_.Peek(std::min<uint64_t>(want, block_left_)));
    const std::string_view block = bounded(view);
    if (from == 0 && record_.is_arc() && LowerCase(record_.uri().substr(0, 4)) == "http") {
      // ARC writers put an empty head, just its empty line, where the server sent none.
      if (block.starts_with('\n')) record_.http.length = 1;
      if (block.starts_with("\r\n")) record_.http.length = 2;
      head_left_ = record_.http.length;
    }
    if (from == 0 && !LooksLikeHttpResponse(block) && !LooksLikeHttpRequest(block)) return {};
    const size_t end = FindHeadEnd(block, from);
    if (end != std::string_view::npos || block.size() < want || block.size() >= kMaxHttpHead) {
      // A head without an empty line is the whole block: revisit records are written so.
      if (end == std::string_view::npos && block.size() >= kMaxHttpHead) return {};
      ParseHttpHead(block.substr(0, end), record_.http);
      head_left_ = record_.http.length;
      return {};
    }
    from = block.size();
  }
}

Result<std::string_view> WarcReader::ReadBlock() {
  if (!open_) return std::string_view();
  stream_.Consume(std::exchange(pending_, 0));
  if (block_left_ == 0) return std::string_view();
  ASSIGN_OR_RETURN(std::string_view view, stream_.Peek(1));
  bool cut = view.empty();
  if (!cut && stream_.AtMember() && stream_.position() > record_start_) {
    ASSIGN_OR_RETURN(cut, AtRecordStart());
    ASSIGN_OR_RETURN(view, stream_.Peek(1));
  }
  if (cut) {
    Report(FaultKind::kTruncatedRecord, record_.offset,
           fmt::format("{} of {} bytes of the block are there", record_.block_read, record_.block_length));
    block_left_ = 0;
    return std::string_view();
  }
  size_t take = static_cast<size_t>(std::min<uint64_t>(view.size(), block_left_));
  if (const auto member = stream_.ToNextMember()) take = std::min(take, *member);
  const std::string_view piece = view.substr(0, take);
  pending_ = take;
  block_left_ -= take;
  record_.block_read += take;
  stats_.block_bytes += take;
  UpdateDigests(piece);
  return piece;
}

Result<std::string_view> WarcReader::ReadPayload() {
  for (;;) {
    const uint64_t before = record_.block_read;
    ASSIGN_OR_RETURN(std::string_view piece, ReadBlock());
    if (piece.empty()) return piece;
    if (before < record_.http.length) {
      piece.remove_prefix(static_cast<size_t>(std::min<uint64_t>(piece.size(), record_.http.length - before)));
    }
    if (!piece.empty()) return piece;
  }
}

Status WarcReader::Finish() {
  if (!open_) return {};
  for (;;) {
    ASSIGN_OR_RETURN(const std::string_view piece, ReadBlock());
    if (piece.empty()) break;
  }
  CheckDigests();
  RETURN_IF_ERROR(EndRecord());
  open_ = false;
  return {};
}

Status WarcReader::EndRecord() {
  const uint64_t block_end = stream_.position();
  // Only line ends may follow.
  std::string ending;
  for (;;) {
    ASSIGN_OR_RETURN(const std::string_view view, stream_.Peek(1));
    if (view.empty() || (stream_.AtMember() && stream_.position() > record_start_)) break;
    if (view.front() != '\r' && view.front() != '\n') break;
    if (ending.size() < 8) ending += view.front();
    stream_.Consume(1);
  }
  if (options_.strict && record_.block_read == record_.block_length) {
    const bool good = record_.is_arc() ? ending == "\n" || ending == "\r\n" : ending == "\r\n\r\n";
    if (!good) {
      Report(FaultKind::kBadRecordEnd, record_.offset,
             record_.is_arc() ? "not ended by one line end" : "not ended by CRLF CRLF");
    }
  }
  ASSIGN_OR_RETURN(std::string_view view, stream_.Peek(1));
  const auto own_member = [&] { return stream_.AtMember() && stream_.position() > record_start_; };
  if (!view.empty() && !own_member()) {
    ASSIGN_OR_RETURN(const bool start, AtRecordStart());
    if (start) {
      if (stream_.gzip()) record_.shared_member = true;
    } else {
      RETURN_IF_ERROR(Skip(false));
      ASSIGN_OR_RETURN(view, stream_.Peek(1));
      if (stream_.gzip() && !view.empty() && !own_member()) record_.shared_member = true;
    }
  }
  record_.length = stream_.gzip() ? (record_.shared_member ? 0 : stream_.RawEnd() - record_.offset)
                                  : options_.start + block_end - record_.offset;
  return {};
}

Digester& WarcReader::DigesterFor(std::optional<Digester>& slot, DigestKind kind) {
  if (!slot || slot->kind() != kind) slot.emplace(kind);
  slot->Start();
  return *slot;
}

void WarcReader::StartDigests() {
  use_block_ = use_payload_ = use_unchunked_ = use_sha1_ = false;
  const auto declared = record_.is_arc() ? std::nullopt : record_.fields.Find(warc_field::kPayloadDigest);
  if (options_.payload_digest == PayloadDigest::kAlways ||
      (options_.payload_digest == PayloadDigest::kIfMissing && !declared)) {
    use_sha1_ = true;
    DigesterFor(sha1_, DigestKind::kSha1);
  }
  if (!options_.strict || record_.is_arc()) return;
  if (const auto text = record_.fields.Find(warc_field::kBlockDigest)) {
    want_block_ = ParseDigest(*text);
    if (want_block_) DigesterFor(block_digester_, want_block_->kind);
    use_block_ = want_block_.has_value();
  }
  // A revisit's digest is that of a payload stored elsewhere, a segment's that of the payload put together.
  if (!declared || record_.type == WarcType::kRevisit || record_.type == WarcType::kContinuation ||
      record_.fields.Find(warc_field::kSegmentNumber)) {
    return;
  }
  want_payload_ = ParseDigest(*declared);
  if (!want_payload_) return;
  use_payload_ = true;
  DigesterFor(payload_digester_, want_payload_->kind);
  if (LowerCase(record_.http.fields.Get("Transfer-Encoding")).find("chunked") != std::string::npos) {
    use_unchunked_ = true;
    chunked_.Start();
    DigesterFor(unchunked_digester_, want_payload_->kind);
  }
}

void WarcReader::UpdateDigests(std::string_view piece) {
  if (use_block_) block_digester_->Update(piece);
  if (!use_payload_ && !use_sha1_) return;
  const auto head = static_cast<size_t>(std::min<uint64_t>(head_left_, piece.size()));
  head_left_ -= head;
  piece.remove_prefix(head);
  if (piece.empty()) return;
  if (use_sha1_) sha1_->Update(piece);
  if (use_payload_) payload_digester_->Update(piece);
  if (use_unchunked_) chunked_.Feed(piece, [this](std::string_view bytes) { unchunked_digester_->Update(bytes); });
}

void WarcReader::CheckDigests() {
  if (use_sha1_) record_.payload_sha1 = sha1_->Finish();
  if (record_.block_read < record_.block_length) return;  // said already: the record is cut
  if (use_block_ && block_digester_->Finish() != want_block_->raw) {
    Report(FaultKind::kBlockDigest, record_.offset,
           fmt::format("the header says {}", record_.fields.Get(warc_field::kBlockDigest)));
  }
  if (use_payload_ && payload_digester_->Finish() != want_payload_->raw &&
      !(use_unchunked_ && unchunked_digester_->Finish() == want_payload_->raw)) {
    Report(FaultKind::kPayloadDigest, record_.offset,
           fmt::format("the header says {}", record_.fields.Get(warc_field::kPayloadDigest)));
  }
}

}  // namespace portolan
