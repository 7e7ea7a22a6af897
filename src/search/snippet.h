// Snippet: the piece of a page's text that shows most words of a question, with these words marked.
//
// Words are cut roughly as Xapian's TermGenerator cuts them; a word is marked if it, or its stem in a language of the
// index, is one of the question's. The window with the most different words is taken, of those the one with the most
// words, of those the first. Without any word it is the beginning of the text.
//
// Thread: functions without state. Time: linear in the text, of which the first kMaxSnippetText bytes are read.
// Any bytes give a result. The text is not escaped: whoever shows it does that.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "search/query_plan.h"

namespace portolan {

inline constexpr size_t kMaxSnippetText = size_t{64} << 10;
inline constexpr size_t kSnippetBytes = 240;

// Pieces by turns plain and marked, beginning with a plain one, which may be empty.
using MarkedText = std::vector<std::string>;

MarkedText MakeSnippet(std::string_view text, const QueryPlan::Marks& marks, size_t most = kSnippetBytes);
// The whole text, marked.
MarkedText MarkWords(std::string_view text, const QueryPlan::Marks& marks);

}  // namespace portolan
