#include "budget/trap_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "base/hash.h"

namespace portolan {
namespace {

constexpr uint64_t kProbeSeed = 0x70726f6265;
constexpr uint64_t kAdmitSeed = 0x686f737473;
constexpr uint64_t kSeenTextSeed = 0x74657874;

}  // namespace

Result<std::unique_ptr<TrapTable>> TrapTable::Open(Env& env, const Manifest& manifest, const Options& options) {
  if (options.evidence < kShare || options.evidence > kWindow / 2 || options.least_percent > 100) {
    return Fail(ErrorCode::kInvalidArgument, options.name + ": the bounds of traps are out of range");
  }
  std::unique_ptr<TrapTable> made(new TrapTable(options));
  const auto open = [&](const char* what, uint64_t memory) {
    return GroupCache::Open(env, manifest, {.name = options.name + what, .memory = memory});
  };
  ASSIGN_OR_RETURN(made->groups_, open("-groups", options.memory / 4));
  ASSIGN_OR_RETURN(made->counts_, open("-counts", options.memory / 4));
  ASSIGN_OR_RETURN(made->texts_, open("-texts", options.memory / 2));
  made->any_suspect_ = made->groups_->used() > 0;
  return made;
}

Result<std::unique_ptr<TrapTable>> TrapTable::OpenCommitted(Env& env, const Manifest& manifest, Options options) {
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(options.name + "-groups", GroupCache::kKind));
  options.memory = 4096;
  if (section != nullptr) {
    ASSIGN_OR_RETURN(const uint64_t sets, section->Number("sets"));
    options.memory = 4 * sets * GroupCache::kWays * sizeof(GroupCache::Entry);
  }
  return Open(env, manifest, options);
}

void TrapTable::WillNeed(const UrlShape& shape) const {
  for (const ShapeGroup& group : shape) groups_->WillNeed(group.key);
}

TrapVerdict TrapTable::Judge(const UrlShape& shape) const {
  TrapVerdict verdict;
  WillNeed(shape);
  for (size_t i = 0; i < shape.count; ++i) {
    const GroupCache::Entry* const entry = groups_->Find(shape.groups[i].key);
    if (entry == nullptr || !Known(*entry)) continue;
    const bool suspect = Suspect(*entry);
    // A name that is good says nothing about the others.
    if (shape.groups[i].level == ShapeLevel::kName && !suspect) continue;
    verdict.suspect = suspect;
    verdict.known = true;
    verdict.group = i;
    verdict.seen = entry->first;
    verdict.points = entry->second;
    verdict.price = std::clamp<uint32_t>(kNew * (entry->first + 1U) / (entry->second + kNew), 1, kMaxPrice);
    return verdict;
  }
  return verdict;
}

bool TrapTable::Probe(const UrlShape& shape, const TrapVerdict& verdict) {
  GroupCache::Entry& entry = counts_->Touch(Mix64(shape.groups[verdict.group].key ^ kProbeSeed));
  const uint32_t count = entry.number();
  if (count == UINT32_MAX) return false;
  entry.set_number(count + 1);
  return count + 1 >= kFirstProbe && std::has_single_bit(count + 1);
}

bool TrapTable::AdmitHost(const UrlShape& shape) {
  const GroupCache::Entry* const host = groups_->Find(HostOf(shape));
  if (host != nullptr && host->first > 0) return true;
  const uint64_t mark = Mix64(HostOf(shape) ^ kAdmitSeed);
  if (const GroupCache::Entry* const known = counts_->Find(mark); known != nullptr && known->number() != 0) return true;
  GroupCache::Entry& domain = counts_->Touch(Mix64(DomainOf(shape) ^ kAdmitSeed));
  if (domain.first >= kFreeHosts + kHostsPerHost * uint32_t{domain.second}) return false;
  if (++domain.first == UINT16_MAX) {
    domain.first /= 2;
    domain.second /= 2;
  }
  counts_->Touch(mark).set_number(1);
  return true;
}

void TrapTable::GiveHostBack(const UrlShape& shape) {
  const GroupCache::Entry* const host = groups_->Find(HostOf(shape));
  if (host != nullptr && host->first > 0) return;
  const uint64_t mark = Mix64(HostOf(shape) ^ kAdmitSeed);
  const GroupCache::Entry* const known = counts_->Find(mark);
  if (known == nullptr || known->number() != 1) return;
  counts_->Touch(mark).set_number(2);
  GroupCache::Entry& domain = counts_->Touch(Mix64(DomainOf(shape) ^ kAdmitSeed));
  if (domain.first > 0) --domain.first;
}

