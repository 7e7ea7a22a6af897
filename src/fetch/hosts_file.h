// HostsFile: the system's hosts(5) file, whose entries take precedence over the DNS.
//
// A line is an address and the names that have it; '#' begins a comment. Names are compared without case and without
// the dot that may end them. Lines of any other form are skipped, as the C library does.
//
// The file is looked at again when a name is asked for and a second has passed since the last look; it is read again
// when its time, size or identity changed. A file that does not exist, or is not a regular file, counts as empty.
//
// Thread: one owner. Memory bound: the names within the first kMaxBytes of the file, some 16 MiB at most; a longer file
// is logged, and its later lines are ignored.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flow/address.h"
#include "io/clock.h"

namespace portolan {

// The addresses of each name, in the text's order.
using HostAddresses = std::unordered_map<std::string, std::vector<Address>>;
HostAddresses ParseHosts(std::string_view text);

class HostsFile {
 public:
  static constexpr size_t kMaxBytes = size_t{4} << 20;  // lists of a hundred thousand names are in use
  static constexpr int64_t kLookAgainNs = kSecond;

  // An empty path: there is no such file.
  explicit HostsFile(std::string path) : path_(std::move(path)) {}

  // The addresses of a lower-case name, in the file's order; null when it is not in the file. Valid until the next
  // call.
  const std::vector<Address>* Find(std::string_view name, int64_t now_ns);

 private:
  // Identifies one state of the file.
  struct Stamp {
    uint64_t device = 0, inode = 0, size = 0;
    int64_t changed_ns = 0;
    bool there = false;
    bool operator==(const Stamp&) const = default;
  };
  static Stamp StampOf(const std::string& path);
  void Read();

  const std::string path_;
  Stamp stamp_;
  int64_t look_again_ns_ = INT64_MIN;
  HostAddresses by_name_;
};

// "localhost" and all names below it: this machine, whatever a name server says (RFC 6761 section 6.3).
bool IsLocalhost(std::string_view name);

}  // namespace portolan
