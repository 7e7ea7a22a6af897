// Which settings of a crawl may change when it goes on, and which it keeps for its life.
//
// Nearly all may. Those that may not are what the crawl's files were made by: other values would make their contents
// wrong without anybody noticing. The list stands once, in resume_settings.cc, with the reasons; help pages print it.

#pragma once

#include <string>

#include "base/result.h"
#include "crawl/config.h"

namespace portolan {

// kInvalidArgument with every setting that may not change and would. `changed`: does anything?
Status CheckChanges(const Config& stored, const Config& wanted, bool& changed);

// "scope.canonical, budget.enabled …": for help pages.
std::string FixedSettings();

}  // namespace portolan
