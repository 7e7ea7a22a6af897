#include "follow/output_reader.h"

#include <fmt/core.h>

#include <utility>

#include "outputs/crawl_log.h"
#include "outputs/outputs.h"

namespace portolan {
namespace {

// A real crawl does not replace its files this often while one is being opened.
constexpr int kAttempts = 100;

}  // namespace

OutputSource CrawlLogSource(const std::string& state_dir, const std::string& dir) {
  return {.state_dir = state_dir, .dir = dir, .name = std::string(CrawlLog::kName), .names = kCrawlLogNames};
}

OutputSource LinkLogSource(const std::string& state_dir, const std::string& dir) {
  return {.state_dir = state_dir,
          .dir = dir,
          .name = std::string(kLinkLog),
          .names = kLinkLogNames,
          .blocks = FileKind::kLinks,
          .tag_width = 1};
}

OutputSource TextLogSource(const std::string& state_dir, const std::string& dir) {
  return {.state_dir = state_dir,
          .dir = dir,
          .name = std::string(kTextLog),
          .names = kTextLogNames,
          .blocks = FileKind::kText};
}

Result<std::optional<CommittedOutput>> ReadCommitted(Env& env, const OutputSource& source) {
  for (int attempt = 0;; ++attempt) {
    const auto manifest = Manifest::Read(env, source.state_dir);
    if (!manifest) {
      // The one that was listed was replaced before it was opened.
      if (manifest.error().code() != ErrorCode::kNotFound || attempt == kAttempts) {
        return std::unexpected(manifest.error());
      }
      continue;
    }
    RETURN_IF_ERROR(SyncDirOnce(env, source.state_dir));
    return FindOutput(*manifest, source.name);
  }
}

Result<OutputReader> OutputReader::Open(Env& env, const OutputSource& source, const OutputMark& until,
                                        const OutputPosition& from) {
  const bool ahead = from.serial > until.serial + 1 || (from.serial == until.serial + 1 && from.offset > 0) ||
                     (from.serial == until.serial && until.length > 0 && from.offset > until.length);
  if (ahead) {
    return Fail(
        ErrorCode::kCorrupt,
        fmt::format("{}: the position (file {}, byte {}) is beyond what the crawl has committed (file {}): it is "
                    "not the crawl that was followed; remove the position and what was made from it",
                    source.dir, from.serial, from.offset, until.serial));
  }
  return OutputReader(env, source, until, from);
}

Result<bool> OutputReader::OpenFile() {
  if (position_.serial > until_.serial) return false;
  const bool grows = !Finished(position_.serial);
  const std::optional<uint64_t> length = grows ? std::optional(until_.length) : std::nullopt;
  if (grows && position_.offset >= until_.length) return false;
  for (int attempt = 0;; ++attempt) {
    ASSIGN_OR_RETURN(const auto files, ListLogFiles(*env_, source_.dir, source_.names));
    const auto file = files.find(position_.serial);
    if (file == files.end()) {
      return Fail(ErrorCode::kCorrupt, fmt::format("{}: {} is missing; the crawl has committed it", source_.dir,
                                                   source_.names.Name(position_.serial)));
    }
    Status opened;
    if (source_.blocks) {
      BlockFileReader::Options options;
      options.length = length;
      options.offset = position_.offset;
      auto blocks = BlockFileReader::Open(*env_, file->second.path, *source_.blocks, options);
      if (blocks) {
        blocks_ = std::make_unique<BlockFileReader>(*std::move(blocks));
        return true;
      }
      opened = std::unexpected(blocks.error());
    } else {
      auto text = LogText::Open(*env_, file->second, length, position_.offset);
      if (text) {
        text_ = *std::move(text);
        rest_.clear();
        return true;
      }
      opened = std::unexpected(text.error());
    }
    // It was packed since the directory was read.
    if (opened.error().code() != ErrorCode::kNotFound || attempt == kAttempts) return std::unexpected(opened.error());
  }
}

Result<bool> OutputReader::Next(const Each& each) {
  for (;;) {
    if (!blocks_ && !text_) {
      ASSIGN_OR_RETURN(const bool more, OpenFile());
      if (!more) return false;
    }
    ASSIGN_OR_RETURN(const bool got, source_.blocks ? NextBlock(each) : NextLines(each));
    if (got) return true;
    blocks_.reset();
    text_.reset();
    if (!Finished(position_.serial)) return false;
    ++position_.serial;
    position_.offset = 0;
  }
}

Result<bool> OutputReader::NextBlock(const Each& each) {
  ASSIGN_OR_RETURN(const std::optional<Block> block, blocks_->Next());
  if (!block) return false;
  records_->Start(*block, source_.tag_width);
  uint32_t count = 0;
  for (; records_->Next(); ++count) {
    if (const Status status = each(records_->record(), records_->tag()); !status) {
      blocks_.reset();  // the position stays before this block
      return std::unexpected(status.error());
    }
  }
  if (!records_->ok() || count != block->records) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("{}: block at {}: its records are broken",
                            JoinPath(source_.dir, source_.names.Name(position_.serial)), block->offset));
  }
  position_.offset = block->end;
  return true;
}

Result<bool> OutputReader::NextLines(const Each& each) {
  for (;;) {
    ASSIGN_OR_RETURN(std::string_view piece, text_->Next());
    if (piece.empty()) {
      if (rest_.empty()) return false;
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("{}: ends inside a line", JoinPath(source_.dir, source_.names.Name(position_.serial))));
    }
    uint64_t read = 0;
    for (size_t end = piece.find('\n'); end != std::string_view::npos; end = piece.find('\n')) {
      if (!rest_.empty()) rest_ += piece.substr(0, end);
      const std::string_view line = rest_.empty() ? piece.substr(0, end) : std::string_view(rest_);
      if (const Status status = each(line, 0); !status) {
        text_.reset();
        return std::unexpected(status.error());
      }
      read += line.size() + 1;
      piece.remove_prefix(end + 1);
      rest_.clear();
    }
    rest_ += piece;
    position_.offset += read;
    if (read > 0) return true;
  }
}

}  // namespace portolan
