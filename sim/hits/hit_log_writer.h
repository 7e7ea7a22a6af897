// HitLogWriter: the hit log on disk, written while the simulated web is being visited.
//
// Lines are in the order in which the events ended (a hit's line is written at its end_ns). With several server threads
// neighbours may be exchanged by as much as a thread can be interrupted between reading the clock and writing: readers
// that need a strict order sort by time.
//
// Thread: any number may report events. One thread of its own writes the buffer out each kFlushMs.
// Memory bound: two buffers of kBufferBytes; a thread that finds the buffer full writes it out and waits for that.
// Durability: what is older than 200 ms is in the system's hands, so it survives a killed server, but not a crashed
// machine.

#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"
#include "io/env.h"
#include "sim/hits/hit_log_line.h"
#include "sim/world/hit_log.h"

namespace portolan::sim {

class HitLogWriter : public HitSink {
 public:
  static constexpr size_t kBufferBytes = size_t{1} << 20;
  static constexpr int kFlushMs = 100;

  // The file is made anew.
  static Result<std::unique_ptr<HitLogWriter>> Create(Env& env, const std::string& path, const HitLogHeader& header);
  ~HitLogWriter() override;  // closes

  void OnHit(const Hit& hit) override;
  void OnOpen(int64_t unix_ns, uint64_t connection, std::string_view address, uint16_t port) override;
  void OnClose(int64_t unix_ns, uint64_t connection) override;
  void OnDns(int64_t unix_ns, std::string_view name, std::string_view type, int rcode) override;

  // Writes everything reported so far to the file. After the first failure nothing is written any more and every call
  // returns that error.
  Status Flush();
  // Flushes and closes; later events are lost. A second call returns the same status.
  Status Close();

 private:
  explicit HitLogWriter(std::unique_ptr<File> file);
  void Add(std::string_view line);
  void FlushLoop();

  const std::unique_ptr<File> file_;
  std::mutex write_mutex_;  // taken before mutex_, never after it
  Status status_;           // write_mutex_
  std::string writing_;     // write_mutex_

  std::mutex mutex_;
  std::condition_variable wake_;  // mutex_
  std::string buffer_;            // mutex_
  bool closed_ = false;           // mutex_
  std::thread flusher_;
};

}  // namespace portolan::sim
