// IndexPart: one Xapian database of a search index, opened for writing.
//
//   ASSIGN_OR_RETURN(auto part, IndexPart::Open({.path = path, .part = 0, .parts = 5}));
//   RETURN_IF_ERROR(part->Put(id, document));    …
//   part->state().text = position after the last one;
//   RETURN_IF_ERROR(part->Commit());
//
// Documents and state are committed together: after a kill the database holds exactly the pages up to the positions in
// its own metadata, so nothing is indexed twice and nothing is missing.
//
// Thread: one owner. Invariants: one document per id term. Memory bound: the owner commits when pending_bytes() is what
// it allows; Xapian's own buffers besides (some MiB). Durability: of Commit. Errors name the database; no exception
// leaves it.

#pragma once

#include <xapian.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "follow/output_position.h"
#include "index/document_maker.h"
#include "index/index_current.h"

namespace portolan {

// How far the logs, and which table of links, are in a part.
struct IndexState {
  OutputPosition text;
  OutputPosition log;
  std::string inlinks;  // InlinkTable::name(); empty: none

  bool operator==(const IndexState&) const = default;
  std::string ToText() const;
  static std::optional<IndexState> Parse(std::string_view text);
};

class IndexPart {
 public:
  using Find = std::function<Result<std::string_view>(std::string_view url)>;

  // Makes the database if there is none. kCorrupt: it is damaged, or not this part of an index of this schema.
  // kBusy: another process writes it.
  static Result<std::unique_ptr<IndexPart>> Open(const IndexPartPlace& place);
  ~IndexPart();

  // Adds the document, or replaces the one with this id term. True: it was new.
  Result<bool> Put(const std::string& id_term, const Xapian::Document& document);
  // True: there was one.
  Result<bool> Delete(const std::string& id_term);
  // Only if it was fetched before `fetched`, a TimeValue.
  Result<bool> DeleteOlder(const std::string& id_term, std::string_view fetched);

  // Brings every document's links up to what `find` says, in the order of the id terms, and commits every
  // `most_bytes`. Sets state().inlinks to `name` at the end; a kill before it is made good by the next call. `updated`
  // is called with the number of documents that were looked at. Gives the number of those that changed.
  Result<uint64_t> UpdateInlinks(const std::string& name, const Find& find, DocumentMaker& maker, uint64_t most_bytes,
                                 const std::function<void(uint64_t)>& progress);

  Status Commit();

  // An estimate of the memory that waits for Commit.
  uint64_t pending_bytes() const { return pending_; }
  uint64_t documents();
  IndexState& state() { return state_; }
  const std::string& path() const { return path_; }

 private:
  IndexPart(std::string path, Xapian::WritableDatabase database)
      : path_(std::move(path)), database_(std::move(database)) {}
  void Count(const Xapian::Document& document);

  std::string path_;
  Xapian::WritableDatabase database_;
  IndexState state_;
  IndexState committed_;
  uint64_t pending_ = 0;
  bool open_transaction_ = false;
};

// The state of a part, from its metadata. kCorrupt, kUnsupported: not this part of an index of this schema.
Result<IndexState> ReadIndexState(const Xapian::Database& database, const IndexPartPlace& place);

}  // namespace portolan
