// ArchivedChunks: removes HTTP/1.1 chunked framing from an archived body. More tolerant than http/chunked.h: archives
// hold bodies that are declared chunked and are not, and the part of a broken body before the error is kept.
//
// Feed pieces of any size; decoded bytes go to a function as views of the input. A framing that breaks ends decoding
// (`broken`), and what follows is dropped. Memory: a few bytes.

#pragma once

#include <cstdint>
#include <string_view>

namespace portolan {

class ArchivedChunks {
 public:
  void Start() { *this = ArchivedChunks(); }

  template <typename Sink>
  void Feed(std::string_view bytes, Sink&& sink) {
    while (!bytes.empty() && !done_ && !broken_) {
      if (state_ == State::kData) {
        const size_t take = left_ < bytes.size() ? static_cast<size_t>(left_) : bytes.size();
        sink(bytes.substr(0, take));
        left_ -= take;
        bytes.remove_prefix(take);
        if (left_ == 0) state_ = State::kDataEnd;
        continue;
      }
      Step(bytes.front());
      bytes.remove_prefix(1);
    }
  }

  bool done() const { return done_; }      // the last chunk has come
  bool broken() const { return broken_; }  // not chunked framing

 private:
  enum class State : uint8_t { kSize, kExtension, kData, kDataEnd, kTrailer };
  void Step(char c);

  State state_ = State::kSize;
  uint64_t left_ = 0;
  int digits_ = 0;
  bool trailer_line_empty_ = true;
  bool done_ = false;
  bool broken_ = false;
};

}  // namespace portolan
