// Reads what a manifest's sections name, without opening the structures and without changing a file: for tools that
// inspect a crawl, running or not.
//
// Everything is streamed. A writer that commits at the same time may remove files. Then a function fails (usually with
// kNotFound), and the caller reads the newer manifest and starts again.
//
// Thread: one caller. Memory bound: a read-ahead of 1 MiB and one block.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "disk/drum_types.h"
#include "disk/manifest.h"
#include "io/env.h"

namespace portolan {

// Returns whether to continue. The view is valid only during the call.
using RecordVisitor = std::function<bool(std::string_view record)>;

// The records that wait in a DiskQueue, oldest first.
Status ForEachQueued(Env& env, const std::string& dir, const ManifestSection& queue, const RecordVisitor& each);

// The aux of every tuple in a DRUM's batches, in the order of arrival. `answered`: its answer has already been handed
// out; it is still here only because other tuples of its batch wait for theirs.
Status ForEachTuple(Env& env, const std::string& dir, const ManifestSection& drum,
                    const std::function<bool(std::string_view aux, bool answered)>& each);

// The rows of a DRUM's batches: what is not in Z yet, answered or not. Within a batch file the rows of one key are in
// arrival order. `value_size` is the DRUM's; where it takes one operation only, `op` is kCheckUpdate.
Status ForEachRow(Env& env, const std::string& dir, const ManifestSection& drum, size_t value_size,
                  const std::function<void(DrumOp op, uint64_t key, std::string_view value)>& each);

// The value of the key in Z; nullopt: the key is not in Z. Reads Z up to the key.
Result<std::optional<std::string>> FindInZ(Env& env, const std::string& dir, const ManifestSection& drum,
                                           size_t value_size, uint64_t key);

// Bytes of a section's files.
uint64_t BytesOf(const ManifestSection& section);

}  // namespace portolan
