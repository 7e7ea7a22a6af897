#include "bench/seen/polybot.h"

#include <lz4.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "base/bytes.h"
#include "bench/seen/file_stream.h"

namespace portolan::bench {
namespace {

constexpr size_t kBlock = 65536;
constexpr size_t kNodeBytes = 48;  // a node of the tree: colour, three links, the view

// Writes sorted URLs: blocks of [u32 compressed size][u32 size][lz4], each beginning with a whole URL.
class SeenWriter {
 public:
  explicit SeenWriter(File& file) : writer_(file) { compressed_.resize(LZ4_COMPRESSBOUND(kBlock + 4096)); }

  Status Add(std::string_view url) {
    if (block_.size() + url.size() + 2 * kMaxVarint > kBlock) RETURN_IF_ERROR(FlushBlock());
    const size_t most = std::min(last_.size(), url.size());
    const auto shared = static_cast<size_t>(
        std::mismatch(last_.begin(), last_.begin() + static_cast<long>(most), url.begin()).first - last_.begin());
    AppendVarint(block_, shared);
    AppendString(block_, url.substr(shared));
    last_.assign(url);
    return {};
  }

  Status Finish() {
    RETURN_IF_ERROR(FlushBlock());
    return writer_.Flush();
  }

 private:
  Status FlushBlock() {
    if (block_.empty()) return {};
    const int size = LZ4_compress_default(block_.data(), compressed_.data(), static_cast<int>(block_.size()),
                                          static_cast<int>(compressed_.size()));
    if (size <= 0) return Fail(ErrorCode::kInvalidArgument, "a URL too long for a block");
    char head[8];
    StoreLe<uint32_t>(head, static_cast<uint32_t>(size));
    StoreLe<uint32_t>(head + 4, static_cast<uint32_t>(block_.size()));
    RETURN_IF_ERROR(writer_.Append(std::string_view(head, sizeof head)));
    RETURN_IF_ERROR(writer_.Append(std::string_view(compressed_.data(), static_cast<size_t>(size))));
    block_.clear();
    last_.clear();
    return {};
  }

  FileWriter writer_;
  std::string block_;
  std::string compressed_;
  std::string last_;
};

// Reads them back. `url()` is valid until Next.
class SeenReader {
 public:
  explicit SeenReader(File& file) : reader_(file), file_(file) {}

  const std::string& url() const { return url_; }

  // False at the end.
  Result<bool> Next() {
    if (at_ == block_.size()) {
      ASSIGN_OR_RETURN(const bool more, NextBlock());
      if (!more) return false;
    }
    ByteReader bytes(std::string_view(block_).substr(at_));
    uint64_t shared = 0;
    std::string_view rest;
    if (!bytes.ReadVarint(shared) || !bytes.ReadString(rest) || shared > url_.size()) return Broken();
    url_.resize(shared);
    url_.append(rest);
    at_ += bytes.position();
    return true;
  }

 private:
  std::unexpected<Error> Broken() { return Fail(ErrorCode::kCorrupt, file_.path() + ": not a file of URLs"); }

  Result<bool> NextBlock() {
    ASSIGN_OR_RETURN(std::string_view head, reader_.Peek(8));
    if (head.empty()) return false;
    if (head.size() < 8) return Broken();
    const auto size = LoadLe<uint32_t>(head.data());
    const auto plain = LoadLe<uint32_t>(head.data() + 4);
    if (plain == 0 || plain > kBlock + 4096 || size > kStreamBuffer - 8) return Broken();
    ASSIGN_OR_RETURN(std::string_view whole, reader_.Peek(8 + size_t{size}));
    if (whole.size() < 8 + size_t{size}) return Broken();
    block_.resize(plain);
    if (LZ4_decompress_safe(whole.data() + 8, block_.data(), static_cast<int>(size), static_cast<int>(plain)) !=
        static_cast<int>(plain)) {
      return Broken();
    }
    reader_.Skip(8 + size_t{size});
    at_ = 0;
    url_.clear();
    return true;
  }

  FileReader reader_;
  File& file_;
  std::string block_;
  size_t at_ = 0;
  std::string url_;
};

}  // namespace

Result<std::unique_ptr<Polybot>> Polybot::Create(Env& env, const UrlSeenOptions& options) {
  return std::unique_ptr<Polybot>(new Polybot(env, options));
}

Polybot::Polybot(Env& env, const UrlSeenOptions& options)
    : env_(env),
      options_(options),
      seen_path_(JoinPath(options.dir, "urlseen")),
      next_path_(JoinPath(options.dir, "urlseen.next")),
      arena_bytes_(std::max<size_t>(options.ram / 2, 4096)),
      arena_(std::make_unique_for_overwrite<std::byte[]>(arena_bytes_)) {
  Clear();
}

void Polybot::Clear() {
  tree_.reset();
  pool_.reset();
  text_bytes_ = 0;
  pool_.emplace(arena_.get(), arena_bytes_);
  tree_.emplace(&*pool_);
}

Status Polybot::Add(uint64_t, std::string_view text) {
  auto place = tree_->lower_bound(text);
  if (place != tree_->end() && *place == text) return {};
  // What a monotonic pool uses at most: nodes and texts, each rounded up to the alignment of the next node.
  const size_t needed = kNodeBytes + text.size() + 2 * alignof(std::max_align_t);
  if (text_bytes_ + needed > arena_bytes_ && !tree_->empty()) {
    RETURN_IF_ERROR(Merge());
    place = tree_->end();
  }
  text_bytes_ += needed;
  char* copy = static_cast<char*>(pool_->allocate(text.size(), 1));
  std::memcpy(copy, text.data(), text.size());
  tree_->emplace_hint(place, copy, text.size());
  return {};
}

Status Polybot::Finish() { return tree_->empty() ? Status() : Merge(); }

Status Polybot::Merge() {
  ++rounds_;
  ASSIGN_OR_RETURN(auto old_file, env_.Open(seen_path_, OpenMode::kAppend));
  ASSIGN_OR_RETURN(auto new_file, env_.Open(next_path_, OpenMode::kCreate));
  SeenReader reader(*old_file);
  SeenWriter writer(*new_file);
  auto at = tree_->begin();
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, reader.Next());
    if (!more) break;
    const std::string& old_url = reader.url();
    int order = 1;
    while (at != tree_->end() && (order = at->compare(old_url)) < 0) {
      options_.unique(*at);
      RETURN_IF_ERROR(writer.Add(*at++));
    }
    if (at != tree_->end() && order == 0) ++at;
    RETURN_IF_ERROR(writer.Add(old_url));
  }
  for (; at != tree_->end(); ++at) {
    options_.unique(*at);
    RETURN_IF_ERROR(writer.Add(*at));
  }
  RETURN_IF_ERROR(writer.Finish());
  RETURN_IF_ERROR(env_.Rename(next_path_, seen_path_));
  Clear();
  return {};
}

}  // namespace portolan::bench
