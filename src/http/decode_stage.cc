#include "http/decode_stage.h"

#include <brotli/decode.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>

#include "base/bytes.h"
#include "base/check.h"

namespace portolan {
namespace {

// inflate() counts in 32 bits.
constexpr size_t kMaxStep = UINT_MAX;

// gzip, zlib's format and raw deflate.
class InflateStage final : public DecodeStage {
 public:
  explicit InflateStage(ContentCoding coding) : gzip_(coding == ContentCoding::kGzip) {}
  ~InflateStage() override {
    if (allocated_) inflateEnd(&stream_);
  }

  StageStatus Run(std::string_view& in, char* to, size_t room, size_t& written) override {
    written = 0;
    for (;;) {
      switch (state_) {
        case State::kHead:
          if (!TakeHead(in)) return StageStatus::kNeedsInput;
          Start();
          break;
        case State::kBetween:
          // After a member: another one, or bytes that mean nothing.
          if (!TakeHead(in)) return StageStatus::kNeedsInput;
          if (!HeadIsGzip()) return End();
          inflateReset(&stream_);
          state_ = State::kBody;
          break;
        case State::kEnded:
          trailing_bytes_ = trailing_bytes_ || !in.empty();
          in = {};
          return StageStatus::kEnded;
        case State::kBody: {
          const StageStatus status = Inflate(in, to, room, written);
          if (state_ == State::kBody) return status;
          break;
        }
      }
    }
  }

  bool MayEnd() const override { return state_ == State::kBetween || state_ == State::kEnded; }

  bool Restart() override {
    if (allocated_) state_ = State::kHead;
    head_size_ = 0;
    trailing_bytes_ = false;
    return true;
  }

 private:
  enum class State : uint8_t { kHead, kBody, kBetween, kEnded };

  // Holds back the first two bytes of a stream, which may come one by one.
  bool TakeHead(std::string_view& in) {
    while (head_size_ < head_.size() && !in.empty()) {
      head_[head_size_++] = in.front();
      in.remove_prefix(1);
    }
    return head_size_ == head_.size();
  }

  bool HeadIsGzip() const { return head_[0] == '\x1f' && head_[1] == '\x8b'; }

  void Start() {
    int window_bits = 15 + 16;
    if (!gzip_) {
      // RFC 1950: method 8, and a multiple of 31.
      const auto first = static_cast<uint8_t>(head_[0]);
      const auto second = static_cast<uint8_t>(head_[1]);
      window_bits = (first & 15) == 8 && (first >> 4) <= 7 && (first * 256 + second) % 31 == 0 ? 15 : -15;
    }
    const int code = allocated_ ? inflateReset2(&stream_, window_bits) : inflateInit2(&stream_, window_bits);
    CHECK(code == Z_OK, "zlib has no memory");
    allocated_ = true;
    state_ = State::kBody;
  }

  StageStatus End() {
    trailing_bytes_ = true;
    state_ = State::kEnded;
    return StageStatus::kEnded;
  }

  StageStatus Inflate(std::string_view& in, char* to, size_t room, size_t& written) {
    for (;;) {
      const bool from_head = head_size_ != 0;
      const std::string_view piece =
          from_head ? std::string_view(head_.data(), head_size_) : in.substr(0, std::min(in.size(), kMaxStep));
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
      stream_.avail_in = static_cast<uInt>(piece.size());
      stream_.next_out = reinterpret_cast<Bytef*>(to + written);
      const size_t step = std::min(room - written, kMaxStep);
      stream_.avail_out = static_cast<uInt>(step);
      const int code = inflate(&stream_, Z_NO_FLUSH);
      const size_t used = piece.size() - stream_.avail_in;
      const size_t made = step - stream_.avail_out;
      written += made;
      if (from_head) {
        // A two-byte stream can end inside the head; keep what was not used.
        std::memmove(head_.data(), head_.data() + used, head_size_ - used);
        head_size_ -= used;
      } else {
        in.remove_prefix(used);
      }
      if (code == Z_STREAM_END) {
        state_ = gzip_ ? State::kBetween : State::kEnded;
        trailing_bytes_ = trailing_bytes_ || (!gzip_ && head_size_ != 0);
        return StageStatus::kNeedsInput;
      }
      if (code == Z_DATA_ERROR) {
        const std::string_view message = stream_.msg == nullptr ? "" : stream_.msg;
        if (message == "incorrect data check" || message == "incorrect length check") return StageStatus::kChecksum;
        return StageStatus::kCorrupt;
      }
      if (code == Z_NEED_DICT) return StageStatus::kCorrupt;
      CHECK(code == Z_OK || code == Z_BUF_ERROR, "inflate: {}", code);
      if (written == room) return StageStatus::kNeedsRoom;
      if (!from_head && in.empty()) return StageStatus::kNeedsInput;
      if (code == Z_BUF_ERROR && used == 0 && made == 0) return StageStatus::kNeedsInput;
    }
  }

  const bool gzip_;
  bool allocated_ = false;
  State state_ = State::kHead;
  std::array<char, 2> head_{};
  size_t head_size_ = 0;
  z_stream stream_{};
};

class BrotliStage final : public DecodeStage {
 public:
  BrotliStage() : state_(BrotliDecoderCreateInstance(nullptr, nullptr, nullptr)) {
    CHECK(state_ != nullptr, "brotli has no memory");
  }
  ~BrotliStage() override { BrotliDecoderDestroyInstance(state_); }

