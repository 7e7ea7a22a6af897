#include "graph/url_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/hash.h"

namespace portolan::graph {
namespace {

constexpr size_t kPadding = 8;  // bytes that a cursor may read behind a chunk
constexpr unsigned kGenerationBits = 4;
constexpr unsigned kReferenceBits = 5;
constexpr uint32_t kFarGain = 2;        // bytes that a far reference must share more: it takes five bits more
constexpr uint64_t kLearningStep = 16;  // from one vocabulary to the next the table grows so much
constexpr size_t kSampleUrls = 160'000;
constexpr uint32_t kAttempts = 8;  // slots that a URL may be in
constexpr size_t kCacheLine = 64;
constexpr size_t kUsualLines = 5;  // of a chunk
constexpr size_t kOpenStep = 64;   // by which the bytes of an open chunk grow

std::string_view HostOf(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  return url.substr(0, url.find('/'));
}

}  // namespace

UrlTable::UrlTable(const HashKey& key) : key_(key), index_(kSlots), slots_(kSlots) {
  static_assert(kChunkUrls == UrlIndex::kChunkUrls);
  codes_.push_back(std::make_unique<UrlCode>());
}

UrlTable::ChunkView UrlTable::View(const OpenChunk& open) const {
  const char* const data = open.bytes.data();
  return {data, open.urls, codes_[static_cast<uint8_t>(data[0]) >> (8 - kGenerationBits)].get()};
}

UrlTable::ChunkView UrlTable::View(uint32_t chunk) const {
  const uint32_t place = places_[chunk];
  if ((place & kOpenFlag) != 0) return View(slots_[place & ~kOpenFlag].open);
  const size_t at = size_t{place} * 2;
  const char* const data = pages_[at / kPage].get() + at % kPage;
  for (size_t line = 1; line < kUsualLines; ++line) __builtin_prefetch(data + line * kCacheLine);
  return {data, kChunkUrls, codes_[static_cast<uint8_t>(data[0]) >> (8 - kGenerationBits)].get()};
}

// What stands before the end of a URL. `shared`: what the URLs before share with their references.
void UrlTable::ReadBefore(const ChunkView& view, UrlCode::Cursor& in, uint32_t place,
                          const std::array<uint32_t, kChunkUrls>& shared, uint32_t& reference, uint32_t& own) {
  reference = 0;
  own = 0;
  if (place == 0) return;
  const auto [length, near] = view.code->ReadLoan(in);
  reference = place - 1 - (near ? 0 : static_cast<uint32_t>(in.Take(kReferenceBits)));
  own = length == UrlCode::kSameShared ? shared[reference] : length;
}

void UrlTable::MatchIn(const ChunkView& view, std::string_view url, Match& match) {
  UrlCode::Cursor in(view.data, kGenerationBits);
  for (uint32_t place = 0; place < view.urls; ++place) {
    uint32_t reference = 0;
    uint32_t& own = match.own[place];
    ReadBefore(view, in, place, match.own, reference, own);
    const uint32_t known = place == 0 ? 0 : match.shared[reference];
    uint32_t& number = match.number[place];
    number = place == 0 ? 0 : match.number[reference];
    // What is borrowed is as long as it can be, but that no number is cut. So unless the reference agrees with the URL
    // just as far, or farther and into a number, it is clear where this one and the URL part.
    if (known < own || (known > own && own < UrlCode::kMaxShared && !IsDigit(url[own]))) {
      match.shared[place] = std::min(known, own);
      view.code->SkipEnd(in, place == 0, number);
      continue;
    }
    size_t at = own;
    UrlCode::Reader reader(*view.code, in, place == 0, number);
    bool same = true;
    while (same && !reader.ended()) {
      char space[UrlCode::kOverrun];
      const std::string_view text = reader.Next(space);
      const size_t most = std::min(text.size(), url.size() - at);
      size_t equal = 0;
      while (equal < most && text[equal] == url[at + equal]) ++equal;
      at += equal;
      same = equal == text.size();
    }
    match.shared[place] = static_cast<uint32_t>(at);
    if (same && at == url.size()) {
      match.equal = place;
      return;
    }
    reader.Skip();
    in = reader.cursor();
    number = reader.number();
  }
}

void UrlTable::ReadDirectory(const ChunkView& view, uint32_t last, Directory& directory) {
  UrlCode::Cursor in(view.data, kGenerationBits);
  std::array<uint32_t, kChunkUrls> own;  // number of each
  for (uint32_t place = 0; place <= last; ++place) {
    uint32_t& reference = directory.reference[place];
    ReadBefore(view, in, place, directory.shared, reference, directory.shared[place]);
    directory.end[place] = in.position();
    own[place] = place == 0 ? 0 : own[reference];
    directory.number[place] = own[place];
    if (place < last) view.code->SkipEnd(in, place == 0, own[place]);
  }
}

// Puts a URL together. The URLs that it borrows from are expanded from the one that gives the beginning on; what each
// writes too much is overwritten by the next.
void UrlTable::Assemble(const ChunkView& view, const Directory& directory, uint32_t place, std::string& out) {
  std::array<uint32_t, kChunkUrls> lenders;
  size_t count = 0;
  uint32_t needed = directory.shared[place];
  lenders[count++] = place;
  for (uint32_t at = place; needed > 0;) {
    at = directory.reference[at];
    if (directory.shared[at] >= needed) continue;
    lenders[count++] = at;
    needed = directory.shared[at];
  }
  size_t length = 0;
  while (count-- > 0) {
    const uint32_t at = lenders[count];
    const size_t until = count > 0 ? directory.shared[lenders[count - 1]] : kMaxUrl;
    length = directory.shared[at];
    UrlCode::Reader reader(*view.code, UrlCode::Cursor(view.data, directory.end[at]), at == 0, directory.number[at]);
    while (!reader.ended() && length < until) {
      if (out.size() < length + UrlCode::kOverrun) out.resize(2 * length + 8 * UrlCode::kOverrun);
      char space[UrlCode::kOverrun];
      const std::string_view text = reader.Next(space);
      std::memcpy(out.data() + length, text.data(), UrlCode::kOverrun);
      length += text.size();
    }
  }
  out.resize(length);
}

// The host's slot; those that follow are for URLs of hosts whose slots are full.
uint32_t UrlTable::SlotOf(std::string_view url, uint64_t hash, uint32_t attempt) const {
  return static_cast<uint32_t>(attempt == 0 ? key_.Hash(HostOf(url)) : Mix64(hash + attempt)) % kSlots;
}

std::optional<uint64_t> UrlTable::FindHashed(std::string_view url, uint64_t hash) const {
  std::optional<uint64_t> found;
  for (uint32_t attempt = 0; attempt < kAttempts && !found; ++attempt) {
    const uint32_t slot = SlotOf(url, hash, attempt);
    __builtin_prefetch(slots_[slot].chunks.data());
    index_.Find(slot, hash, [&](uint32_t in_slot) {
      const uint32_t chunk = slots_[slot].chunks[in_slot];
      Match match;
      MatchIn(View(chunk), url, match);
      if (match.equal == kChunkUrls) return false;
      found = uint64_t{chunk} * kChunkUrls + match.equal;
      return true;
    });
    if (!index_.Full(slot)) break;
  }
  return found;
}

std::optional<uint64_t> UrlTable::Find(std::string_view url) const { return FindHashed(url, key_.Hash(url)); }

Status UrlTable::Get(uint64_t number, std::string& out) const {
  const uint64_t chunk = number / kChunkUrls;
  const auto place = static_cast<uint32_t>(number % kChunkUrls);
  if (chunk >= places_.size()) return Fail(ErrorCode::kNotFound, fmt::format("no URL has number {}", number));
  const ChunkView view = View(static_cast<uint32_t>(chunk));
  if (place >= view.urls) return Fail(ErrorCode::kNotFound, fmt::format("no URL has number {}", number));
  Directory directory;
  ReadDirectory(view, place, directory);
  Assemble(view, directory, place, out);
  return {};
}

Result<uint64_t> UrlTable::Insert(std::string_view url) {
  if (url.size() > kMaxUrl) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("a URL of {} bytes is longer than the {} that the table takes", url.size(), kMaxUrl));
  }
  const uint64_t hash = key_.Hash(url);
  if (const auto known = FindHashed(url, hash)) return *known;
  if (size_ >= next_learning_) Learn();
  const bool room = pages_.size() * kPage < uint64_t{kOpenFlag} * 2 && places_.size() < kOpenFlag;
  for (uint32_t attempt = 0; room && attempt < kAttempts; ++attempt) {
    const uint32_t slot = SlotOf(url, hash, attempt);
    const bool begun = !slots_[slot].open.bytes.empty();
    if (!index_.Add(slot, hash, static_cast<uint32_t>(slots_[slot].chunks.size() - (begun ? 1 : 0)))) continue;
    OpenChunk& open = ChunkOf(slot);
    Append(open, url);
    const uint64_t number = uint64_t{slots_[slot].chunks.back()} * kChunkUrls + open.urls - 1;
    ++size_;
    if (open.urls == kChunkUrls) Seal(slots_[slot]);
    return number;
  }
  return Fail(ErrorCode::kBusy, fmt::format("the table of URLs is full: it has {}", size_));
}

