// Which settings of a crawl may change when it is resumed, and which are fixed.
//
// Nearly all may change. The fixed ones determine the contents of the crawl's files: other values would silently make
// those wrong. The list is in resume_settings.cc, with the reasons; help pages print it.

#pragma once

#include <string>

#include "base/result.h"
#include "crawl/config.h"

namespace portolan {

// kInvalidArgument names every fixed setting that would change. `changed`: whether any setting changes.
Status CheckChanges(const Config& stored, const Config& wanted, bool& changed);

// "scope.canonical, budget.enabled …": for help pages.
std::string FixedSettings();

}  // namespace portolan
