#include "content/near_groups.h"

#include <algorithm>
#include <utility>

namespace portolan {

NearGroups::NearGroups(Env& env, const Options& options) : env_(env), options_(options), pairs_(MakePairs()) {}

std::unique_ptr<NearGroups::Pairs> NearGroups::MakePairs() const {
  return std::make_unique<Pairs>(env_, RowSortOptions{.dir = options_.dir, .memory = options_.memory / 2});
}

Status NearGroups::Add(uint64_t a, uint64_t b) {
  if (a == b) return {};
  RETURN_IF_ERROR(pairs_->Add({a, b}));
  return pairs_->Add({b, a});
}

Status NearGroups::Merge() {
  for (bool changed = true; changed;) {
    changed = false;
    ++rounds_;
    auto stars = MakePairs();
    RETURN_IF_ERROR(LargeStar(*pairs_, *stars, changed));
    pairs_ = MakePairs();
    RETURN_IF_ERROR(SmallStar(*stars, *pairs_, changed));
    if (!changed) pairs_ = std::move(stars);
  }
  return Rewind();
}

// From pairs in both directions to pairs (larger, smaller).
Status NearGroups::LargeStar(Pairs& from, Pairs& to, bool& changed) const {
  RETURN_IF_ERROR(from.Sort());
  Pairs::Row last{};
  uint64_t least = 0;
  bool any = false;
  for (Pairs::Row row;;) {
    ASSIGN_OR_RETURN(const bool more, from.Next(row));
    if (!more) return {};
    if (any && row == last) continue;
    if (!any || row[0] != last[0]) least = std::min(row[0], row[1]);
    any = true;
    last = row;
    if (row[1] < row[0]) continue;
    changed = changed || least != row[0];
    RETURN_IF_ERROR(to.Add({row[1], least}));
  }
}

// From pairs (larger, smaller) to pairs in both directions.
Status NearGroups::SmallStar(Pairs& from, Pairs& to, bool& changed) const {
  RETURN_IF_ERROR(from.Sort());
  Pairs::Row last{};
  uint64_t least = 0;
  bool any = false;
  for (Pairs::Row row;;) {
    ASSIGN_OR_RETURN(const bool more, from.Next(row));
    if (!more) return {};
    if (any && row == last) continue;
    const bool first = !any || row[0] != last[0];
    any = true;
    last = row;
    if (first) least = row[1];
    changed = changed || !first;
    const uint64_t number = first ? row[0] : row[1];
    RETURN_IF_ERROR(to.Add({number, least}));
    RETURN_IF_ERROR(to.Add({least, number}));
  }
}

Result<bool> NearGroups::Next(Member& member) {
  for (Pairs::Row row;;) {
    ASSIGN_OR_RETURN(const bool more, pairs_->Next(row));
    if (!more) return false;
    if (any_ && row == last_) continue;
    any_ = true;
    last_ = row;
    member = {.number = row[0], .first = row[1]};
    return true;
  }
}

Status NearGroups::Rewind() {
  any_ = false;
  return pairs_->Rewind();
}

}  // namespace portolan
