// HashKeyStore: the crawl's hash key (base/hash.h) in its manifest.
//
// The key is made from the system's random source when a crawl begins, and read back before anything else whenever one
// looks into the crawl's directory: without it no URL, host or origin is found again. It never changes.
//
// Section "hash_key": four numbers, word0 to word3. They are as secret as the crawl's directory: do not publish its
// state while the crawl goes on.
//
// Thread: one owner. Durability: Checkpointable.

#pragma once

#include "base/hash_key.h"
#include "base/result.h"
#include "disk/manifest.h"

namespace portolan {

class HashKeyStore : public Checkpointable {
 public:
  static constexpr const char* kSection = "hash_key";

  explicit HashKeyStore(const HashKey& key) : key_(key) {}

  // A key that nobody else has. kIo where the system has no random source.
  static Result<HashKey> Make();
  // kCorrupt where the manifest has none.
  static Result<HashKey> Read(const Manifest& manifest);
  // That of a crawl which has begun, or `fresh` for one that has no manifest yet.
  static Result<HashKey> ReadOr(const Manifest& manifest, const HashKey& fresh) {
    return manifest.sequence() == 0 ? fresh : Read(manifest);
  }

  const HashKey& key() const { return key_; }

  Status Flush() override { return {}; }
  ManifestSection Describe() const override;
  Status Committed() override { return {}; }

 private:
  const HashKey key_;
};

}  // namespace portolan
