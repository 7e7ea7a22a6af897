// Reading one page's record of the text log, at the place that its document tells.
//
// One block is read and decompressed: see docs/search.md for what that takes.
//
// Thread: functions without state. Memory: a block, stored and decoded.

#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "flow/output_records.h"
#include "follow/output_reader.h"
#include "index/schema.h"
#include "io/env.h"

namespace portolan {

// The record at `place`, which must be that of `url`; views are valid until the caller lets `bytes` go.
// kNotFound: there is no such file any more. kCorrupt: something else is there.
Result<TextRecord> ReadTextAt(Env& env, const OutputSource& text, const TextPlace& place, std::string_view url,
                              std::string& bytes);

}  // namespace portolan
