// MemberStream: the decoded bytes of an archive file, plain or gzip, with the place of every gzip member.
//
// Bytes come from a function that reads at an offset; offsets only grow and never leave a gap, so a pipe serves as well
// as a file. The raw buffer is always filled whole before it is looked at: the result does not depend on how the source
// splits its data.
//
// Decoded bytes form segments. Within one they are continuous, over member boundaries too; a segment ends at the end of
// the file and where compressed bytes are broken. After a break reading continues at the next member that can be found:
// the search begins at most kLookBack before the break, because the decoder may have read into the member that follows.
//
// Memory bound: 128 KiB raw, 80 KiB for the decoders, and decoded 256 KiB plus the largest Peek. Time: linear in the
// file (bytes read twice by the search are counted, and are never more than the file itself and 1 MiB; a member that
// libdeflate gives up on is decoded once more by zlib).

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "warc/fault.h"

namespace portolan {

// Reads up to `count` bytes at `offset` into `to`; 0 means the end. Fewer than asked is fine at any time.
using ByteSource = std::function<Result<size_t>(uint64_t offset, char* to, size_t count)>;

// A source over bytes in memory. The bytes must outlive it.
ByteSource MemorySource(std::string_view bytes);

class MemberStream {
 public:
  static constexpr size_t kRawBuffer = size_t{128} << 10;
  static constexpr size_t kLookBack = size_t{32} << 10;
  static constexpr size_t kDecodeStep = size_t{64} << 10;
  static constexpr size_t kWholeRaw = size_t{64} << 10;
  static constexpr size_t kWholeDecoded = size_t{256} << 10;

  MemberStream(ByteSource source, uint64_t start, FaultSink faults);
  ~MemberStream();
  MemberStream(const MemberStream&) = delete;
  MemberStream& operator=(const MemberStream&) = delete;

  // Everything decoded and not consumed: at least `want` bytes, fewer only where the segment ends. The view is valid
  // until the next call. An error is the source's.
  Result<std::string_view> Peek(size_t want);
  void Consume(size_t count);  // REQUIRES: count <= the last Peek's size

  // Leaves the rest of this segment; false at the end of the file.
  Result<bool> NextSegment();

  // Where the next byte is: the member's offset in the file and the bytes decoded from it before (plain: 0).
  struct Place {
    uint64_t offset = 0;
    uint64_t inner = 0;
  };
  Place Where() const;

  // Whether the next byte begins a member (never in a plain file). Peek(1) first.
  bool AtMember() const;
  // Bytes from here to the next member's first, if it is already decoded.
  std::optional<size_t> ToNextMember() const;
  // The end in the file of what is already consumed. Exact where a member ends or the file is plain. Peek(1) first.
  uint64_t RawEnd() const;

  bool gzip() const { return gzip_; }
  uint64_t position() const { return position_; }        // decoded bytes consumed
  uint64_t raw_position() const { return RawOffset(); }  // bytes taken from the file
  uint64_t skipped_raw() const { return skipped_raw_; }  // compressed bytes that could not be used

 private:
  struct Mark {
    uint64_t position;    // decoded
    uint64_t offset;      // of the member's first byte in the file
    uint64_t former_end;  // where the member before it ended
  };

  Status Fill();              // reads until the raw buffer is full or the source ends
  Status Need(size_t count);  // this many raw bytes in the buffer, unless the source ends
  size_t RawRest() const { return raw_end_ - raw_at_; }
  uint64_t RawOffset() const { return raw_base_ + raw_at_; }
  bool RawAtEnd() const { return raw_eof_ && raw_at_ == raw_end_; }

  Status Produce();
  Status BeginMember();
  // A small member in one go with libdeflate: a real archive reads 1.3 times as fast as by zlib. False where it does
  // not lie whole in the raw buffer, decodes to more than kWholeDecoded or is broken: zlib tells these apart.
  bool InflateWhole();
  Status Inflate();
  Status Broken(FaultKind kind, const std::string& why);
  Status FindMember();  // moves to the next bytes that look like a gzip header, or to the end
  bool LooksLikeMember() const;
  void EndSegment(uint64_t former_end);

  ByteSource source_;
  FaultSink faults_;
  struct Inflater;
  std::unique_ptr<Inflater> inflater_;

  std::unique_ptr<char[]> raw_;
  size_t raw_at_ = 0;
  size_t raw_end_ = 0;
  uint64_t raw_base_;  // file offset of raw_[0]
  bool raw_eof_ = false;
  const uint64_t start_;
  uint64_t reread_ = 0;
  uint64_t skipped_raw_ = 0;

  bool started_ = false;
  bool gzip_ = false;
  bool in_member_ = false;
  bool searching_ = false;  // the member at hand was found by search and has given nothing yet
  bool segment_over_ = false;
  uint64_t member_start_ = 0;
  uint64_t member_end_ = 0;  // of the last whole member

  std::string decoded_;
  size_t decoded_at_ = 0;
  uint64_t position_ = 0;
  std::deque<Mark> marks_;  // the member at hand and those already decoded after it
};

}  // namespace portolan
