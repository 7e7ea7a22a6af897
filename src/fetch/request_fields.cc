#include "fetch/request_fields.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/ascii.h"
#include "flow/url_record.h"

namespace portolan {
namespace {

bool HasControl(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || static_cast<unsigned char>(c) == 0x7f;
  });
}

Status CheckLine(std::string_view line) {
  const size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  const bool good = colon != std::string_view::npos && !name.empty() &&
                    std::all_of(name.begin(), name.end(), IsTokenByte) && !HasControl(line) &&
                    !TrimBlanks(line.substr(colon + 1)).empty();
  if (good) return {};
  return Fail(ErrorCode::kInvalidArgument, fmt::format("not a header field: \"{}\"", line));
}

}  // namespace

Result<RequestFields> RequestFields::Create(const FetchOptions& options) {
  RequestFields fields;
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) fields.lines_.push_back(fmt::format("{}: {}", name, value));
  };
  add("User-Agent", options.user_agent);
  add("From", options.from);
  add("Accept", options.accept);
  add("Accept-Encoding", options.accept_encoding);
  for (const std::string& line : options.extra_headers) fields.lines_.push_back(line);
  for (const std::string& line : fields.lines_) {
    RETURN_IF_ERROR(CheckLine(line));
    fields.text_ += line;
    fields.text_ += "\r\n";
  }
  fields.text_ += "\r\n";
  // A name without a value takes libcurl's own field away.
  if (options.accept.empty()) fields.lines_.emplace_back("Accept:");
  if (!options.proxy.empty()) fields.lines_.emplace_back("Proxy-Connection:");
  fields.nodes_.resize(fields.lines_.size());
  for (size_t i = 0; i < fields.nodes_.size(); ++i) {
    fields.nodes_[i].data = fields.lines_[i].data();
    fields.nodes_[i].next = i + 1 < fields.nodes_.size() ? &fields.nodes_[i + 1] : nullptr;
  }
  return fields;
}

curl_slist* RequestFields::ListFor(const FetchTask& task, Conditional& conditional) const {
  // libcurl's lists are not const, but it only reads them.
  auto* list = const_cast<curl_slist*>(nodes_.empty() ? nullptr : nodes_.data());
  const auto put = [&](std::string_view name, const std::string& value, std::string& line, curl_slist& node) {
    line.clear();
    if (value.empty() || HasControl(value)) return;
    line.append(name).append(value);
    node = {line.data(), list};
    list = &node;
  };
  put("If-Modified-Since: ", task.last_modified, conditional.modified_line, conditional.modified_node);
  put("If-None-Match: ", task.etag, conditional.etag_line, conditional.etag_node);
  return list;
}

std::string RequestFields::HeadFor(const FetchTask& task, const Conditional& conditional, bool absolute_target) const {
  const std::string_view origin = OriginOf(task.url);
  const std::string_view authority = origin.substr(std::min(origin.size(), origin.find("://") + 3));
  std::string_view target = absolute_target ? std::string_view(task.url) : PathAndQueryOf(task.url);
  target = target.substr(0, target.find('#'));
  std::string head;
  head.reserve(64 + target.size() + authority.size() + conditional.etag_line.size() + conditional.modified_line.size() +
               text_.size());
  head.append("GET ").append(target).append(" HTTP/1.1\r\nHost: ").append(authority).append("\r\n");
  for (const std::string* line : {&conditional.etag_line, &conditional.modified_line}) {
    if (!line->empty()) head.append(*line).append("\r\n");
  }
  head.append(text_);
  return head;
}

}  // namespace portolan
