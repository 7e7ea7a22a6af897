// Small files that stand beside a crawl's state, on the file system of this machine: its settings, a picture of how it
// stands, its lock. What Env has no words for: who may read a file, links that are not followed, a look at a lock.
//
// Thread: any.

#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace portolan {

struct SmallFileOptions {
  bool secret = false;   // nobody but the owner may read it
  bool durable = false;  // it survives a crash, whole: the old contents or the new
};

// Writes PATH.new and renames it: a reader never sees half of it. No link is followed, in neither place: others may be
// allowed to write in the directory. Where it fails the old file stands.
Status ReplaceSmallFile(const std::string& path, std::string_view contents, const SmallFileOptions& options = {});

// Writes over the contents of a file that is there, which needs no room on a full disk. No link is followed.
Status OverwriteSmallFile(const std::string& path, std::string_view contents);

// Does anybody hold Env::Lock of this file now? Asking makes nobody else's Lock fail. False where there is none.
bool IsLocked(const std::string& path);

}  // namespace portolan
