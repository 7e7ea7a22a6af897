// OutputReader: the committed part of a crawl's log, read from any position on, beside a running crawl or after it.
//
// What is committed is what the newest whole manifest says (outputs/output.h): finished files to their ends, the one
// that grows to its length. A crash may undo everything else, so nothing else is read. Even a manifest may be undone
// while its name is not durable; so the reader makes the name durable (it syncs the state's directory) before it uses
// the manifest. After that no crash of the crawl can undo what was read here.
//
// A running crawl replaces manifests, and packs files that are finished: a name that vanishes between being seen and
// being opened is looked for again. A position beyond what is committed means that this is not the crawl that was
// followed, and is an error.
//
// Records come in batches: a block of records, or the lines of a piece of text. All records of a page are in one batch.
//
// Thread: one owner. Memory bound: a read-ahead of 1 MiB and a block; of text 256 KiB and the longest line.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "disk/block_file.h"
#include "disk/record_block.h"
#include "follow/output_position.h"
#include "io/env.h"
#include "outputs/log_file_name.h"
#include "outputs/log_text.h"
#include "outputs/output.h"

namespace portolan {

// A log of a crawl.
struct OutputSource {
  std::string state_dir;
  std::string dir;   // of the log's files
  std::string name;  // of its section in the manifest
  LogNames names;
  std::optional<FileKind> blocks = {};  // none: lines of text
  size_t tag_width = 0;
  std::string shard = {};  // of which shard it is, where shards are directories of their own (output_position.h)
};
// The three logs of the crawl whose state is in `state_dir`.
OutputSource CrawlLogSource(const std::string& state_dir, const std::string& dir);
OutputSource LinkLogSource(const std::string& state_dir, const std::string& dir);
OutputSource TextLogSource(const std::string& state_dir, const std::string& dir);

// How far it is durably committed. nullopt: the crawl has no such output. kNotFound: there is no manifest.
Result<std::optional<CommittedOutput>> ReadCommitted(Env& env, const OutputSource& source);

class OutputReader {
 public:
  using Each = std::function<Status(std::string_view record, uint32_t tag)>;

  // From `from` to `until`, a mark of ReadCommitted. REQUIRES: env outlives this.
  static Result<OutputReader> Open(Env& env, const OutputSource& source, const OutputMark& until,
                                   const OutputPosition& from = {});

  // The next batch; false: there is no more. An error of `each` ends it, and the position stays before the batch.
  Result<bool> Next(const Each& each);
  // After the last batch.
  const OutputPosition& position() const { return position_; }

 private:
  OutputReader(Env& env, const OutputSource& source, const OutputMark& until, const OutputPosition& from)
      : env_(&env), source_(source), until_(until), position_(from) {}

  // Opens the file at the position. False: everything was read.
  Result<bool> OpenFile();
  bool Finished(uint64_t serial) const { return serial < until_.serial || until_.length == 0; }
  Result<bool> NextBlock(const Each& each);
  Result<bool> NextLines(const Each& each);

  Env* env_;
  OutputSource source_;
  OutputMark until_;
  OutputPosition position_;
  std::unique_ptr<BlockFileReader> blocks_;
  std::unique_ptr<RecordBlockReader> records_ = std::make_unique<RecordBlockReader>();
  std::unique_ptr<LogText> text_;
  std::string rest_;  // the beginning of a line whose end has not come
};

}  // namespace portolan
