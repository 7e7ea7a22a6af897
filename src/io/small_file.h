// Small files beside a crawl's state, on the file system of this machine: its settings, its status, its lock. For what
// Env does not offer: file permissions, links that are not followed, asking whether a lock is held.
//
// Thread: any.

#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace portolan {

struct SmallFileOptions {
  bool secret = false;   // only the owner may read it
  bool durable = false;  // it survives a crash, whole: the old contents or the new
};

// Writes PATH.new and renames it: a reader never sees half of it. No link is followed, neither for PATH nor for
// PATH.new, because others may be allowed to write in the directory. If it fails the old file stays.
Status ReplaceSmallFile(const std::string& path, std::string_view contents, const SmallFileOptions& options = {});

// Writes over the contents of a file that is there, which needs no room on a full disk. No link is followed.
Status OverwriteSmallFile(const std::string& path, std::string_view contents);

// Does any process hold Env::Lock of this file now? Asking does not make another Lock fail. False if the file does not
// exist.
bool IsLocked(const std::string& path);

// What the file system says about a file, as text: two different texts mean that it was changed or replaced between
// them. Empty: it cannot be seen.
std::string FileStamp(const std::string& path);

}  // namespace portolan
