#include "cluster/send_window.h"

#include <algorithm>
#include <utility>

namespace portolan {

void SendWindow::Add(std::string batch) {
  bytes_ += batch.size();
  entries_.push_back({.batch = std::move(batch)});
}

const std::string* SendWindow::NextToSend(uint64_t& number) const {
  for (size_t i = 0; i < std::min<size_t>(entries_.size(), kLinkWindow); ++i) {
    if (entries_[i].state != State::kWaiting) continue;
    number = stored_ + 1 + i;
    return &entries_[i].batch;
  }
  return nullptr;
}

SendWindow::Entry* SendWindow::Find(uint64_t number) {
  if (number <= stored_ || number > sent()) return nullptr;
  return &entries_[number - stored_ - 1];
}

void SendWindow::MarkSent(uint64_t number) {
  Entry* entry = Find(number);
  if (entry != nullptr && entry->state == State::kWaiting) entry->state = State::kSent;
}

void SendWindow::SendAgain(uint64_t number) {
  Entry* entry = Find(number);
  if (entry != nullptr && entry->state == State::kSent) entry->state = State::kWaiting;
}

void SendWindow::Stored(uint64_t number) {
  Entry* entry = Find(number);
  if (entry == nullptr || entry->state == State::kStored) return;
  entry->state = State::kStored;
  bytes_ -= entry->batch.size();
  std::string().swap(entry->batch);
  while (!entries_.empty() && entries_.front().state == State::kStored) {
    entries_.pop_front();
    ++stored_;
  }
}

}  // namespace portolan