bool TrapTable::IsNew(uint64_t domain_key, uint64_t fingerprint, uint64_t similarity) {
  const uint64_t bytes_key = Mix64(fingerprint ^ kSeenTextSeed);
  // Two texts that differ in three bits are equal in at least one quarter. An entry is found by one quarter, and holds
  // the low half of what is left; the quarter and these 32 bits are compared.
  std::array<uint64_t, 4> keys{};
  for (int quarter = 0; quarter < 4; ++quarter) {
    const uint64_t turned = std::rotr(similarity, 16 * quarter);
    uint64_t& key = keys[static_cast<size_t>(quarter)];
    key = Mix64(Mix64(domain_key ^ (kSeenTextSeed + 1 + static_cast<uint64_t>(quarter))) ^ (turned & 0xffff));
    if (similarity != 0) texts_->WillNeed(key);
  }
  bool seen = false;
  if (fingerprint != 0) {
    GroupCache::Entry& entry = texts_->Touch(bytes_key);
    seen = entry.first != 0;
    entry.first = 1;
  }
  if (similarity == 0) return !seen;
  for (int quarter = 0; quarter < 4; ++quarter) {
    const auto rest = static_cast<uint32_t>(std::rotr(similarity, 16 * quarter) >> 16);
    GroupCache::Entry& entry = texts_->Touch(keys[static_cast<size_t>(quarter)]);
    if (entry.number() != 0 && std::popcount(entry.number() ^ rest) <= kNearBits) {
      seen = true;  // the older one stays, so that a row of small steps does not lead away from it
    } else {
      entry.set_number(rest == 0 ? 1 : rest);
    }
  }
  return !seen;
}

TrapTable::Effect TrapTable::Observe(const UrlShape& shape, bool is_new) {
  bool recovers = false;
  bool first_of_host = false;
  if (is_new) {
    const GroupCache::Entry* const host = groups_->Find(HostOf(shape));
    first_of_host = host == nullptr || host->first == 0;
  }
  if (first_of_host) {
    GroupCache::Entry& domain = counts_->Touch(Mix64(DomainOf(shape) ^ kAdmitSeed));
    if (domain.second < UINT16_MAX) ++domain.second;
  }
  const auto count = [&](uint64_t key) {
    GroupCache::Entry& entry = groups_->Touch(key);
    const uint32_t before = entry.first;
    if (is_new && Suspect(entry)) {
      recovers = true;
      counts_->Touch(Mix64(key ^ kProbeSeed)).set_number(0);
    }
    ++entry.first;
    if (is_new) entry.second = static_cast<uint16_t>(std::min<uint32_t>(entry.second + kNew, UINT16_MAX));
    if (entry.first >= kWindow) {
      entry.first /= 2;
      entry.second /= 2;
    }
    any_suspect_ = any_suspect_ || Suspect(entry);
    return before;
  };
  const bool whole_known = count(shape.whole().key) >= kShare;
  bool open = !whole_known;
  for (size_t i = 1; i < shape.count; ++i) {
    if (shape.groups[i].level == ShapeLevel::kName) {
      if (!whole_known) count(shape.groups[i].key);
    } else if (open) {
      open = count(shape.groups[i].key) < kShare;
    }
  }
  return recovers ? Effect::kRecovers : first_of_host ? Effect::kNewHost : Effect::kNone;
}

bool TrapTable::Credit(const UrlShape& shape) {
  bool recovers = false;
  for (const ShapeGroup& group : shape) {
    // Only where its fetches are counted: a wide group has few of them.
    const GroupCache::Entry* const known = groups_->Find(group.key);
    if (known == nullptr || known->first == 0) continue;
    if (group.level == ShapeLevel::kHost || group.level == ShapeLevel::kDomain) continue;
    GroupCache::Entry& entry = groups_->Touch(group.key);
    recovers = recovers || Suspect(entry);
    if (entry.second < UINT16_MAX) ++entry.second;
  }
  return recovers;
}

}  // namespace portolan
