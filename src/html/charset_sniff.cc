#include "html/charset_sniff.h"

#include <uchardet.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "html/link_values.h"
#include "html/scan.h"
#include "html/tokenizer.h"
#include "html/utf8_check.h"

namespace portolan {

std::string_view CharsetSourceName(CharsetSource source) {
  constexpr std::string_view kNames[] = {"byte order mark", "header", "meta", "detected", "default"};
  return kNames[static_cast<size_t>(source)];
}

namespace {

// A page that declares UTF-16 in ASCII bytes is not UTF-16, and user-defined is treated as Latin.
Encoding AsMetaHasIt(Encoding encoding) {
  if (encoding == Encoding::kUtf16Be || encoding == Encoding::kUtf16Le) return Encoding::kUtf8;
  return encoding == Encoding::kUserDefined ? Encoding::kWindows1252 : encoding;
}

}  // namespace

std::optional<CharsetDecision> ChangedEncoding(const CharsetDecision& decision, std::optional<Encoding> meta) {
  const bool certain = decision.source == CharsetSource::kByteOrderMark || decision.source == CharsetSource::kHeader;
  if (certain || !meta || decision.encoding == Encoding::kUtf16Be || decision.encoding == Encoding::kUtf16Le) {
    return std::nullopt;
  }
  const Encoding changed = AsMetaHasIt(*meta);
  if (changed == decision.encoding) return std::nullopt;
  return CharsetDecision{changed, CharsetSource::kMeta, decision.bom_bytes};
}

CharsetDecision SniffCharset(std::string_view start, std::string_view header_label) {
  if (start.starts_with("\xef\xbb\xbf")) return {Encoding::kUtf8, CharsetSource::kByteOrderMark, 3};
  if (start.starts_with("\xfe\xff")) return {Encoding::kUtf16Be, CharsetSource::kByteOrderMark, 2};
  if (start.starts_with("\xff\xfe")) return {Encoding::kUtf16Le, CharsetSource::kByteOrderMark, 2};
  if (const auto encoding = EncodingForLabel(header_label)) return {*encoding, CharsetSource::kHeader, 0};
  if (const auto encoding = PrescanCharset(start.substr(0, kPrescanBytes))) {
    return {*encoding, CharsetSource::kMeta, 0};
  }
  start = start.substr(0, kDetectBytes);
  if (const auto encoding = LateMetaCharset(start)) return {*encoding, CharsetSource::kMeta, 0};
  if (const auto encoding = DetectCharset(start)) {
    return {*encoding, CharsetSource::kDetected, 0};
  }
  return {};
}

std::optional<Encoding> DetectCharset(std::string_view bytes) {
  const size_t ascii = AsciiPrefix(bytes);
  const bool escapes = bytes.find('\x1b') != std::string_view::npos;  // ISO-2022-JP is made of ASCII
  if (ascii == bytes.size() && !escapes) return std::nullopt;
  // Text that is not ASCII and still valid UTF-8 is UTF-8; the cut at the end may fall inside a character.
  if (ascii < bytes.size() && ValidUtf8Prefix(bytes) + 3 >= bytes.size() && bytes.size() - ascii > 3) {
    return Encoding::kUtf8;
  }
  const std::unique_ptr<uchardet, decltype(&uchardet_delete)> detector(uchardet_new(), &uchardet_delete);
  if (uchardet_handle_data(detector.get(), bytes.data(), bytes.size()) != 0) return std::nullopt;
  uchardet_data_end(detector.get());
  const std::string_view name = uchardet_get_charset(detector.get());
  // Two names of its own; the others are labels of the standard or encodings that no browser knows.
  auto encoding = name == "UHC"            ? Encoding::kEucKr
                  : name == "MAC-CYRILLIC" ? Encoding::kMacCyrillic
                                           : EncodingForLabel(name);
  if (name == "ASCII" || encoding == Encoding::kReplacement || encoding == Encoding::kUtf16Be ||
      encoding == Encoding::kUtf16Le) {
    return std::nullopt;
  }
  return encoding;
}

namespace {

// Stops asking once it has an answer.
class MetaSink {
 public:
  static constexpr bool kWantsMarkup = false;
  bool WantsText() const { return false; }
  void Text(std::string_view) {}
  bool WantsTag(Tag tag, bool end_tag) const {
    return !end_tag && (tag == Tag::kMeta || TextStateAfter(tag) != TextState::kData);
  }
  TextState StartTag(const TagToken& tag) {
    if (tag.tag == Tag::kMeta && !found_) Meta(tag);
    return TextStateAfter(tag.tag);
  }
  void EndTag(const TagToken&) {}
  bool InForeignContent() const { return false; }

