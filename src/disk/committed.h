// Reading what a manifest's sections name, without the structures and without changing a file: for people who look into
// a crawl while it runs or when it does not.
//
// All of it streams. A writer that commits meanwhile may remove files: then a function fails (kNotFound, as a rule),
// and the caller reads the newer manifest and begins again.
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

// Says whether to go on. The view dies when it returns.
using RecordVisitor = std::function<bool(std::string_view record)>;

// The records that wait in a DiskQueue, oldest first.
Status ForEachQueued(Env& env, const std::string& dir, const ManifestSection& queue, const RecordVisitor& each);

// The aux of every tuple in a DRUM's batches, in the order of arrival. `answered`: its answer has been handed out, and
// it is here only because others of its batch have theirs to come.
Status ForEachTuple(Env& env, const std::string& dir, const ManifestSection& drum,
                    const std::function<bool(std::string_view aux, bool answered)>& each);

// The rows of a DRUM's batches: what Z does not know yet, answered or not. Those of one key are in the order of arrival
// within a batch file. `value_size` is the DRUM's; where it takes one operation only, `op` is kCheckUpdate.
Status ForEachRow(Env& env, const std::string& dir, const ManifestSection& drum, size_t value_size,
                  const std::function<void(DrumOp op, uint64_t key, std::string_view value)>& each);

// The value that Z has for the key; none: Z has no such key. Reads Z up to it.
Result<std::optional<std::string>> FindInZ(Env& env, const std::string& dir, const ManifestSection& drum,
                                           size_t value_size, uint64_t key);

// Bytes of a section's files.
uint64_t BytesOf(const ManifestSection& section);

}  // namespace portolan
