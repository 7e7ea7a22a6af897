// The articles of ScrapingHub's article extraction benchmark: pages as they were served, and their text as people
// marked it. Half of them, by a hash of the article's name, is for choosing constants; the other half is held out.

#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace portolan::bench {

struct Article {
  std::string id;
  std::string html;  // UTF-8, whatever it says of itself
  std::string text;  // the truth
  bool held_out = false;
};

// `folder` has ground-truth.json and html/ID.html.gz.
Result<std::vector<Article>> LoadArticles(const std::string& folder);

}  // namespace portolan::bench