  std::optional<Encoding> found() const { return found_; }

 private:
  void Meta(const TagToken& tag) {
    const auto value = [&](std::string_view name) -> std::optional<std::string> {
      for (const RawAttribute& attribute : tag.attributes) {
        if (!EqualsIgnoringCase(attribute.name, name)) continue;
        std::string decoded;
        AppendAttributeValue(decoded, attribute.value);
        return decoded;
      }
      return std::nullopt;
    };
    if (const auto charset = value("charset")) found_ = EncodingForLabel(*charset);
    const auto header = value("http-equiv");
    const auto content = value("content");
    if (!found_ && header && content && EqualsIgnoringCase(*header, "content-type")) {
      found_ = EncodingForLabel(CharsetInContent(*content));
    }
    if (found_) found_ = AsMetaHasIt(*found_);
  }

  std::optional<Encoding> found_;
};

// The standard's walk over the bytes. Running into their end anywhere ends it: done() tells.
class Prescan {
 public:
  explicit Prescan(std::string_view bytes) : bytes_(bytes) {}

  std::optional<Encoding> Run() {
    for (; !done(); ++at_) {
      if (Rest().starts_with("<!--")) {
        // The dashes of "<!--" may be those of "-->".
        const size_t close = bytes_.find("-->", at_ + 2);
        if (close == std::string_view::npos) return std::nullopt;
        at_ = close + 2;
      } else if (BeginsMeta()) {
        at_ += 5;
        if (const auto found = Meta()) return found;
        if (done()) return std::nullopt;
      } else if (BeginsTag()) {
        at_ = bytes_.find_first_of("\t\n\f\r >", at_);
        if (done()) return std::nullopt;
        while (NextAttribute()) {
        }
        if (done()) return std::nullopt;
      } else if (Rest().starts_with("<!") || Rest().starts_with("</") || Rest().starts_with("<?")) {
        at_ = bytes_.find('>', at_);
        if (done()) return std::nullopt;
      }
    }
    return std::nullopt;
  }

 private:
  bool done() const { return at_ >= bytes_.size(); }
  std::string_view Rest() const { return bytes_.substr(at_); }

  bool BeginsMeta() const {
    const std::string_view rest = Rest();
    return rest.size() > 5 && EqualsIgnoringCase(rest.substr(0, 5), "<meta") &&
           (IsHtmlSpace(rest[5]) || rest[5] == '/');
  }

  bool BeginsTag() const {
    const std::string_view rest = Rest();
    if (rest.size() < 2 || rest[0] != '<') return false;
    const size_t name = rest[1] == '/' ? 2 : 1;
    return rest.size() > name && IsAsciiAlpha(rest[name]);
  }

  std::optional<Encoding> Meta() {
    bool got_pragma = false;
    std::optional<bool> need_pragma;
    bool has_charset = false;
    std::optional<Encoding> charset;
    bool seen[3] = {};  // of http-equiv, content, charset: a second one does not count
    const auto first = [&](int which) { return !std::exchange(seen[which], true); };
    while (NextAttribute()) {
      if (name_ == "http-equiv" && first(0)) {
        got_pragma |= value_ == "content-type";
      } else if (name_ == "content" && first(1)) {
        const auto found = EncodingForLabel(CharsetInContent(value_));
        if (found && !has_charset) {
          charset = found;
          has_charset = true;
          need_pragma = true;
        }
      } else if (name_ == "charset" && first(2)) {
        charset = EncodingForLabel(value_);
        has_charset = true;
        need_pragma = false;
      }
    }
    if (done() || !need_pragma || (*need_pragma && !got_pragma) || !charset) return std::nullopt;
    return AsMetaHasIt(*charset);
  }

