#include "graph/url_dictionary.h"

#include <fmt/core.h>

#include <algorithm>
#include <compare>

#include "base/bytes.h"
#include "graph/url_dictionary_format.h"

namespace portolan::graph {
namespace {

constexpr size_t kUrlDictionaryHeaderSize = kUrlDictionaryMagic.size() + sizeof(uint32_t);

std::unexpected<Error> BadBlock(uint64_t offset, std::string_view what) {
  return Fail(ErrorCode::kCorrupt, fmt::format("URL dictionary: block at byte {}: {}", offset, what));
}

// The entries of a block, whose keys are compared without being put together.
class EntryReader {
 public:
  explicit EntryReader(std::string_view entries, uint64_t last_length = 0) : reader_(entries), length_(last_length) {}

  bool Next() {
    if (!reader_.ReadVarint(shared_) || !reader_.ReadString(suffix_)) return false;
    if (shared_ > length_) return false;
    length_ = shared_ + suffix_.size();
    return length_ <= kMaxUrlKey;
  }
  bool NextChild() { return reader_.ReadVarint(gap_) && reader_.ReadVarint(size_); }

  uint64_t shared() const { return shared_; }
  std::string_view suffix() const { return suffix_; }
  uint64_t gap() const { return gap_; }
  uint64_t size() const { return size_; }
  uint64_t position() const { return reader_.position(); }

 private:
  ByteReader reader_;
  uint64_t length_;  // of the key before
  uint64_t shared_ = 0;
  std::string_view suffix_;
  uint64_t gap_ = 0;
  uint64_t size_ = 0;
};

// Compares increasing front-coded keys with one key. Invariant: all keys so far are below `key`, and the last of them
// shares `matched_` bytes with it. A key that shares more than that with its predecessor is as far below; one that
// shares less is above; only the others are looked at.
class KeyMatcher {
 public:
  explicit KeyMatcher(std::string_view key) : key_(key) {}

  // How the next entry compares with the key.
  std::strong_ordering Compare(uint64_t shared, std::string_view suffix) {
    if (shared > matched_) return std::strong_ordering::less;
    if (shared < matched_) return std::strong_ordering::greater;
    const std::string_view rest = key_.substr(matched_);
    const auto [theirs, ours] = std::ranges::mismatch(suffix, rest);
    matched_ += static_cast<size_t>(ours - rest.begin());
    if (ours == rest.end()) {
      return theirs == suffix.end() ? std::strong_ordering::equal : std::strong_ordering::greater;
    }
    if (theirs == suffix.end()) return std::strong_ordering::less;
    return static_cast<uint8_t>(*theirs) <=> static_cast<uint8_t>(*ours);
  }

 private:
  std::string_view key_;
  size_t matched_ = 0;
};

uint64_t DivideUp(uint64_t a, uint64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

}  // namespace

Result<UrlDictionary> UrlDictionary::Open(std::string_view bytes) {
  const auto corrupt = [](std::string_view what) {
    return Fail(ErrorCode::kCorrupt, fmt::format("URL dictionary: {}", what));
  };
  if (bytes.size() < kUrlDictionaryHeaderSize || !bytes.starts_with(kUrlDictionaryMagic)) {
    return corrupt("the file does not begin as a dictionary does");
  }
  const auto version = LoadLe<uint32_t>(bytes.data() + kUrlDictionaryMagic.size());
  if (version != kUrlDictionaryVersion) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("URL dictionary: version {} is not known to this program, which reads version {}", version,
                            kUrlDictionaryVersion));
  }
  if (bytes.size() < kUrlDictionaryHeaderSize + kUrlDictionaryFooterSize || !bytes.ends_with(kUrlDictionaryMagic)) {
    return corrupt("the file has no footer: it was cut off or not finished");
  }
  const std::string_view footer = bytes.substr(bytes.size() - kUrlDictionaryFooterSize);
  UrlDictionary made;
  ByteReader reader(footer);
  uint32_t again = 0;
  uint32_t checksum = 0;
  reader.Read(made.size_);
  reader.Read(made.root_.offset);
  reader.Read(made.root_.size);
  reader.Read(made.levels_);
  reader.Read(again);
  const uint32_t expected = Crc32c(footer.substr(0, reader.position()));
  reader.Read(checksum);
  if (checksum != expected) return corrupt("the footer's checksum differs");
  if (again != version) return corrupt("header and footer are of different versions");
  uint64_t blocks = DivideUp(made.size_, kUrlDictionaryFanout);
  uint32_t levels = 0;
  for (; blocks > 1; ++levels) blocks = DivideUp(blocks, kUrlDictionaryFanout);
  if (levels != made.levels_) return corrupt("the footer's number of levels does not fit its number of keys");
  made.bytes_ = bytes.substr(0, bytes.size() - kUrlDictionaryFooterSize);
  return made;
}

// Entries of a block.
uint64_t UrlDictionary::CountAt(uint32_t level, uint64_t position) const {
  uint64_t entries = size_;
  for (uint32_t i = 0; i < level; ++i) entries = DivideUp(entries, kUrlDictionaryFanout);
  return std::min(entries - position * kUrlDictionaryFanout, kUrlDictionaryFanout);
}

