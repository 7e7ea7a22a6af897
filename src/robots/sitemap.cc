#include "robots/sitemap.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"
#include "robots/sitemap_reader.h"

namespace portolan {
namespace {

constexpr std::string_view kSitemapBlanks = " \t\r\n\f\v";
constexpr std::string_view kBom = "\xef\xbb\xbf";
constexpr std::string_view kUtf16Le = "\xff\xfe";
constexpr std::string_view kUtf16Be = "\xfe\xff";

}  // namespace

std::string_view SitemapKindName(SitemapKind kind) {
  constexpr std::array<std::string_view, 6> kNames = {"unknown", "urlset", "index", "text", "rss", "atom"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view SitemapOutcomeName(SitemapOutcome outcome) {
  constexpr std::array<std::string_view, 10> kNames = {"going",    "whole",     "malformed",  "hostile",    "too-deep",
                                                       "too-many", "too-large", "bad-coding", "no-sitemap", "stopped"};
  return kNames[static_cast<size_t>(outcome)];
}

bool SitemapParser::Reader::Emit(SitemapEntry& entry) {
  const size_t from = entry.url.find_first_not_of(kSitemapBlanks);
  if (from == std::string::npos) return true;
  entry.url.erase(entry.url.find_last_not_of(kSitemapBlanks) + 1);
  entry.url.erase(0, from);
  if (entry.url.size() > limits_.max_url) return true;
  if (entries_ == limits_.max_entries) {
    outcome_ = SitemapOutcome::kTooMany;
    return false;
  }
  ++entries_;
  if (!on_entry_(entry)) outcome_ = SitemapOutcome::kStopped;
  return outcome_ == SitemapOutcome::kGoing;
}

// One URL per line; other lines are skipped.
class SitemapParser::TextReader final : public SitemapParser::Reader {
 public:
  TextReader(const SitemapLimits& limits, const std::function<bool(SitemapEntry&)>& on_entry)
      : Reader(limits, on_entry) {
    kind_ = SitemapKind::kText;
  }

  SitemapOutcome Feed(std::string_view bytes) override {
    while (!bytes.empty() && outcome_ == SitemapOutcome::kGoing) {
      const size_t end = bytes.find_first_of("\r\n");
      const std::string_view piece = bytes.substr(0, end);
      const size_t room = limits_.max_url + kMaxBlanks - line_.size();
      too_long_ = too_long_ || piece.size() > room;
      line_ += piece.substr(0, room);
      if (end == std::string_view::npos) break;
      EndLine();
      bytes.remove_prefix(end + 1);
    }
    return outcome_;
  }

  SitemapOutcome Finish() override {
    if (outcome_ == SitemapOutcome::kGoing) EndLine();
    if (outcome_ == SitemapOutcome::kGoing) {
      outcome_ = entries_ > 0 ? SitemapOutcome::kWhole : SitemapOutcome::kNoSitemap;
    }
    return outcome_;
  }

 private:
  static constexpr size_t kMaxBlanks = 256;  // around a URL

  void EndLine() {
    SitemapEntry entry;
    const bool too_long = std::exchange(too_long_, false);
    std::swap(entry.url, line_);
    const std::string_view line =
        std::string_view(entry.url).substr(std::min(entry.url.find_first_not_of(kSitemapBlanks), entry.url.size()));
    if (too_long) return;
    if (StartsWithIgnoringCase(line, "http://") || StartsWithIgnoringCase(line, "https://")) Emit(entry);
  }

  std::string line_;
  bool too_long_ = false;
};

std::unique_ptr<SitemapParser::Reader> SitemapParser::Reader::CreateText(
    const SitemapLimits& limits, const std::function<bool(SitemapEntry&)>& on_entry) {
  return std::make_unique<TextReader>(limits, on_entry);
}

SitemapParser::SitemapParser(const SitemapLimits& limits, std::function<bool(SitemapEntry&)> on_entry)
    : limits_(limits), on_entry_(std::move(on_entry)) {}

SitemapParser::~SitemapParser() = default;

SitemapKind SitemapParser::kind() const { return reader_ ? reader_->kind() : SitemapKind::kUnknown; }

size_t SitemapParser::entries() const { return reader_ ? reader_->entries() : 0; }

// Decoded bytes. The reader is chosen by the first byte that is neither a blank nor a byte order mark.
void SitemapParser::Read(std::string_view decoded) {
  bytes_ += decoded.size();
  if (bytes_ > limits_.max_bytes) {
    decoded.remove_suffix(std::min<uint64_t>(bytes_ - limits_.max_bytes, decoded.size()));
  }
  if (reader_ == nullptr) {
    head_ += decoded;
    if (!mark_read_) {
      // A byte order mark stands at the very beginning, and once.
      for (const std::string_view mark : {kBom, kUtf16Le, kUtf16Be}) {
        if (head_.size() < mark.size() && mark.starts_with(head_) && bytes_ <= limits_.max_bytes) return;
      }
      mark_read_ = true;
      utf16_ = head_.starts_with(kUtf16Le) || head_.starts_with(kUtf16Be);
      if (head_.starts_with(kBom)) head_.erase(0, kBom.size());
    }
    const size_t from = utf16_ ? 0 : head_.find_first_not_of(kSitemapBlanks);
    if (from == std::string::npos) {
      head_.clear();
      if (bytes_ > limits_.max_bytes) outcome_ = SitemapOutcome::kTooLarge;
      return;
    }
    const bool xml = utf16_ || head_[from] == '<';
    reader_ = xml ? Reader::CreateXml(limits_, on_entry_) : Reader::CreateText(limits_, on_entry_);
    outcome_ = reader_->Feed(std::string_view(head_).substr(from));
    head_ = std::string();
  } else {
    outcome_ = reader_->Feed(decoded);
  }
  if (outcome_ == SitemapOutcome::kGoing && bytes_ > limits_.max_bytes) outcome_ = SitemapOutcome::kTooLarge;
}

SitemapOutcome SitemapParser::Feed(std::string_view bytes) {
  if (outcome_ != SitemapOutcome::kGoing || bytes.empty()) return outcome_;
  std::string start;
  if (!started_) {
    // Two bytes tell gzip from the rest.
    head_ += bytes;
    if (head_.size() < 2) return outcome_;
    started_ = true;
    std::swap(start, head_);
    bytes = start;
    if (bytes.starts_with("\x1f\x8b")) {
      const DecodeLimits limits{.max_output = limits_.max_bytes, .max_ratio = 2000};
      decoder_ = std::make_unique<ContentDecoder>(CodingStack::Of(ContentCoding::kGzip), limits);
    }
  }
  if (decoder_ == nullptr) {
    Read(bytes);
    return outcome_;
  }
  // In small steps, so that what is decoded but not yet read stays small whatever comes.
  constexpr size_t kStep = 4096;
  while (!bytes.empty() && outcome_ == SitemapOutcome::kGoing) {
    decoded_.clear();
    const DecodeOutcome decoded = decoder_->Feed(bytes.substr(0, kStep), decoded_);
    bytes.remove_prefix(std::min(kStep, bytes.size()));
    if (!decoded_.empty()) Read(decoded_);
    if (outcome_ != SitemapOutcome::kGoing || decoded == DecodeOutcome::kGoing) continue;
    const bool too_large = decoded == DecodeOutcome::kTooLarge || decoded == DecodeOutcome::kBomb;
    outcome_ = too_large ? SitemapOutcome::kTooLarge : SitemapOutcome::kBadCoding;
  }
  return outcome_;
}

SitemapOutcome SitemapParser::Finish() {
  if (outcome_ != SitemapOutcome::kGoing) return outcome_;
  if (!started_ && !head_.empty()) {
    std::string start;
    std::swap(start, head_);
    started_ = true;
    Read(start);
    if (outcome_ != SitemapOutcome::kGoing) return outcome_;
  }
  if (reader_ == nullptr) return outcome_ = SitemapOutcome::kNoSitemap;
  outcome_ = reader_->Finish();
  if (outcome_ == SitemapOutcome::kWhole && decoder_ != nullptr &&
      decoder_->Finish(decoded_) != DecodeOutcome::kWhole) {
    outcome_ = SitemapOutcome::kBadCoding;
  }
  return outcome_;
}

}  // namespace portolan