  // "Get an attribute": name and value in lower case. False at the tag's end and at that of the bytes.
  bool NextAttribute() {
    name_.clear();
    value_.clear();
    while (!done() && (IsHtmlSpace(bytes_[at_]) || bytes_[at_] == '/')) ++at_;
    if (done() || bytes_[at_] == '>') return false;
    for (;; ++at_) {
      if (done()) return false;
      const char c = bytes_[at_];
      if (c == '=' && !name_.empty()) break;
      if (c == '/' || c == '>') return true;
      if (IsHtmlSpace(c)) {
        while (!done() && IsHtmlSpace(bytes_[at_])) ++at_;
        if (done()) return false;
        if (bytes_[at_] != '=') return true;
        break;
      }
      name_ += AsciiLower(c);
    }
    ++at_;  // the '='
    while (!done() && IsHtmlSpace(bytes_[at_])) ++at_;
    if (done()) return false;
    const char quote = bytes_[at_];
    if (quote == '"' || quote == '\'') {
      for (++at_; !done(); ++at_) {
        if (bytes_[at_] == quote) {
          ++at_;
          return true;
        }
        value_ += AsciiLower(bytes_[at_]);
      }
      return false;
    }
    for (; !done(); ++at_) {
      if (IsHtmlSpace(bytes_[at_]) || bytes_[at_] == '>') return true;
      value_ += AsciiLower(bytes_[at_]);
    }
    return false;
  }

  const std::string_view bytes_;
  size_t at_ = 0;
  std::string name_;
  std::string value_;
};

// "Get an XML encoding": of the declaration that the bytes begin with.
std::optional<Encoding> XmlEncoding(std::string_view bytes) {
  if (!bytes.starts_with("<?xml")) return std::nullopt;
  const std::string_view declaration = bytes.substr(0, bytes.find('>'));
  if (declaration.size() == bytes.size()) return std::nullopt;
  size_t at = declaration.find("encoding");
  if (at == std::string_view::npos) return std::nullopt;
  const auto skip = [&] {
    while (at < declaration.size() && static_cast<unsigned char>(declaration[at]) <= ' ') ++at;
  };
  at += 8;
  skip();
  if (at >= declaration.size() || declaration[at] != '=') return std::nullopt;
  ++at;
  skip();
  if (at >= declaration.size() || (declaration[at] != '"' && declaration[at] != '\'')) return std::nullopt;
  const size_t close = declaration.find(declaration[at], at + 1);
  if (close == std::string_view::npos) return std::nullopt;
  const std::string_view label = declaration.substr(at + 1, close - at - 1);
  if (std::ranges::any_of(label, [](char c) { return static_cast<unsigned char>(c) <= ' '; })) return std::nullopt;
  const auto encoding = EncodingForLabel(label);
  if (encoding == Encoding::kUtf16Be || encoding == Encoding::kUtf16Le) return Encoding::kUtf8;
  return encoding;
}

}  // namespace

std::optional<Encoding> LateMetaCharset(std::string_view bytes) {
  MetaSink sink;
  Tokenizer tokenizer(sink);
  tokenizer.Read(bytes);
  return sink.found();
}

std::optional<Encoding> PrescanCharset(std::string_view bytes) {
  if (bytes.starts_with(std::string_view("<\0?\0x\0", 6))) return Encoding::kUtf16Le;
  if (bytes.starts_with(std::string_view("\0<\0?\0x", 6))) return Encoding::kUtf16Be;
  if (const auto found = Prescan(bytes).Run()) return found;
  return XmlEncoding(bytes);
}

}  // namespace portolan
