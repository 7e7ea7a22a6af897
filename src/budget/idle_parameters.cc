#include "budget/idle_parameters.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "base/hash.h"
#include "budget/url_shape.h"
#include "flow/url_record.h"

namespace portolan {
namespace {

constexpr uint64_t kOneName = 0x6f6e65;    // a page without one parameter, by its name
constexpr uint64_t kAnyName = 0x616e79;    // … by any name: its page
constexpr uint64_t kWhichName = 0x776963;  // … and the name
constexpr uint64_t kBare = 0x62617265;     // a page as it was fetched
constexpr uint64_t kAnyIdle = 0x616e7969;  // of a host: it has idle parts
constexpr uint64_t kKinds = 0x6b696e6473;  // of a name: 16 bits of paths, 16 bits of values

// A piece of a URL; all pieces together are the URL.
struct Piece {
  std::string_view text;  // with the '/', ';', '?' or '&' before it
  std::string name;       // empty: it is always kept
  bool path = false;
};
constexpr size_t kMostPieces = 64;

// Empty if there are too many.
std::vector<Piece> PiecesOf(std::string_view url) {
  std::vector<Piece> pieces;
  pieces.push_back({OriginOf(url), {}, true});
  std::string_view path = PathAndQueryOf(url);
  std::string_view query;
  if (const size_t mark = path.find('?'); mark != std::string_view::npos) {
    query = path.substr(mark);
    path = path.substr(0, mark);
  }
  std::string form;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/', 1), path.size());
    const bool last = end == path.size();
    std::string_view text = path.substr(0, end);
    path.remove_prefix(end);
    const size_t semicolon = text.find(';');
    std::string_view suffix;
    if (semicolon != std::string_view::npos) {
      suffix = text.substr(semicolon);
      text = text.substr(0, semicolon);
    }
    form.clear();
    AppendAbstract(form, text);
    const bool token = !last && form.find('*') != std::string::npos;
    pieces.push_back({text, token ? form : std::string(), true});
    if (suffix.size() > 1) {
      pieces.push_back({suffix, std::string(suffix.substr(0, suffix.find('='))), true});
    } else if (!suffix.empty()) {
      pieces.push_back({suffix, {}, true});
    }
    if (pieces.size() > kMostPieces) return {};
  }
  while (!query.empty()) {
    const size_t end = std::min(query.find('&', 1), query.size());
    const std::string_view text = query.substr(0, end);
    query.remove_prefix(end);
    const std::string_view name = text.substr(1, text.find('=') - 1);
    pieces.push_back({text, std::string(name), false});
    if (pieces.size() > kMostPieces) return {};
  }
  return pieces;
}

// The URL without the pieces that leave(i) names.
template <typename Leave>
void Join(const std::vector<Piece>& pieces, Leave&& leave, std::string& out) {
  out.clear();
  bool query = false;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (leave(i)) continue;
    if (pieces[i].path) {
      out += pieces[i].text;
      continue;
    }
    out += query ? '&' : '?';
    out += pieces[i].text.substr(1);
    query = true;
  }
}

size_t NamesIn(const std::vector<Piece>& pieces) {
  return static_cast<size_t>(std::ranges::count_if(pieces, [](const Piece& piece) { return !piece.name.empty(); }));
}

// Two halves of what identifies a page; 0 in the second: no similarity.
uint32_t ContentOf(uint64_t fingerprint, uint64_t similarity) {
  const auto bytes = static_cast<uint16_t>(Mix64(fingerprint) >> 48 | 1);
  const auto text = similarity == 0 ? uint16_t{0} : static_cast<uint16_t>(Mix64(similarity) >> 48 | 1);
  return uint32_t{bytes} | uint32_t{text} << 16;
}
bool Equal(uint32_t a, uint32_t b) { return (a & 0xffff) == (b & 0xffff) || (a >> 16 != 0 && a >> 16 == b >> 16); }

}  // namespace

Result<std::unique_ptr<IdleParameters>> IdleParameters::Open(Env& env, const Manifest& manifest,
                                                             const Options& options) {
  std::unique_ptr<IdleParameters> made(new IdleParameters(options));
  ASSIGN_OR_RETURN(made->pages_, GroupCache::Open(env, manifest,
                                                  {.name = options.name + "-pages", .memory = options.memory / 4 * 3}));
  ASSIGN_OR_RETURN(made->names_,
                   GroupCache::Open(env, manifest, {.name = options.name + "-names", .memory = options.memory / 4}));
  return made;
}

Result<std::unique_ptr<IdleParameters>> IdleParameters::OpenCommitted(Env& env, const Manifest& manifest,
                                                                      Options options) {
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(options.name + "-names", GroupCache::kKind));
  options.memory = 4096;
  if (section != nullptr) {
    ASSIGN_OR_RETURN(const uint64_t sets, section->Number("sets"));
    options.memory = 4 * sets * GroupCache::kWays * sizeof(GroupCache::Entry);
  }
  return Open(env, manifest, options);
}

uint64_t IdleParameters::NameKey(uint64_t host_key, std::string_view name) const {
  return Mix64(host_key ^ Mix64(options_.key.Hash(name) & 0xffff));
}

