#include "rules/block_list.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/hash.h"
#include "base/text.h"
#include "url/url.h"

namespace portolan {
namespace {

constexpr size_t kMaxName = 253;
constexpr size_t kMaxLine = 4096;

bool IsListBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && IsListBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsListBlank(text.back())) text.remove_suffix(1);
  return text;
}

bool IsAddressWord(std::string_view word) {
  return word == "0.0.0.0" || word == "127.0.0.1" || word == "::" || word == "::1" || word == "0" ||
         (word.find(':') != std::string_view::npos &&
          word.find_first_not_of("0123456789abcdefABCDEF:.%lo") == std::string_view::npos) ||
         (std::ranges::count(word, '.') == 3 && word.find_first_not_of("0123456789.") == std::string_view::npos);
}

// Filters of Adblock Plus that are about paths, types of requests or elements of pages.
bool IsOtherFilter(std::string_view line) {
  if (line.starts_with("@@") || line.starts_with("||") || line.starts_with("|http") || line.starts_with('/'))
    return true;
  for (const std::string_view mark : {"##", "#@#", "#?#", "#$#", "#%#", "$$"}) {
    if (line.find(mark) != std::string_view::npos && !line.starts_with('<')) return true;
  }
  const bool one_word = line.find(' ') == std::string_view::npos;
  return one_word && line.find_first_of("<>{}\"") == std::string_view::npos &&
         line.find_first_of("*^$/=?&") != std::string_view::npos && !line.starts_with("*.");
}

// Calls each(line, number) until it returns false.
template <typename Each>
void ForEachListLine(std::string_view text, Each each) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  uint32_t number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!each(Trimmed(line), ++number)) return;
  }
}

}  // namespace

std::string_view BlockList::Canonical(std::string_view name, std::string& room) {
  if (name.ends_with('.')) name.remove_suffix(1);
  if (name.empty() || name.size() > kMaxName) return {};
  bool simple = true;
  bool upper = false;
  char before = '.';
  for (const char c : name) {
    const bool usual = IsDigit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '_';
    upper = upper || (c >= 'A' && c <= 'Z');
    simple = simple && (usual || (c >= 'A' && c <= 'Z') || (c == '.' && before != '.'));
    before = c;
  }
  const std::string_view last = name.substr(name.rfind('.') + 1);
  if (simple && before != '.' && !IsDigit(last.front()) && name.find("xn--") == std::string_view::npos) {
    if (!upper) return name;
    room = LowerCase(name);
    return room;
  }
  if (name.find_first_of("/?#@\\:%<>[]{}|^*= \t") != std::string_view::npos) return {};
  if (name.starts_with('.') || name.find("..") != std::string_view::npos) return {};
  const auto url = Url::Parse(fmt::format("http://{}/", name));
  if (!url || url->hostname().empty()) return {};
  room = url->hostname();
  return room;
}

uint64_t BlockList::KeyOf(std::string_view name, Scope scope) { return Hash64(name, static_cast<uint64_t>(scope)); }

void BlockList::Read(std::string_view text, Line& line) {
  line.kind = Line::Kind::kNothing;
  line.names.clear();
  line.scope = Scope::kDomain;
  if (text.empty() || text.front() == '!' || (text.front() == '[' && text.back() == ']')) return;
  if (text.front() == '#' && !(text.starts_with("##") || text.starts_with("#@#"))) return;
  line.kind = Line::Kind::kBad;
  if (text.size() > kMaxLine || text.find('\0') != std::string_view::npos) return;
  if (text.starts_with("||") && text.ends_with('^') && text.find_first_of("/*^$|", 2) == text.size() - 1) {
    line.kind = Line::Kind::kNames;
    line.names.push_back(text.substr(2, text.size() - 3));
    return;
  }
  if (text.find("://") != std::string_view::npos && text.front() != '|' && text.front() != '@') return;  // a URL
  if (IsOtherFilter(text)) {
    line.kind = Line::Kind::kSkipped;
    return;
  }
  text = Trimmed(text.substr(0, text.find('#')));
  while (!text.empty()) {
    const auto end = static_cast<size_t>(std::ranges::find_if(text, IsListBlank) - text.begin());
    line.names.push_back(text.substr(0, end));
    text = Trimmed(text.substr(end));
  }
  if (line.names.size() == 1) {
    std::string_view& name = line.names.front();
    if (name.starts_with("*.")) name.remove_prefix(2);
    if (name.starts_with('.')) name.remove_prefix(1);
    line.kind = Line::Kind::kNames;
  } else if (line.names.size() > 1 && IsAddressWord(line.names.front())) {
    line.names.erase(line.names.begin());
    std::erase_if(line.names, [](std::string_view name) {
      return name.find('.') == std::string_view::npos || name == "0.0.0.0" || name == "localhost.localdomain";
    });
    line.scope = Scope::kHost;
    line.kind = line.names.empty() ? Line::Kind::kNothing : Line::Kind::kNames;
  }
}