UrlTable::OpenChunk& UrlTable::ChunkOf(uint32_t slot) {
  auto& [open, chunks] = slots_[slot];
  if (open.bytes.empty()) {
    if (chunks.size() == chunks.capacity()) chunks.reserve(chunks.size() + chunks.size() / 8 + 4);
    chunks.push_back(static_cast<uint32_t>(places_.size()));
    if (places_.size() == places_.capacity()) places_.reserve(places_.size() + places_.size() / 16 + 64);
    places_.push_back(kOpenFlag | slot);
    open.bytes.assign(1, static_cast<char>((codes_.size() - 1) << (8 - kGenerationBits)));
    open.bytes.append(kPadding, '\0');
    open.bits = kGenerationBits;
  } else if (View(open).code != codes_.back().get()) {
    Rewrite(open);
  }
  return open;
}

void UrlTable::Append(OpenChunk& open, std::string_view url) {
  const UrlCode& code = *codes_.back();
  BitWriter bits;
  // The last byte is not full: its bits are written again.
  const uint64_t whole = open.bits / 8;
  const auto rest = static_cast<unsigned>(open.bits % 8);
  if (rest > 0) bits.WriteBits(static_cast<uint8_t>(open.bytes[whole]) >> (8 - rest), rest);
  UrlEnd end{.url = url, .shared = 0, .whole = open.urls == 0, .number = 0};
  if (open.urls > 0) {
    Match match;
    MatchIn(View(open), url, match);
    uint32_t reference = open.urls - 1;
    for (uint32_t place = reference; place-- > 0;) {
      const uint32_t gain = reference == open.urls - 1 ? kFarGain : 0;
      if (match.shared[place] > match.shared[reference] + gain) reference = place;
    }
    end.shared = std::min<uint32_t>(match.shared[reference], UrlCode::kMaxShared);
    // A number is written as a whole.
    while (end.shared > 0 && end.shared < url.size() && IsDigit(url[end.shared]) && IsDigit(url[end.shared - 1])) {
      --end.shared;
    }
    end.number = match.number[reference];
    const bool near = reference == open.urls - 1;
    code.WriteLoan({end.shared == match.own[reference] ? UrlCode::kSameShared : end.shared, near}, bits);
    if (!near) bits.WriteBits(open.urls - 1 - reference, kReferenceBits);
  }
  code.WriteEnd(end, bits);
  open.bits = whole * 8 + bits.written();
  open.bytes.resize(whole);
  const std::string written = bits.Finish();
  const size_t size = whole + written.size() + kPadding;
  if (size > open.bytes.capacity()) {
    std::string larger;  // a new one: an old one would double
    larger.reserve(size + kOpenStep);
    larger = std::string_view(open.bytes);
    open.bytes = std::move(larger);
  }
  open.bytes += written;
  open.bytes.append(kPadding, '\0');
  ++open.urls;
}

