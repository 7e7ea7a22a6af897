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
  entries_.push_front({.origin = origin, .original = 0, .name = {}});
  index_.emplace(origin, entries_.begin());
  return entries_.front();
}

void MirrorTable::Fade(Entry& entry) {
  if (entry.pages < kWindow) return;
  entry.pages /= 2;
  entry.equal = std::min(entry.equal / 2, entry.pages);
  entry.copies = std::min(entry.copies / 2, entry.pages);
}

// One more page that is equal to its counterpart. Another original takes over when the first one's evidence is gone.
void MirrorTable::NoteEqual(Entry& entry, std::string_view original) {
  const uint64_t hash = key_.Hash(original);
  if (entry.original != hash) {
    if (entry.equal > 0) {
      --entry.equal;
      return;
    }
    entry.original = hash;
    entry.name.clear();
  }
  if (entry.name.empty()) entry.name = original;
  entry.equal = std::min(entry.equal + 1, entry.pages);
}

void MirrorTable::Observe(std::string_view url, std::string_view first, bool known) {
  const std::string_view mine = OriginOf(url);
  const uint64_t me = key_.Hash(mine);
  if (first.empty()) {
    if (Entry* const entry = Find(me)) {
      ++entry->pages;
      Fade(*entry);
    }
    return;
  }
  if (first == url) return;  // the same page again
  const std::string_view theirs = OriginOf(first);
  const bool equal = mine != theirs && PathAndQueryOf(url) == PathAndQueryOf(first);
  Entry& entry = Touch(me);
  if (!known || entry.pages == 0) ++entry.pages;
  entry.copies = std::min(entry.copies + 1, entry.pages);
  if (equal) NoteEqual(entry, theirs);
  Fade(entry);
  if (!equal) return;
  // The counterpart was fetched earlier, as a page with new content.
  Entry& other = Touch(key_.Hash(theirs));
  if (other.equal == other.pages) ++other.pages;  // it was not counted: its entry is younger
  NoteEqual(other, mine);
  Fade(other);
}

// Of two that would be mirrors of each other, the one with more copies is: most of its pages came second.
bool MirrorTable::IsMirror(const Entry& entry) const {
  if (!entry.Enough() || entry.name.empty()) return false;
  const auto found = index_.find(entry.original);
  if (found == index_.end() || !found->second->Enough()) return true;
  const Entry& other = *found->second;
  if (other.original != entry.origin) return false;  // that one is a mirror of a third
  return std::pair(entry.copies, entry.origin) > std::pair(other.copies, other.origin);
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
    put("pages", entry.pages);
    put("equal", entry.equal);
    put("copies", entry.copies);
    ++count;
  }
  described_.numbers["origins"] = count;
  return {};
}

}  // namespace portolan
