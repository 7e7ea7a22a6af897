#include "bench/dups/near_truth.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/ascii.h"
#include "base/hash.h"
#include "bench/text/article_set.h"
#include "html/charset_decoder.h"
#include "html/charset_sniff.h"
#include "html/page_reader.h"
#include "io/rng.h"
#include "text/main_text.h"

namespace portolan::bench {
namespace {

constexpr size_t kLeastWords = 50;

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) (text += word) += ' ';
  return text;
}

std::string NewWord(Rng& rng) { return "w" + std::to_string(rng.Below(1'000'000)); }

// `share` in a thousand of the words replaced, at least one.
std::string Replaced(std::vector<std::string> words, uint64_t count, uint64_t seed) {
  Rng rng(seed);
  for (; count > 0; --count) words[rng.Below(words.size())] = NewWord(rng);
  return Joined(words);
}

std::string Inserted(std::vector<std::string> words, uint64_t count, uint64_t seed) {
  Rng rng(seed);
  std::vector<std::string> more;
  for (; count > 0; --count) more.push_back(NewWord(rng));
  words.insert(words.begin() + static_cast<int64_t>(rng.Below(words.size())), more.begin(), more.end());
  return Joined(words);
}

// A run of words replaced.
std::string Rewritten(std::vector<std::string> words, uint64_t count, uint64_t seed) {
  Rng rng(seed);
  count = std::min<uint64_t>(count, words.size());
  const uint64_t begin = rng.Below(words.size() - count + 1);
  for (uint64_t i = 0; i < count; ++i) words[begin + i] = NewWord(rng);
  return Joined(words);
}

}  // namespace

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  constexpr std::string_view kGaps = " \t\r\n\f";
  for (size_t at = 0; (at = text.find_first_not_of(kGaps, at)) != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(kGaps, at), text.size());
    words.push_back(LowerCase(text.substr(at, end - at)));
    at = end;
  }
  return words;
}

Shingles3 ShinglesOf(std::string_view text) {
  const std::vector<std::string> words = WordsOf(text);
  Shingles3 shingles;
  for (size_t i = 0; i + 3 <= words.size(); ++i) {
    shingles.push_back(Hash64(words[i] + ' ' + words[i + 1] + ' ' + words[i + 2]));
  }
  std::ranges::sort(shingles);
  shingles.erase(std::ranges::unique(shingles).begin(), shingles.end());
  return shingles;
}

double JaccardOf(const Shingles3& a, const Shingles3& b) {
  size_t both = 0;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    both += a[i] == b[j] ? 1 : 0;
    const bool left = a[i] <= b[j];
    const bool right = b[j] <= a[i];
    i += left ? 1 : 0;
    j += right ? 1 : 0;
  }
  const size_t all = a.size() + b.size() - both;
  return all == 0 ? 0 : static_cast<double>(both) / static_cast<double>(all);
}

void NearCounts::Add(int bits, bool is_near) {
  ++pairs;
  near += is_near ? 1 : 0;
  for (int k = bits; k <= kMostBitsShown; ++k) {
    ++reported[static_cast<size_t>(k)];
    found[static_cast<size_t>(k)] += is_near ? 1 : 0;
  }
}

double NearCounts::Recall(int bits) const {
  return near == 0 ? 0 : static_cast<double>(found[static_cast<size_t>(bits)]) / static_cast<double>(near);
}

double NearCounts::Precision(int bits) const {
  const uint64_t all = reported[static_cast<size_t>(bits)];
  return all == 0 ? 0 : static_cast<double>(found[static_cast<size_t>(bits)]) / static_cast<double>(all);
}

std::string MainTextOf(const std::string& html) {
  const CharsetDecision decision = SniffCharset(std::string_view(html).substr(0, kDetectBytes), "");
  CharsetDecoder decoder(decision.encoding);
  const std::string utf8(decoder.Decode(std::string_view(html).substr(decision.bom_bytes), /*last=*/true));
  PageReader reader(PageOptions{.text = true, .headings = true, .outline = true, .facts = true});
  MainTextFinder finder;
  std::string main;
  const Page& page = reader.Read(utf8);
  JoinRanges(page.text, finder.Find(page), main);
  return main.empty() ? std::string(page.text) : main;
}

Result<std::vector<std::string>> RealTexts(const std::string& articles, const std::string& pages) {
  std::vector<std::string> texts;
  const auto add = [&texts](const std::string& html) {
    std::string text = MainTextOf(html);
    if (WordsOf(text).size() >= kLeastWords) texts.push_back(std::move(text));
  };
  ASSIGN_OR_RETURN(const std::vector<Article> all, LoadArticles(articles));
  for (const Article& article : all) add(article.html);
  std::ifstream index(pages + "/index.tsv");
  if (!index) return Fail(ErrorCode::kNotFound, pages + "/index.tsv cannot be read: see --pages");
  std::string row;
  std::getline(index, row);
  while (std::getline(index, row)) {
    std::ifstream file(pages + "/" + row.substr(0, row.find('\t')), std::ios::binary);
    add({std::istreambuf_iterator<char>(file), {}});
  }
  return texts;
}

const std::vector<Edit>& Edits() {
  using Words = std::vector<std::string>;
  static const std::vector<Edit> edits = {
      {"one word changed (a date, a counter)", [](const Words& w, uint64_t seed) { return Replaced(w, 1, seed); }},
      {"three words changed", [](const Words& w, uint64_t seed) { return Replaced(w, 3, seed); }},
      {"10 words inserted (an advertisement)", [](const Words& w, uint64_t seed) { return Inserted(w, 10, seed); }},
      {"a paragraph of 40 words rewritten", [](const Words& w, uint64_t seed) { return Rewritten(w, 40, seed); }},
      {"1 % of the words changed",
       [](const Words& w, uint64_t seed) { return Replaced(w, std::max<uint64_t>(1, w.size() / 100), seed); }},
      {"3 % of the words changed",
       [](const Words& w, uint64_t seed) { return Replaced(w, std::max<uint64_t>(1, w.size() * 3 / 100), seed); }},
      {"half of the text replaced", [](const Words& w, uint64_t seed) { return Rewritten(w, w.size() / 2, seed); }}};
  return edits;
}

}  // namespace portolan::bench
