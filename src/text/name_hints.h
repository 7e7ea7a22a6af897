// NameHints: what the class, id, role and itemprop of an element say about its text.
//
// Authors and their software name what a block is for: "site-footer", "relatedPosts", "entry-content". readability
// (2010) was the first to use that, with regular expressions over the whole attribute; here the attribute is split into
// words, also at capital letters, and each word is looked up, so that "shadow" is not an "ad" and the work is linear.
//
// Thread: any. Memory: none.

#pragma once

#include <cstdint>
#include <string_view>

namespace portolan {

enum NameHint : uint16_t {
  kHintBoilerplate = 1 << 0,  // navigation, sharing, advertising, what is related
  kHintContent = 1 << 1,      // of the content, or around it
  kHintBody = 1 << 2,         // the text of the article itself
  kHintComments = 1 << 3,     // what readers wrote
  kHintCaption = 1 << 4,      // of a picture, and who took it
  kHintMeta = 1 << 5,         // author, date, tags
  kHintHidden = 1 << 6,       // not shown
  kHintTeaser = 1 << 7,       // the beginning of another page
  kHintNever = 1 << 8,        // questions about cookies, which may be longer than the page's own text
};

// `names` as OutlineEvent has them. Any bytes; linear.
uint16_t NameHints(std::string_view names);

}  // namespace portolan
