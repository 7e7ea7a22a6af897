// HashKeyStore: the crawl's hash key (base/hash_key.h) in its manifest.
//
// The key is made from the system's random source when a crawl begins. Every reader of the crawl's directory reads it
// before anything else: without it no URL, host or origin can be found. It never changes.
//
// Section "hash_key": four numbers, word0 to word3. They are as secret as the crawl's directory: do not publish the
// state of a crawl that is still running.
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

  // A new random key. kIo if the system has no random source.
  static Result<HashKey> Make();
  // kCorrupt if the manifest has none.
  static Result<HashKey> Read(const Manifest& manifest);
  // The key of a crawl that has begun, or `fresh` for one that has no manifest yet.
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
