// LogFiles: the files of one log, PREFIX-<serial>SUFFIX in one directory: the one that grows and those that are
// finished. A new one begins when one is file_size long.
//
// Two formats: lines of text, appended as they are; or records in checksummed, compressed blocks (disk/record_block.h),
// where every Sync closes the block being filled, so that a committed length is the end of a block.
//
// Finished text files may be packed with gzip, once a checkpoint records that they are finished. Gzip, because all
// tools read it (zcat, zgrep, Python, jq behind a pipe) and people read this file; zstd would save another third. The
// file is cut into members of kPiece bytes, so packing blocks the writing thread only for milliseconds at a time, and
// it is written beside its place, synced and renamed before the plain one is removed: whichever of the two is found
// after a crash is whole. If both are found, it is packed again.
//
// Recovery is by serials and the mark of the last checkpoint, see output.h.
//
// Thread: one owner. Memory bound: AppendFile's buffer, or a block and its records; while packing 2 x kPiece.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "disk/block_format.h"
#include "io/env.h"
#include "outputs/log_file_name.h"
#include "outputs/output.h"
#include "warc/gzip_member.h"

namespace portolan {

// A file of a log that is being written.
class LogFile {
 public:
  virtual ~LogFile() = default;
  // Writes full blocks, so that Add has room. May be called again after kNoSpace, like the next two.
  virtual Status MakeRoom() = 0;
  virtual Status Flush() = 0;
  virtual Status Sync() = 0;                                        // flushes first
  virtual void Add(std::string_view record, uint32_t tag = 0) = 0;  // never fails
  virtual uint64_t size() const = 0;                                // exact after Flush
};

struct LogFilesOptions {
  std::string dir;
  LogNames names;
  uint64_t file_size = uint64_t{256} << 20;
  std::optional<FileKind> blocks = {};  // none: lines of text
  size_t tag_width = 0;                 // of records in blocks
  bool pack = false;                    // finished files; for lines of text
};

class LogFiles : public LaneFiles {
 public:
  static constexpr size_t kPiece = size_t{1} << 20;
  // Bytes of records before compression. What repeats from page to page of a site is found within a block only: blocks
  // of 128 KiB of the text log take a sixth more time and space, of 1 MiB a tenth less, but one page is read by
  // decoding its block (docs/text.md).
  static constexpr size_t kBlock = size_t{512} << 10;

  // Restores the state in the mark. Without a mark the directory must hold no file of these names (kExists), so that
  // another crawl's log is never removed as leftovers.
  static Result<std::unique_ptr<LogFiles>> Open(Env& env, const LogFilesOptions& options,
                                                const std::optional<OutputMark>& mark);

  // The file to which the next records are added, with room for them. May be called again after kNoSpace.
  Result<LogFile*> Prepare();
  // Everything added so far is in the file, for readers; not durable.
  Status Flush();
  Result<OutputMark> Sync() override;

  // Packs a piece of the oldest file that is not packed and whose serial is at most `finished`. False: there is none.
  Result<bool> PackSome(uint64_t finished);

 private:
  LogFiles(Env& env, const LogFilesOptions& options) : env_(env), options_(options) {}
  Status Recover(const std::optional<OutputMark>& mark);
  std::string PathOf(uint64_t serial) const { return JoinPath(options_.dir, options_.names.Name(serial)); }
  Status FinishFile();

  struct Packing {
    std::unique_ptr<File> from;
    std::unique_ptr<File> to;
    uint64_t offset = 0;
  };
  Status BeginPacking(uint64_t serial);
  Result<bool> PackPiece();  // true: the file is done

  Env& env_;
  const LogFilesOptions options_;
  uint64_t serial_ = 0;  // the highest used
  bool name_is_durable_ = true;
  std::unique_ptr<LogFile> file_;
  std::deque<uint64_t> to_pack_;
  std::optional<Packing> packing_;
  std::optional<GzipMember> gzip_;
};

}  // namespace portolan
