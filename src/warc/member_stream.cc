#include "warc/member_stream.h"

#include <fmt/core.h>
#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace portolan {
namespace {

constexpr uint64_t kFreeReread = uint64_t{1} << 20;  // bytes the search may read twice in any file
constexpr size_t kGzipHeader = 10;

}  // namespace

ByteSource MemorySource(std::string_view bytes) {
  return [bytes](uint64_t offset, char* to, size_t count) -> Result<size_t> {
    if (offset >= bytes.size()) return 0;
    return bytes.copy(to, count, offset);
  };
}

struct MemberStream::Inflater {
  z_stream stream{};
  libdeflate_decompressor* whole = libdeflate_alloc_decompressor();
  Inflater() { CHECK(inflateInit2(&stream, 15 + 16) == Z_OK && whole != nullptr, "no memory to decompress"); }
  ~Inflater() {
    inflateEnd(&stream);
    libdeflate_free_decompressor(whole);
  }
};

MemberStream::MemberStream(ByteSource source, uint64_t start, FaultSink faults)
    : source_(std::move(source)),
      faults_(std::move(faults)),
      raw_(std::make_unique_for_overwrite<char[]>(kRawBuffer)),
      raw_base_(start),
      start_(start),
      member_end_(start) {}

MemberStream::~MemberStream() = default;

Status MemberStream::Fill() {
  // What comes after stays for the search after a break.
  const size_t keep = std::min(raw_at_, kLookBack);
  const size_t cut = raw_at_ - keep;
  std::memmove(raw_.get(), raw_.get() + cut, raw_end_ - cut);
  raw_base_ += cut;
  raw_at_ -= cut;
  raw_end_ -= cut;
  while (!raw_eof_ && raw_end_ < kRawBuffer) {
    ASSIGN_OR_RETURN(const size_t got, source_(raw_base_ + raw_end_, raw_.get() + raw_end_, kRawBuffer - raw_end_));
    raw_end_ += got;
    raw_eof_ = got == 0;
  }
  return {};
}

Status MemberStream::Need(size_t count) {
  if (RawRest() < count && !raw_eof_) return Fill();
  return {};
}

Result<std::string_view> MemberStream::Peek(size_t want) {
  if (!started_) {
    started_ = true;
    RETURN_IF_ERROR(Need(2));
    gzip_ = RawRest() >= 2 && raw_[raw_at_] == '\x1f' && raw_[raw_at_ + 1] == '\x8b';
    marks_.push_back({0, start_, start_});
    if (gzip_) inflater_ = std::make_unique<Inflater>();
  }
  while (decoded_.size() - decoded_at_ < want && !segment_over_) {
    if (decoded_at_ > 0) {
      decoded_.erase(0, decoded_at_);
      decoded_at_ = 0;
    }
    RETURN_IF_ERROR(Produce());
  }
  return std::string_view(decoded_).substr(decoded_at_);
}

void MemberStream::Consume(size_t count) {
  decoded_at_ += count;
  position_ += count;
  while (marks_.size() > 1 && marks_[1].position <= position_) marks_.pop_front();
}

Result<bool> MemberStream::NextSegment() {
  for (;;) {
    ASSIGN_OR_RETURN(const std::string_view rest, Peek(1));
    if (rest.empty()) break;
    Consume(rest.size());
  }
  if (RawAtEnd()) return false;
  segment_over_ = false;
  return true;
}

MemberStream::Place MemberStream::Where() const {
  if (!gzip_) return {start_ + position_, 0};
  return {marks_.front().offset, position_ - marks_.front().position};
}

bool MemberStream::AtMember() const { return gzip_ && marks_.front().position == position_; }

std::optional<size_t> MemberStream::ToNextMember() const {
  if (marks_.size() < 2) return std::nullopt;
  return static_cast<size_t>(marks_[1].position - position_);
}

uint64_t MemberStream::RawEnd() const {
  if (!gzip_) return start_ + position_;
  if (AtMember()) return marks_.front().former_end;
  return member_end_;
}

Status MemberStream::Produce() {
  if (gzip_) return in_member_ ? Inflate() : BeginMember();
  RETURN_IF_ERROR(Need(1));
  if (RawAtEnd()) {
    segment_over_ = true;
    return {};
  }
  const size_t take = std::min(RawRest(), kDecodeStep);
  decoded_.append(raw_.get() + raw_at_, take);
  raw_at_ += take;
  return {};
}

void MemberStream::EndSegment(uint64_t former_end) {
  member_end_ = former_end;
  segment_over_ = true;
}

