#include "crawl/end_counts.h"

#include <fmt/core.h>

namespace portolan {
namespace {

// True if STAR may have room later.
bool MayWait(const Error& error) { return error.code() == ErrorCode::kBusy || error.code() == ErrorCode::kNoSpace; }

}  // namespace

Result<std::unique_ptr<EndCounts>> EndCounts::Open(const Manifest& manifest, const std::string& name) {
  auto made = std::make_unique<EndCounts>();
  made->name_ = name;
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(name, kKind));
  if (section == nullptr) return made;
  ASSIGN_OR_RETURN(made->dropped_, section->Number("dropped"));
  ASSIGN_OR_RETURN(const uint64_t domains, section->Number("domains"));
  if (domains > kMaxDomains) return Fail(ErrorCode::kCorrupt, fmt::format("{}: {} domains", name, domains));
  for (uint64_t i = 0; i < domains; ++i) {
    ASSIGN_OR_RETURN(const uint64_t pld, section->Number(fmt::format("end.{}.pld", i)));
    ASSIGN_OR_RETURN(const uint64_t fetched, section->Number(fmt::format("end.{}.fetched", i)));
    ASSIGN_OR_RETURN(const uint64_t failed, section->Number(fmt::format("end.{}.failed", i)));
    made->waiting_[pld] = {static_cast<uint32_t>(fetched), static_cast<uint32_t>(failed)};
  }
  return made;
}

void EndCounts::Add(Star& star, uint64_t pld, bool fetched) {
  // If others wait already, STAR would refuse this one too.
  if (waiting_.empty() && star.CountEnd(pld, fetched)) return;
  auto found = waiting_.find(pld);
  if (found == waiting_.end()) {
    if (waiting_.size() >= kMaxDomains) {
      ++dropped_;
      return;
    }
    found = waiting_.emplace(pld, Ends{}).first;
  }
  ++(fetched ? found->second.fetched : found->second.failed);
}

Status EndCounts::Pass(Star& star) {
  while (!waiting_.empty()) {
    const auto& [pld, ends] = *waiting_.begin();
    if (const Status status = star.CountEnds(pld, ends.fetched, ends.failed); !status) {
      return MayWait(status.error()) ? Status() : status;
    }
    waiting_.erase(waiting_.begin());
  }
  return {};
}

Status EndCounts::Flush() {
  ManifestSection section;
  section.name = name_;
  section.kind = kKind;
  section.numbers = {{"domains", waiting_.size()}, {"dropped", dropped_}};
  size_t i = 0;
  for (const auto& [pld, ends] : waiting_) {
    section.numbers[fmt::format("end.{}.pld", i)] = pld;
    section.numbers[fmt::format("end.{}.fetched", i)] = ends.fetched;
    section.numbers[fmt::format("end.{}.failed", i)] = ends.failed;
    ++i;
  }
  described_ = std::move(section);
  return {};
}

}  // namespace portolan
