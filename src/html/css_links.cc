#include "html/css_links.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"
#include "base/utf8.h"
#include "html/link_values.h"
#include "html/scan.h"

namespace portolan {
namespace {

constexpr uint32_t kCssReplacement = 0xfffd;

// Its value, or -1.
constexpr int HexDigit(char c) {
  if (IsAsciiDigit(c)) return c - '0';
  const char lower = AsciiLower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

constexpr bool IsNewline(char c) { return c == '\n' || c == '\r' || c == '\f'; }

// NUL stands for U+FFFD, which is a letter like everything that is not ASCII.
constexpr bool IsNameStart(char c) { return IsAsciiAlpha(c) || c == '_' || c == '\0' || (c & 0x80) != 0; }
constexpr bool IsNameByte(char c) { return IsNameStart(c) || IsAsciiDigit(c) || c == '-'; }

constexpr std::array<bool, 256> kNameBytes = [] {
  std::array<bool, 256> table{};
  for (int c = 0; c < 256; ++c) table[static_cast<size_t>(c)] = IsNameByte(static_cast<char>(c));
  return table;
}();

constexpr bool IsNonPrintable(char c) {
  const auto byte = static_cast<uint8_t>(c);
  return (byte >= 1 && byte <= 8) || byte == 0x0b || (byte >= 0x0e && byte <= 0x1f) || byte == 0x7f;
}

// Past one line end, CR LF being one, or past any other byte.
const char* PastOne(const char* p, const char* end) {
  return p + (p[0] == '\r' && p + 1 < end && p[1] == '\n' ? 2 : 1);
}

}  // namespace

std::optional<StyleLink> StyleLinkReader::Next() {
  while (p_ < end_) {
    if (Token()) return link_;
  }
  return std::nullopt;
}

bool StyleLinkReader::Token() {
  const char c = *p_;
  if (IsHtmlSpace(c)) {
    p_ = SkipHtmlSpace(p_ + 1, end_);
    return false;
  }
  if (c == '/' && At(p_ + 1) == '*') {
    Comment();
    return false;
  }
  const Role role = std::exchange(next_, Role::kNone);
  switch (c) {
    case '"':
    case '\'':
      return String(role != Role::kNone ? role : image_set_ == 1 ? Role::kSource : Role::kNone);
    case '@':
      if (!StartsName(++p_)) return false;
      if (ReadName() == Name::kImport) next_ = Role::kImport;
      in_prelude_ = true;
      image_set_ = 0;
      return false;
    case '#':
      ++p_;
      if (p_ < end_ && (IsNameByte(*p_) || IsEscape(p_))) ReadName();
      return false;
    case '{':
    case '}':
    case ';':
      // A parenthesis that was never closed does not swallow the rest of the sheet.
      in_prelude_ = false;
      image_set_ = 0;
      break;
    case '(':
      if (image_set_ > 0) ++image_set_;
      break;
    case ')':
      if (image_set_ > 0) --image_set_;
      break;
    case '<':
      if (std::string_view(p_, end_).starts_with("<!--")) {
        p_ += 4;
        return false;
      }
      break;
    default:
      if (StartsNumber(p_)) {
        Number();
        return false;
      }
      if (std::string_view(p_, end_).starts_with("-->")) {
        p_ += 3;
        return false;
      }
      if (StartsName(p_)) return NameOrFunction(role);
      break;
  }
  ++p_;
  return false;
}

bool StyleLinkReader::NameOrFunction(Role role) {
  const Name name = ReadName();
  if (At(p_) != '(') return false;
  ++p_;
  if (image_set_ > 0) ++image_set_;
  if (role == Role::kNone) role = Role::kSource;
  switch (name) {
    case Name::kUrl:
      p_ = SkipHtmlSpace(p_, end_);
      return At(p_) == '"' || At(p_) == '\'' ? String(role) : UnquotedUrl(role);
    case Name::kSrc:
      next_ = role;
      break;
    case Name::kImageSet:
      image_set_ = 1;
      break;
    case Name::kImport:
    case Name::kOther:
      break;
  }
  return false;
}

bool StyleLinkReader::String(Role role) {
  const char quote = *p_++;
  const char* begin = p_;
  bool plain = true;
  for (;;) {
    p_ = quote == '"' ? FindAny<'"', '\\', '\n', '\r', '\f', '\0'>(p_, end_)
                      : FindAny<'\'', '\\', '\n', '\r', '\f', '\0'>(p_, end_);
    if (p_ == end_ || *p_ == quote) break;
    if (IsNewline(*p_)) return false;  // a bad string: what follows is read as if nothing had been open
    plain = false;
    if (*p_ == '\0') {
      ++p_;
    } else if (IsEscape(p_)) {
      ReadEscape();
    } else {
      p_ = PastOne(p_ + 1, end_);  // a line that goes on
    }
  }
  const std::string_view raw(begin, p_);
  link_.open = p_ == end_;
  if (p_ < end_) ++p_;
  return Give(raw, plain, /*quoted=*/true, role);
}

bool StyleLinkReader::UnquotedUrl(Role role) {
  if (image_set_ > 0) --image_set_;  // its parenthesis is closed here, or nothing is any more
  const char* begin = p_;
  bool plain = true;
  while (p_ < end_ && *p_ != ')' && !IsHtmlSpace(*p_)) {
    const char c = *p_;
    if (c == '\\' && IsEscape(p_)) {
      plain = false;
      ReadEscape();
      continue;
    }
    if (c == '"' || c == '\'' || c == '(' || c == '\\' || IsNonPrintable(c)) {
      BadUrl();
      return false;
    }
    plain = plain && c != '\0';
    ++p_;
  }
  const std::string_view raw(begin, p_);
  p_ = SkipHtmlSpace(p_, end_);
  if (p_ < end_ && *p_ != ')') {
    BadUrl();
    return false;
  }
  link_.open = p_ == end_;
  if (p_ < end_) ++p_;
  return Give(raw, plain, /*quoted=*/false, role);
}

// "Consume the remnants of a bad url".
void StyleLinkReader::BadUrl() {
  for (;;) {
    p_ = FindAny<')', '\\'>(p_, end_);
    if (p_ == end_) return;
    if (*p_++ == ')') return;
    if (p_ < end_) ++p_;
  }
}

void StyleLinkReader::Comment() {
  for (p_ += 2; p_ < end_; ++p_) {
    p_ = FindByte(p_, end_, '*');
    if (At(p_ + 1) == '/') {
      p_ += 2;
      return;
    }
  }
  p_ = end_;
}

void StyleLinkReader::Number() {
  const auto digits = [&] {
    while (p_ < end_ && IsAsciiDigit(*p_)) ++p_;
  };
  if (*p_ == '+' || *p_ == '-') ++p_;
  digits();
  if (At(p_) == '.' && IsAsciiDigit(At(p_ + 1))) {
    ++p_;
    digits();
  }
  if (At(p_) == 'e' || At(p_) == 'E') {
    const size_t sign = At(p_ + 1) == '+' || At(p_ + 1) == '-' ? 1 : 0;
    if (IsAsciiDigit(At(p_ + 1 + sign))) {
      p_ += 1 + sign;
      digits();
    }
  }
  if (StartsName(p_)) ReadName();  // its unit
}

StyleLinkReader::Name StyleLinkReader::ReadName() {
  std::array<char, 17> name;  // of the longest that we know
  size_t size = 0;
  for (;;) {
    char c = '\0';
    if (p_ < end_ && kNameBytes[static_cast<uint8_t>(*p_)]) {
      c = *p_++;
    } else if (IsEscape(p_)) {
      const uint32_t code = ReadEscape();
      if (code < 0x80) c = static_cast<char>(code);
    } else {
      break;
    }
    if (size < name.size()) name[size] = AsciiLower(c);
    ++size;
  }
  const std::string_view word(name.data(), std::min(size, name.size()));
  switch (size) {
    case 3:
      return word == "url" ? Name::kUrl : word == "src" ? Name::kSrc : Name::kOther;
    case 6:
      return word == "import" ? Name::kImport : Name::kOther;
    case 9:
      return word == "image-set" ? Name::kImageSet : Name::kOther;
    case 17:
      return word == "-webkit-image-set" ? Name::kImageSet : Name::kOther;
    default:
      return Name::kOther;
  }
}

uint32_t StyleLinkReader::ReadEscape() {
  ++p_;
  if (p_ == end_) return kCssReplacement;
  if (HexDigit(*p_) < 0) {
    // Of a character that is not ASCII the first byte is enough: the others are letters.
    const char c = *p_++;
    return c == '\0' || (c & 0x80) != 0 ? kCssReplacement : static_cast<uint32_t>(c);
  }
  uint32_t code = 0;
  for (int digits = 0; digits < 6 && p_ < end_ && HexDigit(*p_) >= 0; ++digits) {
    code = code * 16 + static_cast<uint32_t>(HexDigit(*p_++));
  }
  if (p_ < end_ && IsHtmlSpace(*p_)) p_ = PastOne(p_, end_);
  return code == 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? kCssReplacement : code;
}

bool StyleLinkReader::IsEscape(const char* p) const {
  return p < end_ && *p == '\\' && (p + 1 == end_ || !IsNewline(p[1]));
}

bool StyleLinkReader::StartsName(const char* p) const {
  if (p == end_) return false;
  if (*p != '-') return IsNameStart(*p) || IsEscape(p);
  return p + 1 < end_ && (p[1] == '-' || IsNameStart(p[1]) || IsEscape(p + 1));
}

bool StyleLinkReader::StartsNumber(const char* p) const {
  if (*p == '+' || *p == '-') ++p;
  if (At(p) == '.') ++p;
  return IsAsciiDigit(At(p));
}

bool StyleLinkReader::Give(std::string_view raw, bool plain, bool quoted, Role role) {
  if (role == Role::kNone || (in_prelude_ && role != Role::kImport)) return false;
  if (!plain) {
    Decode(raw, quoted);
    raw = decoded_;
  }
  const std::string_view url = TrimHtmlSpace(raw);
  if (url.empty() || url.front() == '#' || EqualsIgnoringCase(url.substr(0, 5), "data:")) return false;
  link_.url = url;
  link_.import = role == Role::kImport;
  return true;
}

void StyleLinkReader::Decode(std::string_view raw, bool quoted) {
  decoded_.clear();
  StyleLinkReader inside(raw);
  for (const char*& p = inside.p_; p < inside.end_;) {
    if (*p == '\0') {
      AppendUtf8(decoded_, kCssReplacement);
      ++p;
    } else if (*p != '\\') {
      decoded_ += *p++;
    } else if ((inside.At(p + 1) & 0x80) != 0) {
      ++p;  // what is not ASCII stands for itself
    } else if (quoted && p + 1 == inside.end_) {
      return;  // the input ended behind a backslash
    } else if (inside.IsEscape(p)) {
      AppendUtf8(decoded_, inside.ReadEscape());
    } else {
      p = PastOne(p + 1, inside.end_);  // a line that goes on
    }
  }
}

CharsetDecision SniffStyleCharset(std::string_view start, std::string_view header_label) {
  constexpr std::string_view kRule = "@charset \"";
  if (start.starts_with("\xef\xbb\xbf")) return {Encoding::kUtf8, CharsetSource::kByteOrderMark, 3};
  if (start.starts_with("\xfe\xff")) return {Encoding::kUtf16Be, CharsetSource::kByteOrderMark, 2};
  if (start.starts_with("\xff\xfe")) return {Encoding::kUtf16Le, CharsetSource::kByteOrderMark, 2};
  if (const auto encoding = EncodingForLabel(header_label)) return {*encoding, CharsetSource::kHeader, 0};
  if (start.starts_with(kRule)) {
    const std::string_view rest = start.substr(kRule.size(), kPrescanBytes - kRule.size());
    const size_t close = rest.find('"');
    if (close != std::string_view::npos && rest.substr(close).starts_with("\";")) {
      // A sheet that could be read so far is not in UTF-16, whatever it says.
      if (const auto encoding = EncodingForLabel(rest.substr(0, close))) {
        const bool wide = *encoding == Encoding::kUtf16Be || *encoding == Encoding::kUtf16Le;
        return {wide ? Encoding::kUtf8 : *encoding, CharsetSource::kMeta, 0};
      }
    }
  }
  return {Encoding::kUtf8, CharsetSource::kDefault, 0};
}

}  // namespace portolan
