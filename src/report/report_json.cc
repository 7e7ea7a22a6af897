#include <nlohmann/json.hpp>

#include "report/report_table.h"

namespace portolan {

std::string ReportToJson(const CrawlReport& report) {
  nlohmann::ordered_json json;
  json["name"] = report.name;
  json["made"] = report.made;
  json["generator"] = report.generator;
  json["missing"] = report.missing;
  for (const ReportTable& table : report.tables) {
    auto& object = json["tables"][table.id];
    object["title"] = table.title;
    if (!table.note.empty()) object["note"] = table.note;
    object["rows_left_out"] = table.rows_left_out;
    object["rows"] = nlohmann::ordered_json::array();
    for (const auto& row : table.rows) {
      nlohmann::ordered_json line;
      for (size_t c = 0; c < row.size(); ++c) {
        std::visit([&](const auto& value) { line[table.columns[c].name] = value; }, row[c]);
      }
      object["rows"].push_back(std::move(line));
    }
  }
  // Names come from servers: what is not UTF-8 is shown as U+FFFD.
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace portolan
