#include "warc/archived_chunks.h"

namespace portolan {

void ArchivedChunks::Step(char c) {
  switch (state_) {
    case State::kSize: {
      int digit = -1;
      if (c >= '0' && c <= '9') digit = c - '0';
      if (c >= 'a' && c <= 'f') digit = c - 'a' + 10;
      if (c >= 'A' && c <= 'F') digit = c - 'A' + 10;
      if (digit >= 0) {
        if (++digits_ > 15) broken_ = true;
        left_ = left_ * 16 + static_cast<uint64_t>(digit);
        return;
      }
      if (digits_ == 0 || (c != ';' && c != '\r' && c != '\n' && c != ' ' && c != '\t')) {
        broken_ = true;
        return;
      }
      state_ = State::kExtension;
      [[fallthrough]];
    }
    case State::kExtension:
      if (c != '\n') return;
      digits_ = 0;
      if (left_ > 0) {
        state_ = State::kData;
      } else {
        state_ = State::kTrailer;
        trailer_line_empty_ = true;
      }
      return;
    case State::kDataEnd:
      if (c == '\r') return;
      if (c == '\n') {
        state_ = State::kSize;
      } else {
        broken_ = true;
      }
      return;
    case State::kTrailer:
      if (c == '\n') {
        done_ = trailer_line_empty_;
        trailer_line_empty_ = true;
      } else if (c != '\r') {
        trailer_line_empty_ = false;
      }
      return;
    case State::kData:
      return;
  }
}

}  // namespace portolan
