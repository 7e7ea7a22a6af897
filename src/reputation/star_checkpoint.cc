// STAR's own section of the manifest.

#include <fmt/core.h>

#include "reputation/star.h"

namespace portolan {

Status Star::Flush() {
  ManifestSection section;
  section.name = options_.name;
  section.kind = kKind;
  const StarCounts now = counts();
  section.numbers = {{"edges_offered", now.edges_offered},
                     {"edges_within", now.edges_within},
                     {"edges_recent", now.edges_recent},
                     {"edges_known", now.edges_known},
                     {"edges_new", now.edges_new},
                     {"edges_unvouched", now.edges_unvouched},
                     {"edges_sent", now.edges_sent},
                     {"edges_arrived", now.edges_arrived},
                     {"vouches_asked", vouches_asked_},
                     {"urls_in", now.urls_in},
                     {"urls_out", now.urls_out},
                     {"urls_later", now.urls_later},
                     {"tables", now.tables}};
  if (!table_saved_) {
    const std::string name = fmt::format("{}-{:06}.budgets", options_.name, next_table_);
    const auto length = WriteBudgetTable(env_, JoinPath(dir_, name), *rounds_view_->budgets);
    if (!length) {
      static_cast<void>(env_.Remove(JoinPath(dir_, name)));
      return std::unexpected(length.error());
    }
    ++next_table_;
    if (!table_name_.empty()) retired_.push_back(table_name_);
    table_name_ = name;
    table_length_ = *length;
    table_saved_ = true;
  }
  section.numbers["next_table"] = next_table_;
  section.files.push_back({table_name_, table_length_});
  described_ = std::move(section);
  return {};
}

Status Star::Committed() { return RemoveUnnamed(env_, dir_, described_, retired_); }

Status Star::Restore(const ManifestSection& section) {
  ASSIGN_OR_RETURN(counts_.edges_offered, section.Number("edges_offered"));
  ASSIGN_OR_RETURN(counts_.edges_within, section.Number("edges_within"));
  ASSIGN_OR_RETURN(counts_.edges_recent, section.Number("edges_recent"));
  ASSIGN_OR_RETURN(counts_.edges_known, section.Number("edges_known"));
  ASSIGN_OR_RETURN(counts_.edges_new, section.Number("edges_new"));
  ASSIGN_OR_RETURN(counts_.edges_unvouched, section.Number("edges_unvouched"));
  // Older crawls had one shard.
  if (section.numbers.contains("edges_sent")) {
    ASSIGN_OR_RETURN(counts_.edges_sent, section.Number("edges_sent"));
    ASSIGN_OR_RETURN(counts_.edges_arrived, section.Number("edges_arrived"));
  }
  ASSIGN_OR_RETURN(vouches_asked_, section.Number("vouches_asked"));
  ASSIGN_OR_RETURN(counts_.urls_in, section.Number("urls_in"));
  ASSIGN_OR_RETURN(counts_.urls_out, section.Number("urls_out"));
  ASSIGN_OR_RETURN(counts_.urls_later, section.Number("urls_later"));
  ASSIGN_OR_RETURN(counts_.tables, section.Number("tables"));
  ASSIGN_OR_RETURN(next_table_, section.Number("next_table"));
  if (section.files.size() != 1) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: its section of the manifest must name one file", options_.name));
  }
  table_name_ = section.files[0].name;
  table_length_ = section.files[0].length;
  ASSIGN_OR_RETURN(BudgetTable table, ReadBudgetTable(env_, JoinPath(dir_, table_name_), table_length_));
  rounds_view_->budgets = std::make_shared<const BudgetTable>(std::move(table));
  table_saved_ = true;
  described_ = section;
  return {};
}

}  // namespace portolan
