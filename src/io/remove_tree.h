// RemoveTree: a directory of another library's files (a database) is removed with everything in it.
//
// Our own files are removed one by one, by those who know their names (Env::Remove). Links are removed, not followed.
//
// Thread: any. Durability: none; what a crash leaves is removed by the next call.

#pragma once

#include <string>

#include "base/result.h"

namespace portolan {

// What does not exist is no error.
Status RemoveTree(const std::string& path);

}  // namespace portolan
