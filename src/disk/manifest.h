// The manifest: one small file that names every live file of every structure, with its valid length.
//
// It is what makes a set of files one state. Commit is: every structure writes and syncs its data, then the new
// manifest is written, synced and renamed into place, and the directory synced. Recovery is: take the newest whole
// manifest, cut files that are longer than it says, remove files that it does not name. Everything later is discarded.
//
// A structure joins by implementing Checkpointable and keeps this rule: a file that the last committed manifest names
// is never overwritten below its committed length nor removed before Committed() says that a newer manifest stands.
//
// The file is text, one item per line, with a checksum at its end (docs/formats/manifest.md). Its name is
// MANIFEST-<sequence>; the one before the newest is removed after each commit.
//
// Thread: one owner. Durability: when Commit returns without error, that state survives any crash.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/env.h"
#include "io/executor.h"

namespace portolan {

// What one structure needs to be opened again.
struct ManifestSection {
  struct FileEntry {
    std::string name;  // within the manifest's directory
    uint64_t length = 0;
    bool operator==(const FileEntry&) const = default;
  };

  std::string name;  // of the structure, unique; printable, no blanks
  std::string kind;  // of structure, so that a name is not taken for another kind
  std::vector<FileEntry> files;
  std::map<std::string, uint64_t> numbers;  // positions and counts by name

  // The number, or kCorrupt when it is not there.
  Result<uint64_t> Number(const std::string& key) const;
  bool operator==(const ManifestSection&) const = default;
};

class Checkpointable {
 public:
  virtual ~Checkpointable() = default;
  // Writes and syncs everything that Describe will name. May be called when nothing changed.
  virtual Status Flush() = 0;
  // Flush for an owner that continues to work: the state is that at the time of the call. `done` is called once, inside
  // the call or later on another thread; from then on Describe returns that state.
  virtual void StartFlush(std::function<void(Status)> done) { done(Flush()); }
  // For a structure that is too large to be copied at once. If StartFlush returned without calling `done`, the owner
  // calls this between its other work until it returns false. Each call copies a bounded part of the state as it was at
  // StartFlush (a part that is about to change is copied first) and submits a job that writes it to `writer`, which
  // runs its jobs one at a time, in order.
  virtual bool ContinueFlush(Executor& writer) {
    static_cast<void>(writer);
    return false;
  }
  // The state as of the last Flush.
  virtual ManifestSection Describe() const = 0;
  // A manifest with what Describe returned is durable: files that it does not name may be removed. There is no Flush
  // between the Describe that was committed and this call.
  virtual Status Committed() = 0;
};

class Manifest {
 public:
  // Reads the newest whole manifest in `dir` (made if absent) and brings the files to it. A directory without one is
  // a new, empty state: every file in it is removed. Names in `keep` are left alone (for example a lock file).
  static Result<Manifest> Open(Env& env, const std::string& dir, std::span<const std::string_view> keep = {});

  // The newest whole manifest in `dir`, for readers: no file is changed, and a writer may be active (files that this
  // manifest names may then vanish while they are read; load it again). kNotFound: there is none. REQUIRES: Commit is
  // not called.
  static Result<Manifest> Read(Env& env, const std::string& dir);

  // The section of that name as of the last commit, null if there is none; kCorrupt if it is of another kind.
  Result<const ManifestSection*> Find(std::string_view name, std::string_view kind) const;
  const std::vector<ManifestSection>& sections() const { return sections_; }
  uint64_t sequence() const { return sequence_; }
  const std::string& dir() const { return dir_; }

  // Flushes all structures, writes the new manifest, calls Committed on all. `structures` must be all of them: files
  // that no structure names are lost. On an error the last committed state stays valid.
  Status Commit(std::span<Checkpointable* const> structures);

  // The two halves of the same for an owner that does not wait (checkpointer.h). Everything that the sections name is
  // synced already, except for the names of files. The first half may run on any thread while the owner does not use
  // this object. kIo: it is unknown which state a recovery would find, or a sync failed; do not try again.
  Status WriteNext(std::span<const ManifestSection> sections) const;
  // To be called after WriteNext succeeded with these sections.
  Status Adopt(std::vector<ManifestSection> sections, std::span<Checkpointable* const> structures);

 private:
  // Loads the newest whole manifest of `names` and returns its name; empty if there is none.
  Result<std::string> Choose(const std::vector<std::string>& names);
  Manifest(Env& env, std::string dir) : env_(&env), dir_(std::move(dir)) {}

  Env* env_;
  std::string dir_;
  uint64_t sequence_ = 0;
  std::vector<ManifestSection> sections_;
};

// For Committed(): removes from `dir` and from `retired` every file that `section` does not name.
Status RemoveUnnamed(Env& env, const std::string& dir, const ManifestSection& section,
                     std::vector<std::string>& retired);

// The format of the manifest and of everything that it names. This number rises when an older crawl directory cannot be
// continued. 1: hashes without a key. 2: hashes depend on the crawl's key.
inline constexpr uint64_t kManifestFormat = 2;

// The text form, and back. `path` is for error messages. kUnsupported: another format.
std::string FormatManifest(uint64_t sequence, std::span<const ManifestSection> sections);
struct ParsedManifest {
  uint64_t sequence = 0;
  std::vector<ManifestSection> sections;
};
Result<ParsedManifest> ParseManifest(std::string_view text, const std::string& path);

// The names that manifests have: MANIFEST-<digits>.
std::string ManifestName(uint64_t sequence);
bool IsManifestName(std::string_view name);

}  // namespace portolan
