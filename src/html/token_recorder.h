// TokenRecorder: a sink that keeps every token, adjacent text joined: what tests and fuzzers compare.
// The content model follows the element names alone, as for a document without foreign content, or stays put.

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "html/tokenizer.h"

namespace portolan {

struct RecordedToken {
  enum class Kind { kText, kStartTag, kEndTag, kComment, kDoctype };

  Kind kind = Kind::kText;
  std::string text;  // text or comment, or the tag's name
  std::vector<std::pair<std::string, std::string>> attributes;
  bool self_closing = false;
  std::optional<Doctype> doctype;
  size_t position = 0;  // of a tag

  std::string ToString() const;
  bool operator==(const RecordedToken& other) const { return ToString() == other.ToString(); }
};

class TokenRecorder {
 public:
  static constexpr bool kWantsMarkup = true;

  explicit TokenRecorder(bool follow_names = false, bool foreign = false)
      : follow_names_(follow_names), foreign_(foreign) {}

  bool WantsText() const { return true; }
  void Text(std::string_view piece);
  bool WantsTag(Tag, bool) const { return true; }
  TextState StartTag(const TagToken& tag);
  void EndTag(const TagToken& tag);
  bool InForeignContent() const { return foreign_; }
  void Comment(std::string_view raw);
  void DoctypeToken(Doctype doctype);

  const std::vector<RecordedToken>& tokens() const { return tokens_; }

 private:
  void AddTag(const TagToken& tag, RecordedToken::Kind kind);

  const bool follow_names_;
  const bool foreign_;
  std::vector<RecordedToken> tokens_;
};

}  // namespace portolan
