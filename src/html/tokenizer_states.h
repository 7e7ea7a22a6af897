// Tokenizer's text states: data, RCDATA, RAWTEXT, script data with its escapes, PLAINTEXT, CDATA sections.
// Part of tokenizer.h; include that.

#pragma once

#include "base/ascii.h"
#include "html/tokenizer.h"

namespace portolan {

template <typename Sink>
size_t Tokenizer<Sink>::Run(const char* begin, const char* end, bool eof) {
  run_begin_ = begin;
  stalled_ = false;
  const char* p = begin;
  while (p < end && !stalled_) {
    if (cut_) {
      p = end;
      break;
    }
    switch (state_) {
      case TextState::kData:
        p = Data(p, end, eof);
        break;
      case TextState::kRcdata:
        p = Rcdata(p, end, eof);
        break;
      case TextState::kRawtext:
        p = Rawtext(p, end, eof);
        break;
      case TextState::kScriptData:
        p = ScriptData(p, end, eof);
        break;
      case TextState::kPlaintext:
        p = sink_.WantsText() ? RawRun(p, end, eof, true) : end;
        break;
      case TextState::kCdata:
        p = Cdata(p, end, eof);
        break;
    }
  }
  const auto used = static_cast<size_t>(p - begin);
  position_ += used;
  return used;
}

template <typename Sink>
const char* Tokenizer<Sink>::Data(const char* p, const char* end, bool eof) {
  while (p < end) {
    if (*p != '<') {
      if (sink_.WantsText()) {
        p = TextRun<false>(p, end, eof);
        if (stalled_) return p;
      } else {
        p = FindAny<'<'>(p, end);
      }
      if (p == end) return p;
    }
    const char* next = nullptr;
    if (end - p > 2 && IsAsciiAlpha(p[1])) {
      next = ReadTag<false>(p, end, eof);
    } else if (end - p > 2 && p[1] == '/' && IsAsciiAlpha(p[2])) {
      next = ReadTag<true>(p, end, eof);
    } else {
      next = Markup(p, end, eof);
    }
    if (next == nullptr) return Stall(p);
    p = next;
    if (state_ != TextState::kData || cut_) return p;
  }
  return p;
}

template <typename Sink>
template <bool kReplaceNul>
const char* Tokenizer<Sink>::TextRun(const char* p, const char* end, bool eof) {
  while (p < end) {
    const char* stop = kReplaceNul ? FindAny<'<', '&', '\r', '\0'>(p, end) : FindAny<'<', '&', '\r'>(p, end);
    if (stop > p) sink_.Text({p, stop});
    p = stop;
    if (p == end || *p == '<') return p;
    if (*p == '&') {
      const Reference found = ReadReference(p, end, false, eof);
      if (found.consumed == 0) return Stall(p);
      sink_.Text(found.length != 0 ? found.text() : std::string_view(p, found.consumed));
      p += found.consumed;
    } else if (*p == '\r') {
      if (p + 1 == end && !eof) return Stall(p);
      sink_.Text("\n");
      p += p + 1 < end && p[1] == '\n' ? 2 : 1;
    } else {
      sink_.Text("\xef\xbf\xbd");
      ++p;
    }
  }
  return p;
}

template <typename Sink>
const char* Tokenizer<Sink>::RawRun(const char* p, const char* end, bool known, bool replace_nul) {
  while (p < end) {
    const char* stop = replace_nul ? FindAny<'\r', '\0'>(p, end) : FindAny<'\r'>(p, end);
    if (stop > p) sink_.Text({p, stop});
    p = stop;
    if (p == end) return p;
    if (*p == '\r') {
      if (p + 1 == end && !known) return Stall(p);
      sink_.Text("\n");
      p += p + 1 < end && p[1] == '\n' ? 2 : 1;
    } else {
      sink_.Text("\xef\xbf\xbd");
      ++p;
    }
  }
  return p;
}

template <typename Sink>
int Tokenizer<Sink>::Follows(const char* p, const char* end, bool eof, std::string_view word) {
  for (const char c : word) {
    if (p >= end) return eof ? 0 : -1;
    if (AsciiLower(*p) != c) return 0;
    ++p;
  }
  if (p >= end) return eof ? 0 : -1;
  return IsHtmlSpace(*p) || *p == '/' || *p == '>' ? 1 : 0;
}

template <typename Sink>
const char* Tokenizer<Sink>::Rcdata(const char* p, const char* end, bool eof) {
  while (p < end) {
    if (*p != '<') {
      if (sink_.WantsText()) {
        p = TextRun<true>(p, end, eof);
        if (stalled_) return p;
      } else {
        p = FindAny<'<'>(p, end);
      }
      if (p == end) return p;
    }
    if (p + 1 == end && !eof) return Stall(p);
    const int fits = p + 1 < end && p[1] == '/' ? FitsEndTag(p, end, eof) : 0;
    if (fits < 0) return Stall(p);
    if (fits > 0) {
      const char* next = ReadTag<true>(p, end, eof);
      if (next == nullptr) return Stall(p);
      state_ = TextState::kData;
      return next;
    }
    if (sink_.WantsText()) sink_.Text("<");
    ++p;
  }
  return p;
}

template <typename Sink>
const char* Tokenizer<Sink>::Rawtext(const char* p, const char* end, bool eof) {
  const bool wanted = sink_.WantsText();
  const char* at = p;
  for (;;) {
    at = FindAny<'<'>(at, end);
    if (at == end) break;
    const int fits = at + 1 == end ? (eof ? 0 : -1) : at[1] == '/' ? FitsEndTag(at, end, eof) : 0;
    if (fits == 0) {
      ++at;
      continue;
    }
    if (wanted && at > p) RawRun(p, at, true, true);
    if (fits < 0) return Stall(at);
    const char* next = ReadTag<true>(at, end, eof);
    if (next == nullptr) return Stall(at);
    state_ = TextState::kData;
    return next;
  }
  return wanted ? RawRun(p, end, eof, true) : end;
}

// The standard's seventeen script states come down to three and a count: plain; after "<!--" escaped, where "<script"
// leads to double escaped and "</script" back; "-->" leads to plain from either. In the first two "</script" ends it.
template <typename Sink>
const char* Tokenizer<Sink>::ScriptData(const char* p, const char* end, bool eof) {
  const bool wanted = sink_.WantsText();
  const char* at = p;
  const auto stop_before = [&](const char* where) {
    if (wanted && where > p) RawRun(p, where, true, true);
    return Stall(where);
  };
  while (at < end) {
    if (script_ == Script::kPlain) {
      at = FindAny<'<'>(at, end);
      if (at == end) break;
    } else if (*at == '-') {
      dashes_ = static_cast<uint8_t>(std::min(dashes_ + 1, 2));
      ++at;
      continue;
    } else if (*at == '>' && dashes_ == 2) {
      script_ = Script::kPlain;
      dashes_ = 0;
      ++at;
      continue;
    } else if (*at != '<') {
      dashes_ = 0;
      at = FindAny<'<', '-'>(at + 1, end);
      continue;
    }
    // At a '<'.
    if (at + 1 == end) {
      if (!eof) return stop_before(at);
      break;
    }
    const bool slash = at[1] == '/';
    if (slash && script_ != Script::kDoubleEscaped) {
      const int fits = FitsEndTag(at, end, eof);
      if (fits < 0) return stop_before(at);
      if (fits > 0) {
        if (wanted && at > p) RawRun(p, at, true, true);
        const char* next = ReadTag<true>(at, end, eof);
        if (next == nullptr) return Stall(at);
        state_ = TextState::kData;
        script_ = Script::kPlain;
        dashes_ = 0;
        return next;
      }
    } else if (script_ == Script::kPlain) {
      constexpr std::string_view kOpen = "<!--";
      const std::string_view here(at, std::min<size_t>(end - at, kOpen.size()));
      if (here == kOpen) {
        script_ = Script::kEscaped;
        dashes_ = 2;  // of "<!--": "<!-->" is closed at once
        at += kOpen.size();
        continue;
      }
      if (!eof && here.size() < kOpen.size() && kOpen.starts_with(here)) return stop_before(at);
    } else {
      const bool doubled = script_ == Script::kDoubleEscaped;
      if (slash == doubled) {
        const int follows = Follows(at + (doubled ? 2 : 1), end, eof, "script");
        if (follows < 0) return stop_before(at);
        if (follows > 0) script_ = doubled ? Script::kEscaped : Script::kDoubleEscaped;
        if (follows > 0) {
          // The byte after the name is eaten with it: in "<script>" it does not close "--".
          at += (doubled ? 2 : 1) + 7;
          dashes_ = 0;
          continue;
        }
      }
    }
    dashes_ = 0;
    ++at;
  }
  return wanted ? RawRun(p, end, eof, true) : end;
}

template <typename Sink>
const char* Tokenizer<Sink>::Cdata(const char* p, const char* end, bool eof) {
  const bool wanted = sink_.WantsText();
  const char* at = p;
  for (;;) {
    at = FindAny<']'>(at, end);
    if (at == end) break;
    const std::string_view here(at, std::min<size_t>(end - at, 3));
    if (here == "]]>") {
      if (wanted && at > p) RawRun(p, at, true, false);
      state_ = TextState::kData;
      return at + 3;
    }
    if (!eof && here.size() < 3 && std::string_view("]]>").starts_with(here)) {
      if (wanted && at > p) RawRun(p, at, true, false);
      return Stall(at);
    }
    ++at;
  }
  return wanted ? RawRun(p, end, eof, false) : end;
}

}  // namespace portolan