  StageStatus Run(std::string_view& in, char* to, size_t room, size_t& written) override {
    written = 0;
    if (ended_) {
      trailing_bytes_ = trailing_bytes_ || !in.empty();
      in = {};
      return StageStatus::kEnded;
    }
    size_t left = in.size();
    const auto* next = reinterpret_cast<const uint8_t*>(in.data());
    size_t room_left = room;
    auto* out = reinterpret_cast<uint8_t*>(to);
    const BrotliDecoderResult result = BrotliDecoderDecompressStream(state_, &left, &next, &room_left, &out, nullptr);
    in.remove_prefix(in.size() - left);
    written = room - room_left;
    switch (result) {
      case BROTLI_DECODER_RESULT_SUCCESS:
        ended_ = true;
        trailing_bytes_ = !in.empty();
        in = {};
        return StageStatus::kEnded;
      case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT:
        // It may hold back output that found no room.
        return BrotliDecoderHasMoreOutput(state_) == BROTLI_TRUE ? StageStatus::kNeedsRoom : StageStatus::kNeedsInput;
      case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT:
        return StageStatus::kNeedsRoom;
      case BROTLI_DECODER_RESULT_ERROR:
        break;
    }
    return StageStatus::kCorrupt;
  }

  bool MayEnd() const override { return ended_; }
  bool Restart() override { return false; }

 private:
  BrotliDecoderState* state_;
  bool ended_ = false;
};

class ZstdStage final : public DecodeStage {
 public:
  explicit ZstdStage(int window_log) : context_(ZSTD_createDCtx()) {
    CHECK(context_ != nullptr, "zstd has no memory");
    ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, window_log);
  }
  ~ZstdStage() override { ZSTD_freeDCtx(context_); }

  StageStatus Run(std::string_view& in, char* to, size_t room, size_t& written) override {
    written = 0;
    ZSTD_outBuffer out{to, room, 0};
    for (;;) {
      if (ended_) {
        trailing_bytes_ = trailing_bytes_ || !in.empty();
        in = {};
        return StageStatus::kEnded;
      }
      if (at_start_) {
        // Held back only where it comes in parts: given a whole frame at once the library needs no buffer of its own.
        const bool in_place = magic_size_ == 0 && in.size() >= magic_.size();
        while (!in_place && magic_size_ < magic_.size() && !in.empty()) {
          magic_[magic_size_++] = in.front();
          in.remove_prefix(1);
        }
        if (!in_place && magic_size_ < magic_.size()) return StageStatus::kNeedsInput;
        if (!MagicIsKnown(in_place ? in.data() : magic_.data())) {
          // The library may know older formats too; RFC 8878 has this one only.
          if (frames_ == 0) return StageStatus::kCorrupt;
          ended_ = trailing_bytes_ = true;
          continue;
        }
        at_start_ = false;
      }
      const bool from_magic = magic_size_ != 0;
      ZSTD_inBuffer piece{from_magic ? magic_.data() : in.data(), from_magic ? magic_size_ : in.size(), 0};
      const size_t before = out.pos;
      const size_t code = ZSTD_decompressStream(context_, &out, &piece);
      written = out.pos;
      if (from_magic) {
        magic_size_ -= piece.pos;
        std::memmove(magic_.data(), magic_.data() + piece.pos, magic_size_);
      } else {
        in.remove_prefix(piece.pos);
      }
      if (ZSTD_isError(code) != 0) {
        return ZSTD_getErrorName(code) == std::string_view("Restored data doesn't match checksum")
                   ? StageStatus::kChecksum
                   : StageStatus::kCorrupt;
      }
      if (code == 0) {
        ++frames_;
        at_start_ = true;
        continue;
      }
      if (out.pos == room) return StageStatus::kNeedsRoom;
      if (!from_magic && in.empty()) return StageStatus::kNeedsInput;
      if (!from_magic && piece.pos == 0 && out.pos == before) return StageStatus::kCorrupt;
    }
  }

  bool MayEnd() const override { return ended_ || (at_start_ && frames_ > 0 && magic_size_ == 0); }

  bool Restart() override {
    ZSTD_DCtx_reset(context_, ZSTD_reset_session_only);
    magic_size_ = 0;
    frames_ = 0;
    at_start_ = true;
    ended_ = trailing_bytes_ = false;
    return true;
  }

 private:
  static bool MagicIsKnown(const char* bytes) {
    const uint32_t magic = LoadLe<uint32_t>(bytes);
    return magic == ZSTD_MAGICNUMBER || (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
  }

  ZSTD_DCtx* context_;
  std::array<char, 4> magic_{};
  size_t magic_size_ = 0;
  uint64_t frames_ = 0;
  bool at_start_ = true;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<DecodeStage> DecodeStage::Create(ContentCoding coding, int zstd_window_log) {
  switch (coding) {
    case ContentCoding::kGzip:
    case ContentCoding::kDeflate:
      return std::make_unique<InflateStage>(coding);
    case ContentCoding::kBrotli:
      return std::make_unique<BrotliStage>();
    case ContentCoding::kZstd:
      return std::make_unique<ZstdStage>(zstd_window_log);
  }
  return nullptr;
}

}  // namespace portolan
