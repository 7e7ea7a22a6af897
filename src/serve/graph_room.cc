#include "serve/graph_room.h"

#include <fmt/core.h>

#include <algorithm>
#include <mutex>

#include "base/log.h"
#include "base/text.h"
#include "io/map_faults.h"

namespace portolan {
namespace {

struct LinkQuestion {
  GraphLevel level = GraphLevel::kPages;
  GraphDirection direction = GraphDirection::kForward;
  uint64_t from = 0;
  uint64_t limit = GraphRoom::kDefaultLimit;
  std::vector<std::string> urls;
  bool batch = false;
};

std::string_view LevelWord(GraphLevel level) {
  return level == GraphLevel::kPages ? "page" : level == GraphLevel::kHosts ? "host" : "domain";
}

Result<LinkQuestion> QuestionOf(const Request& request, GraphDirection direction) {
  RETURN_IF_ERROR(request.Only({"url", "level", "limit", "from"}));
  LinkQuestion question{.direction = direction};
  ASSIGN_OR_RETURN(const std::string level, request.One("level", "page"));
  const auto* const found = std::ranges::find(kGraphLevels, level, &LevelWord);
  if (found == std::end(kGraphLevels)) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not a level: use page, host or domain", Printable(level.substr(0, 40))));
  }
  question.level = *found;
  ASSIGN_OR_RETURN(question.from, request.Number("from", 0, 0, UINT64_MAX));
  ASSIGN_OR_RETURN(question.limit, request.Number("limit", GraphRoom::kDefaultLimit, 1, GraphRoom::kMaxLimit));
  for (const auto& [name, value] : request.parameters) {
    if (name == "url") question.urls.push_back(value);
  }
  question.batch = request.method == "POST" || question.urls.size() > 1;
  if (request.method == "POST") {
    if (!question.urls.empty()) {
      return Fail(ErrorCode::kInvalidArgument, "the URLs of a POST are in its body, not in the parameter 'url'");
    }
    ASSIGN_OR_RETURN(question.urls, ParseUrlList(request.body, GraphRoom::kMaxBatch));
  } else if (question.urls.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "which URL? Add ?url= with the URL, percent-encoded");
  } else if (question.urls.size() > GraphRoom::kMaxBatch) {
    return Fail(ErrorCode::kBusy, fmt::format("more than {} URLs: send several requests", GraphRoom::kMaxBatch));
  }
  return question;
}

// Lends a GraphLook for one request.
class LentLook {
 public:
  static Result<LentLook> Take(OpenGraph& graph, const LinkQuestion& question) {
    LentLook lent(graph, question);
    ASSIGN_OR_RETURN(lent.look_, graph.Take(question.level, question.direction));
    return lent;
  }
  LentLook(LentLook&&) = default;
  LentLook& operator=(LentLook&&) = delete;
  ~LentLook() {
    if (look_ != nullptr) graph_->Return(level_, direction_, std::move(look_));
  }

  // As GraphLook::Each.
  Result<uint64_t> Each(uint64_t node, uint64_t from, uint64_t limit,
                        const std::function<bool(const GraphLook::Link&)>& each) {
    ASSIGN_OR_RETURN(const uint64_t count, look_->Count(node));
    if (count <= OpenGraph::kLongList) return look_->Each(node, from, limit, each);
    const std::lock_guard lock(graph_->long_list());
    auto result = look_->Each(node, from, limit, each);
    // What it grew to is freed before the next long list.
    look_.reset();
    ASSIGN_OR_RETURN(look_, graph_->Take(level_, direction_));
    return result;
  }
  GraphLook& look() { return *look_; }

 private:
  LentLook(OpenGraph& graph, const LinkQuestion& question)
      : graph_(&graph), level_(question.level), direction_(question.direction) {}

  OpenGraph* graph_;
  GraphLevel level_;
  GraphDirection direction_;
  std::unique_ptr<GraphLook> look_;
};

struct NotThere {
  int status;
  std::string code;
  std::string message;
  std::string more;
};

