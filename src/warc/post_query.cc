#include "warc/post_query.h"

#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/utf8.h"
#include "warc/fields.h"
#include "warc/http_head.h"

namespace portolan {
namespace {

void AppendFormEncoded(std::string_view text, std::string& out) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
                       c == '.' || c == '-' || c == '~';
    if (plain) {
      out += c;
    } else if (c == ' ') {
      out += '+';
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
}

void AppendPair(std::string_view name, std::string_view value, std::string& query) {
  if (!query.empty()) query += '&';
  AppendFormEncoded(name, query);
  query += '=';
  AppendFormEncoded(value, query);
}

// The value of a parameter of a header field: boundary=… or name="…".
std::string_view Parameter(std::string_view field, std::string_view name) {
  while (!field.empty()) {
    const size_t semicolon = field.find(';');
    if (semicolon == std::string_view::npos) return {};
    field.remove_prefix(semicolon + 1);
    std::string_view item = TrimBlanks(field.substr(0, field.find(';')));
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos || !EqualsIgnoringCase(TrimBlanks(item.substr(0, equals)), name)) continue;
    item = TrimBlanks(item.substr(equals + 1));
    if (item.size() >= 2 && item.starts_with('"') && item.ends_with('"')) item = item.substr(1, item.size() - 2);
    return item;
  }
  return {};
}

std::string MultipartQuery(std::string_view boundary, std::string_view body) {
  std::string query;
  const std::string delimiter = "--" + std::string(boundary);
  size_t at = body.find(delimiter);
  while (at != std::string_view::npos) {
    const size_t start = at + delimiter.size();
    const size_t next = body.find(delimiter, start);
    if (next == std::string_view::npos) break;
    std::string_view part = body.substr(start, next - start);
    at = next;
    const size_t head = FindHeadEnd(part);
    if (head == std::string_view::npos) continue;
    FieldList fields;
    fields.Parse(part.substr(std::min(part.find('\n') + 1, part.size())));
    const std::string_view name = Parameter(fields.Get("Content-Disposition"), "name");
    std::string_view value = part.substr(head);
    if (value.ends_with('\n')) value.remove_suffix(1);
    if (value.ends_with('\r')) value.remove_suffix(1);
    if (!name.empty()) AppendPair(name, value, query);
  }
  return query;
}

std::string JsonQuery(const nlohmann::ordered_json& root) {
  std::string query;
  std::map<std::string, int> seen;
  // Leaves in document order without recursion: bodies may be nested deeper than the stack.
  std::vector<std::pair<std::string, const nlohmann::ordered_json*>> todo = {{"", &root}};
  while (!todo.empty()) {
    auto [name, value] = std::move(todo.back());
    todo.pop_back();
    if (value->is_object()) {
      const size_t before = todo.size();
      for (const auto& [key, member] : value->items()) todo.emplace_back(key, &member);
      std::reverse(todo.begin() + static_cast<ptrdiff_t>(before), todo.end());
    } else if (value->is_array()) {
      for (size_t i = value->size(); i-- > 0;) todo.emplace_back(name, &(*value)[i]);
    } else {
      if (name.empty()) continue;
      const int count = ++seen[name];
      if (count > 1) name += "." + std::to_string(count) + "_";
      AppendPair(name, value->is_string() ? value->get_ref<const std::string&>() : value->dump(), query);
    }
    if (query.size() > kMaxPostQuery) break;
  }
  return query;
}

}  // namespace

std::string Base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t bits = 0;
    for (size_t j = 0; j < 3; ++j) bits = bits << 8 | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0);
    for (size_t j = 0; j < 4; ++j) out += j <= count ? kDigits[bits >> (18 - 6 * j) & 63] : '=';
  }
  return out;
}

std::string PostQuery(std::string_view content_type, std::string_view body) {
  body = body.substr(0, kMaxPostBody);
  if (body.empty()) return {};
  const std::string type = LowerCase(MediaType(content_type));
  std::string query;
  if (type == "application/x-www-form-urlencoded" && IsUtf8(body)) {
    query = body;
  } else if (type == "multipart/form-data") {
    const std::string_view boundary = Parameter(content_type, "boundary");
    if (!boundary.empty()) query = MultipartQuery(boundary, body);
  } else if (type == "application/json" || type == "text/json") {
    const auto root = nlohmann::ordered_json::parse(body, nullptr, /*allow_exceptions=*/false);
    if (!root.is_discarded()) query = JsonQuery(root);
  }
  if (query.empty()) query = "__wb_post_data=" + Base64(body);
  if (query.size() > kMaxPostQuery) query.resize(kMaxPostQuery);
  return query;
}

std::string AppendPostQuery(std::string_view url, std::string_view method, std::string_view query) {
  std::string out(url.substr(0, url.find('#')));
  out += out.find('?') == std::string::npos ? '?' : '&';
  out += "__wb_method=";
  out += method;
  if (!query.empty()) {
    out += '&';
    out += query;
  }
  return out;
}

}  // namespace portolan
