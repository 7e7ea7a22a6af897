#include "search/searcher.h"

#include <fmt/core.h>

#include "base/log.h"
#include "base/text.h"
#include "index/index_current.h"
#include "index/text_place.h"

namespace portolan {

Result<std::shared_ptr<const Searcher::Index>> Searcher::Open() {
  const std::lock_guard lock(mutex_);
  if (checked_ && clock_.NowNs() - checked_at_ < kCheckNs) return index_;
  checked_ = true;
  checked_at_ = clock_.NowNs();
  auto places = IndexPartPlaces(env_, options_.index_dir);
  if (!places && places.error().code() == ErrorCode::kNotFound && !options_.search.remotes.empty()) {
    places = std::vector<IndexPartPlace>();
  }
  if (!places) {
    index_ = std::unexpected(places.error());
    return index_;
  }
  SearchOptions options = options_.search;
  std::map<std::string, std::string> shards;
  options.dirs.clear();
  for (const IndexPartPlace& place : *places) {
    options.dirs.push_back(place.path);
    shards[place.path] = place.shard;
  }
  if (index_ && *index_ != nullptr && (*index_)->shards == shards) return index_;
  auto made = SearchParts::Make(clock_, options);
  if (made) {
    index_ = std::make_shared<const Index>(Index{.parts = std::move(*made), .shards = std::move(shards)});
  } else {
    index_ = std::unexpected(made.error());
  }
  return index_;
}

Result<CachedPage> Searcher::Read(const Index& index, const std::string& part, PartDocument document) const {
  const auto shard = index.shards.find(part);
  const OutputSource* const text = shard == index.shards.end() ? nullptr : options_.texts.Of(shard->second);
  if (text == nullptr) return Fail(ErrorCode::kNotFound, "its text log is not here");
  std::string bytes;
  ASSIGN_OR_RETURN(const TextRecord page, ReadTextAt(env_, *text, document.data.place, document.data.url, bytes));
  CachedPage cached{.document = std::move(document), .text = MainTextOf(page)};
  if (cached.text.empty()) cached.text = page.text;
  return cached;
}

Result<SearchPage> Searcher::Ask(const SearchQuestion& question) {
  const int64_t begin = clock_.NowNs();
  ASSIGN_OR_RETURN(const auto index, Open());
  SearchPage page{.question = question};
  ASSIGN_OR_RETURN(page.answer, index->parts->Ask(question));
  for (const SearchHit& hit : page.answer.hits) {
    SearchPage::Shown shown{.title = MarkWords(hit.document.data.title, page.answer.marks)};
    if (hit.local) {
      if (const auto cached = Read(*index, hit.part, hit.document))
        shown.snippet = MakeSnippet(cached->text, page.answer.marks);
    }
    page.shown.push_back(std::move(shown));
  }
  page.ms = static_cast<double>(clock_.NowNs() - begin) / kMillisecond;
  return page;
}

Result<CachedPage> Searcher::Cached(const std::string& url) {
  ASSIGN_OR_RETURN(const auto index, Open());
  ASSIGN_OR_RETURN(FoundDocument found, index->parts->Find(url));
  return Read(*index, found.part, std::move(found.document));
}

Result<std::string> Searcher::Health() {
  ASSIGN_OR_RETURN(const auto index, Open());
  return fmt::format("{} {}, {} of them remote", index->parts->size(), index->parts->size() == 1 ? "part" : "parts",
                     options_.search.remotes.size());
}

std::string DateOfValue(std::string_view value) {
  if (value.size() < 8) return {};
  std::string date = fmt::format("{}-{}-{}", value.substr(0, 4), value.substr(4, 2), value.substr(6, 2));
  if (value.size() >= 14) {
    date += fmt::format("T{}:{}:{}Z", value.substr(8, 2), value.substr(10, 2), value.substr(12, 2));
  }
  return date;
}

namespace {

std::string PiecesJson(const MarkedText& pieces) {
  std::string out = "[";
  for (const std::string& piece : pieces) out += (out.size() > 1 ? "," : "") + JsonQuote(piece);
  return out + "]";
}

std::string HitJson(const SearchHit& hit, const SearchPage::Shown& shown, bool explain) {
  std::string out = fmt::format("{{\"url\":{},\"title\":{},\"score\":{:.6f}", JsonQuote(hit.document.data.url),
                                JsonQuote(hit.document.data.title), hit.score);
  if (const std::string date = DateOfValue(hit.document.fetched); !date.empty()) {
    out += fmt::format(",\"fetched\":\"{}\"", date);
  }
  if (const std::string date = DateOfValue(hit.document.published); !date.empty()) {
    out += fmt::format(",\"published\":\"{}\"", date);
  }
  if (!shown.snippet.empty()) out += ",\"snippet\":" + PiecesJson(shown.snippet);
  out += fmt::format(",\"similar\":{},\"part\":{}", hit.similar, JsonQuote(hit.part));
  if (explain) {
    out += ",\"explain\":[";
    for (size_t i = 0; i < hit.reasons.size(); ++i) {
      const auto& reason = hit.reasons[i];
      out += i > 0 ? ",{" : "{";
      if (!reason.word.empty()) out += fmt::format("\"word\":{},", JsonQuote(reason.word));
      out += fmt::format("\"field\":\"{}\",\"score\":{:.6f}}}", reason.field, reason.score);
    }
    out += "]";
  }
  return out + "}";
}

}  // namespace

std::string SearchJson(const SearchPage& page) {
  const SearchAnswer& answer = page.answer;
  std::string out = fmt::format(
      "{{\"query\":{},\"pages\":{},\"matches\":{},\"exact\":{},\"all_words\":{},\"offset\":{},\"ms\":{:.3f},"
      "\"results\":[",
      JsonQuote(page.question.words), answer.pages, answer.matches, answer.exact, answer.all_words,
      page.question.offset, page.ms);
  for (size_t i = 0; i < answer.hits.size(); ++i) {
    if (i > 0) out += ',';
    out += HitJson(answer.hits[i], page.shown[i], page.question.explain);
  }
  out += "]";
  if (answer.more) out += fmt::format(",\"next\":{}", page.question.offset + answer.hits.size());
  if (!answer.left_out.empty()) {
    out += ",\"left_out\":[";
    for (size_t i = 0; i < answer.left_out.size(); ++i) {
      out += fmt::format("{}{{\"part\":{},\"error\":{}}}", i > 0 ? "," : "", JsonQuote(answer.left_out[i].part),
                         JsonQuote(answer.left_out[i].why));
    }
    out += "]";
  }
  return out + "}\n";
}

}  // namespace portolan
