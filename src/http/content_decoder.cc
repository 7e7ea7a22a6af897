#include "http/content_decoder.h"

#include <algorithm>

namespace portolan {
namespace {

// Room that a stage is given at a time: large enough that calls cost nothing, small enough to stay in the cache.
constexpr size_t kStep = size_t{64} << 10;
constexpr size_t kPiece = size_t{4} << 10;  // of input between two looks at the ratio

}  // namespace

std::string_view DecodeOutcomeName(DecodeOutcome outcome) {
  switch (outcome) {
    case DecodeOutcome::kGoing:
      return "going";
    case DecodeOutcome::kWhole:
      return "whole";
    case DecodeOutcome::kTruncated:
      return "truncated";
    case DecodeOutcome::kCorrupt:
      return "corrupt";
    case DecodeOutcome::kChecksum:
      return "checksum";
    case DecodeOutcome::kTooLarge:
      return "too-large";
    case DecodeOutcome::kBomb:
      return "bomb";
    case DecodeOutcome::kUnsupported:
      return "unsupported";
  }
  return "unknown";
}

void ContentDecoder::Restart(const CodingStack& stack, const DecodeLimits& limits) {
  const bool same_window = limits.zstd_window_log == limits_.zstd_window_log;
  limits_ = limits;
  outcome_ = DecodeOutcome::kGoing;
  bytes_in_ = bytes_out_ = 0;
  std::vector<Level> old;
  std::swap(old, levels_);
  if (!stack.supported()) {
    outcome_ = DecodeOutcome::kUnsupported;
    return;
  }
  const auto codings = stack.codings();
  for (auto coding = codings.rbegin(); coding != codings.rend(); ++coding) {
    const size_t at = levels_.size();
    const bool keep = at < old.size() && old[at].coding == *coding && same_window && old[at].stage->Restart();
    levels_.push_back(
        Level{.coding = *coding,
              .stage = keep ? std::move(old[at].stage) : DecodeStage::Create(*coding, limits.zstd_window_log),
              .buffer = nullptr});
  }
  for (size_t i = 0; i + 1 < levels_.size(); ++i) levels_[i].buffer = std::make_unique_for_overwrite<char[]>(kStep);
}

bool ContentDecoder::WithinLimits(uint64_t out_bytes) {
  if (out_bytes > limits_.max_output) {
    outcome_ = DecodeOutcome::kTooLarge;
  } else if (out_bytes >= limits_.ratio_from &&
             static_cast<double>(out_bytes) > limits_.max_ratio * static_cast<double>(bytes_in_)) {
    outcome_ = DecodeOutcome::kBomb;
  }
  return outcome_ == DecodeOutcome::kGoing;
}

void ContentDecoder::Note(StageStatus status) {
  if (outcome_ != DecodeOutcome::kGoing) return;
  if (status == StageStatus::kCorrupt) outcome_ = DecodeOutcome::kCorrupt;
  if (status == StageStatus::kChecksum) outcome_ = DecodeOutcome::kChecksum;
}

void ContentDecoder::PushLast(Level& last, std::string_view in, std::string& out) {
  for (;;) {
    // One byte past the limit tells "exactly the limit" from "too large".
    const uint64_t allowed = limits_.max_output + 1 - std::min(last.out, limits_.max_output);
    const size_t old_size = out.size();
    const size_t spare = std::max(out.capacity() - old_size, kStep);
    const auto room = static_cast<size_t>(std::min<uint64_t>(std::min(spare, 4 * kStep), allowed));
    size_t written = 0;
    StageStatus status = StageStatus::kCorrupt;
    if (out.capacity() - old_size < room) out.reserve(std::max(old_size + room, out.capacity() * 2));
    out.resize_and_overwrite(old_size + room, [&](char* data, size_t) {
      status = last.stage->Run(in, data + old_size, room, written);
      return old_size + written;
    });
    last.out += written;
    bytes_out_ = last.out;
    if (!WithinLimits(last.out)) {
      if (last.out > limits_.max_output) {
        out.resize(out.size() - (last.out - limits_.max_output));
        bytes_out_ = last.out = limits_.max_output;
      }
      return;
    }
    Note(status);
    if (status != StageStatus::kNeedsRoom) return;
  }
}

void ContentDecoder::Push(size_t index, std::string_view in, std::string& out) {
  Level& level = levels_[index];
  if (index + 1 == levels_.size()) return PushLast(level, in, out);
  for (;;) {
    size_t written = 0;
    const StageStatus status = level.stage->Run(in, level.buffer.get(), kStep, written);
    level.out += written;
    if (!WithinLimits(level.out)) return;
    if (written != 0) Push(index + 1, std::string_view(level.buffer.get(), written), out);
    Note(status);
    if (outcome_ != DecodeOutcome::kGoing || status != StageStatus::kNeedsRoom) return;
  }
}

DecodeOutcome ContentDecoder::Feed(std::string_view in, std::string& out) {
  if (outcome_ != DecodeOutcome::kGoing || in.empty()) return outcome_;
  if (!levels_.empty()) {
    // By pieces, so that the ratio is that of the bytes which were used.
    while (outcome_ == DecodeOutcome::kGoing && !in.empty()) {
      const std::string_view piece = in.substr(0, kPiece);
      in.remove_prefix(piece.size());
      bytes_in_ += piece.size();
      Push(0, piece, out);
    }
    return outcome_;
  }
  bytes_in_ += in.size();
  const size_t taken = static_cast<size_t>(std::min<uint64_t>(in.size(), limits_.max_output - bytes_out_));
  out.append(in.substr(0, taken));
  bytes_out_ += taken;
  if (taken != in.size()) outcome_ = DecodeOutcome::kTooLarge;
  return outcome_;
}

DecodeOutcome ContentDecoder::Finish(std::string& /*out*/) {
  if (outcome_ != DecodeOutcome::kGoing) return outcome_;
  // A body without a byte is whole in any coding: what servers send with 204s and redirects.
  const bool whole = bytes_in_ == 0 || std::all_of(levels_.begin(), levels_.end(),
                                                   [](const Level& level) { return level.stage->MayEnd(); });
  return outcome_ = whole ? DecodeOutcome::kWhole : DecodeOutcome::kTruncated;
}

bool ContentDecoder::trailing_bytes() const {
  return std::any_of(levels_.begin(), levels_.end(), [](const Level& level) { return level.stage->trailing_bytes(); });
}

DecodedBody DecodeBody(std::string_view body, const CodingStack& stack, const DecodeLimits& limits) {
  ContentDecoder decoder(stack, limits);
  DecodedBody decoded;
  decoder.Feed(body, decoded.bytes);
  decoded.outcome = decoder.Finish(decoded.bytes);
  decoded.trailing_bytes = decoder.trailing_bytes();
  return decoded;
}

}  // namespace portolan
