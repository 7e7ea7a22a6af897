// What the statuses of crawls and shards say of phases (PhasesToJson), in words.
//
// Thread: any.

#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace portolan {

// "2, in turns by the clock: now hosts of group 0, swap in 12 s".
std::string PhaseWords(const nlohmann::ordered_json& phases, bool running);

}  // namespace portolan
