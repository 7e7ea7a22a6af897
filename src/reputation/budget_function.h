// F: the budget of a domain from its in-degree (thesis ch. VI: "by varying the budget function F(d), one can implement
// a number of policies"). Each policy is a BudgetFunction; a further one is a class and a line in the table of
// budget_function.cc.
//
//   ranked        the paper's: the budgets of the `top` domains by in-degree fall evenly with their rank from `most` to
//                 `least`; all others get `least`
//   popular       the `top` domains get `most`, all others `least` (the paper's zero would drop URLs)
//   equal         `budget` for all
//   proportional  `per_link` × in-degree, from `least` to `most`
//   inverse       `most` / in-degree, not below `least`
//   table         steps "in-degree:budget": from that in-degree on, that budget
//
// `one_in` of ranked and popular: at most one in this many known domains is in the top. The paper's 10,000 were one in
// 3,300; while a crawl knows fewer domains than `top`, each of them, farms included, would be in the top. 1, the
// default, is the paper's way. Domains of equal in-degree get the budget of their mean rank; those of in-degree 0 have
// no rank and get `least`. Thread: immutable.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "reputation/budget_table.h"
#include "reputation/crawl_ranks.h"

namespace portolan {

class BudgetFunction {
 public:
  virtual ~BudgetFunction() = default;
  // How many of the largest in-degrees it must know; 0 if it needs only the in-degree. At most kMaxRanks.
  virtual size_t ranks() const { return 0; }
  // REQUIRES: ranks.top() == this->ranks().
  virtual BudgetTable Make(CrawlRanks& ranks) const = 0;

  static constexpr size_t kMaxRanks = 32'768;
};

// From a name and its parameters, in any order, each with a default: "ranked", "ranked top=10000 least=10 most=10000",
// "popular top=1000 least=1 most=10000", "equal budget=10", "proportional per_link=1 least=10 most=10000",
// "inverse least=10 most=10000", "table 0:10 100:1000 5000:10000".
// kInvalidArgument: the message says what is wrong.
Result<std::unique_ptr<const BudgetFunction>> ParseBudgetFunction(std::string_view text);

inline constexpr std::string_view kDefaultBudgetFunction = "ranked top=10000 least=10 most=10000";

}  // namespace portolan
