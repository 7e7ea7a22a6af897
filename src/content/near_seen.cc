#include "content/near_seen.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "content/first_capture.h"
#include "content/near_pairs.h"
#include "disk/committed.h"

namespace portolan {
namespace {

constexpr size_t kNearTrailer = 11;

}  // namespace

void EncodeNearPage(const NearPage& page, std::string& out) {
  out.assign(page.url);
  AppendLe(out, page.similarity);
  AppendLe(out, page.depth);
  AppendLe(out, page.type);
}

std::optional<NearPage> DecodeNearPage(std::string_view bytes) {
  if (bytes.size() < kNearTrailer || bytes.size() > kNearTrailer + kMaxFirstUrl) return std::nullopt;
  NearPage page;
  page.url = bytes.substr(0, bytes.size() - kNearTrailer);
  ByteReader in(bytes.substr(page.url.size()));
  if (!in.Read(page.similarity) || !in.Read(page.depth) || !in.Read(page.type) || page.similarity == 0) {
    return std::nullopt;
  }
  return page;
}

NearSeen::NearSeen(const NearSeenOptions& options, std::unique_ptr<DiskQueue> log)
    : options_(options), table_(options.memory), log_(std::move(log)) {}

Result<std::unique_ptr<NearSeen>> NearSeen::Open(Env& env, const Manifest& manifest, const NearSeenOptions& options) {
  if (options.memory < NearTable::kMinMemory) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: {} bytes of memory, at least {} are needed", options.name,
                                                         options.memory, NearTable::kMinMemory));
  }
  const DiskQueue::Options first{
      .name = options.name + ".first",
      .segment_size = std::clamp<uint64_t>(options.memory / 8, uint64_t{1} << 20, uint64_t{64} << 20)};
  ASSIGN_OR_RETURN(auto log, DiskQueue::Open(env, manifest, first));
  std::unique_ptr<NearSeen> seen(new NearSeen(options, std::move(log)));
  RETURN_IF_ERROR(seen->Restore(env, manifest));
  return seen;
}

Status NearSeen::Restore(Env& env, const Manifest& manifest) {
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(options_.name, kKind));
  if (section == nullptr) return {};
  described_ = *section;
  ASSIGN_OR_RETURN(found_, section->Number("found"));
  ASSIGN_OR_RETURN(forgotten_, section->Number("forgotten"));
  ASSIGN_OR_RETURN(const ManifestSection* first, manifest.Find(options_.name + ".first", DiskQueue::kKind));
  if (first == nullptr) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: the manifest has no log of its table", section->name));
  }
  // The table may be smaller than it was: then the oldest leave, now from the table and below from the log.
  uint64_t dropped = 0;
  bool whole = true;
  RETURN_IF_ERROR(ForEachQueued(env, manifest.dir(), *first, [&](std::string_view bytes) {
    const std::optional<NearPage> page = DecodeNearPage(bytes);
    whole = page.has_value();
    if (!whole) return false;
    for (; !table_.Fits(page->url.size()); ++dropped) table_.RemoveOldest();
    table_.Add(*page);
    return true;
  }));
  if (!whole) return Fail(ErrorCode::kCorrupt, fmt::format("{}: a record is not a page", first->name));
  for (; dropped > 0; --dropped) {
    ASSIGN_OR_RETURN(const std::string* bytes, log_->Front());
    if (bytes == nullptr) return Fail(ErrorCode::kCorrupt, fmt::format("{} is too short", first->name));
    log_->PopFront();
    ++forgotten_;
  }
  return {};
}

Status NearSeen::Append(const NearPage& page) {
  EncodeNearPage(page, record_);
  RETURN_IF_ERROR(log_->Append(record_));
  table_.Add(page);
  return {};
}

Status NearSeen::DropOldest() {
  ASSIGN_OR_RETURN(const std::string* bytes, log_->Front());
  const auto logged = bytes == nullptr ? std::nullopt : DecodeNearPage(*bytes);
  if (!logged || *logged != table_.oldest().page()) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}.first: its oldest record is not the table's", options_.name));
  }
  log_->PopFront();
  table_.RemoveOldest();
  return {};
}

Status NearSeen::MakeRoom(size_t url_size) {
  for (int chances = kSecondChances; !table_.Fits(url_size);) {
    const bool stays = table_.oldest().found && chances > 0;
    const std::string url = stays ? table_.oldest().url : std::string();
    NearPage again = table_.oldest().page();
    RETURN_IF_ERROR(DropOldest());
    if (!stays) {
      ++forgotten_;
      continue;
    }
    --chances;
    again.url = url;
    RETURN_IF_ERROR(Append(again));  // it needs no room but its own
  }
  return {};
}

Result<std::optional<NearSeen::Known>> NearSeen::Look(const NearPage& page) {
  if (const NearTable::Entry* const near = table_.Find(page.similarity)) {
    if (near->url == page.url) return std::nullopt;  // the same page again
    ++found_;
    return Known{.url = near->url,
                 .bits = BitsApart(near->similarity, page.similarity),
                 .depth = near->depth,
                 .type = near->type};
  }
  if (page.url.size() > kMaxFirstUrl) return std::nullopt;
  RETURN_IF_ERROR(MakeRoom(page.url.size()));
  RETURN_IF_ERROR(Append(page));
  return std::nullopt;
}

Status NearSeen::Flush() {
  described_.name = options_.name;
  described_.kind = kKind;
  described_.numbers = {{"found", found_}, {"forgotten", forgotten_}};
  return {};
}

}  // namespace portolan
