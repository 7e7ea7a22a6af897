// Pages as fetches bring them, for `bench parse`: real ones, gzipped as servers send them, or those of a simulated web.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "flow/fetch.h"
#include "url/url.h"

namespace portolan::bench {

struct Sample {
  std::string html;  // as it is without its content coding
  Url url;
  FetchResponse response;
};

// A response is consumed by PageMaker::Make, so each call needs one of its own.
FetchResponse CopyOf(const FetchResponse& from);

// Every page of `folder`/index.tsv.
Result<std::vector<Sample>> LoadSamples(const std::string& folder);

// Some `count` pages of the simulated web of this profile, evenly taken from all of its pages, in UTF-8; gzipped unless
// the profile is that of 2007.
Result<std::vector<Sample>> MakeSamples(std::string_view profile, uint64_t count);

}  // namespace portolan::bench
