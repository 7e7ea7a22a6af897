// GoogleTest prints outcomes by name. Included by every test that compares them: one that does not would decide for
// all.

#pragma once

#include <ostream>

#include "flow/outcome.h"

namespace portolan {

inline void PrintTo(FetchOutcome outcome, std::ostream* out) { *out << FetchOutcomeName(outcome); }

}  // namespace portolan