// Into the vocabulary that is spoken now.
void UrlTable::Rewrite(OpenChunk& open) {
  const OpenChunk old = std::exchange(open, OpenChunk{});
  const ChunkView view = View(old);
  open.bytes.assign(1, static_cast<char>((codes_.size() - 1) << (8 - kGenerationBits)));
  open.bytes.append(kPadding, '\0');
  open.bits = kGenerationBits;
  Directory directory;
  ReadDirectory(view, old.urls - 1, directory);
  std::string url;
  for (uint32_t place = 0; place < old.urls; ++place) {
    Assemble(view, directory, place, url);
    Append(open, url);
  }
}

void UrlTable::Seal(Slot& slot) {
  const std::string& bytes = slot.open.bytes;
  const size_t size = bytes.size() - kPadding;
  page_used_ += page_used_ % 2;
  if (page_used_ + size + kPadding > kPage) {
    pages_.push_back(std::make_unique<char[]>(kPage));
    page_used_ = 0;
  }
  std::memcpy(pages_.back().get() + page_used_, bytes.data(), size);
  places_[slot.chunks.back()] = static_cast<uint32_t>(((pages_.size() - 1) * kPage + page_used_) / 2);
  page_used_ += size;
  text_bytes_ += size;
  slot.open.urls = 0;
  slot.open.bits = 0;
  std::string().swap(slot.open.bytes);  // an assignment would keep the memory
}

