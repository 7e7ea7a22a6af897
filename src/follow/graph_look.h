// GraphLook: the links of a page, host or domain by its name, with anchor texts: one implementation for the verbs and
// the server.
//
//   ASSIGN_OR_RETURN(const auto view, LinkView::Open(*files, GraphLevel::kPages, GraphDirection::kTransposed));
//   ASSIGN_OR_RETURN(GraphLook look, GraphLook::Open(*view));
//   ASSIGN_OR_RETURN(const GraphLook::Found found, look.Find("https://example.org/"));
//   if (!found.node) …
//   ASSIGN_OR_RETURN(const uint64_t total, look.Each(*found.node, 0, 100, [](const GraphLook::Link& link) { return
//   true; }));
//
// A graph that was imported has only pages, which have no names: their numbers stand in the place of names.
//
// Thread: a LinkView is immutable, any number of threads use it; a GraphLook has one owner. Both must not outlive the
// GraphFiles. Memory bound: a LinkView has the graph's offsets, 8 bits per node. A GraphLook has one block of texts
// (64 KiB) and the longest list so far, decoded (8 bytes per link, with those that it refers to). Damage: an error
// names the file.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "follow/graph_files.h"
#include "follow/link_texts.h"
#include "graph/bv_graph.h"
#include "graph/url_dictionary.h"

namespace portolan {

// The key of what was asked for: a URL, or for hosts and domains a URL or a name. kInvalidArgument: it is not a URL.
Result<std::string> KeyOfQuestion(const std::string& text, GraphLevel level);

// "www.example.org": the host of the graph that is next to the key in order; empty if the graph has no names.
std::string NearestHost(const GraphFiles& files, std::string_view key);

class LinkView {
 public:
  // Decodes the offsets: some nanoseconds per node.
  static Result<std::unique_ptr<const LinkView>> Open(const GraphFiles& files, GraphLevel level,
                                                      GraphDirection direction);

  const GraphFiles& files() const { return files_; }
  GraphLevel level() const { return level_; }
  GraphDirection direction() const { return direction_; }
  bool named() const { return names_.has_value(); }
  uint64_t nodes() const { return links_.nodes(); }

 private:
  friend class GraphLook;
  LinkView(const GraphFiles& files, GraphLevel level, GraphDirection direction)
      : files_(files), level_(level), direction_(direction) {}

  const GraphFiles& files_;
  const GraphLevel level_;
  const GraphDirection direction_;
  std::optional<graph::UrlDictionary> names_;
  graph::BvGraph links_;
};

class GraphLook {
 public:
  struct Found {
    std::optional<uint64_t> node;  // nullopt: it is not in the graph
    std::string name;              // as the graph writes it
    std::string nearest;           // without a node: the nearest host in the graph, if there is one
  };
  struct Link {
    std::string name;         // the other end
    std::string_view anchor;  // valid during the call
    std::string flags;        // "nofollow embed"
  };

  // `view` must outlive it.
  static Result<GraphLook> Open(const LinkView& view);

  // What was asked for: a URL, or for hosts and domains a URL or a name; in a graph without names a number.
  // kInvalidArgument: it is none of these.
  Result<Found> Find(const std::string& text) const;
  bool named() const { return view_->named(); }
  // A name as a value of JSON.
  std::string JsonOf(const std::string& name) const;
  // How many links the node has, without decoding them.
  Result<uint64_t> Count(uint64_t node);
  // Calls `each` for the links `from`, `from` + 1 and so on, at most `limit` (0: all) and until it returns false.
  // Returns how many links there are in all.
  Result<uint64_t> Each(uint64_t node, uint64_t from, uint64_t limit, const std::function<bool(const Link&)>& each);
  bool has_texts() const { return texts_.has_value(); }

 private:
  explicit GraphLook(const LinkView& view) : view_(&view), cursor_(view.links_) {}
  Result<Found> FindNumber(const std::string& text) const;
  std::string PathOfLists() const;
  std::string PathOfNames() const;

  const LinkView* view_;
  graph::BvGraph::Cursor cursor_;
  std::optional<LinkTexts> texts_;
  std::string key_;
};

}  // namespace portolan
