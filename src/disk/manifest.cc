#include "disk/manifest.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/crc32c.h"

namespace portolan {
namespace {

constexpr std::string_view kPrefix = "MANIFEST-";
constexpr std::string_view kFirstWord = "portolan-manifest ";

// Splits off what stands before `separator`, which is dropped.
std::string_view Cut(std::string_view& text, char separator) {
  const size_t at = std::min(text.find(separator), text.size());
  const std::string_view head = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return head;
}

bool ParseNumber(std::string_view text, uint64_t& value, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool IsPlainName(std::string_view name) {
  return !name.empty() && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 0x7f && c != '/'; });
}

}  // namespace

Result<uint64_t> ManifestSection::Number(const std::string& key) const {
  const auto found = numbers.find(key);
  if (found != numbers.end()) return found->second;
  return Fail(ErrorCode::kCorrupt, fmt::format("manifest section {}: no number '{}'", name, key));
}

std::string ManifestName(uint64_t sequence) { return fmt::format("{}{:012}", kPrefix, sequence); }

bool IsManifestName(std::string_view name) {
  uint64_t number = 0;
  return name.starts_with(kPrefix) && ParseNumber(name.substr(kPrefix.size()), number);
}

std::string FormatManifest(uint64_t sequence, std::span<const ManifestSection> sections) {
  std::string text = fmt::format("{}{}\nsequence {}\n", kFirstWord, kManifestFormat, sequence);
  for (const ManifestSection& section : sections) {
    text += fmt::format("section {} {}\n", section.name, section.kind);
    for (const auto& file : section.files) text += fmt::format("file {} {}\n", file.name, file.length);
    for (const auto& [key, number] : section.numbers) text += fmt::format("number {} {}\n", key, number);
  }
  text += fmt::format("crc32c {:08x}\n", Crc32c(text));
  return text;
}

Result<ParsedManifest> ParseManifest(std::string_view text, const std::string& path) {
  const auto fail = [&](size_t line, std::string_view what) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: line {}: {}", path, line, what));
  };
  std::string_view rest = text;
  const std::string_view first = Cut(rest, '\n');
  uint64_t format = 0;
  if (!first.starts_with(kFirstWord) || !ParseNumber(first.substr(kFirstWord.size()), format)) {
    return fail(1, "not a manifest");
  }
  if (format != kManifestFormat) {
    return Fail(
        ErrorCode::kUnsupported,
        fmt::format("{}: this crawl is of format {}, this program knows format {}: {}", path, format, kManifestFormat,
                    format < kManifestFormat ? "go on with the older program that began it, or begin a new "
                                               "crawl in another directory"
                                             : "use the newer program that began it"));
  }
  constexpr size_t kCrcLine = 16;  // "crc32c " + 8 digits + line end
  uint64_t crc = 0;
  if (text.size() < kCrcLine || !text.ends_with('\n') || !text.substr(text.size() - kCrcLine).starts_with("crc32c ") ||
      !ParseNumber(text.substr(text.size() - 9, 8), crc, 16)) {
    return fail(std::count(text.begin(), text.end(), '\n'), "does not end with its checksum");
  }
  if (crc != Crc32c(text.substr(0, text.size() - kCrcLine))) return fail(1, "checksum differs");
  rest.remove_suffix(kCrcLine);

  ParsedManifest parsed;
  for (size_t line = 2; !rest.empty(); ++line) {
    std::string_view words = Cut(rest, '\n');
    const std::string_view verb = Cut(words, ' ');
    const std::string_view name = Cut(words, ' ');
    if (verb == "sequence") {
      if (!ParseNumber(name, parsed.sequence)) return fail(line, "the sequence is not a number");
    } else if (verb == "section") {
      ManifestSection section;
      section.name = name;
      section.kind = words;
      parsed.sections.push_back(std::move(section));
    } else if (parsed.sections.empty()) {
      return fail(line, "stands before any section");
    } else if (verb == "file") {
      ManifestSection::FileEntry entry{std::string(name), 0};
      if (!IsPlainName(name) || !ParseNumber(words, entry.length)) return fail(line, "no file name and length");
      parsed.sections.back().files.push_back(std::move(entry));
    } else if (verb == "number") {
      if (!ParseNumber(words, parsed.sections.back().numbers[std::string(name)])) return fail(line, "no number");
    } else {
      return fail(line, fmt::format("unknown word '{}'", verb));
    }
  }
  return parsed;
}

