#include "html/token_recorder.h"

#include <fmt/format.h>

namespace portolan {

std::string RecordedToken::ToString() const {
  const auto quoted = [](const std::optional<std::string>& id) { return id ? fmt::format("'{}'", *id) : "null"; };
  switch (kind) {
    case Kind::kText:
      return "text " + text;
    case Kind::kComment:
      return "comment " + text;
    case Kind::kDoctype:
      return fmt::format("doctype {} {} {} {}", quoted(doctype->name), quoted(doctype->public_id),
                         quoted(doctype->system_id), doctype->force_quirks ? "quirks" : "right");
    case Kind::kStartTag:
    case Kind::kEndTag:
      break;
  }
  std::string line = (kind == Kind::kStartTag ? "start " : "end ") + text;
  for (const auto& [name, value] : attributes) line += fmt::format(" {}='{}'", name, value);
  if (self_closing) line += " /";
  return line + fmt::format(" @{}", position);
}

void TokenRecorder::Text(std::string_view piece) {
  if (tokens_.empty() || tokens_.back().kind != RecordedToken::Kind::kText) tokens_.emplace_back();
  tokens_.back().text.append(piece);
}

void TokenRecorder::AddTag(const TagToken& tag, RecordedToken::Kind kind) {
  RecordedToken& token = tokens_.emplace_back();
  token.kind = kind;
  AppendName(token.text, tag.name);
  token.self_closing = tag.self_closing;
  token.position = tag.position;
  std::vector<RawAttribute> attributes(tag.attributes.begin(), tag.attributes.end());
  DropDuplicateAttributes(attributes);
  for (const RawAttribute& attribute : attributes) {
    auto& [name, value] = token.attributes.emplace_back();
    AppendName(name, attribute.name);
    AppendAttributeValue(value, attribute.value);
  }
}

TextState TokenRecorder::StartTag(const TagToken& tag) {
  AddTag(tag, RecordedToken::Kind::kStartTag);
  return follow_names_ ? TextStateAfter(tag.tag) : TextState::kData;
}

void TokenRecorder::EndTag(const TagToken& tag) { AddTag(tag, RecordedToken::Kind::kEndTag); }

void TokenRecorder::Comment(std::string_view raw) {
  RecordedToken& token = tokens_.emplace_back();
  token.kind = RecordedToken::Kind::kComment;
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '\0') {
      token.text += "\xef\xbf\xbd";
    } else if (raw[i] == '\r') {
      token.text += '\n';
      if (i + 1 < raw.size() && raw[i + 1] == '\n') ++i;
    } else {
      token.text += raw[i];
    }
  }
}

void TokenRecorder::DoctypeToken(Doctype doctype) {
  RecordedToken& token = tokens_.emplace_back();
  token.kind = RecordedToken::Kind::kDoctype;
  token.doctype = std::move(doctype);
}

}  // namespace portolan
