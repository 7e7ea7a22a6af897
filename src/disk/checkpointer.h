// Checkpointer: a commit of the manifest for an owner that must not stand still while disks sync.
//
//   (a) Start, on the owner's thread: each structure hands what it still holds to its files, without waiting for the
//       disk (SyncLater), and says what it is; structures with threads of their own (the archive) begin their flush.
//       One that is large (the frontier) only notes that its state is to be kept as it is now. Continue, called between
//       the owner's other work, copies that state piece by piece; the pieces are encoded and written elsewhere.
//   (b) elsewhere: the files are synced, the manifest written, synced and renamed into place.
//   (c) Finish, on the owner's thread: the structures are told, and what no manifest needs any more is removed (on the
//       executor).
//
// Between (a) and (c) the owner works on. That is safe because structures never change what a manifest names or is
// about to name: files only grow beyond the described length, and are removed in (c) at the earliest.
//
// Thread: one owner calls everything; `written` is called on a thread of the executor.
// Memory bound: kMostPieces pieces that wait to be written, each as large as its structure makes them.
// Errors: whatever the structures' flushes or the writing of the manifest said first; then the last committed state
// stands and another Start may be tried. kIo where it is not known which state stands, or files may have lost bytes:
// then the owner must stop.
// Durability: when Finish returns without error, the state of the moment of Start survives any crash.

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

  // `later` is the Env that the structures were opened with; null: they sync by themselves in Flush.
  // REQUIRES: all outlive this, and every job of `executor` is run, one at a time, in their order.
  Checkpointer(Manifest& manifest, SyncLater* later, Executor& executor)
      : manifest_(manifest), later_(later), executor_(executor) {}
  // Waits for (b), if it is going on.
  ~Checkpointer();

  // (a). `structures` must be all of them. REQUIRES: not active().
  void Start(std::span<Checkpointable* const> structures, std::function<void()> written);
  enum class Step : uint8_t {
    kOver,   // nothing (more) is to be copied
    kMore,   // there is more
    kLater,  // there is more when some of the pieces are written: in a millisecond or so
  };
  // One more part of (a), of a millisecond or less. Until kOver there is no (b). REQUIRES: active().
  Step Continue();
  // Start was called and Finish was not.
  bool active() const { return going_ != nullptr; }
  // (b) is over.
  bool written() const;
  // Until it is: copies what is not copied.
  void Wait();
  // (c). REQUIRES: active(). Waits if need be.
  Status Finish();

  // All three, for an owner that has nothing else to do.
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
