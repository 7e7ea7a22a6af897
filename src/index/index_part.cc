#include "index/index_part.h"

#include <fmt/core.h>

#include <charconv>
#include <optional>

#include "index/index_current.h"
#include "index/schema.h"
#include "index/xapian_error.h"

namespace portolan {
namespace {

// What a term of a document takes in the buffers of Xapian's writer until it is flushed, and a document besides:
// resident memory, measured with one commit and with many (demo crawl, 250 terms per document).
constexpr uint64_t kTermBytes = 80;
constexpr uint64_t kDocumentBytes = 1000;

// Xapian flushes after this many documents, too; the owner commits by bytes, long before.
constexpr const char* kFlushThreshold = "1000000";

bool TakeNumber(std::string_view& text, std::string_view key, uint64_t& number) {
  if (!text.starts_with(key)) return false;
  const auto [end, error] = std::from_chars(text.data() + key.size(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return error == std::errc();
}

// "2/5", "2/5 shard-03"
std::string PartText(const IndexPartPlace& place) {
  return fmt::format("{}/{}{}{}", place.part, place.parts, place.shard.empty() ? "" : " ", place.shard);
}

// The URL of an id term; nullopt: it is a hash.
std::optional<std::string_view> UrlOfIdTerm(std::string_view term) {
  term.remove_prefix(kIdPrefix.size());
  return term.find(':') == std::string_view::npos ? std::nullopt : std::optional(term);
}

}  // namespace

std::string IndexState::ToText() const {
  return fmt::format("text {} {} log {} {} inlinks {}", text.serial, text.offset, log.serial, log.offset, inlinks);
}

std::optional<IndexState> IndexState::Parse(std::string_view text) {
  IndexState state;
  if (!TakeNumber(text, "text ", state.text.serial) || !TakeNumber(text, " ", state.text.offset) ||
      !TakeNumber(text, " log ", state.log.serial) || !TakeNumber(text, " ", state.log.offset) ||
      !text.starts_with(" inlinks ") || state.text.serial == 0 || state.log.serial == 0) {
    return std::nullopt;
  }
  state.inlinks = text.substr(std::string_view(" inlinks ").size());
  return state;
}

Result<IndexState> ReadIndexState(const Xapian::Database& database, const IndexPartPlace& place) {
  const std::string& path = place.path;
  return WithoutExceptions(path, [&]() -> Result<IndexState> {
    const std::string schema = database.get_metadata(std::string(kMetaSchema));
    if (!schema.empty() && schema != fmt::format("{}", kIndexSchema)) {
      return Fail(ErrorCode::kUnsupported, fmt::format("{}: made by another version (schema {})", path, schema));
    }
    if (schema.empty() || database.get_metadata(std::string(kMetaPart)) != PartText(place)) {
      return Fail(ErrorCode::kCorrupt, fmt::format("{}: this is not part {} of a search index", path, PartText(place)));
    }
    const auto state = IndexState::Parse(database.get_metadata(std::string(kMetaPosition)));
    if (!state) return Fail(ErrorCode::kCorrupt, fmt::format("{}: its position cannot be read", path));
    return *state;
  });
}

Result<std::unique_ptr<IndexPart>> IndexPart::Open(const IndexPartPlace& place) {
  const std::string& path = place.path;
  return WithoutExceptions(path, [&]() -> Result<std::unique_ptr<IndexPart>> {
    setenv("XAPIAN_FLUSH_THRESHOLD", kFlushThreshold, 1);  // read when a database is opened
    Xapian::WritableDatabase database(path, Xapian::DB_CREATE_OR_OPEN | Xapian::DB_BACKEND_GLASS);
    std::unique_ptr<IndexPart> index(new IndexPart(path, std::move(database)));
    Xapian::WritableDatabase& open = index->database_;
    if (open.get_doccount() == 0 && open.get_metadata(std::string(kMetaSchema)).empty()) {
      open.begin_transaction();
      open.set_metadata(std::string(kMetaSchema), fmt::format("{}", kIndexSchema));
      open.set_metadata(std::string(kMetaPart), PartText(place));
      open.set_metadata(std::string(kMetaPosition), index->state_.ToText());
      open.commit_transaction();
    }
    ASSIGN_OR_RETURN(index->state_, ReadIndexState(open, place));
    index->committed_ = index->state_;
    open.begin_transaction();
    index->open_transaction_ = true;
    return index;
  });
}

IndexPart::~IndexPart() {
  // What was not committed is dropped: the destructor of the database would commit it without its position.
  static_cast<void>(WithoutExceptions(path_, [&]() -> Status {
    if (open_transaction_) database_.cancel_transaction();
    database_.close();
    return {};
  }));
}

void IndexPart::Count(const Xapian::Document& document) {
  pending_ += kDocumentBytes + kTermBytes * document.termlist_count() + 2 * document.get_data().size();
}

Result<bool> IndexPart::Put(const std::string& id_term, const Xapian::Document& document) {
  return WithoutExceptions(path_, [&]() -> Result<bool> {
    const Xapian::doccount before = database_.get_doccount();
    database_.replace_document(id_term, document);
    Count(document);
    return database_.get_doccount() != before;
  });
}

Result<bool> IndexPart::Delete(const std::string& id_term) {
  return WithoutExceptions(path_, [&]() -> Result<bool> {
    if (!database_.term_exists(id_term)) return false;
    database_.delete_document(id_term);
    pending_ += kDocumentBytes;
    return true;
  });
}

Result<bool> IndexPart::DeleteOlder(const std::string& id_term, std::string_view fetched) {
  return WithoutExceptions(path_, [&]() -> Result<bool> {
    const auto found = database_.postlist_begin(id_term);
    if (found == database_.postlist_end(id_term)) return false;
    const Xapian::docid id = *found;
    if (database_.get_document(id).get_value(kFetchedSlot) >= fetched) return false;
    database_.delete_document(id);
    pending_ += kDocumentBytes;
    return true;
  });
}

Result<uint64_t> IndexPart::UpdateInlinks(const std::string& name, const Find& find, DocumentMaker& maker,
                                          uint64_t most_bytes, const std::function<void(uint64_t)>& progress) {
  uint64_t looked = 0;
  uint64_t changed = 0;
  RETURN_IF_ERROR(Commit());
  const std::string prefix(kIdPrefix);
  std::string from = prefix;
  const auto round = [&]() -> Result<bool> {
    // Read what is committed, while the writer changes it: valid until the next commit but one.
    const Xapian::Database snapshot(path_);
    auto term = snapshot.allterms_begin(prefix);
    const auto end = snapshot.allterms_end(prefix);
    for (term.skip_to(from); term != end; ++term) {
      const std::string id_term = *term;
      if (pending_ >= most_bytes) {
        from = id_term;
        return true;
      }
      const Xapian::docid id = *snapshot.postlist_begin(id_term);
      const Xapian::Document before = snapshot.get_document(id);
      std::string url;
      if (const auto in_term = UrlOfIdTerm(id_term)) {
        url = *in_term;
      } else {
        const auto data = DocumentData::Decode(before.get_data());
        if (!data) return Fail(ErrorCode::kCorrupt, fmt::format("{}: document {}: its data is damaged", path_, id));
        url = data->url;
      }
      progress(++looked);
      ASSIGN_OR_RETURN(const std::string_view inlinks, find(url));
      if (before.get_value(kInlinkSlot) == InlinkValue(inlinks)) continue;
      Xapian::Document document = database_.get_document(id);
      RETURN_IF_ERROR(maker.ReplaceInlinks(document, inlinks));
      database_.replace_document(id, document);
      Count(document);
      ++changed;
    }
    return false;
  };
  for (bool more = true; more;) {
    ASSIGN_OR_RETURN(more, WithoutExceptions(path_, round));
    if (!more) state_.inlinks = name;
    RETURN_IF_ERROR(Commit());
  }
  return changed;
}

Status IndexPart::Commit() {
  if (pending_ == 0 && state_ == committed_) return {};
  return WithoutExceptions(path_, [&]() -> Status {
    database_.set_metadata(std::string(kMetaPosition), state_.ToText());
    open_transaction_ = false;
    database_.commit_transaction();
    committed_ = state_;
    pending_ = 0;
    database_.begin_transaction();
    open_transaction_ = true;
    return {};
  });
}

uint64_t IndexPart::documents() { return database_.get_doccount(); }

}  // namespace portolan
