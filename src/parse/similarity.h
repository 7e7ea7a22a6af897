// Similarity: a 64-bit hash of a text; texts that differ in few words differ in few bits (Charikar's simhash, as in
// Manku, Jain and Das Sarma, "Detecting near-duplicates for web crawling").
//
// The features are runs of three words, folded to lower case in ASCII; each votes with the 64 bits of its hash. Votes
// are counted in 64 lanes at once by carry-save adders: about five operations per feature instead of 64 additions.

#pragma once

#include <cstdint>
#include <string_view>

namespace portolan {

// 0 for a text of fewer than three words. Linear in the text.
uint64_t SimilarityHash(std::string_view text);

}  // namespace portolan
