#include "bench/seen/mercator_b.h"

#include <algorithm>
#include <optional>

#include "base/bytes.h"

namespace portolan::bench {
namespace {

// Two entries per URL and one bit, beside the stream buffers: text, old and new URLseen.
size_t BatchCapacity(uint64_t ram) {
  const uint64_t buffers = 3 * kStreamBuffer;
  const uint64_t left = ram > 2 * buffers ? ram - buffers : ram / 2;
  return std::clamp<uint64_t>(left * 8 / (2 * sizeof(KeyEntry) * 8 + 1), 64, UINT32_MAX);
}

}  // namespace

Result<std::unique_ptr<MercatorB>> MercatorB::Create(Env& env, const UrlSeenOptions& options) {
  std::unique_ptr<MercatorB> made(new MercatorB(env, options));
  RETURN_IF_ERROR(made->OpenText());
  return made;
}

MercatorB::MercatorB(Env& env, const UrlSeenOptions& options)
    : env_(env),
      options_(options),
      seen_path_(JoinPath(options.dir, "urlseen")),
      next_path_(JoinPath(options.dir, "urlseen.next")),
      text_path_(JoinPath(options.dir, "text")),
      capacity_(BatchCapacity(options.ram)) {
  batch_.reserve(capacity_);
}

Status MercatorB::OpenText() {
  text_writer_.reset();
  ASSIGN_OR_RETURN(text_, env_.Open(text_path_, OpenMode::kCreate));
  text_writer_ = std::make_unique<FileWriter>(*text_);
  return {};
}

Status MercatorB::Add(uint64_t key, std::string_view text) {
  uint8_t length[kMaxVarint];
  const auto size = static_cast<size_t>(PutVarint(length, text.size()) - length);
  RETURN_IF_ERROR(text_writer_->Append(std::string_view(reinterpret_cast<const char*>(length), size)));
  RETURN_IF_ERROR(text_writer_->Append(text));
  batch_.push_back(KeyEntry::Make(key, static_cast<uint32_t>(batch_.size())));
  return batch_.size() < capacity_ ? Status() : Merge();
}

Status MercatorB::Finish() { return batch_.empty() ? Status() : Merge(); }

Status MercatorB::Merge() {
  ++rounds_;
  RETURN_IF_ERROR(text_writer_->Flush());
  if (scratch_.size() < batch_.size()) scratch_.resize(batch_.size());
  SortByKey(batch_, scratch_);
  is_new_.assign((batch_.size() + 63) / 64, 0);
  RETURN_IF_ERROR(MergeKeys());
  RETURN_IF_ERROR(DeliverText());
  batch_.clear();
  return OpenText();
}

Status MercatorB::MergeKeys() {
  ASSIGN_OR_RETURN(auto old_file, env_.Open(seen_path_, OpenMode::kAppend));
  ASSIGN_OR_RETURN(auto new_file, env_.Open(next_path_, OpenMode::kCreate));
  FileReader reader(*old_file);
  std::vector<uint64_t> out;
  out.reserve(kStreamBuffer / sizeof(uint64_t));
  const auto flush = [&] {
    const std::string_view bytes(reinterpret_cast<const char*>(out.data()), out.size() * sizeof(uint64_t));
    const Status written = new_file->Append(bytes);
    out.clear();
    return written;
  };

  size_t at = 0;
  // The first of equal keys is new when no old key equals it; the others never are.
  const auto take = [&](bool known) {
    const uint64_t key = batch_[at].key();
    if (!known) {
      const uint32_t number = batch_[at].number;
      is_new_[number / 64] |= uint64_t{1} << number % 64;
      out.push_back(key);
    }
    while (at < batch_.size() && batch_[at].key() == key) ++at;
  };
  for (;;) {
    ASSIGN_OR_RETURN(const std::string_view block, reader.Peek(sizeof(uint64_t)));
    const size_t keys = block.size() / sizeof(uint64_t);
    if (keys == 0 && !block.empty()) return Fail(ErrorCode::kCorrupt, seen_path_ + ": half a key at its end");
    if (keys == 0) break;
    for (size_t i = 0; i < keys; ++i) {
      const auto old_key = LoadLe<uint64_t>(block.data() + i * sizeof(uint64_t));
      while (at < batch_.size() && batch_[at].key() < old_key) {
        take(false);
        if (out.size() + 1 >= out.capacity()) RETURN_IF_ERROR(flush());
      }
      if (at < batch_.size() && batch_[at].key() == old_key) take(true);
      out.push_back(old_key);
      if (out.size() + 1 >= out.capacity()) RETURN_IF_ERROR(flush());
    }
    reader.Skip(keys * sizeof(uint64_t));
  }
  while (at < batch_.size()) {
    take(false);
    if (out.size() + 1 >= out.capacity()) RETURN_IF_ERROR(flush());
  }
  RETURN_IF_ERROR(flush());
  return env_.Rename(next_path_, seen_path_);
}

Status MercatorB::DeliverText() {
  FileReader reader(*text_);
  for (size_t number = 0; number < batch_.size();) {
    ASSIGN_OR_RETURN(std::string_view block, reader.Peek(kStreamBuffer / 2));
    ByteReader bytes(block);
    size_t used = 0;
    std::string_view text;
    while (number < batch_.size() && bytes.ReadString(text)) {
      if ((is_new_[number / 64] >> number % 64 & 1) != 0) options_.unique(text);
      used = bytes.position();
      ++number;
    }
    if (used == 0) return Fail(ErrorCode::kCorrupt, text_path_ + ": ends within a URL");
    reader.Skip(used);
  }
  return {};
}

}  // namespace portolan::bench
