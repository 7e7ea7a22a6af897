// LocalPart: a part of an index in a directory of this machine, read while a follower may be writing to it.
//
// Xapian reads one revision of a database at a time; when two more were committed meanwhile, what it reads may be gone.
// Then the question is asked again (kClosed). Each asker has a Database of its own, taken from those that are idle.
//
// Thread: any number. Memory bound: a Database per asker at work (its blocks are the system's page cache), kMaxIdle of
// them are kept.

#pragma once

#include <xapian.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "io/clock.h"
#include "search/search_part.h"

namespace portolan {

class LocalPart : public SearchPart {
 public:
  static constexpr size_t kMaxIdle = 16;

  LocalPart(const Clock& clock, std::string dir) : clock_(clock), dir_(std::move(dir)) {}

  const std::string& name() const override { return dir_; }
  bool local() const override { return true; }
  Result<std::unique_ptr<PartAsker>> Ask(int64_t deadline_ns) override;

 private:
  friend class LocalAsker;
  Result<Xapian::Database> Take();
  void Return(Xapian::Database database);

  const Clock& clock_;
  const std::string dir_;
  std::mutex mutex_;
  std::vector<Xapian::Database> idle_;
};

}  // namespace portolan
