#include "sim/world/link_spelling.h"

#include <algorithm>

namespace portolan::sim {
namespace {

constexpr std::string_view kFragments[4] = {"#top", "#s12", "#", "#a=b/c?d"};

// '&' as written in attributes; `raw` leaves it, as many authors do.
void AppendEscaped(std::string& out, std::string_view text, bool raw) {
  if (raw) {
    out += text;
    return;
  }
  while (true) {
    const size_t at = text.find('&');
    out += text.substr(0, at);
    if (at == std::string_view::npos) return;
    out += "&amp;";
    text.remove_prefix(at + 1);
  }
}

void AppendUpper(std::string& out, std::string_view text) {
  for (const char c : text) out += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

// "../b/c.html" for /b/c.html seen from /a/d.html.
void AppendRelative(std::string& out, std::string_view path, std::string_view base_path, bool raw) {
  const std::string_view directory = [&] {
    const std::string_view no_query = base_path.substr(0, base_path.find('?'));
    return no_query.substr(0, no_query.rfind('/') + 1);
  }();
  const size_t query = path.find('?');
  if (query != std::string_view::npos && path.substr(0, query) == base_path.substr(0, base_path.find('?'))) {
    AppendEscaped(out, path.substr(query), raw);
    return;
  }
  if (path.starts_with(directory)) {
    const std::string_view rest = path.substr(directory.size());
    if (rest.empty() || rest[0] == '?' || rest[0] == '/') out += "./";
    AppendEscaped(out, rest, raw);
    return;
  }
  for (size_t i = 1; i < directory.size(); ++i) {
    if (directory[i] == '/') out += "../";
  }
  AppendEscaped(out, path.substr(1), raw);
}

}  // namespace

void AppendHref(std::string& out, const SpellingOptions& options) {
  const std::string_view origin = options.url.substr(0, options.origin_size);
  const std::string_view path = options.url.substr(options.origin_size);
  const size_t host = origin.find("//");
  const auto form = static_cast<unsigned>(options.draw >> 56);
  const bool raw = (options.draw & 1) != 0;
  const std::string_view fragment = kFragments[(options.draw >> 1) & 3];
  const auto absolute = [&] {
    out += origin;
    AppendEscaped(out, path, raw);
  };
  if (!options.local || (!options.mirrored && form >= 150 && form < 220)) {
    if (form < 200) return absolute();
    if (form < 212 && options.same_scheme && !options.mirrored) {
      out += origin.substr(host);
      return AppendEscaped(out, path, raw);
    }
    if (form < 224) {
      AppendUpper(out, origin);
      return AppendEscaped(out, path, raw);
    }
    if (form < 240) {
      absolute();
      out += fragment;
      return;
    }
    if (form < 246 && !options.unquoted) {
      out += "\n  ";
      absolute();
      out += " ";
      return;
    }
    if (form < 252 && options.default_port) {
      out += origin;
      out += origin.starts_with("https") ? ":443" : ":80";
      return AppendEscaped(out, path, raw);
    }
    return absolute();
  }
  if (form < 40 && !options.portable) return AppendRelative(out, path, options.base_path, raw);
  if (form >= 248 && form < 250) {
    out += "/.";  // "/./x"
    return AppendEscaped(out, path, raw);
  }
  if (form >= 246 && form < 248) {
    out += "/none/..";
    return AppendEscaped(out, path, raw);
  }
  if (form >= 244 && form < 246) {
    out += (options.draw & 8) != 0 ? "&#47;" : "&#x2F;";
    return AppendEscaped(out, path.substr(1), raw);
  }
  if (form >= 242 && form < 244) {
    out += '\\';  // a slash to browsers
    return AppendEscaped(out, path.substr(1), raw);
  }
  if (form >= 238 && form < 242 && !options.unquoted) {
    out += ' ';
    AppendEscaped(out, path, raw);
    out += '\t';
    return;
  }
  AppendEscaped(out, path, raw);
  if (form >= 220 && form < 232) out += fragment;
}

}  // namespace portolan::sim
