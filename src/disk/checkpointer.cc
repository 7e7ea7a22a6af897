#include "disk/checkpointer.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "base/check.h"

namespace portolan {

struct Checkpointer::Going {
  std::vector<Checkpointable*> structures;
  std::function<void()> written;
  const Manifest* manifest = nullptr;
  SyncLater* later = nullptr;
  Executor* executor = nullptr;
  std::deque<Checkpointable*> copying;  // the owner's: their Continue is due

  std::mutex mutex;
  std::condition_variable changed;
  // Guarded by mutex:
  size_t missing = 0;                                     // flushes that are not finished, and Start itself
  size_t pieces = 0;                                      // given to the executor and not written
  std::vector<std::optional<ManifestSection>> described;  // by structure; empty: to be asked when all are flushed
  Status status;
  bool over = false;

  // One of the missing flushes is finished. After the last one come the syncs and the manifest.
  static void Arrive(const std::shared_ptr<Going>& going, Status status) {
    {
      const std::lock_guard lock(going->mutex);
      if (!status && going->status) going->status = std::move(status);
      if (--going->missing > 0) return;
    }
    going->executor->Submit([going] {
      going->Sync();
      going->executor->Submit([going] { going->Write(); });
    });
  }

  // Everything noted by now: what the structures noted since Start is synced a little early.
  void Sync() {
    if (status && later != nullptr) status = later->Take().Sync();
  }

  void Write() {
    if (status) {
      std::vector<ManifestSection> sections;
      for (size_t i = 0; i < structures.size(); ++i) {
        if (!described[i]) described[i] = structures[i]->Describe();
        sections.push_back(*described[i]);
      }
      status = manifest->WriteNext(sections);
    }
    {
      const std::lock_guard lock(mutex);
      over = true;
      changed.notify_all();
    }
    if (written) written();
  }
};

namespace {

// A call that may be answered before it returns, or later by another thread.
class Call {
 public:
  // True when it has not returned: then Return gives the status.
  bool End(const Status& status) {
    const std::lock_guard lock(mutex_);
    if (!returned_) status_ = status;
    return !returned_;
  }
  std::optional<Status> Return() {
    const std::lock_guard lock(mutex_);
    returned_ = true;
    return std::move(status_);
  }

 private:
  std::mutex mutex_;
  bool returned_ = false;
  std::optional<Status> status_;
};

}  // namespace

// What structures give their pieces to: the executor, counting them.
class Checkpointer::Pieces : public Executor {
 public:
  explicit Pieces(std::shared_ptr<Going> going) : going_(std::move(going)) {}
  void Submit(Job job) override {
    {
      const std::lock_guard lock(going_->mutex);
      ++going_->pieces;
    }
    going_->executor->Submit([going = going_, job = std::move(job)]() mutable {
      job();
      job = nullptr;  // its memory is freed before the next one may come
      const std::lock_guard lock(going->mutex);
      --going->pieces;
      going->changed.notify_all();
    });
  }

 private:
  const std::shared_ptr<Going> going_;
};

Checkpointer::~Checkpointer() {
  if (active()) Wait();
}

void Checkpointer::Start(std::span<Checkpointable* const> structures, std::function<void()> written) {
  CHECK(!active(), "a checkpoint is already running");
  going_ = std::make_shared<Going>();
  const std::shared_ptr<Going> going = going_;
  going->structures.assign(structures.begin(), structures.end());
  going->written = std::move(written);
  going->manifest = &manifest_;
  going->later = later_;
  going->executor = &executor_;
  going->described.resize(structures.size());
  going->missing = structures.size() + 1;  // and this function itself
  bool failed = false;
  for (size_t i = 0; i < structures.size(); ++i) {
    if (failed) {  // the rest need not begin
      Going::Arrive(going, {});
      continue;
    }
    // Structures that are done inside the call are described now, because their owner may change them after this.
    const auto call = std::make_shared<Call>();
    structures[i]->StartFlush([going, call](Status status) {
      if (!call->End(status)) Going::Arrive(going, std::move(status));
    });
    std::optional<Status> ended = call->Return();
    if (!ended) {
      going->copying.push_back(structures[i]);
      continue;
    }
    failed = !*ended;
    if (!failed) {
      ManifestSection section = structures[i]->Describe();
      const std::lock_guard lock(going->mutex);
      going->described[i] = std::move(section);
    }
    Going::Arrive(going, *std::move(ended));
  }
  Going::Arrive(going, {});
}

Checkpointer::Step Checkpointer::Continue() {
  CHECK(active());
  std::deque<Checkpointable*>& copying = going_->copying;
  if (copying.empty()) return Step::kOver;
  {
    const std::lock_guard lock(going_->mutex);
    if (going_->pieces >= kMostPieces) return Step::kLater;
  }
  Pieces pieces(going_);
  if (!copying.front()->ContinueFlush(pieces)) copying.pop_front();
  return copying.empty() ? Step::kOver : Step::kMore;
}

const Checkpointable* Checkpointer::copying() const {
  return going_ == nullptr || going_->copying.empty() ? nullptr : going_->copying.front();
}

bool Checkpointer::written() const {
  if (!active()) return false;
  const std::lock_guard lock(going_->mutex);
  return going_->over;
}

void Checkpointer::Wait() {
  CHECK(active());
  for (Step step = Continue(); step != Step::kOver; step = Continue()) {
    if (step == Step::kMore) continue;
    std::unique_lock lock(going_->mutex);
    going_->changed.wait(lock, [&] { return going_->pieces < kMostPieces; });
  }
  std::unique_lock lock(going_->mutex);
  going_->changed.wait(lock, [&] { return going_->over; });
}

Status Checkpointer::Finish() {
  Wait();
  const std::shared_ptr<Going> going = std::exchange(going_, nullptr);
  RETURN_IF_ERROR(going->status);
  std::vector<ManifestSection> sections;
  for (std::optional<ManifestSection>& section : going->described) sections.push_back(*std::move(section));
  if (later_ == nullptr) return manifest_.Adopt(std::move(sections), going->structures);
  // File names are never reused, so a name removed now does not come again.
  later_->HoldRemovals();
  const Status adopted = manifest_.Adopt(std::move(sections), going->structures);
  std::vector<std::string> removals = later_->TakeRemovals();
  if (!removals.empty()) {
    // One that cannot be removed now is removed by the next recovery.
    executor_.Submit([env = &later_->base(), paths = std::move(removals)] {
      for (const std::string& path : paths) static_cast<void>(env->Remove(path));
    });
  }
  return adopted;
}

Status Checkpointer::Commit(std::span<Checkpointable* const> structures) {
  Start(structures, {});
  return Finish();
}

}  // namespace portolan
