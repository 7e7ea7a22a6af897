#include "index/index_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <sstream>

#include "base/hash.h"
#include "base/text.h"
#include "index/document_maker.h"
#include "index/index_build.h"
#include "index/index_current.h"
#include "index/schema.h"
#include "index/xapian_error.h"

namespace portolan {
namespace {

constexpr int kAttempts = 20;
constexpr size_t kMostFound = 400;  // bytes of what Xapian's check says that are shown

Status Damaged(const std::string& index_dir, const std::string& path, std::string_view what) {
  return Fail(ErrorCode::kCorrupt, fmt::format("{}: {}; {}", path, what, RebuildAdvice(index_dir)));
}

// `call` about the database at `path`, with the advice to build it again.
template <typename Call>
auto OfDatabase(const std::string& index_dir, const std::string& path, Call&& call) {
  auto result = WithoutExceptions(path, std::forward<Call>(call));
  if (!result && result.error().code() == ErrorCode::kCorrupt &&
      result.error().message().find("--rebuild") == std::string::npos) {
    result = std::unexpected(
        Error(ErrorCode::kCorrupt, fmt::format("{}; {}", result.error().message(), RebuildAdvice(index_dir))));
  }
  return result;
}

// Where there are words of the body, each has its places. They are a file of their own, which Xapian does not miss.
bool HasPositions(const Xapian::Document& document) {
  auto term = document.termlist_begin();
  term.skip_to("a");  // prefixes are capitals; of other terms before it nothing is known
  return term == document.termlist_end() || term.positionlist_count() > 0;
}

Status CheckPart(const std::string& index_dir, const IndexPartPlace& place, bool deep, const IndexProgress& progress,
                 IndexContents& contents) {
  const std::string& path = place.path;
  return OfDatabase(index_dir, path, [&]() -> Status {
    if (progress) progress("checking " + path, contents.documents);
    std::ostringstream found;
    if (Xapian::Database::check(path, 0, &found) != 0) {
      return Damaged(index_dir, path, Printable(found.str().substr(0, kMostFound)));
    }
    const Xapian::Database database(path);
    ASSIGN_OR_RETURN(const IndexState state, ReadIndexState(database, place));
    static_cast<void>(state);
    const uint64_t before = contents.documents;
    const std::string all;
    for (auto at = database.postlist_begin(all); at != database.postlist_end(all); ++at) {
      if (++contents.documents % 1024 == 0 && progress) progress("checking documents", contents.documents);
      const auto wrong = [&](std::string_view what) {
        return Damaged(index_dir, path, fmt::format("document {}: {}", *at, what));
      };
      const Xapian::Document document = database.get_document(*at);
      const auto data = DocumentData::Decode(document.get_data());
      if (!data) return wrong("its data is damaged");
      auto term = document.termlist_begin();
      const std::string id_term = IdTerm(data->url);
      term.skip_to(id_term);
      if (term == document.termlist_end() || *term != id_term) return wrong("it has not the term of its URL");
      if (!HasPositions(document)) return wrong("the places of its words are missing");
      if (document.get_value(kTieSlot) != TieKey(data->url)) return wrong("its values are those of another page");
      if (PartOf(DocumentMaker::HostOf(data->url), place.parts) != place.part)
        return wrong("it belongs to another part");
      if (database.get_termfreq(id_term) != 1) return wrong("its URL is there twice");
      contents.sum += SumOfDocument(document, deep);
    }
    const uint64_t found_documents = contents.documents - before;
    if (found_documents != database.get_doccount()) {
      return Damaged(
          index_dir, path,
          fmt::format("it says that it has {} documents, and has {}", database.get_doccount(), found_documents));
    }
    return {};
  });
}

Result<uint64_t> BytesOf(Env& env, const std::string& dir) {
  ASSIGN_OR_RETURN(const auto names, env.List(dir));
  uint64_t bytes = 0;
  for (const std::string& name : names) {
    // A database replaces small files while it is written.
    if (const auto file = env.Open(JoinPath(dir, name), OpenMode::kRead)) bytes += (*file)->Size();
  }
  return bytes;
}

}  // namespace

uint64_t SumOfDocument(const Xapian::Document& document, bool deep) {
  uint64_t hash = Hash64(document.get_data());
  for (auto value = document.values_begin(); value != document.values_end(); ++value) {
    hash = Mix64(hash ^ Hash64(*value, value.get_valueno()));
  }
  for (auto term = document.termlist_begin(); term != document.termlist_end(); ++term) {
    hash = Mix64(hash ^ Hash64(*term, term.get_wdf()));
    if (!deep) continue;
    for (auto place = term.positionlist_begin(); place != term.positionlist_end(); ++place) {
      hash = Mix64(hash ^ *place);
    }
  }
  return hash;
}

Result<IndexContents> CheckIndex(Env& env, const std::string& index_dir, bool deep, const IndexProgress& progress) {
  ASSIGN_OR_RETURN(const IndexCurrent current, IndexCurrent::Load(env, index_dir));
  ASSIGN_OR_RETURN(const auto lock, LockIndex(env, index_dir));
  IndexContents contents;
  for (const IndexPartPlace& place : current.Parts(index_dir, current.generation)) {
    RETURN_IF_ERROR(CheckPart(index_dir, place, deep, progress, contents));
  }
  return contents;
}

uint64_t IndexStats::documents() const {
  return std::accumulate(parts.begin(), parts.end(), uint64_t{0},
                         [](uint64_t sum, const IndexPartStats& part) { return sum + part.documents; });
}

uint64_t IndexStats::bytes() const {
  return std::accumulate(parts.begin(), parts.end(), uint64_t{0},
                         [](uint64_t sum, const IndexPartStats& part) { return sum + part.bytes; });
}

Result<IndexStats> ReadIndexStats(Env& env, const std::string& index_dir, size_t most) {
  ASSIGN_OR_RETURN(const IndexCurrent current, IndexCurrent::Load(env, index_dir));
  IndexStats stats{.generation = current.generation, .building = current.building, .parts = {}, .languages = {}};
  std::map<std::string, uint64_t> languages;
  for (const IndexPartPlace& place : current.Parts(index_dir, current.generation)) {
    const std::string& path = place.path;
    const auto read_once = [&]() -> Result<IndexPartStats> {
      const Xapian::Database database(path);
      IndexPartStats of{.path = path, .shard = place.shard};
      std::map<std::string, uint64_t> of_part;
      ASSIGN_OR_RETURN(of.state, ReadIndexState(database, place));
      of.documents = database.get_doccount();
      of.mean_length = database.get_avlength();
      for (auto term = database.allterms_begin(); term != database.allterms_end(); ++term) ++of.terms;
      const std::string prefix(kLanguagePrefix);
      for (auto term = database.allterms_begin(prefix); term != database.allterms_end(prefix); ++term) {
        const std::string language = (*term).substr(prefix.size());
        if (language.find('-') == std::string::npos) of_part[language] = term.get_termfreq();
      }
      ASSIGN_OR_RETURN(of.bytes, BytesOf(env, path));
      of.languages = std::move(of_part);
      return of;
    };
    auto read = OfDatabase(index_dir, path, read_once);
    // A build wrote it twice meanwhile.
    for (int attempt = 1; attempt < kAttempts && !read && read.error().code() == ErrorCode::kBusy; ++attempt) {
      read = OfDatabase(index_dir, path, read_once);
    }
    if (!read) return std::unexpected(read.error());
    for (const auto& [language, count] : read->languages) languages[language] += count;
    stats.parts.push_back(*read);
  }
  stats.languages.assign(languages.begin(), languages.end());
  std::ranges::stable_sort(stats.languages, std::greater(), &std::pair<std::string, uint64_t>::second);
  if (stats.languages.size() > most) stats.languages.resize(most);
  return stats;
}

}  // namespace portolan
