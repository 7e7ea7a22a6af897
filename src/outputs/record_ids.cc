#include "outputs/record_ids.h"

#include "base/hash.h"

namespace portolan {

Status RecordIds::Add(std::string_view id, const Place& place) {
  if (id.empty()) return {};
  return rows_.Add({Hash64(id), Hash64(id, /*seed=*/1), place.file, place.offset});
}

Result<uint64_t> RecordIds::ForEachRepeat(const std::function<void(const Place& place, const Place& first)>& each) {
  RETURN_IF_ERROR(rows_.Sort());
  uint64_t repeats = 0;
  RowSort::Row first{};
  bool any = false;
  for (RowSort::Row row;;) {
    ASSIGN_OR_RETURN(const bool more, rows_.Next(row));
    if (!more) return repeats;
    if (any && row[0] == first[0] && row[1] == first[1]) {
      ++repeats;
      each({.file = row[2], .offset = row[3]}, {.file = first[2], .offset = first[3]});
    } else {
      first = row;
      any = true;
    }
  }
}

}  // namespace portolan
