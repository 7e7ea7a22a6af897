// Tokenizer: splits HTML into tokens, by section 13.2.5 of the HTML standard, at memory speed where possible.
//
// Input is UTF-8 (charset_decoder.h makes it) in pieces of any size. A piece is read in place: names, attribute values
// and text are views of it. Only a construct that the end of a piece cuts in two is carried over: it is read again from
// its '<' when the carried bytes have doubled, so any splitting costs linear time and the tokens do not depend on it.
//
// Text may arrive in several pieces; everything else arrives whole. Where the standard's states only differ in which
// parse error they report, they are one here: errors are not reported, tokens are exact.
//
// A Sink says what it needs, and nothing else is computed:
//
//   static constexpr bool kWantsMarkup;       // comments and doctypes: Comment(view), DoctypeToken(Doctype)
//   bool WantsText();                         // asked at the start of each run of text; false skips to the next tag
//   void Text(std::string_view piece);        // references decoded, CR LF as LF, NUL as the state has it
//   bool WantsTag(Tag tag, bool end_tag);     // false: attributes are stepped over, no call follows
//   TextState StartTag(const TagToken& tag);  // answers how to read on: the tree builder's switch of the tokenizer
//   void EndTag(const TagToken& tag);
//   bool InForeignContent();                  // whether "<![CDATA[" opens a section here
//
// Views are valid during the call only. Thread: one owner. Memory bound: max_construct_bytes and what Sink keeps.

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "html/doctype.h"
#include "html/entities.h"
#include "html/scan.h"
#include "html/tag.h"

namespace portolan {

enum class TextState : uint8_t { kData, kRcdata, kRawtext, kScriptData, kPlaintext, kCdata };

// How the standard's tree builder switches the tokenizer after a start tag in HTML content, scripting off.
constexpr TextState TextStateAfter(Tag tag) {
  switch (tag) {
    case Tag::kTitle:
    case Tag::kTextarea:
      return TextState::kRcdata;
    case Tag::kStyle:
    case Tag::kXmp:
    case Tag::kIframe:
    case Tag::kNoembed:
    case Tag::kNoframes:
      return TextState::kRawtext;
    case Tag::kScript:
      return TextState::kScriptData;
    case Tag::kPlaintext:
      return TextState::kPlaintext;
    default:
      return TextState::kData;
  }
}

struct RawAttribute {
  std::string_view name;   // as written: AppendName lower-cases it
  std::string_view value;  // as written: AppendAttributeValue decodes it
  uint64_t word = 0;       // PackName of the name, or of its first eight bytes
};

struct TagToken {
  Tag tag = Tag::kUnknown;
  bool self_closing = false;
  std::string_view name;  // as written
  size_t position = 0;    // of the '<', in bytes since the start of the input
  // In order, duplicates included: the first of a name counts. At most TokenizerLimits::max_attributes.
  std::span<const RawAttribute> attributes;
};

struct TokenizerLimits {
  // A tag, comment or doctype longer than this ends the reading: cut() becomes true. It bounds what is carried. At
  // least 64.
  size_t max_construct_bytes = size_t{16} << 20;
  // Attributes of one tag after these are not in its token.
  size_t max_attributes = 1024;
};

// Tag and attribute names as the standard has them: ASCII lower case, NUL as U+FFFD.
void AppendName(std::string& out, std::string_view raw);
// Keeps the first of each name.
void DropDuplicateAttributes(std::vector<RawAttribute>& attributes);

template <typename Sink>
class Tokenizer {
 public:
  explicit Tokenizer(Sink& sink, TokenizerLimits limits = {}) : sink_(sink), limits_(limits) {
    limits_.max_construct_bytes = std::max<size_t>(limits_.max_construct_bytes, 64);
  }

  // As if `state` had been entered after a start tag `last_start_tag` (lower case). Before the first Feed.
  void StartIn(TextState state, std::string_view last_start_tag) {
    state_ = state;
    last_start_tag_ = last_start_tag;
  }