bool IdleParameters::IsIdle(uint64_t name_key) const {
  const GroupCache::Entry* const entry = names_->Find(name_key);
  if (entry == nullptr) return false;
  const uint32_t needed = kAgree << 2 * std::min<uint32_t>(entry->second, 6);
  if (entry->first < needed) return false;
  const GroupCache::Entry* const kinds = names_->Find(Mix64(name_key ^ kKinds));
  return kinds != nullptr && std::popcount(kinds->first) >= static_cast<int>(kPaths) &&
         std::popcount(kinds->second) >= static_cast<int>(kValues);
}

bool IdleParameters::Compare(uint64_t host_key, uint64_t name_key, uint64_t path, uint64_t value, bool equal) {
  const bool before = IsIdle(name_key);
  if (equal) {
    GroupCache::Entry& entry = names_->Touch(name_key);
    if (entry.first < UINT16_MAX) ++entry.first;
    GroupCache::Entry& kinds = names_->Touch(Mix64(name_key ^ kKinds));
    kinds.first = static_cast<uint16_t>(kinds.first | 1U << (path % 16));
    kinds.second = static_cast<uint16_t>(kinds.second | 1U << (value % 16));
  } else {
    GroupCache::Entry& entry = names_->Touch(name_key);
    entry.first = 0;
    if (entry.second < UINT16_MAX) ++entry.second;
    names_->Touch(Mix64(name_key ^ kKinds)).set_number(0);
  }
  const bool idle = IsIdle(name_key);
  if (idle) names_->Touch(Mix64(host_key ^ kAnyIdle)).set_number(1);
  return before != idle;
}

std::vector<IdleParameters::Change> IdleParameters::Observe(std::string_view url, uint64_t host_key,
                                                            uint64_t fingerprint, uint64_t similarity) {
  std::vector<Change> changes;
  if (fingerprint == 0 && similarity == 0) return changes;
  const uint32_t content = ContentOf(fingerprint, similarity);
  const auto key_of = [&](std::string_view text, uint64_t seed) { return Mix64(options_.key.Hash(text) ^ seed); };
  const auto compare = [&](uint64_t name_key, std::string_view name, std::string_view page, uint64_t value,
                           uint32_t with) {
    const uint64_t path = options_.key.Hash(page.substr(0, page.find('?')));
    if (!Compare(host_key, name_key, path, value, Equal(content, with))) return;
    changes.push_back({std::string(name), IsIdle(name_key)});
  };

  // With one that had one part more.
  const uint64_t url_hash = options_.key.Hash(url);
  const GroupCache::Entry* const longer = pages_->Find(Mix64(url_hash ^ kAnyName));
  const GroupCache::Entry* const which = pages_->Find(Mix64(url_hash ^ kWhichName));
  if (longer != nullptr && which != nullptr) {
    const uint64_t name_key = Mix64(host_key ^ Mix64(uint64_t{which->first}));
    compare(name_key, {}, url, which->second, longer->number());
  }
  const std::vector<Piece> pieces = PiecesOf(url);
  std::string rest;
  const bool few = NamesIn(pieces) <= kNames;
  for (size_t i = 0; i < pieces.size() && few; ++i) {
    const Piece& piece = pieces[i];
    if (piece.name.empty()) continue;
    Join(pieces, [i](size_t k) { return k == i; }, rest);
    const uint64_t name_key = NameKey(host_key, piece.name);
    const uint64_t value = options_.key.Hash(piece.text) >> 16;
    // With another value of it; otherwise with the page without it.
    GroupCache::Entry& other = pages_->Touch(Mix64(key_of(rest, kOneName) ^ name_key));
    const uint32_t known = other.number();
    other.set_number(content);
    const GroupCache::Entry* const bare = pages_->Find(key_of(rest, kBare));
    if (known != 0 && (!piece.path || !Equal(content, known))) {
      compare(name_key, piece.name, rest, value, known);
    } else if (bare != nullptr) {
      compare(name_key, piece.name, rest, value, bare->number());
    }
    pages_->Touch(key_of(rest, kAnyName)).set_number(content);
    GroupCache::Entry& name = pages_->Touch(key_of(rest, kWhichName));
    name.first = static_cast<uint16_t>(options_.key.Hash(piece.name));
    name.second = static_cast<uint16_t>(value);
  }
  pages_->Touch(Mix64(url_hash ^ kBare)).set_number(content);
  return changes;
}

bool IdleParameters::Without(std::string_view url, uint64_t host_key, std::string& out) const {
  // For most links this is all.
  if (names_->Find(Mix64(host_key ^ kAnyIdle)) == nullptr) return false;
  const std::vector<Piece> pieces = PiecesOf(url);
  std::vector<bool> idle(pieces.size());
  bool any = false;
  for (size_t i = 0; i < pieces.size(); ++i) {
    idle[i] = !pieces[i].name.empty() && IsIdle(NameKey(host_key, pieces[i].name));
    any = any || idle[i];
  }
  if (!any || options_.key.Hash(url) % kAudit == 0) return false;
  Join(pieces, [&](size_t i) { return idle[i]; }, out);
  return true;
}

std::vector<std::string> IdleParameters::IdleOf(std::string_view url, uint64_t host_key) const {
  std::vector<std::string> names;
  for (const Piece& piece : PiecesOf(url)) {
    if (!piece.name.empty() && IsIdle(NameKey(host_key, piece.name))) names.push_back(piece.name);
  }
  return names;
}

}  // namespace portolan
