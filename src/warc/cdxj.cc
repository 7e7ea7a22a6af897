#include "warc/cdxj.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "warc/digest.h"

namespace portolan {
namespace {

// One word of a line: nothing in it may be taken for the blank between words or for a line end.
void AppendWord(std::string_view word, std::string& out) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte == 0x7f) {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
}

// Values that need no escapes (types, digests) are the most; JsonQuote does the others.
void AppendMember(std::string& out, std::string_view comma, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  out += comma;
  out += '"';
  out += name;
  out += "\": ";
  bool plain = true;
  for (const char c : value) plain = plain && c >= ' ' && c < 0x7f && c != '"' && c != '\\';
  if (plain) {
    out += '"';
    out += value;
    out += '"';
  } else {
    out += JsonQuote(value);
  }
}

}  // namespace

std::string_view CdxjLine::Get(std::string_view name) const {
  for (const CdxjField& field : fields) {
    if (field.name == name) return field.value;
  }
  return {};
}

CdxjLine MakeCdxj(std::string_view key, std::string_view timestamp, const Capture& capture) {
  CdxjLine line{std::string(key), std::string(timestamp), {}};
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) line.fields.push_back({std::string(name), std::string(value)});
  };
  add("url", capture.url);
  add("mime", capture.mime);
  add("mime-detected", capture.mime_detected);
  if (capture.status > 0) add("status", fmt::format("{}", capture.status));
  if (!capture.payload_sha1.empty()) add("digest", Base32(capture.payload_sha1));
  add("length", fmt::format("{}", capture.length));
  add("offset", fmt::format("{}", capture.offset));
  add("filename", capture.filename);
  add("charset", capture.charset);
  add("languages", capture.languages);
  add("truncated", capture.truncated);
  add("redirect", capture.redirect);
  return line;
}

void AppendCapture(std::string_view key, std::string_view timestamp, const Capture& capture, std::string& out) {
  out += key;
  out += ' ';
  out += timestamp;
  out += " {";
  AppendMember(out, "", "url", capture.url);
  AppendMember(out, ", ", "mime", capture.mime);
  AppendMember(out, ", ", "mime-detected", capture.mime_detected);
  if (capture.status > 0) fmt::format_to(std::back_inserter(out), R"(, "status": "{}")", capture.status);
  if (!capture.payload_sha1.empty()) AppendMember(out, ", ", "digest", Base32(capture.payload_sha1));
  fmt::format_to(std::back_inserter(out), R"(, "length": "{}", "offset": "{}")", capture.length, capture.offset);
  AppendMember(out, ", ", "filename", capture.filename);
  AppendMember(out, ", ", "charset", capture.charset);
  AppendMember(out, ", ", "languages", capture.languages);
  AppendMember(out, ", ", "truncated", capture.truncated);
  AppendMember(out, ", ", "redirect", capture.redirect);
  out += '}';
}

void AppendJsonObject(const std::vector<CdxjField>& fields, CdxjStyle style, std::string& out) {
  const std::string_view comma = style == CdxjStyle::kSpaced ? ", " : ",";
  const std::string_view colon = style == CdxjStyle::kSpaced ? ": " : ":";
  out += '{';
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) out += comma;
    out += JsonQuote(fields[i].name);
    out += colon;
    out += fields[i].bare ? fields[i].value : JsonQuote(fields[i].value);
  }
  out += '}';
}

void AppendCdxj(const CdxjLine& line, CdxjStyle style, std::string& out) {
  AppendWord(line.key, out);
  out += ' ';
  AppendWord(line.timestamp, out);
  out += ' ';
  AppendJsonObject(line.fields, style, out);
}

Result<CdxjLine> ParseCdxj(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  const size_t first = text.find(' ');
  const size_t second = first == std::string_view::npos ? first : text.find(' ', first + 1);
  if (second == std::string_view::npos) return Fail(ErrorCode::kCorrupt, "no key, timestamp and JSON object");
  CdxjLine line{std::string(text.substr(0, first)), std::string(text.substr(first + 1, second - first - 1)), {}};
  if (line.key.empty()) return Fail(ErrorCode::kCorrupt, "no key");
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (line.timestamp.empty() || line.timestamp.size() > 17 || !std::ranges::all_of(line.timestamp, is_digit)) {
    return Fail(ErrorCode::kCorrupt, "the timestamp is not a number of at most 17 digits");
  }
  const std::string_view rest = text.substr(second + 1);
  // A line is one level deep; the parser keeps a stack, so deeper ones cost memory in proportion to their length.
  const auto object = nlohmann::ordered_json::parse(rest, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return Fail(ErrorCode::kCorrupt, "no JSON object after the timestamp");
  for (const auto& [name, value] : object.items()) {
    const bool quoted = value.is_string();
    line.fields.push_back({name, quoted ? value.get<std::string>() : value.dump(), !quoted});
  }
  return line;
}

}  // namespace portolan
