#include "outputs/finished_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "outputs/warc_directory.h"
#include "warc/cdxj.h"
#include "warc/member_stream.h"

namespace portolan {
namespace {

constexpr std::string_view kMagic = "\x1f\x8b\x08";
constexpr std::string_view kRecordBegin = "WARC/";
// The last member begins within the last bytes of the file: nearly always within the first number, and within the
// second unless the limits of a fetch were raised, and then its end is not checked.
constexpr uint64_t kTails[] = {uint64_t{256} << 10, uint64_t{40} << 20};
constexpr int kCandidates = 4096;  // places that look like a member; a record full of gzip files has many
constexpr uint64_t kMostDecoded = uint64_t{128} << 20;  // of one member: more is not looked at
constexpr int kProbes = 8;                              // captures of an index piece whose first bytes are looked at

// Whether a member at the source's start begins a WARC record, and whether that is complete and ends the source.
enum class Member : uint8_t { kNone, kRecord, kLast };
Member Judge(const ByteSource& source) {
  bool fault = false;
  MemberStream stream(source, 0, [&fault](const Fault& /*found*/) { fault = true; });
  auto bytes = stream.Peek(kRecordBegin.size());
  if (!bytes || !bytes->starts_with(kRecordBegin) || !stream.gzip()) return Member::kNone;
  uint64_t decoded = 0;
  while (!bytes->empty() && !fault && decoded < kMostDecoded) {
    if (stream.ToNextMember()) return Member::kRecord;
    decoded += bytes->size();
    stream.Consume(bytes->size());
    bytes = stream.Peek(1);
    if (!bytes) return Member::kRecord;
  }
  return fault ? Member::kRecord : Member::kLast;
}

class Finished {
 public:
  Finished(Env& env, std::string warc, std::string index)
      : env_(env), path_(std::move(warc)), index_(std::move(index)) {}

  // What is wrong; empty: nothing was found.
  std::string Damage() {
    auto file = env_.Open(path_, OpenMode::kRead);
    if (!file) return env_.Exists(path_) ? file.error().message() : "it is missing, and its index is not";
    file_ = *std::move(file);
    const ByteSource source = [this](uint64_t offset, char* to, size_t count) {
      return file_->ReadAt(offset, to, count);
    };
    if (Judge(source) == Member::kNone) return "its beginning is not a WARC record";
    if (std::string end = DamageOfEnd(); !end.empty()) return end;
    return DamageByIndex();
  }

 private:
  // From the end backwards, what looks like a member: one of them must be a record that ends where the file ends. The
  // others lie within it (for example an archived WARC file) or before it.
  std::string DamageOfEnd() {
    int candidates = kCandidates;
    bool records = false;
    for (const uint64_t length : kTails) {
      const uint64_t begin = file_->Size() - std::min(file_->Size(), length);
      std::string tail(file_->Size() - begin, '\0');
      const auto got = file_->ReadAt(begin, tail.data(), tail.size());
      if (!got) return got.error().message();
      tail.resize(*got);
      for (size_t at = tail.rfind(kMagic); at != std::string::npos; at = tail.rfind(kMagic, at - 1)) {
        const Member member = Judge(MemorySource(std::string_view(tail).substr(at)));
        if (member == Member::kLast) return {};
        records = records || member == Member::kRecord;
        if (at == 0 || --candidates <= 0) break;
      }
      if (begin == 0 || candidates <= 0) break;
    }
    // If there is no record in that many bytes, the last one is larger.
    return records || file_->Size() <= kTails[1] ? "its end is not the end of a WARC record" : "";
  }

  std::string DamageByIndex() {
    const auto index = env_.Open(index_, OpenMode::kRead);
    if (!index) return index.error().message();
    for (const bool end : {false, true}) {
      const uint64_t begin = end ? (*index)->Size() - std::min<uint64_t>((*index)->Size(), kIndexPiece) : 0;
      std::string piece(std::min<uint64_t>((*index)->Size() - begin, kIndexPiece), '\0');
      const auto got = (*index)->ReadAt(begin, piece.data(), piece.size());
      if (!got) return got.error().message();
      piece.resize(*got);
      if (std::string damage = DamageBy(piece, begin > 0); !damage.empty()) return damage;
    }
    return {};
  }

  // By the whole lines of a piece of the index.
  std::string DamageBy(std::string_view piece, bool begins_within_a_line) {
    if (begins_within_a_line) piece.remove_prefix(std::min(piece.find('\n'), piece.size() - 1) + 1);
    int probes = kProbes;
    for (size_t end = piece.find('\n'); end != std::string_view::npos; end = piece.find('\n')) {
      const auto line = ParseCdxj(piece.substr(0, end));
      piece.remove_prefix(end + 1);
      uint64_t offset = 0;
      uint64_t length = 0;
      if (!line || !ReadNumber(line->Get("offset"), offset) || !ReadNumber(line->Get("length"), length)) {
        return "its index has a line that cannot be read";
      }
      if (offset > file_->Size() || length > file_->Size() - offset) {
        return fmt::format("it has {} bytes, its index names {} at {}", file_->Size(), length, offset);
      }
      if (probes-- <= 0) continue;
      char magic[kMagic.size()];
      const auto got = file_->ReadAt(offset, magic, sizeof magic);
      if (!got || std::string_view(magic, *got) != kMagic) {
        return fmt::format("its index names a record at {} where none begins", offset);
      }
    }
    return {};
  }

  static bool ReadNumber(std::string_view text, uint64_t& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
  }

  Env& env_;
  const std::string path_;
  const std::string index_;
  std::unique_ptr<File> file_;
};

}  // namespace

std::vector<std::string> DamageOfFinished(Env& env, const std::vector<std::string>& directories,
                                          const std::string& prefix) {
  const std::string in_names = PrefixInNames(prefix);
  std::vector<std::string> damages;
  for (const std::string& dir : directories) {
    const auto names = env.List(dir);
    if (!names) continue;
    for (const std::string& name : *names) {
      const auto parsed = ParseArchiveFileName(name, in_names);
      if (!parsed || parsed->kind != ArchiveFileName::Kind::kIndex) continue;
      const std::string warc = name.substr(0, name.size() - std::string_view(".cdxj").size()) + ".warc.gz";
      std::string damage = Finished(env, JoinPath(dir, warc), JoinPath(dir, name)).Damage();
      if (!damage.empty()) damages.push_back(fmt::format("{}: {}", JoinPath(dir, warc), damage));
    }
  }
  return damages;
}

}  // namespace portolan
