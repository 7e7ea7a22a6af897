// LinkTexts: flags and anchor texts of the links of a page graph, in the order of its links.
//
// A file of blocks, each compressed with zstd and with a checksum, behind them an index with the first link of each.
// Links that have neither flags nor a text are not in it. A look-up reads one block: some 30 microseconds. All look-ups
// of one page's links read it once. docs/formats/graph_dir.md has the format.
//
// Thread: one owner each; the bytes may be shared. Memory bound: the writer has a block and 16 bytes per block (one MiB
// for 4 GiB of texts); a reader one block. Damage is kCorrupt, and never read past.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "disk/codec.h"

namespace portolan {

inline constexpr size_t kLinkTextBlock = size_t{64} << 10;  // bytes of rows before compression

class LinkTextsWriter {
 public:
  using Sink = std::function<Status(std::string_view)>;

  explicit LinkTextsWriter(Sink sink) : sink_(std::move(sink)), compressor_(Codec::kZstd) {}

  // Pairs rise. `text` is a byte of flags and the anchor text.
  Status Add(uint64_t pair, std::string_view text);
  Status Finish();

 private:
  struct Place {
    uint64_t first_pair;
    uint64_t offset;
  };
  Status CloseBlock();

  Sink sink_;
  Compressor compressor_;
  std::string block_;
  std::string frame_;
  uint64_t first_ = 0;
  uint64_t last_ = 0;
  uint64_t offset_ = 0;
  std::vector<Place> index_;
};

class LinkTexts {
 public:
  // `bytes` must outlive it. Checks the footer and the index.
  static Result<LinkTexts> Open(std::string_view bytes);

  // The text of a link; empty: it has none. Valid until the next call.
  Result<std::string_view> Find(uint64_t pair);

  // To the next text in order, from the beginning; false: there is none. Not to be mixed with Find.
  Result<bool> Next();
  uint64_t pair() const { return pair_; }
  std::string_view text() const { return text_; }

 private:
  explicit LinkTexts(std::string_view bytes) : bytes_(bytes) {}
  uint64_t FirstOf(uint64_t block) const;
  uint64_t OffsetOf(uint64_t block) const;
  Status Load(uint64_t block);
  Result<bool> Step();  // within the block

  std::string_view bytes_;
  uint64_t index_ = 0;  // where it begins
  uint64_t blocks_ = 0;
  uint64_t loaded_ = ~uint64_t{0};
  uint64_t next_block_ = 0;
  Decompressor decompressor_;
  std::string raw_;
  size_t at_ = 0;
  uint64_t pair_ = 0;
  std::string_view text_;
};

}  // namespace portolan
