// OutputPosition: how far a follower has read an output, and the small file that stores it.
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
  uint64_t copied = 0;  // set by the follower: the length of its own copy at this position
  bool operator==(const OutputPosition&) const = default;
};

// The position stored in the file, for the output `name`; the beginning if there is no file. kCorrupt: not a position
// file, or that of another output.
Result<OutputPosition> LoadPosition(Env& env, const std::string& path, std::string_view name);
Status SavePosition(Env& env, const std::string& path, std::string_view name, const OutputPosition& position);

}  // namespace portolan
