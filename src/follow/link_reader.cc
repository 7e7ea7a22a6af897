#include "follow/link_reader.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/hash.h"
#include "flow/output_records.h"

namespace portolan {
namespace {

constexpr uint64_t kSecondSeed = 0x9e3779b97f4a7c15;
constexpr uint64_t kIsLink = uint64_t{1} << 63;

Status ForEachOf(SourcesReader& reader, const LinkVisitor& each) {
  for (bool more = true; more;) {
    ASSIGN_OR_RETURN(more, NextLinks([&](const OutputReader::Each& records) { return reader.Next(records); }, each));
  }
  return {};
}

// The result of a URL as a number: status and outcome, 0 if it is not broken.
class Outcomes {
 public:
  // nullopt: the line does not give the result of the URL.
  std::optional<uint64_t> Of(const nlohmann::json& line) {
    if (!line.is_object() || line.value("again", false) || line.value("kind", "") == "robots") return std::nullopt;
    const std::string outcome = line.value("outcome", "");
    if (outcome == "late_duplicate") return std::nullopt;  // about a fetch that has a line of its own
    if (outcome == "robots_denied" || outcome == "out_of_scope" || outcome == "mirror" || outcome == "renamed") {
      return 0;
    }
    const auto status = line.find("status");
    if (status != line.end() && status->is_number_unsigned()) {
      const uint64_t number = *status;
      return number < 400 ? 0 : (number << 8) | Number(outcome);
    }
    return Number(outcome);
  }
  static int StatusOf(uint64_t what) { return static_cast<int>(what >> 8); }
  std::string_view NameOf(uint64_t what) const { return names_[(what & 0xff) - 1]; }

 private:
  // From 1; the names are few.
  uint64_t Number(const std::string& name) {
    auto at = std::ranges::find(names_, name);
    if (at == names_.end() && names_.size() < kMostNames) at = names_.insert(names_.end(), name);
    if (at == names_.end()) return names_.size();
    return static_cast<uint64_t>(at - names_.begin()) + 1;
  }

  static constexpr size_t kMostNames = 255;
  std::vector<std::string> names_;
};

}  // namespace

Result<bool> NextLinks(const std::function<Result<bool>(const OutputReader::Each&)>& next, const LinkVisitor& each) {
  std::string source;
  int64_t unix_ms = 0;
  return next([&](std::string_view record, uint32_t tag) -> Status {
    const auto parsed = ParseLinkRecord(record, static_cast<uint8_t>(tag));
    if (!parsed) return Fail(ErrorCode::kCorrupt, "the link log has a record that is not a link");
    if (parsed->is_page()) {
      source = parsed->url;
      unix_ms = parsed->unix_ms;
      return {};
    }
    return each(
        {.source = source, .target = parsed->url, .anchor = parsed->anchor, .flags = parsed->tag, .unix_ms = unix_ms});
  });
}

Status ForEachLink(Env& env, const OutputSources& links, const LinkVisitor& each) {
  ASSIGN_OR_RETURN(SourcesReader reader, SourcesReader::Open(env, links));
  return ForEachOf(reader, each);
}

Status ForEachBrokenLink(Env& env, Env& scratch, const OutputSources& links, const OutputSources& logs,
                         const RowSort::Options& sort, const LinkVisitor& each) {
  // The links first: their targets may be logged in the meantime, and are then known.
  ASSIGN_OR_RETURN(const std::vector<CommittedSource> links_until, ReadCommittedSources(env, links));
  ASSIGN_OR_RETURN(const std::vector<CommittedSource> logs_until, ReadCommittedSources(env, logs));

  RowSort by_url(scratch, sort);
  uint64_t count = 0;
  {
    ASSIGN_OR_RETURN(SourcesReader reader, SourcesReader::Open(env, links_until));
    RETURN_IF_ERROR(ForEachOf(reader, [&](const LinkLine& link) {
      return by_url.Add({Hash64(link.target), Hash64(link.target, kSecondSeed), kIsLink | count++, 0});
    }));
  }
  Outcomes outcomes;
  {
    ASSIGN_OR_RETURN(SourcesReader reader, SourcesReader::Open(env, logs_until));
    uint64_t line_number = 0;
    for (bool more = true; more;) {
      ASSIGN_OR_RETURN(more, reader.Next([&](std::string_view text, uint32_t /*tag*/) -> Status {
        const auto line = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
        const auto what = outcomes.Of(line);
        if (!what || !line.contains("url")) return {};
        const std::string url = line["url"];
        return by_url.Add({Hash64(url), Hash64(url, kSecondSeed), line_number++, *what});
      }));
    }
  }

  // Of the rows of a URL those of the log come first, the last one of them at the end.
  RowSort by_place(scratch, sort);
  RETURN_IF_ERROR(by_url.Sort());
  uint64_t first = 0;
  uint64_t second = 0;
  uint64_t what = 0;
  for (RowSort::Row row;;) {
    ASSIGN_OR_RETURN(const bool more, by_url.Next(row));
    if (!more) break;
    if (row[0] != first || row[1] != second) what = 0;
    first = row[0];
    second = row[1];
    if ((row[2] & kIsLink) == 0) {
      what = row[3];
    } else if (what != 0) {
      RETURN_IF_ERROR(by_place.Add({row[2] & ~kIsLink, what, 0, 0}));
    }
  }

  RETURN_IF_ERROR(by_place.Sort());
  RowSort::Row next;
  ASSIGN_OR_RETURN(bool left, by_place.Next(next));
  ASSIGN_OR_RETURN(SourcesReader reader, SourcesReader::Open(env, links_until));
  uint64_t place = 0;
  return ForEachOf(reader, [&](const LinkLine& link) -> Status {
    if (!left || place++ != next[0]) return {};
    LinkLine broken = link;
    broken.status = Outcomes::StatusOf(next[1]);
    broken.outcome = outcomes.NameOf(next[1]);
    RETURN_IF_ERROR(each(broken));
    ASSIGN_OR_RETURN(left, by_place.Next(next));
    return {};
  });
}

}  // namespace portolan
