// Any bytes as a request to the server: method, target, Host, content type and length in one line each, then the body.
// Every one is answered: with what the room says, or with an error as JSON. A list of URLs that was read is written and
// read back the same.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/log.h"
#include "serve/router.h"

namespace {

using namespace portolan;

std::string_view TakeLine(std::string_view& rest) {
  const std::string_view line = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  return line;
}

class FuzzRoom : public Room {
 public:
  std::string name() const override { return "lists"; }
  std::string summary() const override { return "gives back what came"; }
  std::vector<Route> Routes() override {
    return {{.path = "/list",
             .takes_body = true,
             .summary = "a list",
             .example = "/list?n=1",
             .handle = [](const Request& request) { return List(request); }}};
  }
  Result<std::string> Health() override { return "well"; }

 private:
  static Answer List(const Request& request) {
    if (const Status only = request.Only({"n", "u"}); !only) return ErrorAnswer(only.error());
    const auto n = request.Number("n", 5, 1, 10);
    if (!n) return ErrorAnswer(n.error());
    CHECK(*n >= 1 && *n <= 10);
    std::vector<std::string> urls;
    for (const auto& [name, value] : request.parameters) urls.push_back(name + value);
    if (request.method == "POST") {
      const auto list = ParseUrlList(request.body, *n);
      if (!list) return ErrorAnswer(list.error());
      CHECK(list->size() <= *n);
      std::string json = "[";
      for (const std::string& url : *list) json += (json.size() > 1 ? "," : "") + JsonQuote(url);
      const auto again = ParseUrlList(json + "]", *n);
      CHECK(again && *again == *list);
      urls = *list;
    }
    Answer answer;
    for (const std::string& url : urls) answer.body += (answer.body.empty() ? "[" : ",") + JsonQuote(url);
    answer.body += answer.body.empty() ? "[]" : "]";
    return answer;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static FuzzRoom room;
  static Router* const router = [] {
    auto* const made = new Router("<crawl>");
    made->Add(room);
    made->SetAddress("127.0.0.1", 80);
    return made;
  }();
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  RawRequest raw;
  raw.method = TakeLine(rest);
  raw.target = TakeLine(rest);
  raw.host = TakeLine(rest);
  raw.content_type = TakeLine(rest);
  raw.content_length = TakeLine(rest);
  raw.body = rest;
  const Answer answer = router->Handle(raw);
  CHECK(answer.status >= 200 && answer.status < 600);
  if (answer.type == "application/json") CHECK(nlohmann::json::accept(answer.body), "{}", answer.body);
  if (answer.status != 200 && answer.status != 503) {
    const auto error = nlohmann::json::parse(answer.body)["error"];
    CHECK(error["code"].is_string() && error["message"].is_string());
  }
  return 0;
}
