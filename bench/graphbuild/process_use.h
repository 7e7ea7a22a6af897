// What a process has used so far: memory by kind at its peak, and bytes that went through system calls and to disks.
//
// The peak is the system's own (VmHWM), all memory together, mapped files included; its parts are sampled by a thread
// twenty times per second, so that they may miss a peak that is shorter.
//
// Thread: one owner, and one of its own.

#pragma once

#include <cstdint>
#include <memory>

namespace portolan::bench {

struct ProcessUse {
  uint64_t peak_bytes = 0;       // resident
  uint64_t peak_anon_bytes = 0;  // of them the process's own
  uint64_t peak_file_bytes = 0;  // of them mapped files and the program
  uint64_t asked_read = 0;       // by read and write calls, from the page cache or not
  uint64_t asked_written = 0;
  uint64_t disk_read = 0;  // from devices, also through maps
  uint64_t disk_written = 0;
};

class ProcessWatch {
 public:
  ProcessWatch();
  ~ProcessWatch();
  ProcessUse Use();

 private:
  struct Sampler;
  std::unique_ptr<Sampler> sampler_;
};

}  // namespace portolan::bench
