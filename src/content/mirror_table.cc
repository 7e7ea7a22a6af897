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
    ASSIGN_OR_RETURN(const uint64_t differing, number("differing"));
    ASSIGN_OR_RETURN(const uint64_t copies, number("copies"));
    if (pages > kWindow || equal > kWindow || differing > kWindow || copies > pages ||
        table->Find(entry.origin) != nullptr) {
      return Fail(ErrorCode::kCorrupt, fmt::format("{}: entry {} is not possible", name, i));
    }
    entry.pages = static_cast<uint32_t>(pages);
    entry.equal = static_cast<uint32_t>(equal);
    entry.differing = static_cast<uint32_t>(differing);
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

void MirrorTable::NoteEqual(Entry& entry, const Entry& older, std::string_view name) {
  // The original of an original is meant, as soon as there is some evidence for it.
  const Entry* original = &older;
  if (older.original != 0 && older.equal >= kSaved && !older.name.empty()) {
    const Entry* const further = Find(older.original);
    if (further != nullptr && further->number < older.number && further != &entry) {
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
    entry.differing = 0;
    entry.name.clear();
  }
  if (entry.name.empty()) entry.name = name;
  ++entry.equal;
  if (entry.equal + entry.differing < kWindow) return;
  entry.equal /= 2;
  entry.differing /= 2;
}

void MirrorTable::NoteDiffering(Entry& entry) {
  entry.differing = std::min(kWindow, entry.differing + (IsMirror(entry) ? kSampleWeight : 1));
}

void MirrorTable::CompareWithOriginal(Entry& entry, const Page& page) {
  if (entry.name.empty() || page.payload == 0) return;
  const uint64_t counterpart = key_.Hash(entry.name + std::string(PathAndQueryOf(page.url)));
  const uint64_t known = RecentSlot(counterpart);
  if (known >> 32 == counterpart >> 32 && known != Recent(counterpart, page.payload)) NoteDiffering(entry);
}

void MirrorTable::Observe(const Page& page) {
  const std::string_view mine = OriginOf(page.url);
  const uint64_t me = key_.Hash(mine);
  if (page.payload != 0) {
    const uint64_t url = key_.Hash(page.url);
    RecentSlot(url) = Recent(url, page.payload);
  }
  if (page.first == page.url) return;  // the same page again
  const std::string_view theirs = OriginOf(page.first);
  const bool equal = !page.first.empty() && mine != theirs && PathAndQueryOf(page.url) == PathAndQueryOf(page.first);
  if (equal) Touch(key_.Hash(theirs));  // before this one: it was met earlier
  Entry* const entry = page.first.empty() ? Find(me) : &Touch(me);
  if (entry == nullptr) return;
  if (!page.known || entry->pages == 0) ++entry->pages;
  if (!page.first.empty()) entry->copies = std::min(entry->copies + 1, entry->pages);
  if (entry->pages >= kWindow) {
    entry->pages /= 2;
    entry->copies = std::min(entry->copies / 2, entry->pages);
  }
  if (!equal) return CompareWithOriginal(*entry, page);
  Entry& other = Touch(key_.Hash(theirs));
  // What is known of the two decides who is older, so that a restart does not turn them round.
  const bool older =
      entry->original == other.origin || (other.original != entry->origin && other.number < entry->number);
  if (older) {
    NoteEqual(*entry, other, theirs);
  } else {
    NoteEqual(other, *entry, mine);
  }
}

void MirrorTable::NoteMissing(std::string_view url) {
  if (Entry* const entry = Find(key_.Hash(OriginOf(url)))) NoteDiffering(*entry);
}

void MirrorTable::NoteNear(std::string_view url) {
  Entry& entry = Touch(key_.Hash(OriginOf(url)));
  entry.pages = std::max(entry.pages, 1U);
  entry.copies = std::min(entry.copies + 1, entry.pages);
}

void MirrorTable::NoteGone(std::string_view url) {
  const uint64_t hash = key_.Hash(url);
  RecentSlot(hash) = Recent(hash, kGone);
}

bool MirrorTable::IsGone(std::string_view url) {
  const uint64_t hash = key_.Hash(url);
  return RecentSlot(hash) == Recent(hash, kGone);
}

std::optional<MirrorTable::Mirror> MirrorTable::MirrorOf(std::string_view url) {
  const Entry* const entry = Find(key_.Hash(OriginOf(url)));
  if (entry == nullptr || !IsMirror(*entry)) return std::nullopt;
  return Mirror{.original = entry->name,
                .sample = entry->equal + entry->differing < kSure ? kSampleOften : kSampleRarely};
}

bool MirrorTable::MostlyCopies(std::string_view url) const {
  constexpr uint32_t kEnough = 32;
  const auto found = index_.find(key_.Hash(OriginOf(url)));
  return found != index_.end() && found->second->pages >= kEnough &&
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
    put("differing", entry.differing);
    put("copies", entry.copies);
    ++count;
  }
  described_.numbers["origins"] = count;
  return {};
}

}  // namespace portolan
