#include "http/mime.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace portolan {
namespace {

// HTTP whitespace.
constexpr bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool IsMimeToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return IsTokenByte(c); });
}

bool IsQuotedStringText(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<uint8_t>(c);
    return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
  });
}

std::string_view TrimEnd(std::string_view text) {
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

// Fetch, "collect an HTTP quoted string" with the value extracted. REQUIRES: text[at] is a quote.
std::string TakeQuotedString(std::string_view text, size_t& at) {
  std::string value;
  ++at;
  while (at < text.size()) {
    const char c = text[at++];
    if (c == '"') break;
    if (c == '\\') {
      if (at == text.size()) {
        value += '\\';
        break;
      }
      value += text[at++];
    } else {
      value += c;
    }
  }
  return value;
}

}  // namespace

bool MimeType::Is(std::string_view essence) const {
  return essence.size() == type.size() + 1 + subtype.size() && essence.starts_with(type) &&
         essence[type.size()] == '/' && essence.ends_with(subtype);
}

const std::string* MimeType::Parameter(std::string_view name) const {
  for (const auto& [key, value] : parameters) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::string MimeType::Serialize() const {
  std::string text = Essence();
  for (const auto& [name, value] : parameters) {
    text += ';';
    text += name;
    text += '=';
    if (IsMimeToken(value)) {
      text += value;
      continue;
    }
    text += '"';
    for (const char c : value) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    text += '"';
  }
  return text;
}

bool MimeType::IsAudioOrVideo() const { return type == "audio" || type == "video" || Is("application/ogg"); }

bool MimeType::IsFont() const {
  if (type == "font") return true;
  if (type != "application") return false;
  for (const std::string_view name :
       {"font-cff", "font-off", "font-sfnt", "font-ttf", "font-woff", "vnd.ms-fontobject", "vnd.ms-opentype"}) {
    if (subtype == name) return true;
  }
  return false;
}

bool MimeType::IsZipBased() const { return subtype.ends_with("+zip") || Is("application/zip"); }

bool MimeType::IsArchive() const {
  return Is("application/x-rar-compressed") || Is("application/zip") || Is("application/x-gzip");
}

bool MimeType::IsXml() const { return subtype.ends_with("+xml") || Is("text/xml") || Is("application/xml"); }

bool MimeType::IsJson() const { return subtype.ends_with("+json") || Is("application/json") || Is("text/json"); }

bool MimeType::IsJavaScript() const {
  if (type == "application") {
    return subtype == "ecmascript" || subtype == "javascript" || subtype == "x-ecmascript" || subtype == "x-javascript";
  }
  if (type != "text") return false;
  for (const std::string_view name :
       {"ecmascript", "javascript", "javascript1.0", "javascript1.1", "javascript1.2", "javascript1.3", "javascript1.4",
        "javascript1.5", "jscript", "livescript", "x-ecmascript", "x-javascript"}) {
    if (subtype == name) return true;
  }
  return false;
}

std::string_view MimeType::Minimized() const {
  if (IsJavaScript()) return "text/javascript";
  if (IsJson()) return "application/json";
  if (Is("image/svg+xml")) return "image/svg+xml";
  if (IsXml()) return "application/xml";
  static constexpr std::array<std::string_view, 24> kKnown = {
      "text/html", "text/plain", "text/css",   "application/pdf", "image/png",    "image/jpeg",
      "image/gif", "image/webp", "image/avif", "image/bmp",       "image/x-icon", "audio/mpeg",
      "audio/ogg", "audio/wav",  "video/mp4",  "video/webm",      "video/ogg",    "application/ogg",
      "font/woff", "font/woff2", "font/ttf",   "application/zip", "font/otf",     "application/x-gzip"};
  for (const std::string_view known : kKnown) {
    if (Is(known)) return known;
  }
  return {};
}

std::optional<MimeType> ParseMimeType(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  text = TrimEnd(text);
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos || !IsMimeToken(text.substr(0, slash))) return std::nullopt;
  size_t at = std::min(text.find(';', slash), text.size());
  const std::string_view subtype = TrimEnd(text.substr(slash + 1, at - slash - 1));
  if (!IsMimeToken(subtype)) return std::nullopt;
  MimeType mime{.type = LowerCase(text.substr(0, slash)), .subtype = LowerCase(subtype), .parameters = {}};

  while (at < text.size() && mime.parameters.size() < kMaxMimeParameters) {
    ++at;  // the semicolon
    while (at < text.size() && IsSpace(text[at])) ++at;
    const size_t name_end = std::min(text.find_first_of(";=", at), text.size());
    std::string name = LowerCase(text.substr(at, name_end - at));
    at = name_end;
    if (at == text.size()) break;
    if (text[at] == ';') continue;
    ++at;  // the equals sign
    std::string value;
    if (at < text.size() && text[at] == '"') {
      value = TakeQuotedString(text, at);
      at = std::min(text.find(';', at), text.size());
    } else {
      const size_t end = std::min(text.find(';', at), text.size());
      value = TrimEnd(text.substr(at, end - at));
      at = end;
      if (value.empty()) continue;
    }
    if (IsMimeToken(name) && IsQuotedStringText(value) && mime.Parameter(name) == nullptr) {
      mime.parameters.emplace_back(std::move(name), std::move(value));
    }
  }
  return mime;
}

std::optional<MimeType> ExtractMimeType(std::string_view joined) {
  std::string charset;
  bool have_charset = false;
  std::optional<MimeType> result;
  while (!joined.empty()) {
    // Fetch, "get, decode, and split": commas outside quotes.
    size_t at = 0;
    while (at < joined.size() && joined[at] != ',') {
      if (joined[at] == '"') {
        TakeQuotedString(joined, at);
      } else {
        ++at;
      }
    }
    std::optional<MimeType> found = ParseMimeType(TrimBlanks(joined.substr(0, at)));
    joined.remove_prefix(std::min(at + 1, joined.size()));
    if (!found || found->Is("*/*")) continue;
    if (!result || result->type != found->type || result->subtype != found->subtype) {
      have_charset = false;
      if (const std::string* value = found->Parameter("charset")) {
        charset = *value;
        have_charset = true;
      }
      result = std::move(found);
    } else {
      const std::string* value = found->Parameter("charset");
      if (value == nullptr && have_charset) {
        found->parameters.emplace_back("charset", charset);
      }
      result = std::move(found);
    }
  }
  return result;
}

std::optional<MimeType> ExtractMimeType(const HeaderFields& fields) {
  return ExtractMimeType(fields.Joined("content-type"));
}

}  // namespace portolan
