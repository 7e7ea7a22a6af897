#include "sim/world/params.h"

#include <fmt/core.h>
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <variant>

#include "base/text.h"

namespace portolan::sim {

extern const std::string_view kProfilesToml;  // profiles.toml, from CMakeLists.txt

namespace {

struct Field {
  std::string_view key;
  std::variant<uint64_t WorldParams::*, double WorldParams::*, uint16_t WorldParams::*> member;
};

// In the order of params.h.
const std::vector<Field>& Fields() {
  static const std::vector<Field> fields = {
      {"domains", &WorldParams::domains},
      {"pages", &WorldParams::pages},
      {"hosts_alpha", &WorldParams::hosts_alpha},
      {"max_hosts", &WorldParams::max_hosts},
      {"size_exponent", &WorldParams::size_exponent},
      {"size_sigma", &WorldParams::size_sigma},
      {"max_pages_per_host", &WorldParams::max_pages_per_host},
      {"giants", &WorldParams::giants},
      {"giant_pages", &WorldParams::giant_pages},
      {"links_mean", &WorldParams::links_mean},
      {"links_sigma", &WorldParams::links_sigma},
      {"links_max", &WorldParams::links_max},
      {"links_nav", &WorldParams::links_nav},
      {"external_share", &WorldParams::external_share},
      {"zipf_exponent", &WorldParams::zipf_exponent},
      {"friends_mean", &WorldParams::friends_mean},
      {"nofollow", &WorldParams::nofollow},
      {"page_bytes", &WorldParams::page_bytes},
      {"page_sigma", &WorldParams::page_sigma},
      {"page_bytes_max", &WorldParams::page_bytes_max},
      {"script_share", &WorldParams::script_share},
      {"legacy_charset", &WorldParams::legacy_charset},
      {"malformed", &WorldParams::malformed},
      {"canonical", &WorldParams::canonical},
      {"compressed", &WorldParams::compressed},
      {"chunked", &WorldParams::chunked},
      {"http10", &WorldParams::http10},
      {"cut_keep_alive", &WorldParams::cut_keep_alive},
      {"validators", &WorldParams::validators},
      {"latency_ms", &WorldParams::latency_ms},
      {"spam_slowness", &WorldParams::spam_slowness},
      {"change_days", &WorldParams::change_days},
      {"change_sigma", &WorldParams::change_sigma},
      {"epoch_s", &WorldParams::epoch_s},
      {"boilerplate", &WorldParams::boilerplate},
      {"boilerplate_days", &WorldParams::boilerplate_days},
      {"born", &WorldParams::born},
      {"born_days", &WorldParams::born_days},
      {"dying", &WorldParams::dying},
      {"life_days", &WorldParams::life_days},
      {"etag_random", &WorldParams::etag_random},
      {"modified_now", &WorldParams::modified_now},
      {"modified_future", &WorldParams::modified_future},
      {"stuck_304", &WorldParams::stuck_304},
      {"unasked_304", &WorldParams::unasked_304},
      {"max_age", &WorldParams::max_age},
      {"lastmod_absent", &WorldParams::lastmod_absent},
      {"lastmod_lying", &WorldParams::lastmod_lying},
      {"lastmod_time", &WorldParams::lastmod_time},
      {"changefreq", &WorldParams::changefreq},
      {"http_port", &WorldParams::http_port},
      {"https_port", &WorldParams::https_port},
      {"https", &WorldParams::https},
      {"ipv6", &WorldParams::ipv6},
      {"ipv6_only", &WorldParams::ipv6_only},
      {"address_first", &WorldParams::address_first},
      {"addresses", &WorldParams::addresses},
      {"shared_address", &WorldParams::shared_address},
      {"shared_addresses", &WorldParams::shared_addresses},
      {"multi_address", &WorldParams::multi_address},
      {"dns_not_found", &WorldParams::dns_not_found},
      {"dns_servfail", &WorldParams::dns_servfail},
      {"dns_silent", &WorldParams::dns_silent},
      {"dns_slow", &WorldParams::dns_slow},
      {"dns_private", &WorldParams::dns_private},
      {"bad_certificate", &WorldParams::bad_certificate},
      {"robots_rules", &WorldParams::robots_rules},
      {"robots_groups", &WorldParams::robots_groups},
      {"robots_changing", &WorldParams::robots_changing},
      {"robots_change_s", &WorldParams::robots_change_s},
      {"robots_own", &WorldParams::robots_own},
      {"restricted_pages", &WorldParams::restricted_pages},
      {"crawl_delay", &WorldParams::crawl_delay},
      {"crawl_delay_s", &WorldParams::crawl_delay_s},
      {"robots_forbid_all", &WorldParams::robots_forbid_all},
      {"robots_error", &WorldParams::robots_error},
      {"robots_redirect", &WorldParams::robots_redirect},
      {"robots_huge", &WorldParams::robots_huge},
      {"robots_garbage", &WorldParams::robots_garbage},
      {"sitemaps", &WorldParams::sitemaps},
      {"sitemap_entries", &WorldParams::sitemap_entries},
      {"redirect", &WorldParams::redirect},
      {"redirect_loop", &WorldParams::redirect_loop},
      {"not_found", &WorldParams::not_found},
      {"gone", &WorldParams::gone},
      {"forbidden", &WorldParams::forbidden},
      {"server_error", &WorldParams::server_error},
      {"flaky", &WorldParams::flaky},
      {"soft404", &WorldParams::soft404},
      {"duplicate", &WorldParams::duplicate},
      {"near_duplicate", &WorldParams::near_duplicate},
      {"noindex", &WorldParams::noindex},
      {"page_nofollow", &WorldParams::page_nofollow},
      {"fault_reset", &WorldParams::fault_reset},
      {"fault_reset_in_body", &WorldParams::fault_reset_in_body},
      {"fault_close_early", &WorldParams::fault_close_early},
      {"fault_empty_reply", &WorldParams::fault_empty_reply},
      {"fault_slow_first_byte", &WorldParams::fault_slow_first_byte},
      {"fault_tarpit", &WorldParams::fault_tarpit},
      {"fault_endless", &WorldParams::fault_endless},
      {"fault_long_length", &WorldParams::fault_long_length},
      {"fault_short_length", &WorldParams::fault_short_length},
      {"fault_header_flood", &WorldParams::fault_header_flood},
      {"fault_garbage", &WorldParams::fault_garbage},
      {"fault_http09", &WorldParams::fault_http09},
      {"fault_bad_chunks", &WorldParams::fault_bad_chunks},
      {"bomb", &WorldParams::bomb},
      {"bomb_bytes", &WorldParams::bomb_bytes},
      {"slow_first_byte_s", &WorldParams::slow_first_byte_s},
      {"tarpit_s", &WorldParams::tarpit_s},
      {"header_flood_bytes", &WorldParams::header_flood_bytes},
      {"mirrors", &WorldParams::mirrors},
      {"mirror_pages", &WorldParams::mirror_pages},
      {"trap_calendar", &WorldParams::trap_calendar},
      {"trap_session", &WorldParams::trap_session},
      {"trap_loop", &WorldParams::trap_loop},
      {"trap_query", &WorldParams::trap_query},
      {"trap_entry", &WorldParams::trap_entry},
      {"trap_forbidden", &WorldParams::trap_forbidden},
      {"maze_repeat", &WorldParams::maze_repeat},
      {"maze_calendar", &WorldParams::maze_calendar},
      {"maze_session_path", &WorldParams::maze_session_path},
      {"maze_session_query", &WorldParams::maze_session_query},
      {"maze_growing", &WorldParams::maze_growing},
      {"maze_facets", &WorldParams::maze_facets},
      {"maze_soft404", &WorldParams::maze_soft404},
      {"maze_redirect", &WorldParams::maze_redirect},
      {"maze_entry", &WorldParams::maze_entry},
      {"maze_words", &WorldParams::maze_words},
      {"spam_domains", &WorldParams::spam_domains},
      {"spam_wildcard", &WorldParams::spam_wildcard},
      {"spam_pages", &WorldParams::spam_pages},
      {"spam_addresses", &WorldParams::spam_addresses},
      {"spam_alone", &WorldParams::spam_alone},
      {"spam_links", &WorldParams::spam_links},
      {"spam_entry", &WorldParams::spam_entry},
      {"spam_doors", &WorldParams::spam_doors},
      {"spam_campaigns", &WorldParams::spam_campaigns},
  };
  return fields;
}

std::string DidYouMean(std::string_view word, const std::vector<std::string_view>& known) {
  const std::string_view nearest = NearestWord(word, known);
  return nearest.empty() ? "" : fmt::format(": did you mean '{}'?", nearest);
}

Result<const Field*> FindField(std::string_view key) {
  std::vector<std::string_view> known;
  for (const Field& field : Fields()) {
    if (field.key == key) return &field;
    known.push_back(field.key);
  }
  return Fail(ErrorCode::kInvalidArgument, fmt::format("unknown key '{}'{}", key, DidYouMean(key, known)));
}

Status SetNumber(WorldParams& params, const Field& field, double value) {
  if (!std::isfinite(value) || value < 0) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{} wants a number of 0 or more", field.key));
  }
  if (const auto* real = std::get_if<double WorldParams::*>(&field.member)) {
    params.*(*real) = value;
    return {};
  }
  const auto* narrow = std::get_if<uint16_t WorldParams::*>(&field.member);
  const double most = narrow != nullptr ? 65535 : 1e15;
  if (value != std::floor(value) || value > most) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{} wants a whole number up to {}", field.key, most));
  }
  if (narrow != nullptr) {
    params.*(*narrow) = static_cast<uint16_t>(value);
  } else {
    params.*std::get<uint64_t WorldParams::*>(field.member) = static_cast<uint64_t>(value);
  }
  return {};
}

