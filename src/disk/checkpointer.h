// Checkpointer: commits the manifest for an owner that must not block while disks sync.
//
//   (a) Start, on the owner's thread: each structure writes what it still holds to its files, without waiting for the
//       disk (SyncLater), and describes itself; structures with threads of their own (the archive) begin their flush.
//       A large one (the frontier) only marks its state to be saved as of now. Continue, called between the owner's
//       other work, copies that state piece by piece; the pieces are encoded and written elsewhere.
//   (b) on the executor: the files are synced, the manifest written, synced and renamed into place.
//   (c) Finish, on the owner's thread: the structures are told, and files that no manifest needs any more are removed
//       (on the executor).
//
// Between (a) and (c) the owner continues to work. That is safe because structures never change what a manifest names
// or is about to name: files only grow beyond the described length, and are removed in (c) at the earliest.
//
// Thread: one owner calls everything; `written` is called on a thread of the executor.
// Memory bound: kMostPieces pieces that wait to be written, each as large as its structure makes them.
// Errors: the first error of the structures' flushes or of writing the manifest. The last committed state is still
// valid then, and Start may be called again. Exception: kIo means that it is unknown which state is on disk, or that
// files may have lost bytes; then the owner must stop.
// Durability: when Finish returns without error, the state at the time of Start survives any crash.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "disk/manifest.h"
#include "disk/sync_later.h"
#include "io/executor.h"

namespace portolan {

class Checkpointer {
 public:
  static constexpr size_t kMostPieces = 8;

  // `later` is the Env that the structures were opened with; null: they sync in Flush.
  // REQUIRES: all outlive this, and every job of `executor` is run, one at a time, in their order.
  Checkpointer(Manifest& manifest, SyncLater* later, Executor& executor)
      : manifest_(manifest), later_(later), executor_(executor) {}
  // Waits for (b) if it is running.
  ~Checkpointer();

  // (a). `structures` must be all of them. REQUIRES: not active().
  void Start(std::span<Checkpointable* const> structures, std::function<void()> written);
  enum class Step : uint8_t {
    kOver,   // nothing is left to copy
    kMore,   // there is more
    kLater,  // there is more; call again when some pieces are written, in about a millisecond
  };
  // Does one more part of (a), in a millisecond or less. (b) begins only after kOver. REQUIRES: active().
  Step Continue();
  // The structure of which the next Continue copies a part; null: nothing is left to copy.
  const Checkpointable* copying() const;
  // Start was called and Finish was not.
  bool active() const { return going_ != nullptr; }
  // (b) is over.
  bool written() const;
  // Blocks until (b) is over; copies what is not copied yet.
  void Wait();
  // (c). REQUIRES: active(). Waits for (b) if necessary.
  Status Finish();

  // All three steps, blocking.
  Status Commit(std::span<Checkpointable* const> structures);

 private:
  struct Going;
  class Pieces;

  Manifest& manifest_;
  SyncLater* const later_;
  Executor& executor_;
  std::shared_ptr<Going> going_;
};

}  // namespace portolan
