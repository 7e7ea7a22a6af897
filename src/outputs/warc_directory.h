// WarcDirectory: the WARC files of one directory: the one that grows, its index to be, and those that are finished.
//
//   NAME.warc.gz     records as they come, a warcinfo first
//   NAME.cdxj.part   one index line per capture, in the order of the file; while the file grows, and until a checkpoint
//                    knows that it is finished
//   NAME.cdxj        the same sorted: written when the file is closed
//
// NAME is PREFIX-<time>-<serial>-<host>. Serials only grow, and recovery depends on them: the last checkpoint holds the
// highest serial that was used (OutputMark). Files with a higher one are removed; the one that was growing is cut to
// its length; lower ones are finished and are left alone. So the size of the checkpoint does not depend on the number
// of files.
//
// Thread: one owner. Memory bound: two buffers of AppendFile and, while a file is closed, options.index_memory.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "flow/page_result.h"
#include "io/clock.h"
#include "io/env.h"
#include "io/rng.h"
#include "outputs/append_file.h"
#include "outputs/output.h"
#include "warc/writer.h"

namespace portolan {

// What a WARC file says about the crawl in its first record.
struct CrawlInfo {
  std::string software = "portolan";
  std::string user_agent;
  std::string operator_name;
  std::string contact;      // a URL or an address
  std::string description;  // of the crawl: profile, scope, limits
  std::string robots = "obey (RFC 9309)";
};

struct WarcDirectoryOptions {
  std::string dir;
  std::string prefix = "PORTOLAN";
  std::string host = "localhost";          // this machine, for names
  uint64_t file_size = uint64_t{1} << 30;  // a file is closed when it is this long
  size_t index_memory = size_t{64} << 20;  // for sorting the index of a file
  CrawlInfo info;
  std::optional<uint64_t> seed = {};  // of the ids of warcinfo records, for tests; none: the system's random source
};

class WarcDirectory : public LaneFiles {
 public:
  // Restores the state in the mark. Without a mark the directory must hold no file of this prefix (kExists), so that
  // another crawl's archive is never removed as leftovers. `next_serial` is shared by all directories of an archive.
  static Result<std::unique_ptr<WarcDirectory>> Open(Env& env, const Clock& clock, const WarcDirectoryOptions& options,
                                                     const std::optional<OutputMark>& mark,
                                                     std::atomic<uint64_t>& next_serial);

  // The following may be called again after kNoSpace: steps that were done before are not repeated.
  // The bytes that were added to the WARC file.
  Result<uint64_t> Append(const ArchiveItem& item);
  // Finishes the file that grows, if there is one; `part` is then its part file, which stays until a checkpoint.
  struct ClosedPart {
    uint64_t serial;
    std::string path;
  };
  Status Close(std::optional<ClosedPart>& part);
  Result<OutputMark> Sync() override;

  bool full() const { return open_ && open_->warc.size() >= options_.file_size; }
  const WarcDirectoryOptions& options() const { return options_; }

 private:
  struct OpenFile {
    std::string stem;  // path without ".warc.gz"
    std::string name;  // of the WARC file
    AppendFile warc;
    AppendFile part;
    bool name_is_durable = false;
  };

  WarcDirectory(Env& env, const Clock& clock, const WarcDirectoryOptions& options, std::atomic<uint64_t>& next_serial,
                WarcWriter writer, const Rng& rng)
      : env_(&env),
        clock_(&clock),
        options_(options),
        next_serial_(&next_serial),
        writer_(std::move(writer)),
        rng_(rng) {}

  // Makes `revisit_` the item as it is written for a copy: with a revisit record in place of the response.
  void MakeRevisit(const ArchiveItem& item);
  Status Recover(const std::optional<OutputMark>& mark);
  Status OpenNext();

  Env* env_;
  const Clock* clock_;
  WarcDirectoryOptions options_;
  std::atomic<uint64_t>* next_serial_;
  WarcWriter writer_;
  Rng rng_;                // of record ids
  uint64_t serial_ = 0;    // the highest used here
  std::string next_name_;  // of a file whose making failed; empty: none
  uint64_t next_own_serial_ = 0;
  std::optional<OpenFile> open_;
  ArchiveItem revisit_;  // scratch
};

// The line of the item's capture, whose member begins at `offset` of the file, with its end.
void AppendCdxjLine(const ArchiveItem& item, uint64_t offset, std::string_view filename, std::string& out);

// What a file of an archive is, by its name.
struct ArchiveFileName {
  enum class Kind : uint8_t { kWarc, kIndex, kPart, kTemporary };
  Kind kind;
  uint64_t serial;
};
// `prefix` is PrefixInNames of the setting: bytes that do not belong in a file name are replaced there.
std::string PrefixInNames(std::string_view prefix);
std::optional<ArchiveFileName> ParseArchiveFileName(std::string_view name, std::string_view prefix);

}  // namespace portolan