std::string Print(const WorldParams& params, const Field& field) {
  return std::visit([&](auto member) { return fmt::format("{}", params.*member); }, field.member);
}

Result<toml::table> ParseToml(std::string_view text, std::string_view name) {
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{}:{}: {}", name, error.source().begin.line, error.description()));
  }
}

Result<WorldParams> LoadFrom(std::string_view name, const toml::table& user, const toml::table& ours, int depth) {
  if (depth > 8) return Fail(ErrorCode::kInvalidArgument, fmt::format("profile '{}' starts from itself", name));
  const toml::node* node = user.get(name);
  if (node == nullptr) node = ours.get(name);
  if (node == nullptr) {
    std::vector<std::string_view> known;
    for (const toml::table* table : {&user, &ours}) {
      for (const auto& [key, value] : *table) known.push_back(key.str());
    }
    return Fail(ErrorCode::kNotFound, fmt::format("no profile '{}'{}", name, DidYouMean(name, known)));
  }
  const toml::table* keys = node->as_table();
  if (keys == nullptr) return Fail(ErrorCode::kInvalidArgument, fmt::format("profile '{}' must be a table", name));
  WorldParams params;
  if (const auto base = (*keys)["base"].value<std::string>()) {
    ASSIGN_OR_RETURN(params, LoadFrom(*base, user, ours, depth + 1));
  }
  params.profile = std::string(name);
  for (const auto& [key, value] : *keys) {
    if (key.str() == "base") continue;
    auto field = FindField(key.str());
    const auto number = value.value<double>();
    Status status = field ? Status{} : Status(std::unexpected(field.error()));
    if (status && !number) status = Fail(ErrorCode::kInvalidArgument, fmt::format("{} wants a number", key.str()));
    if (status) status = SetNumber(params, **field, *number);
    if (!status) {
      return std::unexpected(
          std::move(status).error().Context(fmt::format("[{}] line {}", name, key.source().begin.line)));
    }
  }
  return params;
}

}  // namespace

