#include "gate/rules_store.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/hash.h"

namespace portolan {

Result<std::unique_ptr<RulesStore>> RulesStore::Open(Env& env, const Manifest& manifest, const Options& options) {
  std::unique_ptr<RulesStore> store(new RulesStore(env, manifest.dir(), options));
  store->recent_.resize(kShared);
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(options.name, kKind));
  if (section != nullptr) RETURN_IF_ERROR(store->Restore(*section));
  return store;
}

std::string RulesStore::NameOf(const Segment& segment) const {
  return fmt::format("{}-{:06}.rules", options_.name, segment.id);
}

Status RulesStore::Restore(const ManifestSection& section) {
  ASSIGN_OR_RETURN(next_segment_, section.Number("next_segment"));
  ASSIGN_OR_RETURN(log_end_, section.Number("log_end"));
  ASSIGN_OR_RETURN(const uint64_t count, section.Number("segments"));
  const auto corrupt = [&](std::string_view what) {
    return Fail(ErrorCode::kCorrupt, fmt::format("rules store {}: {}", options_.name, what));
  };
  if (count != section.files.size()) return corrupt("as many segments as files");
  uint64_t end = 0;
  for (size_t i = 0; i < section.files.size(); ++i) {
    Segment segment;
    const std::string prefix = fmt::format("segment.{:06}.", i);
    ASSIGN_OR_RETURN(segment.id, section.Number(prefix + "id"));
    ASSIGN_OR_RETURN(const uint64_t begin, section.Number(prefix + "begin"));
    ASSIGN_OR_RETURN(const uint64_t newest, section.Number(prefix + "newest"));
    segment.length = section.files[i].length;
    segment.newest = static_cast<uint32_t>(newest);
    if (begin < end || section.files[i].name != NameOf(segment)) return corrupt("its segments do not follow");
    end = begin + segment.length;
    segments_[begin] = segment;
  }
  if (end > log_end_) return corrupt("its log ends before its last segment");
  // The next Put begins a segment: which rules of the last one may be shared is not known any more.
  described_ = section;
  return {};
}

Status RulesStore::StartSegment() {
  if (writer_) RETURN_IF_ERROR(writer_->Sync());
  writer_.reset();
  std::fill(recent_.begin(), recent_.end(), Shared{});
  Segment segment;
  segment.id = next_segment_;
  ASSIGN_OR_RETURN(BlockFileWriter writer,
                   BlockFileWriter::Create(env_, JoinPath(dir_, NameOf(segment)), FileKind::kRules, Codec::kNone));
  ++next_segment_;
  writer_ = std::move(writer);
  segment.length = writer_->length();
  segments_[log_end_] = segment;
  log_end_ += segment.length;
  return {};
}

Result<uint64_t> RulesStore::Put(std::string_view rules, uint32_t expires) {
  if (const auto opened = RobotsRules::Open(rules); !opened || rules.size() > kMaxBlockPayload) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("rules store {}: not compiled rules", options_.name));
  }
  const uint64_t hash = Hash64(rules);
  const size_t slot = hash % kShared;
  if (writer_ && recent_[slot].position != 0 && recent_[slot].hash == hash) {
    ASSIGN_OR_RETURN(const auto known, Read(recent_[slot].position));
    if (known == rules) {
      static_cast<void>(Keep(recent_[slot].position, rules));
      Segment& last = segments_.rbegin()->second;
      last.newest = std::max(last.newest, expires);
      ++shared_;
      return recent_[slot].position;
    }
  }
  if (!writer_ || writer_->length() >= options_.segment_size) RETURN_IF_ERROR(StartSegment());
  const uint64_t position = log_end_;
  if (position > kMaxPosition) return Fail(ErrorCode::kNoSpace, "rules store: positions of 48 bits are used up");
  RETURN_IF_ERROR(writer_->Append({.kind = kRulesBlock, .records = 1, .plain = rules, .compressible = {}}));
  auto& [begin, last] = *segments_.rbegin();
  last.length = writer_->length();
  last.newest = std::max(last.newest, expires);
  log_end_ = begin + last.length;
  recent_[slot] = {hash, position};
  static_cast<void>(Keep(position, rules));
  return position;
}

