#include "bench/urls/kspider_table.h"

#include <algorithm>

#include "base/bytes.h"

namespace portolan::bench {
namespace {

constexpr size_t kTailAt = 6;

size_t Shared(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

void KSpiderTable::Get(uint32_t number, std::string& out) const {
  const char* data = data_.data() + pointers_[number];
  size_t prefix = static_cast<uint8_t>(data[4]);
  const size_t length = prefix + static_cast<uint8_t>(data[5]);
  out.resize(length);
  std::copy_n(data + kTailAt, length - prefix, out.begin() + static_cast<long>(prefix));
  while (prefix > 0) {
    data = data_.data() + pointers_[LoadLe<uint32_t>(data)];
    const size_t shared = static_cast<uint8_t>(data[4]);
    if (shared >= prefix) continue;
    std::copy_n(data + kTailAt, prefix - shared, out.begin() + static_cast<long>(shared));
    prefix = shared;
  }
}

std::optional<uint32_t> KSpiderTable::Find(std::string_view url) const {
  std::string there;
  for (uint32_t node = root_; node != kNone;) {
    Get(node, there);
    const int order = url.compare(there);
    if (order == 0) return node;
    node = order < 0 ? Left(node) : Right(node);
  }
  return std::nullopt;
}

uint32_t KSpiderTable::Insert(std::string_view url) {
  std::vector<uint32_t> path;
  std::string there;
  uint32_t reference = 0;
  size_t shared = 0;
  bool left = false;
  for (uint32_t node = root_; node != kNone;) {
    Get(node, there);
    const int order = url.compare(there);
    if (order == 0) return node;
    const size_t common = std::min<size_t>(Shared(url, there), 255);
    if (common > shared) {
      shared = common;
      reference = node;
    }
    path.push_back(node);
    left = order < 0;
    node = left ? Left(node) : Right(node);
  }
  const auto made = static_cast<uint32_t>(nodes_.size());
  nodes_.emplace_back();
  pointers_.push_back(static_cast<uint32_t>(data_.size()));
  AppendLe<uint32_t>(data_, reference);
  data_ += static_cast<char>(shared);
  data_ += static_cast<char>(url.size() - shared);
  data_.append(url.substr(shared));
  if (path.empty()) {
    root_ = made;
    return made;
  }
  left ? SetLeft(path.back(), made) : SetRight(path.back(), made);
  for (size_t i = path.size(); i-- > 0;) {
    const uint32_t top = Balance(path[i]);
    if (top == path[i]) continue;
    if (i == 0) {
      root_ = top;
    } else if (Left(path[i - 1]) == path[i]) {
      SetLeft(path[i - 1], top);
    } else {
      SetRight(path[i - 1], top);
    }
  }
  return made;
}

void KSpiderTable::UpdateHeight(uint32_t node) {
  const auto height = static_cast<uint32_t>(1 + std::max(Height(Left(node)), Height(Right(node))));
  nodes_[node].left = Left(node) | height >> 4 << 28;
  nodes_[node].right = Right(node) | (height & 15) << 28;
}

uint32_t KSpiderTable::RotateLeft(uint32_t node) {
  const uint32_t top = Right(node);
  SetRight(node, Left(top));
  SetLeft(top, node);
  UpdateHeight(node);
  UpdateHeight(top);
  return top;
}

uint32_t KSpiderTable::RotateRight(uint32_t node) {
  const uint32_t top = Left(node);
  SetLeft(node, Right(top));
  SetRight(top, node);
  UpdateHeight(node);
  UpdateHeight(top);
  return top;
}

uint32_t KSpiderTable::Balance(uint32_t node) {
  UpdateHeight(node);
  const int lean = Height(Left(node)) - Height(Right(node));
  if (lean > 1) {
    const uint32_t child = Left(node);
    if (Height(Left(child)) < Height(Right(child))) SetLeft(node, RotateLeft(child));
    return RotateRight(node);
  }
  if (lean < -1) {
    const uint32_t child = Right(node);
    if (Height(Right(child)) < Height(Left(child))) SetRight(node, RotateRight(child));
    return RotateLeft(node);
  }
  return node;
}

}  // namespace portolan::bench
