// Tokenizer's markup: tags with their attributes, comments, doctypes, and what only looks like them.
// Part of tokenizer.h; include that.

#pragma once

#include "base/ascii.h"
#include "html/tokenizer.h"

namespace portolan {

template <typename Sink>
const char* Tokenizer<Sink>::Markup(const char* p, const char* end, bool eof) {
  if (end - p >= 2) [[likely]] {
    const char c = p[1];
    if (IsAsciiAlpha(c)) return ReadTag<false>(p, end, eof);
    if (c == '/') {
      if (end - p >= 3) [[likely]] {
        if (IsAsciiAlpha(p[2])) return ReadTag<true>(p, end, eof);
        if (p[2] == '>') return p + 3;
        return BogusComment(p, p + 2, end, eof);
      }
    } else if (c == '!') {
      return Declaration(p, end, eof);
    } else if (c == '?') {
      return BogusComment(p, p + 1, end, eof);
    } else {
      if (sink_.WantsText()) sink_.Text("<");
      return p + 1;
    }
  }
  if (!eof) return nullptr;
  if (sink_.WantsText()) sink_.Text({p, end});  // "<" or "</" and nothing more
  return end;
}

template <typename Sink>
const char* Tokenizer<Sink>::Declaration(const char* p, const char* end, bool eof) {
  const std::string_view rest(p + 2, static_cast<size_t>(end - p - 2));
  const auto begins = [&](std::string_view word) {
    const size_t length = std::min(rest.size(), word.size());
    if (!std::ranges::equal(rest.substr(0, length), word.substr(0, length), {}, AsciiLower)) return 0;
    if (length == word.size()) return 1;
    return eof ? 0 : -1;
  };
  const int comment = begins("--");
  if (comment > 0) return Comment(p, end, eof);
  const int doctype = begins("doctype");
  if (doctype > 0) {
    const char* inside = p + 9;
    const char* close = FindByte(inside, end, '>');
    if (static_cast<size_t>(close - p) > limits_.max_construct_bytes) return TooLong(end);
    if (close == end && !eof) return nullptr;
    if constexpr (Sink::kWantsMarkup) sink_.DoctypeToken(ParseDoctype({inside, close}, close == end));
    return close == end ? end : close + 1;
  }
  constexpr std::string_view kCdata = "[CDATA[";
  const bool cdata_so_far = kCdata.starts_with(rest.substr(0, kCdata.size()));
  if (cdata_so_far && rest.size() >= kCdata.size() && sink_.InForeignContent()) {
    state_ = TextState::kCdata;
    return p + 2 + kCdata.size();
  }
  const bool undecided = !eof && rest.size() < kCdata.size() && cdata_so_far;
  if (comment < 0 || doctype < 0 || undecided) return nullptr;
  return BogusComment(p, p + 2, end, eof);
}

// A comment ends with "-->" or "--!>", or at once with "<!-->" or "<!--->". At the end of the input the dashes that
// could have begun its end do not belong to it.
template <typename Sink>
const char* Tokenizer<Sink>::Comment(const char* p, const char* end, bool eof) {
  const char* from = p + 4;
  const char* close = nullptr;
  const char* after = nullptr;
  if (end - from >= 1 && from[0] == '>') {
    close = from;
    after = from + 1;
  } else if (end - from >= 2 && from[0] == '-' && from[1] == '>') {
    close = from;
    after = from + 2;
  } else {
    // A close is found at its '>': what stands before it decides.
    for (const char* at = from;; ++at) {
      at = FindByte(at, end, '>');
      if (at == end) break;
      if (at - from >= 2 && at[-1] == '-' && at[-2] == '-') {
        close = at - 2;
      } else if (at - from >= 3 && at[-1] == '!' && at[-2] == '-' && at[-3] == '-') {
        close = at - 3;
      } else {
        continue;
      }
      after = at + 1;
      break;
    }
  }
  if (static_cast<size_t>((close != nullptr ? after : end) - p) > limits_.max_construct_bytes) return TooLong(end);
  if (close == nullptr) {
    if (!eof) return nullptr;
    std::string_view data(from, static_cast<size_t>(end - from));
    if (data.ends_with("--!")) {
      data.remove_suffix(3);
    } else if (data.ends_with("--")) {
      data.remove_suffix(2);
    } else if (data.ends_with("-")) {
      data.remove_suffix(1);
    }
    close = data.data() + data.size();
    after = end;
  }
  if constexpr (Sink::kWantsMarkup) sink_.Comment({from, close});
  return after;
}

template <typename Sink>
const char* Tokenizer<Sink>::BogusComment(const char* p, const char* from, const char* end, bool eof) {
  const char* close = FindByte(from, end, '>');
  if (static_cast<size_t>(close - p) > limits_.max_construct_bytes) return TooLong(end);
  if (close == end && !eof) return nullptr;
  if constexpr (Sink::kWantsMarkup) sink_.Comment({from, close});
  return close == end ? end : close + 1;
}

// From '<' to '>'. A tag that the input cuts off is not a token.
template <typename Sink>
template <bool kEndTag>
inline const char* Tokenizer<Sink>::ReadTag(const char* p, const char* end, bool eof) {
  const char* name = p + (kEndTag ? 2 : 1);
  // Most names are short and plain: up to the first byte below '0' or '>', in one look.
  const char* at = FindLowOr<'/', '>'>(name, end);
  const auto length = static_cast<size_t>(at - name);
  Tag tag = Tag::kUnknown;
  if (at != end && (*at == '>' || *at == ' ') && length <= 8 && end - name >= 8) [[likely]] {
    const uint64_t mask = ~uint64_t{0} >> (64 - 8 * length);
    tag = FindTag((LoadLe<uint64_t>(name) | 0x2020202020202020) & mask);
    if (*at == '>' && !sink_.WantsTag(tag, kEndTag)) return at + 1;
  } else {
    at = FindTagNameEnd(at, end);
    if (at < end) tag = FindTag(std::string_view(name, at));
  }
  return EmitTag<kEndTag>(p, at, end, eof, tag);
}

template <typename Sink>
template <bool kEndTag>
const char* Tokenizer<Sink>::EmitTag(const char* p, const char* name_end, const char* end, bool eof, Tag tag) {
  const char* at = name_end;
  if (at < end) {
    const bool wanted = sink_.WantsTag(tag, kEndTag);
    bool self_closing = false;
    attributes_.clear();
    if (*at == '>') {
      ++at;
    } else {
      at = wanted ? Attributes<true>(at, end, self_closing) : Attributes<false>(at, end, self_closing);
    }
    if (at != nullptr) {
      if (static_cast<size_t>(at - p) > limits_.max_construct_bytes) return TooLong(end);
      if (!wanted) return at;
      const TagToken token{.tag = tag,
                           .self_closing = self_closing,
                           .name = {p + (kEndTag ? 2 : 1), name_end},
                           .position = PositionOf(p),
                           .attributes = attributes_};
      if constexpr (kEndTag) {
        sink_.EndTag(token);
      } else {
        state_ = sink_.StartTag(token);
        if (state_ != TextState::kData) [[unlikely]] {
          last_start_tag_.clear();
          AppendName(last_start_tag_, token.name);
        }
      }
      return at;
    }
  }
  if (static_cast<size_t>(end - p) > limits_.max_construct_bytes) return TooLong(end);
  return eof ? end : nullptr;
}

// From the end of the tag's name to after its '>'; nullptr where the input ends before. The states from "before
// attribute name" to "self-closing start tag".
template <typename Sink>
template <bool kKeep>
const char* Tokenizer<Sink>::Attributes(const char* p, const char* end, bool& self_closing) {
  const auto keep = [&](const char* name, const char* name_end, std::string_view value) {
    if constexpr (kKeep) {
      if (attributes_.size() >= limits_.max_attributes) [[unlikely]]
        return;
      const std::string_view view(name, name_end);
      uint64_t word = 0;
      if (end - name >= 8) [[likely]] {
        word = LoadLe<uint64_t>(name) | 0x2020202020202020;
        if (view.size() < 8) word &= ~uint64_t{0} >> (64 - 8 * view.size());
      } else {
        word = PackName(view);
      }
      attributes_.push_back({view, value, word});
    }
  };
  for (;;) {
    p = SkipHtmlSpace(p, end);
    if (p == end) return nullptr;
    if (*p == '>') return p + 1;
    if (*p == '/') {
      ++p;
      if (p < end && *p == '>') {
        self_closing = true;
        return p + 1;
      }
      continue;
    }
    const char* name = p;
    // A '=' where a name should begin is its first character.
    const char* name_end = FindAttributeNameEnd(p + (*p == '='), end);
    p = name_end;
    if (p < end && *p != '=' && IsHtmlSpace(*p)) p = SkipHtmlSpace(p, end);
    if (p == end) return nullptr;
    if (*p != '=') {
      keep(name, name_end, {});
      continue;
    }
    ++p;
    if (p < end && IsHtmlSpace(*p)) p = SkipHtmlSpace(p, end);
    if (p == end) return nullptr;
    if (*p == '"' || *p == '\'') {
      const char* value = p + 1;
      const char* close = FindByte(value, end, *p);
      if (close == end) return nullptr;
      keep(name, name_end, {value, close});
      p = close + 1;
    } else if (*p == '>') {
      keep(name, name_end, {});
      return p + 1;
    } else {
      const char* value_end = FindUnquotedEnd(p, end);
      if (value_end == end) return nullptr;
      keep(name, name_end, {p, value_end});
      p = value_end;
    }
  }
}

}  // namespace portolan