Result<std::string> Manifest::Choose(const std::vector<std::string>& names) {
  // Names sort by sequence. An older manifest is only right if the newest never became whole, and then nothing that
  // the older one names was removed: so its files must all be there.
  std::vector<std::string> candidates;
  std::copy_if(names.begin(), names.end(), std::back_inserter(candidates), IsManifestName);
  for (auto name = candidates.rbegin(); name != candidates.rend(); ++name) {
    const std::string path = JoinPath(dir_, *name);
    ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(*env_, path));
    auto parsed = ParseManifest(text, path);
    if (!parsed) {
      if (parsed.error().code() == ErrorCode::kUnsupported || std::next(name) == candidates.rend()) {
        return std::unexpected(std::move(parsed).error());
      }
      continue;
    }
    sequence_ = parsed->sequence;
    sections_ = std::move(parsed->sections);
    return *name;
  }
  return std::string();
}

Result<Manifest> Manifest::Read(Env& env, const std::string& dir) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, env.List(dir));
  Manifest manifest(env, dir);
  ASSIGN_OR_RETURN(const std::string chosen, manifest.Choose(names));
  if (chosen.empty()) return Fail(ErrorCode::kNotFound, fmt::format("{}: there is no manifest", dir));
  return manifest;
}

Result<Manifest> Manifest::Open(Env& env, const std::string& dir, std::span<const std::string_view> keep) {
  RETURN_IF_ERROR(env.CreateDirs(dir));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, env.List(dir));
  Manifest manifest(env, dir);
  ASSIGN_OR_RETURN(const std::string chosen, manifest.Choose(names));

  std::set<std::string_view> live(keep.begin(), keep.end());
  live.insert(chosen);
  for (const ManifestSection& section : manifest.sections_) {
    for (const auto& entry : section.files) {
      live.insert(entry.name);
      const std::string path = JoinPath(dir, entry.name);
      if (!env.Exists(path)) {
        return Fail(ErrorCode::kCorrupt,
                    fmt::format("{}: missing; {} names it with {} bytes", path, chosen, entry.length));
      }
      ASSIGN_OR_RETURN(const auto file, env.Open(path, OpenMode::kRead));
      if (file->Size() < entry.length) {
        return Fail(ErrorCode::kCorrupt,
                    fmt::format("{}: has {} bytes, {} says {}", path, file->Size(), chosen, entry.length));
      }
      if (file->Size() > entry.length) {
        ASSIGN_OR_RETURN(const auto longer, env.Open(path, OpenMode::kAppend));
        RETURN_IF_ERROR(longer->Truncate(entry.length));
      }
    }
  }
  for (const std::string& name : names) {
    if (!live.contains(name)) RETURN_IF_ERROR(env.Remove(JoinPath(dir, name)));
  }
  return manifest;
}

Result<const ManifestSection*> Manifest::Find(std::string_view name, std::string_view kind) const {
  for (const ManifestSection& section : sections_) {
    if (section.name != name) continue;
    if (section.kind == kind) return &section;
    return Fail(ErrorCode::kCorrupt,
                fmt::format("{}: section {} is a {}, wanted a {}", dir_, name, section.kind, kind));
  }
  return nullptr;
}

Status Manifest::Commit(std::span<Checkpointable* const> structures) {
  std::vector<ManifestSection> sections;
  for (Checkpointable* structure : structures) {
    RETURN_IF_ERROR(structure->Flush());
    sections.push_back(structure->Describe());
  }
  RETURN_IF_ERROR(WriteNext(sections));
  return Adopt(std::move(sections), structures);
}

Status Manifest::WriteNext(std::span<const ManifestSection> sections) const {
  // The names of new files must be durable before a manifest that needs them can be.
  RETURN_IF_ERROR(SyncDirOnce(*env_, dir_));
  const std::string path = JoinPath(dir_, ManifestName(sequence_ + 1));
  const Status replaced = ReplaceFile(*env_, path, FormatManifest(sequence_ + 1, sections));
  if (replaced) {
    // If it stays, the next recovery removes it.
    if (sequence_ > 0) static_cast<void>(env_->Remove(JoinPath(dir_, ManifestName(sequence_))));
    return {};
  }
  if (!env_->Exists(path)) return replaced;
  return Fail(ErrorCode::kIo, fmt::format("{}: it may stand or not: {}", path, replaced.error().message()));
}

Status Manifest::Adopt(std::vector<ManifestSection> sections, std::span<Checkpointable* const> structures) {
  ++sequence_;
  sections_ = std::move(sections);
  for (Checkpointable* structure : structures) RETURN_IF_ERROR(structure->Committed());
  return {};
}

Status RemoveUnnamed(Env& env, const std::string& dir, const ManifestSection& section,
                     std::vector<std::string>& retired) {
  std::vector<std::string> still;
  Status status;
  for (const std::string& name : retired) {
    const bool named = std::any_of(section.files.begin(), section.files.end(),
                                   [&](const ManifestSection::FileEntry& file) { return file.name == name; });
    if (!named && status) status = env.Remove(JoinPath(dir, name));
    if (named || !status) still.push_back(name);
  }
  retired = std::move(still);
  return status;
}

}  // namespace portolan
