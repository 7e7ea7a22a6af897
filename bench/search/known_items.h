// Known-item search: questions that mean one page, and at which rank it comes.
//
// The pages are the real ones of ../shared/data that have an address, with the texts of the links by which others of
// them lead there, among the paragraphs of all of them, which are pages of their own with their first words as titles.
// Of each page with texts of links, each is a question; of the others, the words of their titles in another order, and
// three of these words. Questions are divided into two halves by a hash of the page: weights are chosen on one, the
// other is reported.

#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"
#include "bench/benchmark.h"

namespace portolan::bench {

// `tune`: looks for better weights, one at a time, on the half for tuning.
Result<nlohmann::ordered_json> FindKnownItems(const std::string& folder, bool tune, Report& report);

}  // namespace portolan::bench