Result<UrlDictionary::Block> UrlDictionary::Read(Place place, uint32_t level, uint64_t position) const {
  if (place.offset < kUrlDictionaryHeaderSize || place.offset > bytes_.size() || place.size < sizeof(uint32_t) ||
      place.size > bytes_.size() - place.offset) {
    return BadBlock(place.offset, "the index leads out of the file");
  }
  std::string_view block = bytes_.substr(place.offset, place.size);
  const auto checksum = LoadLe<uint32_t>(block.data() + block.size() - sizeof(uint32_t));
  block.remove_suffix(sizeof checksum);
  if (UrlDictionaryChecksum(level, position, block) != checksum) return BadBlock(place.offset, "the checksum differs");
  return Block{block, CountAt(level, position), place.offset};
}

Result<UrlDictionary::Place> UrlDictionary::ChildAt(const Block& block, uint64_t index) const {
  EntryReader entry(block.entries);
  Place child;
  for (uint64_t i = 0; i <= index; ++i) {
    if (!entry.Next() || !entry.NextChild()) return BadBlock(block.offset, "an index entry is not valid");
    child.offset += entry.gap();
    child.size = entry.size();
  }
  return child;
}

// The last child whose separator is not above the key.
Result<UrlDictionary::Place> UrlDictionary::ChildOf(const Block& block, std::string_view key, uint64_t& index) const {
  EntryReader entry(block.entries);
  KeyMatcher matcher(key);
  Place child;
  for (index = 0; index < block.count; ++index) {
    if (!entry.Next()) return BadBlock(block.offset, "an index entry is not valid");
    // The first separator is empty: never above.
    if (index > 0 && matcher.Compare(entry.shared(), entry.suffix()) > 0) break;
    if (!entry.NextChild()) return BadBlock(block.offset, "an index entry is not valid");
    child.offset += entry.gap();
    child.size = entry.size();
  }
  --index;  // at least one entry was read: no block is empty
  return child;
}

Result<UrlDictionary::Found> UrlDictionary::Search(std::string_view key) const {
  if (size_ == 0) return Found{};
  Place place = root_;
  uint64_t position = 0;
  for (uint32_t level = levels_; level > 0; --level) {
    ASSIGN_OR_RETURN(const Block block, Read(place, level, position));
    uint64_t index = 0;
    ASSIGN_OR_RETURN(place, ChildOf(block, key, index));
    position = position * kUrlDictionaryFanout + index;
  }
  ASSIGN_OR_RETURN(const Block block, Read(place, 0, position));
  EntryReader entry(block.entries);
  KeyMatcher matcher(key);
  const uint64_t first = position * kUrlDictionaryFanout;
  for (uint64_t i = 0; i < block.count; ++i) {
    if (!entry.Next()) return BadBlock(block.offset, "a key is not valid");
    const auto order = matcher.Compare(entry.shared(), entry.suffix());
    if (order >= 0) return Found{first + i, order == 0};
  }
  return Found{first + block.count, false};
}

Result<std::optional<uint64_t>> UrlDictionary::Find(std::string_view key) const {
  ASSIGN_OR_RETURN(const Found found, Search(key));
  if (!found.equal) return std::nullopt;
  return found.number;
}

Result<uint64_t> UrlDictionary::LowerBound(std::string_view key) const {
  ASSIGN_OR_RETURN(const Found found, Search(key));
  return found.number;
}

Result<UrlDictionary::Block> UrlDictionary::DataBlock(uint64_t position) const {
  Place place = root_;
  for (uint32_t level = levels_; level > 0; --level) {
    uint64_t below = position;
    for (uint32_t i = 1; i < level; ++i) below /= kUrlDictionaryFanout;
    ASSIGN_OR_RETURN(const Block block, Read(place, level, below / kUrlDictionaryFanout));
    ASSIGN_OR_RETURN(place, ChildAt(block, below % kUrlDictionaryFanout));
  }
  return Read(place, 0, position);
}

Status UrlDictionary::Get(uint64_t number, std::string& out) const {
  out.clear();
  if (number >= size_) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("URL dictionary: no key {}: there are {}", number, size_));
  }
  ASSIGN_OR_RETURN(const Block block, DataBlock(number / kUrlDictionaryFanout));
  EntryReader entry(block.entries);
  for (uint64_t i = 0; i <= number % kUrlDictionaryFanout; ++i) {
    if (!entry.Next()) return BadBlock(block.offset, "a key is not valid");
    out.resize(entry.shared());
    out.append(entry.suffix());
  }
  return {};
}

UrlDictionary::Scan::Scan(const UrlDictionary& dictionary, uint64_t first) : dictionary_(dictionary), next_(first) {}

bool UrlDictionary::Scan::Next() {
  if (!status_ || next_ >= dictionary_.size_) return false;
  if (left_ == 0 && !Load()) return false;
  return Step();
}

// The block of the next key; on the first call that key may be anywhere in it.
bool UrlDictionary::Scan::Load() {
  const auto block = dictionary_.DataBlock(next_ / kUrlDictionaryFanout);
  if (!block) {
    status_ = std::unexpected(block.error());
    return false;
  }
  left_ = block->count;
  rest_ = block->entries;
  key_.clear();
  const uint64_t target = next_;
  for (next_ -= next_ % kUrlDictionaryFanout; next_ < target;) {
    if (!Step()) return false;
  }
  return true;
}

bool UrlDictionary::Scan::Step() {
  EntryReader entry(rest_, key_.size());
  if (!entry.Next()) {
    status_ = Fail(ErrorCode::kCorrupt, fmt::format("URL dictionary: key {} is not valid", next_));
    return false;
  }
  key_.resize(entry.shared());
  key_.append(entry.suffix());
  rest_.remove_prefix(entry.position());
  --left_;
  ++next_;
  return true;
}

}  // namespace portolan::graph
