// OutputPosition: how far a follower has read an output, and the small file in which it keeps that.
//
// The file is text with a checksum, and is replaced as a whole (write, sync, rename, sync the directory): after a crash
// it holds the last position that was saved, or the one before.
//
// Thread: one caller.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/env.h"

namespace portolan {

struct OutputPosition {
  uint64_t serial = 1;  // of the file that is read next
  uint64_t offset = 0;  // in it, of its text where it is packed
  uint64_t copied = 0;  // a number of the follower's: how long its own copy was at this position
  bool operator==(const OutputPosition&) const = default;
};

// The position in the file of the output `name`; the beginning where there is no file. kCorrupt: not such a file, or
// that of another output.
Result<OutputPosition> LoadPosition(Env& env, const std::string& path, std::string_view name);
Status SavePosition(Env& env, const std::string& path, std::string_view name, const OutputPosition& position);

}  // namespace portolan
