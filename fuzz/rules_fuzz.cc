// Any bytes as a file of rules: rules or an error with the file's name; what is taken is printed and read back the
// same, and judges URLs as the first rule that holds says.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "rules/rule_file.h"
#include "rules/rule_set.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace portolan;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto rules = ParseRuleFile(text, "fuzz.toml");
  if (!rules) {
    CHECK(rules.error().message().starts_with("fuzz.toml:"), "'{}'", rules.error().message());
    return 0;
  }
  const std::string printed = PrintRules(*rules);
  const auto again = ParseRuleFile("rule = " + printed, "again.toml");
  CHECK(again.has_value(), "'{}'", again.error().message());
  CHECK(PrintRules(*again) == printed);
  const auto set = RuleSet::Create(*std::move(rules));
  if (!set) {
    CHECK(set.error().message().starts_with("fuzz.toml:"), "'{}'", set.error().message());
    return 0;
  }
  for (const RuleUrl& url : {RuleUrl{"https://www.example.org/", "www.example.org"},
                             RuleUrl{"http://example.org/calendar/2024/05?sid=1", "example.org", 3},
                             RuleUrl{"http://ads.example.net/a/b.PNG", "ads.example.net", 1, kRuleRequisite}}) {
    const RuleVerdict verdict = (*set)->Judge(url);
    const Rule* last = (*set)->JudgeAnswer(url, {.size = 1000, .type = "text/html"});
    // What is excluded for certain before the fetch is excluded by any answer.
    if (verdict.Excludes()) CHECK(last != nullptr && last->action == RuleAction::kExclude);
    if ((*set)->ExcludesHost(url.host) != nullptr) CHECK(verdict.Excludes());
    CHECK(verdict.limit == nullptr || verdict.limit->action == RuleAction::kLimit);
  }
  return 0;
}
