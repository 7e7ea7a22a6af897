#include "index/gone_pages.h"

#include <nlohmann/json.hpp>

#include "index/schema.h"

namespace portolan {

std::optional<GonePage> ParseGonePage(std::string_view line) {
  // Nearly all lines are of other answers: they are not parsed.
  bool gone = false;
  for (const std::string_view status : {"\"status\":404", "\"status\":410", "\"status\":301", "\"status\":308"}) {
    gone = gone || line.find(status) != std::string_view::npos;
  }
  if (!gone) return std::nullopt;
  const auto entry = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!entry.is_object()) return std::nullopt;
  const auto text = [&entry](const char* key) -> std::string {
    const auto found = entry.find(key);
    return found != entry.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const auto status = entry.find("status");
  if (status == entry.end() || !status->is_number_integer() || text("kind") != "page" ||
      text("outcome") != "answered") {
    return std::nullopt;
  }
  const int64_t code = status->get<int64_t>();
  if (code != 404 && code != 410 && code != 301 && code != 308) return std::nullopt;
  GonePage page{.url = text("url"), .fetched = PublishedValue(text("time"))};
  if (page.url.empty() || page.fetched.size() != 14) return std::nullopt;
  return page;
}

}  // namespace portolan