std::vector<std::string> ProfileNames() {
  std::vector<std::pair<size_t, std::string>> lines;
  const auto ours = ParseToml(kProfilesToml, "profiles.toml");
  for (const auto& [key, value] : *ours) lines.emplace_back(key.source().begin.line, key.str());
  std::sort(lines.begin(), lines.end());
  std::vector<std::string> names;
  for (auto& [line, name] : lines) names.push_back(std::move(name));
  return names;
}

Result<WorldParams> LoadProfile(std::string_view name, std::string_view toml) {
  ASSIGN_OR_RETURN(const toml::table user, ParseToml(toml, "user profiles"));
  ASSIGN_OR_RETURN(const toml::table ours, ParseToml(kProfilesToml, "profiles.toml"));
  return LoadFrom(name, user, ours, 0);
}

Status SetParam(WorldParams& params, std::string_view key, std::string_view value) {
  ASSIGN_OR_RETURN(const Field* const field, FindField(key));
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size()) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: '{}' is no number", key, value));
  }
  return SetNumber(params, *field, number);
}

Status SetParam(WorldParams& params, std::string_view pair) {
  const size_t equals = pair.find('=');
  if (equals == std::string_view::npos) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is not a parameter of a world: write KEY=VALUE", pair));
  }
  return SetParam(params, pair.substr(0, equals), pair.substr(equals + 1));
}

std::string DescribeParams(const WorldParams& params) {
  const WorldParams defaults;
  std::string out;
  for (const Field& field : Fields()) {
    const std::string value = Print(params, field);
    if (value == Print(defaults, field)) continue;
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", field.key, value);
  }
  return out;
}

std::string ParamsToToml(const WorldParams& params) {
  std::string out = fmt::format("[{}]\n", params.profile);
  for (const Field& field : Fields()) out += fmt::format("{} = {}\n", field.key, Print(params, field));
  return out;
}

}  // namespace portolan::sim
