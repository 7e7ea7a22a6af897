#include "content/mirror_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "flow/url_record.h"

namespace portolan {

Result<std::unique_ptr<MirrorTable>> MirrorTable::Open(const Manifest& manifest, const std::string& name,
                                                       const HashKey& key) {
  std::unique_ptr<MirrorTable> table(new MirrorTable(name, key));
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(name, kKind));
  if (section == nullptr) return table;
  table->described_ = *section;
  ASSIGN_OR_RETURN(const uint64_t count, section->Number("origins"));
  if (count > kMaxSaved) return Fail(ErrorCode::kCorrupt, fmt::format("{}: {} origins", name, count));
  for (uint64_t i = 0; i < count; ++i) {
    Entry entry;
    const auto number = [&](std::string_view what) { return section->Number(fmt::format("mirror.{}.{}", i, what)); };
    ASSIGN_OR_RETURN(entry.origin, number("origin"));
    ASSIGN_OR_RETURN(entry.original, number("original"));
    ASSIGN_OR_RETURN(entry.number, number("number"));
    ASSIGN_OR_RETURN(const uint64_t pages, number("pages"));
    ASSIGN_OR_RETURN(const uint64_t equal, number("equal"));
    ASSIGN_OR_RETURN(const uint64_t copies, number("copies"));
    if (pages > kWindow || equal > pages || copies > pages || table->Find(entry.origin) != nullptr) {
      return Fail(ErrorCode::kCorrupt, fmt::format("{}: entry {} is not possible", name, i));
    }
    entry.pages = static_cast<uint32_t>(pages);
    entry.equal = static_cast<uint32_t>(equal);
    entry.copies = static_cast<uint32_t>(copies);
    const uint64_t origin = entry.origin;
    table->next_number_ = std::max(table->next_number_, entry.number + 1);
    table->entries_.push_back(std::move(entry));
    table->index_.emplace(origin, std::prev(table->entries_.end()));
  }
  return table;
}

MirrorTable::Entry* MirrorTable::Find(uint64_t origin) {
  const auto found = index_.find(origin);
  return found == index_.end() ? nullptr : &*found->second;
}

MirrorTable::Entry& MirrorTable::Touch(uint64_t origin) {
  if (const auto found = index_.find(origin); found != index_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
    return entries_.front();
  }
  if (entries_.size() >= kMaxOrigins) {
    index_.erase(entries_.back().origin);
    entries_.pop_back();
    ++dropped_;
  }
  entries_.push_front({.origin = origin, .original = 0, .number = next_number_++, .name = {}});
  index_.emplace(origin, entries_.begin());
  return entries_.front();
}

void MirrorTable::Fade(Entry& entry) {
  if (entry.pages < kWindow) return;
  entry.pages /= 2;
  entry.equal = std::min(entry.equal / 2, entry.pages);
  entry.copies = std::min(entry.copies / 2, entry.pages);
}

void MirrorTable::NoteEqual(Entry& entry, const Entry& older, std::string_view name, bool counted) {
  // The original of an original is meant, as soon as there is some evidence for it.
  const Entry* original = &older;
  if (older.original != 0 && older.equal >= kSaved) {
    const Entry* const further = Find(older.original);
    if (further != nullptr && further->number < older.number && !older.name.empty()) {
      original = further;
      name = older.name;
    }
  }
  if (entry.original != original->origin) {
    // Another one takes over when the evidence for the first is gone.
    if (entry.equal > 0) {
      --entry.equal;
      return;
    }
    entry.original = original->origin;
    entry.name.clear();
  }
  if (entry.name.empty()) entry.name = name;
  if (!counted && entry.equal == entry.pages) ++entry.pages;  // it was fetched before the entry was made
  entry.equal = std::min(entry.equal + 1, entry.pages);
}

void MirrorTable::Observe(std::string_view url, std::string_view first, bool known) {
  const std::string_view mine = OriginOf(url);
  const uint64_t me = key_.Hash(mine);
  if (first.empty()) {
    if (Entry* const entry = Find(me)) {
      entry->pages += IsMirror(*entry) ? kSampleWeight : 1;
      Fade(*entry);
    }
    return;
  }
  if (first == url) return;  // the same page again
  const std::string_view theirs = OriginOf(first);
  const bool equal = mine != theirs && PathAndQueryOf(url) == PathAndQueryOf(first);
  if (equal) Touch(key_.Hash(theirs));  // before this one: it was met earlier
  Entry& entry = Touch(me);
  if (!known || entry.pages == 0) ++entry.pages;
  entry.copies = std::min(entry.copies + 1, entry.pages);
  if (equal) {
    Entry& other = Touch(key_.Hash(theirs));
    if (other.number < entry.number) {
      NoteEqual(entry, other, theirs, /*counted=*/true);
    } else {
      NoteEqual(other, entry, mine, /*counted=*/false);
      Fade(other);
    }
  }
  Fade(entry);
}

std::string_view MirrorTable::OriginalOf(std::string_view url) {
  const Entry* const entry = Find(key_.Hash(OriginOf(url)));
  return entry != nullptr && IsMirror(*entry) ? std::string_view(entry->name) : std::string_view();
}

bool MirrorTable::MostlyCopies(std::string_view url) const {
  const auto found = index_.find(key_.Hash(OriginOf(url)));
  return found != index_.end() && found->second->pages >= kLeast &&
         8 * uint64_t{found->second->copies} >= 7 * uint64_t{found->second->pages};
}

uint64_t MirrorTable::mirrors() const {
  return static_cast<uint64_t>(std::ranges::count_if(entries_, [&](const Entry& entry) { return IsMirror(entry); }));
}

Status MirrorTable::Flush() {
  described_.name = name_;
  described_.kind = kKind;
  described_.numbers.clear();
  uint64_t count = 0;
  for (const Entry& entry : entries_) {
    if (entry.equal < kSaved) continue;
    if (count == kMaxSaved) break;
    const auto put = [&](std::string_view what, uint64_t value) {
      described_.numbers[fmt::format("mirror.{}.{}", count, what)] = value;
    };
    put("origin", entry.origin);
    put("original", entry.original);
    put("number", entry.number);
    put("pages", entry.pages);
    put("equal", entry.equal);
    put("copies", entry.copies);
    ++count;
  }
  described_.numbers["origins"] = count;
  return {};
}

}  // namespace portolan