  void Feed(std::string_view piece) {
    if (carry_.empty()) {
      const size_t used = Run(piece.data(), piece.data() + piece.size(), false);
      Carry(piece.substr(used));
      return;
    }
    carry_.append(piece);
    if (carry_.size() < retry_at_) return;
    const size_t used = Run(carry_.data(), carry_.data() + carry_.size(), false);
    carry_.erase(0, used);
    retry_at_ = 2 * carry_.size();
  }

  // The input ends here. The object may then be destroyed or Reset.
  void Finish() {
    Run(carry_.data(), carry_.data() + carry_.size(), true);
    carry_.clear();
  }

  // One call for input that is all there.
  void Read(std::string_view whole) { Run(whole.data(), whole.data() + whole.size(), true); }

  void Reset() {
    carry_.clear();
    last_start_tag_.clear();
    position_ = 0;
    state_ = TextState::kData;
    script_ = Script::kPlain;
    dashes_ = 0;
    cut_ = false;
  }

  // Whether a construct over the limit ended the reading.
  bool cut() const { return cut_; }

 private:
  // Where a script's text stands: the standard's escaped and double escaped states, in "<!-- <script>" inside it.
  enum class Script : uint8_t { kPlain, kEscaped, kDoubleEscaped };

  void Carry(std::string_view rest) {
    carry_.assign(rest);
    retry_at_ = 2 * rest.size();
  }

  // Reads [begin, end) as far as it can and returns how far that is. With `eof` it reads all.
  size_t Run(const char* begin, const char* end, bool eof);

  // Each reads from p in its state and returns where it stopped: at `end`, at a change of state, or, with stalled_ set,
  // before something that only more input can decide.
  const char* Data(const char* p, const char* end, bool eof);
  const char* Rcdata(const char* p, const char* end, bool eof);
  const char* Rawtext(const char* p, const char* end, bool eof);
  const char* ScriptData(const char* p, const char* end, bool eof);
  const char* Cdata(const char* p, const char* end, bool eof);

  // At a '<' in data. nullptr: more input is needed.
  const char* Markup(const char* p, const char* end, bool eof);
  const char* Declaration(const char* p, const char* end, bool eof);
  const char* Comment(const char* p, const char* end, bool eof);
  const char* BogusComment(const char* p, const char* from, const char* end, bool eof);
  template <bool kEndTag>
  const char* ReadTag(const char* p, const char* end, bool eof);
  template <bool kEndTag>
  const char* EmitTag(const char* p, const char* name_end, const char* end, bool eof, Tag tag);
  template <bool kKeep>
  const char* Attributes(const char* p, const char* end, bool& self_closing);

  // Text with references up to the next '<' or end.
  template <bool kReplaceNul>
  const char* TextRun(const char* p, const char* end, bool eof);
  // [p, end) without references. `known` says that the byte after end is known, or that there is none.
  const char* RawRun(const char* p, const char* end, bool known, bool replace_nul);

  // Whether "</" at p begins the end tag that fits last_start_tag_. -1: more input is needed.
  int FitsEndTag(const char* p, const char* end, bool eof) const {
    return last_start_tag_.empty() ? 0 : Follows(p + 2, end, eof, last_start_tag_);
  }
  // Whether `word` (lower case) and then a blank, '/' or '>' stand at p. -1: more input is needed.
  static int Follows(const char* p, const char* end, bool eof, std::string_view word);

  const char* Stall(const char* p) {
    stalled_ = true;
    return p;
  }
  const char* TooLong(const char* end) {
    cut_ = true;
    return end;
  }
  size_t PositionOf(const char* p) const { return position_ + static_cast<size_t>(p - run_begin_); }

  Sink& sink_;
  TokenizerLimits limits_;
  TextState state_ = TextState::kData;
  Script script_ = Script::kPlain;
  uint8_t dashes_ = 0;  // '-' just before, at most 2, in an escaped script
  bool stalled_ = false;
  bool cut_ = false;
  const char* run_begin_ = nullptr;
  size_t position_ = 0;  // of run_begin_ in the whole input
  std::vector<RawAttribute> attributes_;
  std::string last_start_tag_;
  std::string carry_;
  size_t retry_at_ = 0;
  std::string scratch_;
};

}  // namespace portolan

#include "html/tokenizer_states.h"  // IWYU pragma: keep
#include "html/tokenizer_tags.h"    // IWYU pragma: keep
