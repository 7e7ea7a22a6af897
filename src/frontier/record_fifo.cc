#include "frontier/record_fifo.h"

#include "base/bytes.h"
#include "base/check.h"

namespace portolan {

std::string_view RecordFifo::RecordAt(size_t& at) const {
  uint64_t length = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes_[at++]);
    length |= uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) break;
  }
  const std::string_view record = std::string_view(bytes_).substr(at, length);
  at += length;
  return record;
}

void RecordFifo::PushBack(std::string_view record) {
  AppendString(bytes_, record);
  ++count_;
}

void RecordFifo::PushFront(std::string_view record) {
  const size_t length = VarintLength(record.size()) + record.size();
  if (length > begin_) {
    // A record that is pushed to the front was usually just taken from there, so there is room.
    bytes_.insert(0, length - begin_, '\0');
    begin_ = length;
  }
  begin_ -= length;
  uint8_t head[kMaxVarint];
  const size_t head_size = static_cast<size_t>(PutVarint(head, record.size()) - head);
  bytes_.replace(begin_, head_size, reinterpret_cast<const char*>(head), head_size);
  bytes_.replace(begin_ + head_size, record.size(), record);
  ++count_;
}

std::string_view RecordFifo::front() const {
  DCHECK(count_ > 0);
  size_t at = begin_;
  return RecordAt(at);
}

void RecordFifo::PopFront() {
  DCHECK(count_ > 0);
  static_cast<void>(RecordAt(begin_));
  if (--count_ == 0) {
    Clear();
  } else if (begin_ > 512 && begin_ > bytes_.size() / 2) {
    Replace(std::string_view(bytes_).substr(begin_));
  }
}

void RecordFifo::CutAfter(uint32_t keep) {
  if (keep >= count_) return;
  size_t end = begin_;
  for (uint32_t i = 0; i < keep; ++i) static_cast<void>(RecordAt(end));
  Replace(std::string_view(bytes_).substr(begin_, end - begin_));
  count_ = keep;
}

void RecordFifo::Clear() {
  Replace({});
  count_ = 0;
}

void RecordFifo::Replace(std::string_view bytes) {
  // An assignment would keep the larger memory.
  std::string(bytes).swap(bytes_);
  begin_ = 0;
}

}  // namespace portolan