// A vocabulary from chunks all over the table.
void UrlTable::Learn() {
  next_learning_ *= kLearningStep;
  if (codes_.size() == size_t{1} << kGenerationBits) return;
  UrlCode::Sample sample;
  const size_t step = std::max<size_t>(1, places_.size() * kChunkUrls / kSampleUrls);
  std::string url;
  for (size_t chunk = 0; chunk < places_.size(); chunk += step) {
    const ChunkView view = View(static_cast<uint32_t>(chunk));
    if (view.urls == 0) continue;
    Directory directory;
    ReadDirectory(view, view.urls - 1, directory);
    for (uint32_t place = 0; place < view.urls; ++place) {
      const uint32_t shared = directory.shared[place];
      Assemble(view, directory, place, url);
      sample.ends.push_back({sample.urls.emplace_back(url), shared, place == 0, directory.number[place]});
      if (place == 0) continue;
      const uint32_t reference = directory.reference[place];
      sample.loans.push_back(
          {shared == directory.shared[reference] ? UrlCode::kSameShared : shared, reference + 1 == place});
    }
  }
  codes_.back()->Forget();
  codes_.push_back(std::make_unique<UrlCode>(sample));
}

uint64_t UrlTable::memory() const {
  constexpr uint64_t kBlockOverhead = 16;  // what an allocator keeps per block, at most
  uint64_t sum = sizeof *this + index_.memory() + pages_.size() * (kPage + kBlockOverhead) +
                 pages_.capacity() * sizeof(void*) + places_.capacity() * sizeof(uint32_t) +
                 slots_.capacity() * sizeof(Slot) + codes_.capacity() * sizeof(void*);
  for (const auto& code : codes_) sum += code->memory();
  for (const auto& [open, chunks] : slots_) {
    sum += open.bytes.capacity() + chunks.capacity() * sizeof(uint32_t) + 2 * kBlockOverhead;
  }
  return sum;
}

}  // namespace portolan::graph