bool BlockList::Has(std::string_view host) const {
  const auto has = [this](uint64_t key) { return std::binary_search(keys_.begin(), keys_.end(), key); };
  if (keys_.empty()) return false;
  if (has(KeyOf(host, Scope::kHost))) return true;
  for (;;) {
    if (has(KeyOf(host, Scope::kDomain))) return true;
    const size_t dot = host.find('.');
    if (dot == std::string_view::npos) return false;
    host.remove_prefix(dot + 1);
  }
}

std::optional<uint32_t> BlockList::LineThatBlocks(std::string_view text, std::string_view host) {
  std::optional<uint32_t> found;
  Line line;
  std::string room;
  ForEachListLine(text, [&](std::string_view bytes, uint32_t number) {
    Read(bytes, line);
    if (line.kind != Line::Kind::kNames) return true;
    for (const std::string_view one : line.names) {
      const std::string_view name = Canonical(one, room);
      if (name.empty() || !host.ends_with(name)) continue;
      const bool whole = host.size() == name.size();
      if (whole || (line.scope == Scope::kDomain && host[host.size() - name.size() - 1] == '.')) found = number;
    }
    return !found;
  });
  return found;
}

Status BlockList::Builder::Add(std::string_view text, const std::string& path) {
  if (text.size() > kMaxFile) {
    return Fail(ErrorCode::kBusy,
                fmt::format("{}: a block list of more than {} MiB is not read", path, kMaxFile >> 20));
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return Fail(
        ErrorCode::kCorrupt,
        fmt::format("{}: is empty: to block nothing, leave a comment in it or take it out of the settings", path));
  }
  Line line;
  std::string room;
  Status status;
  ForEachListLine(text, [&](std::string_view bytes, uint32_t number) {
    Read(bytes, line);
    if (line.kind == Line::Kind::kSkipped) ++list_->skipped_;
    bool bad = line.kind == Line::Kind::kBad;
    if (line.kind == Line::Kind::kNames) {
      for (const std::string_view one : line.names) {
        const std::string_view name = Canonical(one, room);
        bad = bad || name.empty();
        if (!name.empty()) list_->keys_.push_back(KeyOf(name, line.scope));
      }
    }
    if (bad) {
      constexpr size_t kShown = 60;
      status = Fail(ErrorCode::kCorrupt,
                    fmt::format("{}:{}: '{}{}' is not a line of a block list: write a host or domain, \"0.0.0.0 HOST\" "
                                "or ||DOMAIN^",
                                path, number, Printable(bytes.substr(0, kShown)), bytes.size() > kShown ? "…" : ""));
    } else if (list_->keys_.size() >= compact_at_) {
      status = Compact(path);
    }
    return status.has_value();
  });
  RETURN_IF_ERROR(status);
  return Compact(path);
}

Status BlockList::Builder::Compact(const std::string& path) {
  std::vector<uint64_t>& keys = list_->keys_;
  std::ranges::sort(keys);
  keys.erase(std::ranges::unique(keys).begin(), keys.end());
  compact_at_ = std::max<size_t>(compact_at_, 2 * keys.size());
  if (keys.size() <= max_names_) return {};
  return Fail(ErrorCode::kBusy, fmt::format("{}: with it the block lists have more than {} names, for which "
                                            "memory.total has no room: raise it, or use shorter lists",
                                            path, max_names_));
}

std::shared_ptr<const BlockList> BlockList::Builder::Finish() {
  list_->keys_.shrink_to_fit();
  list_->fingerprint_ = 0;
  for (const uint64_t key : list_->keys_) list_->fingerprint_ = Mix64(list_->fingerprint_ ^ key);
  return std::move(list_);
}

}  // namespace portolan