Status MemberStream::BeginMember() {
  RETURN_IF_ERROR(Need(kGzipHeader));
  if (RawAtEnd()) {
    EndSegment(member_end_);
    return {};
  }
  const bool magic = RawRest() >= 2 && raw_[raw_at_] == '\x1f' && raw_[raw_at_ + 1] == '\x8b';
  if (!magic) {
    const uint64_t from = RawOffset();
    const uint64_t end = member_end_;
    RETURN_IF_ERROR(FindMember());
    faults_({FaultKind::kGzipGarbage, from, fmt::format("{} bytes that are not a gzip member", RawOffset() - from)});
    skipped_raw_ += RawOffset() - from;
    EndSegment(end);
    return {};
  }
  member_start_ = RawOffset();
  const uint64_t position = position_ + decoded_.size() - decoded_at_;
  // A member that decoded to nothing leaves no mark: the next one is at the same place.
  if (!marks_.empty() && marks_.back().position == position) {
    marks_.back().offset = member_start_;
  } else {
    marks_.push_back({position, member_start_, member_end_});
    Consume(0);  // the mark may be where the reader already is
  }
  RETURN_IF_ERROR(Need(kWholeRaw));
  if (InflateWhole()) return {};
  CHECK(inflateReset(&inflater_->stream) == Z_OK);
  in_member_ = true;
  return {};
}

bool MemberStream::InflateWhole() {
  const size_t old = decoded_.size();
  size_t used = 0;
  size_t made = 0;
  libdeflate_result outcome = LIBDEFLATE_BAD_DATA;
  decoded_.resize_and_overwrite(old + kWholeDecoded, [&](char* text, size_t) {
    outcome = libdeflate_gzip_decompress_ex(inflater_->whole, raw_.get() + raw_at_, RawRest(), text + old,
                                            kWholeDecoded, &used, &made);
    return outcome == LIBDEFLATE_SUCCESS ? old + made : old;
  });
  if (outcome != LIBDEFLATE_SUCCESS) return false;
  raw_at_ += used;
  searching_ = false;
  member_end_ = RawOffset();
  return true;
}

Status MemberStream::Inflate() {
  z_stream& z = inflater_->stream;
  RETURN_IF_ERROR(Need(1));
  if (RawAtEnd()) return Broken(FaultKind::kGzipTruncated, "the file ends inside a gzip member");
  const size_t old = decoded_.size();
  z.next_in = reinterpret_cast<Bytef*>(raw_.get() + raw_at_);
  z.avail_in = static_cast<uInt>(RawRest());
  int outcome = Z_OK;
  decoded_.resize_and_overwrite(old + kDecodeStep, [&](char* text, size_t) {
    z.next_out = reinterpret_cast<Bytef*>(text + old);
    z.avail_out = static_cast<uInt>(kDecodeStep);
    outcome = inflate(&z, Z_NO_FLUSH);
    return old + kDecodeStep - z.avail_out;
  });
  raw_at_ = raw_end_ - z.avail_in;
  if (decoded_.size() > old) searching_ = false;
  if (outcome == Z_STREAM_END) {
    in_member_ = false;
    searching_ = false;
    member_end_ = RawOffset();
    return {};
  }
  if (outcome == Z_OK || outcome == Z_BUF_ERROR) return {};
  if (outcome == Z_MEM_ERROR) return Fail(ErrorCode::kNoSpace, "zlib has no memory");
  return Broken(FaultKind::kGzipData, z.msg != nullptr ? z.msg : "gzip data cannot be decompressed");
}

Status MemberStream::Broken(FaultKind kind, const std::string& why) {
  const uint64_t at = RawOffset();
  if (!searching_) faults_({kind, member_start_, why});
  in_member_ = false;
  // Back to look for a member that the decoder has run into, as far as the buffer and the budget reach.
  uint64_t from = std::max(member_start_ + 1, at > kLookBack ? at - kLookBack : 0);
  from = std::max(from, raw_base_);
  if (from < at && reread_ + (at - from) <= kFreeReread + (at - start_)) {
    reread_ += at - from;
    raw_at_ = static_cast<size_t>(from - raw_base_);
  }
  RETURN_IF_ERROR(FindMember());
  skipped_raw_ += RawOffset() - member_start_;
  searching_ = true;
  EndSegment(std::min(at, RawOffset()));
  return {};
}

bool MemberStream::LooksLikeMember() const {
  if (RawRest() < kGzipHeader) return false;
  const auto* b = reinterpret_cast<const unsigned char*>(raw_.get() + raw_at_);
  // Magic, deflate, no reserved flags, an XFL that compressors write, an operating system that RFC 1952 names.
  return b[0] == 0x1f && b[1] == 0x8b && b[2] == 8 && (b[3] & 0xe0) == 0 && (b[8] == 0 || b[8] == 2 || b[8] == 4) &&
         (b[9] <= 13 || b[9] == 255);
}

Status MemberStream::FindMember() {
  for (;;) {
    RETURN_IF_ERROR(Need(kGzipHeader));
    if (RawRest() < kGzipHeader) {
      raw_at_ = raw_end_;
      return {};
    }
    const void* hit = std::memchr(raw_.get() + raw_at_, 0x1f, RawRest());
    if (hit == nullptr) {
      raw_at_ = raw_end_;
      continue;
    }
    raw_at_ = static_cast<size_t>(static_cast<const char*>(hit) - raw_.get());
    RETURN_IF_ERROR(Need(kGzipHeader));
    if (LooksLikeMember()) return {};
    if (RawRest() < kGzipHeader) {
      raw_at_ = raw_end_;
      return {};
    }
    ++raw_at_;
  }
}

}  // namespace portolan
