#include "serve/request.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/ascii.h"
#include "base/text.h"

namespace portolan {
namespace {

std::unexpected<Error> BadRequest(std::string message) { return Fail(ErrorCode::kInvalidArgument, std::move(message)); }

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Result<std::string> PercentDecode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
    if (high < 0 || low < 0) {
      return BadRequest(fmt::format("'{}' is not percent-encoding: write a '%' that belongs to a URL as %25",
                                    Printable(text.substr(i, 3))));
    }
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

// Takes a JSON list of strings and stops at anything else, so that it holds no more than the strings.
class UrlListReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  UrlListReader(std::vector<std::string>& urls, size_t most) : urls_(urls), most_(most) {}

  bool null() override { return NotAString(); }
  bool boolean(bool) override { return NotAString(); }
  bool number_integer(number_integer_t) override { return NotAString(); }
  bool number_unsigned(number_unsigned_t) override { return NotAString(); }
  bool number_float(number_float_t, const string_t&) override { return NotAString(); }
  bool binary(binary_t&) override { return NotAString(); }
  bool start_object(std::size_t) override { return NotAString(); }
  bool key(string_t&) override { return NotAString(); }
  bool end_object() override { return NotAString(); }
  bool start_array(std::size_t) override {
    if (inside_) return NotAString();
    inside_ = true;
    return true;
  }
  bool end_array() override { return true; }
  bool string(string_t& value) override {
    if (!inside_) return NotAString();
    if (urls_.size() == most_) {
      error_.emplace(ErrorCode::kBusy, fmt::format("the list has more than {} URLs: send several requests", most_));
      return false;
    }
    urls_.push_back(std::move(value));
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    error_.emplace(ErrorCode::kInvalidArgument, fmt::format("the body is not JSON: byte {} is wrong", position));
    return false;
  }
  std::optional<Error>& error() { return error_; }

 private:
  bool NotAString() {
    error_.emplace(ErrorCode::kInvalidArgument,
                   R"(the body is not a list of URLs: send a JSON list of strings, ["https://example.org/"])");
    return false;
  }

  std::vector<std::string>& urls_;
  const size_t most_;
  bool inside_ = false;
  std::optional<Error> error_;
};

}  // namespace

Result<std::string> Request::One(std::string_view name, std::string_view otherwise) const {
  const std::string* found = nullptr;
  for (const auto& [key, value] : parameters) {
    if (key != name) continue;
    if (found != nullptr) return BadRequest(fmt::format("the parameter '{}' is there twice", name));
    found = &value;
  }
  return found == nullptr ? std::string(otherwise) : *found;
}

Result<uint64_t> Request::Number(std::string_view name, uint64_t otherwise, uint64_t least, uint64_t most) const {
  ASSIGN_OR_RETURN(const std::string text, One(name, fmt::to_string(otherwise)));
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most) {
    return BadRequest(fmt::format("'{}' is not a number from {} to {}, as the parameter '{}' should be",
                                  Printable(std::string_view(text).substr(0, 40)), least, most, name));
  }
  return number;
}

Status Request::Only(std::initializer_list<std::string_view> names) const {
  for (const auto& parameter : parameters) {
    if (std::ranges::find(names, parameter.first) != names.end()) continue;
    return BadRequest(fmt::format("there is no parameter '{}', only {}; write an '&' that belongs to a URL as %26",
                                  Printable(std::string_view(parameter.first).substr(0, 40)), fmt::join(names, ", ")));
  }
  return {};
}

Status ParseTarget(std::string_view target, Request& request, bool form) {
  const size_t question = std::min(target.find('?'), target.size());
  ASSIGN_OR_RETURN(request.path, PercentDecode(target.substr(0, question)));
  if (!request.path.starts_with('/')) return BadRequest("the request's target is not a path");
  request.parameters.clear();
  std::string_view rest = target.substr(std::min(question + 1, target.size()));
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
    if (pair.empty()) continue;
    const size_t equals = std::min(pair.find('='), pair.size());
    ASSIGN_OR_RETURN(std::string name, PercentDecode(pair.substr(0, equals)));
    std::string coded(pair.substr(std::min(equals + 1, pair.size())));
    if (form) std::ranges::replace(coded, '+', ' ');
    ASSIGN_OR_RETURN(std::string value, PercentDecode(coded));
    request.parameters.emplace_back(std::move(name), std::move(value));
  }
  return {};
}

Result<std::vector<std::string>> ParseUrlList(std::string_view json, size_t most) {
  std::vector<std::string> urls;
  UrlListReader reader(urls, most);
  if (!nlohmann::json::sax_parse(json.begin(), json.end(), &reader)) {
    return std::unexpected(reader.error().value_or(Error(ErrorCode::kInvalidArgument, "the body is not JSON")));
  }
  return urls;
}

bool IsOwnHost(std::string_view host, std::string_view own, uint16_t port) {
  const size_t colon = host.rfind(':');
  std::string_view name = host;
  if (colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos) {
    name = host.substr(0, colon);
    if (host.substr(colon + 1) != fmt::to_string(port)) return false;
  } else if (port != 80) {
    return false;
  }
  if (name == "127.0.0.1" || name == "[::1]" || (!own.empty() && name == own)) return true;
  return EqualsIgnoringCase(name, "localhost");
}

}  // namespace portolan