Result<std::optional<std::string_view>> RulesStore::Read(uint64_t position) {
  if (const auto known = by_position_.find(position); known != by_position_.end()) return known->second->bytes;
  auto segment = segments_.upper_bound(position);
  if (segment == segments_.begin()) return std::nullopt;
  --segment;
  const uint64_t offset = position - segment->first;
  if (offset < kFileHeaderSize || offset >= segment->second.length) return std::nullopt;
  ++reads_;
  if (!reader_ || reader_segment_ != segment->second.id) {
    BlockFileReader::Options options;
    options.read_ahead = 4096;  // most rules are shorter: one read
    options.length = segment->second.length;
    reader_.reset();
    auto reader = BlockFileReader::Open(env_, JoinPath(dir_, NameOf(segment->second)), FileKind::kRules, options);
    if (!reader) {
      if (reader.error().code() != ErrorCode::kCorrupt) return std::unexpected(std::move(reader).error());
      ++damaged_;
      return std::nullopt;
    }
    reader_ = std::move(*reader);
    reader_segment_ = segment->second.id;
  }
  reader_->Seek(offset, segment->second.length);
  auto block = reader_->Next();
  if (!block) {
    reader_.reset();
    if (block.error().code() != ErrorCode::kCorrupt) return std::unexpected(std::move(block).error());
    ++damaged_;
    return std::nullopt;
  }
  if (!*block || (*block)->kind != kRulesBlock) {
    ++damaged_;
    return std::nullopt;
  }
  return (*block)->payload;
}

const RobotsRules* RulesStore::Keep(uint64_t position, std::string_view bytes) {
  if (const auto known = by_position_.find(position); known != by_position_.end()) {
    opened_.splice(opened_.begin(), opened_, known->second);
    return &known->second->rules;
  }
  opened_.push_front({.position = position, .bytes = std::string(bytes), .rules = {}});
  auto rules = RobotsRules::Open(opened_.front().bytes);
  if (!rules) {
    opened_.pop_front();
    ++damaged_;
    return nullptr;
  }
  opened_.front().rules = *rules;
  by_position_[position] = opened_.begin();
  opened_bytes_ += bytes.size() + kOpenedCost;
  while (opened_bytes_ > options_.memory && opened_.size() > 1) {
    opened_bytes_ -= opened_.back().bytes.size() + kOpenedCost;
    by_position_.erase(opened_.back().position);
    opened_.pop_back();
  }
  return &opened_.front().rules;
}

Result<const RobotsRules*> RulesStore::Get(uint64_t position) {
  ASSIGN_OR_RETURN(const auto bytes, Read(position));
  if (!bytes) return nullptr;
  return Keep(position, *bytes);
}

void RulesStore::RemoveExpired(uint32_t unix_s) {
  for (auto segment = segments_.begin(); segment != segments_.end();) {
    const bool writing = writer_ && std::next(segment) == segments_.end();
    if (writing || uint64_t{segment->second.newest} + options_.slack_s >= unix_s) {
      ++segment;
      continue;
    }
    if (reader_segment_ == segment->second.id) reader_.reset();
    const uint64_t end = segment->first + segment->second.length;
    for (auto opened = opened_.begin(); opened != opened_.end();) {
      const auto next = std::next(opened);
      if (opened->position >= segment->first && opened->position < end) {
        opened_bytes_ -= opened->bytes.size() + kOpenedCost;
        by_position_.erase(opened->position);
        opened_.erase(opened);
      }
      opened = next;
    }
    retired_.push_back(NameOf(segment->second));
    segment = segments_.erase(segment);
  }
}

uint64_t RulesStore::bytes() const {
  uint64_t sum = 0;
  for (const auto& [begin, segment] : segments_) sum += segment.length;
  return sum;
}

Status RulesStore::Flush() {
  if (writer_) RETURN_IF_ERROR(writer_->Sync());
  ManifestSection section;
  section.name = options_.name;
  section.kind = kKind;
  size_t i = 0;
  for (const auto& [begin, segment] : segments_) {
    const std::string prefix = fmt::format("segment.{:06}.", i++);
    section.files.push_back({NameOf(segment), segment.length});
    section.numbers[prefix + "id"] = segment.id;
    section.numbers[prefix + "begin"] = begin;
    section.numbers[prefix + "newest"] = segment.newest;
  }
  section.numbers["segments"] = segments_.size();
  section.numbers["next_segment"] = next_segment_;
  section.numbers["log_end"] = log_end_;
  described_ = std::move(section);
  return {};
}

}  // namespace portolan
