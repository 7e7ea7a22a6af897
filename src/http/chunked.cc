#include "http/chunked.h"

#include <algorithm>

namespace portolan {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Is the last line of these empty?
bool EndsInEmptyLine(std::string_view lines) {
  return lines == "\n" || lines == "\r\n" || lines.ends_with("\n\n") || lines.ends_with("\n\r\n");
}

}  // namespace

ChunkedDecoder::State ChunkedDecoder::Feed(std::string_view& in, std::string& out, uint64_t room) {
  while (!in.empty() && state_ != State::kDone && state_ != State::kBad) {
    const char c = in.front();
    switch (state_) {
      case State::kSize: {
        if (++line_bytes_ > kMaxLine) {
          state_ = State::kBad;
          break;
        }
        const int digit = HexDigit(c);
        if (digit >= 0 && !blank_ && size_ <= UINT64_MAX >> 4) {
          size_ = size_ * 16 + static_cast<uint64_t>(digit);
          digits_ = true;
        } else if (digits_ && (c == ' ' || c == '\t')) {
          blank_ = true;
        } else if (digits_ && c == ';') {
          state_ = State::kExtension;
        } else if (digits_ && (c == '\r' || c == '\n')) {
          state_ = State::kSizeEnd;
        } else {
          state_ = State::kBad;
        }
        if (state_ != State::kBad && c != '\n') in.remove_prefix(1);
        break;
      }
      case State::kExtension:
        if (++line_bytes_ > kMaxLine) {
          state_ = State::kBad;
          break;
        }
        if (c == '\r' || c == '\n') state_ = State::kSizeEnd;
        if (c != '\n') in.remove_prefix(1);
        break;
      case State::kSizeEnd:
        if (c != '\n') {
          state_ = State::kBad;
          break;
        }
        in.remove_prefix(1);
        left_ = size_;
        state_ = size_ == 0 ? State::kTrailer : State::kData;
        break;
      case State::kData: {
        const auto taken = static_cast<size_t>(std::min<uint64_t>({left_, in.size(), room}));
        if (taken == 0) return state_;
        out.append(in.substr(0, taken));
        in.remove_prefix(taken);
        left_ -= taken;
        room -= taken;
        if (left_ == 0) state_ = State::kDataEnd;
        break;
      }
      case State::kDataEnd:
        state_ = c == '\r' || c == '\n' ? State::kDataLineEnd : State::kBad;
        if (c == '\r') in.remove_prefix(1);
        break;
      case State::kDataLineEnd:
        if (c != '\n') {
          state_ = State::kBad;
          break;
        }
        in.remove_prefix(1);
        state_ = State::kSize;
        size_ = 0;
        line_bytes_ = 0;
        digits_ = blank_ = false;
        break;
      case State::kTrailer:
        trailer_.push_back(c);
        in.remove_prefix(1);
        if (trailer_.size() > kMaxTrailer) {
          state_ = State::kBad;
        } else if (c == '\n' && EndsInEmptyLine(trailer_)) {
          state_ = State::kDone;
        }
        break;
      case State::kDone:
      case State::kBad:
        break;
    }
  }
  return state_;
}

}  // namespace portolan
