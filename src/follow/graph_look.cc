#include "follow/graph_look.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "base/log.h"
#include "base/text.h"
#include "flow/output_records.h"
#include "follow/graph_names.h"
#include "follow/node_key.h"
#include "follow/pair_sort.h"
#include "url/url.h"

namespace portolan {
namespace {

constexpr std::string_view kTextsName = "pages.texts";

template <typename T>
Result<T> WithPath(Result<T> result, const std::string& path) {
  if (!result) return std::unexpected(std::move(result).error().Context(path));
  return result;
}

}  // namespace

Result<std::string> KeyOfQuestion(const std::string& text, GraphLevel level) {
  const bool has_scheme = text.find("://") != std::string::npos;
  const auto url = Url::Parse(has_scheme ? text : "http://" + text);
  if (!url || url->hostname().empty()) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is not a URL", Printable(text)));
  }
  if (level != GraphLevel::kPages) return KeyOfHostName(url->hostname());
  std::string key;
  std::string href(url->href());
  if (const size_t fragment = href.find('#'); fragment != std::string::npos) href.resize(fragment);
  AppendNodeKey(href, key);
  return key;
}

std::string NearestHost(const GraphFiles& files, std::string_view key) {
  const auto hosts = files.Names(GraphLevel::kHosts);
  if (!hosts || hosts->size() == 0) return {};
  const std::string host(HostOfNodeKey(key));
  const auto at = hosts->LowerBound(host);
  std::string best;
  size_t most = 0;
  for (const int step : {-1, 0}) {
    if (!at || (step == -1 && *at == 0)) continue;
    const uint64_t number = *at - static_cast<uint64_t>(-step);
    std::string candidate;
    if (number >= hosts->size() || !hosts->Get(number, candidate)) continue;
    const auto shared = static_cast<size_t>(std::ranges::mismatch(candidate, host).in1 - candidate.begin());
    if (best.empty() || shared > most) {
      best = candidate;
      most = shared;
    }
  }
  return HostNameOfKey(best);
}

Result<std::unique_ptr<const LinkView>> LinkView::Open(const GraphFiles& files, GraphLevel level,
                                                       GraphDirection direction) {
  std::unique_ptr<LinkView> view(new LinkView(files, level, direction));
  if (files.HasNames(level)) {
    ASSIGN_OR_RETURN(view->names_, files.Names(level));
  } else if (level != GraphLevel::kPages) {
    return Fail(ErrorCode::kNotFound, "this graph was imported and has no hosts and no domains");
  }
  ASSIGN_OR_RETURN(view->links_, files.Graph(level, direction));
  return view;
}

Result<GraphLook> GraphLook::Open(const LinkView& view) {
  GraphLook look(view);
  if (view.level_ == GraphLevel::kPages && view.named()) {
    ASSIGN_OR_RETURN(const std::string_view bytes, view.files_.Bytes(kTextsName));
    ASSIGN_OR_RETURN(look.texts_, WithPath(LinkTexts::Open(bytes), view.files_.PathOf(kTextsName)));
  }
  return look;
}

std::string GraphLook::PathOfLists() const {
  return view_->files_.PathOf(GraphBaseName(view_->level_, view_->direction_) + ".graph");
}

std::string GraphLook::PathOfNames() const {
  return view_->files_.PathOf(std::string(GraphLevelName(view_->level_)) + ".urls");
}

Result<GraphLook::Found> GraphLook::Find(const std::string& text) const {
  if (!named()) return FindNumber(text);
  ASSIGN_OR_RETURN(const std::string key, KeyOfQuestion(text, view_->level_));
  Found found{.node = {}, .name = NodeNameOfKey(view_->level_, key), .nearest = {}};
  ASSIGN_OR_RETURN(found.node, WithPath(view_->names_->Find(key), PathOfNames()));
  if (!found.node) found.nearest = NearestHost(view_->files_, key);
  return found;
}

Result<GraphLook::Found> GraphLook::FindNumber(const std::string& text) const {
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const uint64_t nodes = view_->links_.nodes();
  if (stop != end || (error != std::errc() && error != std::errc::result_out_of_range)) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}': this graph was imported and has no URLs; give a node's number, 0 to {}",
                            Printable(text), nodes == 0 ? 0 : nodes - 1));
  }
  Found found{.node = {}, .name = text, .nearest = {}};
  if (error == std::errc() && number < nodes) {
    found.node = number;
    found.name = fmt::format("{}", number);
  }
  return found;
}

std::string GraphLook::JsonOf(const std::string& name) const { return named() ? JsonQuote(name) : name; }

Result<uint64_t> GraphLook::Count(uint64_t node) {
  return WithPath(view_->links_.Outdegree(node, cursor_), PathOfLists());
}

Result<uint64_t> GraphLook::Each(uint64_t node, uint64_t from, uint64_t limit,
                                 const std::function<bool(const Link&)>& each) {
  ASSIGN_OR_RETURN(const auto list, WithPath(view_->links_.Successors(node, cursor_), PathOfLists()));
  const uint64_t begin = std::min<uint64_t>(from, list.size());
  const uint64_t count = limit == 0 ? list.size() - begin : std::min<uint64_t>(limit, list.size() - begin);
  const bool forward = view_->direction_ == GraphDirection::kForward;
  Link link;
  for (const graph::NodeId neighbour : list.subspan(begin, count)) {
    if (named()) {
      if (const Status got = view_->names_->Get(neighbour, key_); !got) {
        return std::unexpected(Error(got.error()).Context(PathOfNames()));
      }
      link.name = NodeNameOfKey(view_->level_, key_);
    } else {
      link.name = fmt::format("{}", neighbour);
    }
    if (texts_) {
      const uint64_t pair = forward ? MakePair(node, neighbour) : MakePair(neighbour, node);
      ASSIGN_OR_RETURN(const std::string_view text, WithPath(texts_->Find(pair), view_->files_.PathOf(kTextsName)));
      link.flags = text.empty() ? std::string() : LinkFlagNames(static_cast<uint8_t>(text[0]));
      link.anchor = text.empty() ? text : text.substr(1);
    }
    if (!each(link)) break;
  }
  return list.size();
}

}  // namespace portolan