// Appends the fields of one URL's answer to `out`; what keeps it from being there is data, a damaged file an error.
Result<std::optional<NotThere>> AppendLinks(LentLook& lent, const LinkQuestion& question, const std::string& url,
                                            std::string& out) {
  const auto found = lent.look().Find(url);
  if (!found && found.error().code() == ErrorCode::kInvalidArgument) {
    return NotThere{400, "not_a_url", found.error().message(), {}};
  }
  if (!found) return std::unexpected(found.error());
  if (!found->node) {
    NotThere not_there{404, "not_in_graph", fmt::format("{} is not in the graph", Printable(found->name)), {}};
    if (!found->nearest.empty()) {
      not_there.message += fmt::format("; the nearest host in it is {}", Printable(found->nearest));
      not_there.more = fmt::format(",\"nearest_host\":{}", JsonQuote(found->nearest));
    }
    return not_there;
  }
  out += fmt::format("\"url\":{},\"from\":{},\"links\":[", lent.look().JsonOf(found->name), question.from);
  uint64_t count = 0;
  const bool has_texts = lent.look().has_texts();
  const auto append = [&](const GraphLook::Link& link) {
    if (count++ > 0) out += ',';
    out += "{\"url\":";
    out += lent.look().JsonOf(link.name);
    if (has_texts) out += fmt::format(",\"anchor\":{},\"flags\":{}", JsonQuote(link.anchor), JsonQuote(link.flags));
    out += '}';
    return out.size() < GraphRoom::kMaxAnswer;
  };
  ASSIGN_OR_RETURN(const uint64_t total, lent.Each(*found->node, question.from, question.limit, append));
  out += fmt::format("],\"total\":{}", total);
  if (count > 0 && question.from + count < total) out += fmt::format(",\"next\":{}", question.from + count);
  return std::nullopt;
}

Result<Answer> AnswerTo(OpenGraph& graph, const LinkQuestion& question) {
  ASSIGN_OR_RETURN(LentLook lent, LentLook::Take(graph, question));
  Answer answer;
  std::string& out = answer.body;
  out = fmt::format(R"({{"generation":{},"level":"{}","direction":"{}",)", graph.files().generation(),
                    LevelWord(question.level), question.direction == GraphDirection::kForward ? "out" : "in");
  if (!question.batch) {
    ASSIGN_OR_RETURN(const auto not_there, AppendLinks(lent, question, question.urls.front(), out));
    if (not_there) return ErrorAnswer(not_there->status, not_there->code, not_there->message, not_there->more);
    out += "}\n";
    return answer;
  }
  out += "\"results\":[";
  size_t done = 0;
  for (const std::string& url : question.urls) {
    if (out.size() >= GraphRoom::kMaxAnswer) break;
    out += done++ == 0 ? "{" : ",{";
    ASSIGN_OR_RETURN(const auto not_there, AppendLinks(lent, question, url, out));
    if (not_there) {
      out += fmt::format("\"url\":{},\"error\":{}", JsonQuote(url),
                         ErrorObject(not_there->code, not_there->message, not_there->more));
    }
    out += '}';
  }
  out += ']';
  if (done < question.urls.size()) out += fmt::format(",\"rest\":{}", done);
  out += "}\n";
  return answer;
}

}  // namespace

std::string GraphRoom::summary() const {
  return "Who links to whom: pages, hosts and domains, in both directions, with anchor text.";
}

std::vector<Route> GraphRoom::Routes() {
  return {{.path = "/graph/out",
           .takes_body = true,
           .summary = "what a page links to",
           .example = "/graph/out?url=example.org&level=host&limit=10",
           .handle = [this](const Request& request) { return Links(request, GraphDirection::kForward); }},
          {.path = "/graph/in",
           .takes_body = true,
           .summary = "what links to a page",
           .example = "/graph/in?url=example.org&level=host&limit=10",
           .handle = [this](const Request& request) { return Links(request, GraphDirection::kTransposed); }}};
}

Result<std::string> GraphRoom::Health() {
  ASSIGN_OR_RETURN(const auto graph, source_.Current());
  ASSIGN_OR_RETURN(const auto pages, graph->files().Properties(GraphLevel::kPages, GraphDirection::kForward));
  return fmt::format("generation {}: {} pages, {} links", graph->files().generation(), pages.nodes, pages.arcs);
}

Answer GraphRoom::Links(const Request& request, GraphDirection direction) {
  const auto question = QuestionOf(request, direction);
  if (!question) return ErrorAnswer(question.error());
  for (int attempt = 0;; ++attempt) {
    const auto graph = source_.Current();
    if (!graph) {
      return graph.error().code() == ErrorCode::kNotFound ? ErrorAnswer(503, "no_graph", graph.error().message())
                                                          : ErrorAnswer(graph.error());
    }
    const uint64_t faults = MapFaults();
    Result<Answer> answer = AnswerTo(**graph, *question);
    if (MapFaults() != faults) {
      // A file shrank while it was read. If it was this graph's, the next look at the files says which.
      source_.Reopen();
      if (attempt == 0) continue;
      return ErrorAnswer(500, "damaged", "a file of the graph became shorter while it was read: build the graph again");
    }
    return answer ? *std::move(answer) : ErrorAnswer(answer.error());
  }
}

}  // namespace portolan
