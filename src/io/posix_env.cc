// Env on the system calls of Linux. Each call is retried on EINTR; each error names the call and the path.

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "io/env.h"
#include "io/small_file.h"

namespace portolan {
namespace {

std::unexpected<Error> SystemError(std::string_view call, const std::string& path) {
  return std::unexpected(Error::FromErrno(errno, fmt::format("{} {}", call, path)));
}

template <typename Call>
auto Retry(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

Status WriteFrom(int fd, const std::string& path, std::string_view bytes, uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t put = Retry([&] { return ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
    if (put == -1) return SystemError("write", path);
    bytes.remove_prefix(static_cast<size_t>(put));
    offset += static_cast<uint64_t>(put);
  }
  return {};
}

class PosixFile : public File {
 public:
  PosixFile(std::string path, int fd, uint64_t size) : path_(std::move(path)), fd_(fd), size_(size) {}
  ~PosixFile() override { ::close(fd_); }

  Status Append(std::string_view bytes) override {
    RETURN_IF_ERROR(WriteAll(bytes.data(), bytes.size(), size_));
    size_ += bytes.size();
    return {};
  }

  Result<size_t> ReadAt(uint64_t offset, char* to, size_t count) override {
    size_t done = 0;
    while (done < count) {
      const ssize_t got =
          Retry([&] { return ::pread(fd_, to + done, count - done, static_cast<off_t>(offset + done)); });
      if (got == -1) return SystemError("read", path_);
      if (got == 0) break;
      done += static_cast<size_t>(got);
    }
    return done;
  }

  void WillNeed(uint64_t offset, uint64_t count) override {
    // A length of 0 would mean all the rest.
    if (count > 0) ::posix_fadvise(fd_, static_cast<off_t>(offset), static_cast<off_t>(count), POSIX_FADV_WILLNEED);
  }

  Status Preallocate(uint64_t size) override {
    if (Retry([&] { return ::fallocate(fd_, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(size)); }) == 0) return {};
    if (errno == EOPNOTSUPP || errno == ENOSYS) return {};
    return SystemError("preallocate", path_);
  }

  Status Truncate(uint64_t size) override {
    if (Retry([&] { return ::ftruncate(fd_, static_cast<off_t>(size)); }) == -1) return SystemError("truncate", path_);
    size_ = size;
    return {};
  }

  Status Sync() override {
    if (Retry([&] { return ::fdatasync(fd_); }) == -1) return SystemError("sync", path_);
    return {};
  }

  uint64_t Size() const override { return size_; }
  const std::string& path() const override { return path_; }

 protected:
  Status WriteAll(const char* from, size_t count, uint64_t offset) {
    return WriteFrom(fd_, path_, {from, count}, offset);
  }

  int fd() const { return fd_; }
  void set_size(uint64_t size) { size_ = size; }

 private:
  std::string path_;
  int fd_;
  uint64_t size_;
};

// O_DIRECT wants memory, offsets and lengths aligned. Appends gather in an aligned buffer of which whole pieces are
// written; Sync writes the rest padded to a page and cuts the file back to its size.
class DirectFile : public PosixFile {
 public:
  static constexpr size_t kAlign = 4096;
  static constexpr size_t kBuffer = size_t{1} << 20;

  DirectFile(std::string path, int fd, uint64_t size) : PosixFile(std::move(path), fd, size) {
    buffer_.reset(static_cast<char*>(std::aligned_alloc(kAlign, kBuffer)));
  }
  ~DirectFile() override {
    // Like close(2) of a buffered file: what was not synced may be lost, but is not left out on purpose.
    static_cast<void>(WriteTail());
  }

  // REQUIRES: called once after opening, before the first append, on a file that is not empty.
  Status LoadTail() {
    const size_t tail = Size() % kAlign;
    if (tail == 0) return {};
    ASSIGN_OR_RETURN(const size_t got, PosixFile::ReadAt(Size() - tail, buffer_.get(), kAlign));
    buffered_ = std::min(got, tail);
    return {};
  }

  Status Append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const size_t piece = std::min(bytes.size(), kBuffer - buffered_);
      std::memcpy(buffer_.get() + buffered_, bytes.data(), piece);
      buffered_ += piece;
      tail_written_ = false;
      set_size(Size() + piece);
      bytes.remove_prefix(piece);
      if (buffered_ == kBuffer) {
        RETURN_IF_ERROR(WriteAll(buffer_.get(), kBuffer, Size() - kBuffer));
        buffered_ = 0;
      }
    }
    return {};
  }

  Result<size_t> ReadAt(uint64_t offset, char* to, size_t count) override {
    RETURN_IF_ERROR(WriteTail());
    if (offset >= Size()) return size_t{0};
    count = static_cast<size_t>(std::min<uint64_t>(count, Size() - offset));
    const uint64_t first = offset / kAlign * kAlign;
    const size_t span = (offset - first + count + kAlign - 1) / kAlign * kAlign;
    std::unique_ptr<char, decltype(&std::free)> aligned(static_cast<char*>(std::aligned_alloc(kAlign, span)),
                                                        &std::free);
    ASSIGN_OR_RETURN(const size_t got, PosixFile::ReadAt(first, aligned.get(), span));
    const size_t skip = offset - first;
    if (got <= skip) return size_t{0};
    count = std::min(count, got - skip);
    std::memcpy(to, aligned.get() + skip, count);
    return count;
  }

  void WillNeed(uint64_t /*offset*/, uint64_t /*count*/) override {}  // it reads past the page cache

  Status Truncate(uint64_t size) override {
    RETURN_IF_ERROR(WriteTail());
    RETURN_IF_ERROR(PosixFile::Truncate(size));
    buffered_ = 0;
    return LoadTail();
  }

  Status Sync() override {
    RETURN_IF_ERROR(WriteTail());
    return PosixFile::Sync();
  }

 private:
  Status WriteTail() {
    if (buffered_ == 0 || tail_written_) return {};
    const uint64_t start = Size() - buffered_;
    const size_t padded = (buffered_ + kAlign - 1) / kAlign * kAlign;
    std::memset(buffer_.get() + buffered_, 0, padded - buffered_);
    RETURN_IF_ERROR(WriteAll(buffer_.get(), padded, start));
    if (::ftruncate(fd(), static_cast<off_t>(Size())) == -1) return SystemError("truncate", path());
    // The part of the last page stays buffered: the next write of that page must hold it again.
    const size_t whole = buffered_ / kAlign * kAlign;
    std::memmove(buffer_.get(), buffer_.get() + whole, buffered_ - whole);
    buffered_ -= whole;
    tail_written_ = true;
    return {};
  }

  struct FreeDeleter {
    void operator()(char* p) const { std::free(p); }
  };
  std::unique_ptr<char, FreeDeleter> buffer_;
  size_t buffered_ = 0;  // bytes in buffer_; the file's last `buffered_` bytes
  bool tail_written_ = false;
};

struct flock WholeFile() {
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return whole;
}

class PosixLock : public FileLock {
 public:
  PosixLock(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  ~PosixLock() override { ::close(fd_); }

 private:
  std::string path_;
  int fd_;
};

class MappedBytes : public FileBytes {
 public:
  MappedBytes(void* at, size_t size) : at_(at), size_(size) {}
  ~MappedBytes() override {
    if (size_ > 0) ::munmap(at_, size_);
  }
  std::string_view view() const override { return {static_cast<const char*>(at_), size_}; }
  void Release() const override {
    if (size_ > 0) (void)::madvise(at_, size_, MADV_DONTNEED);
  }

 private:
  void* at_;
  size_t size_;
};

class PosixEnv : public Env {
 public:
  using Env::Open;

  Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode, const FileOptions& options) override {
    int flags = O_CLOEXEC;
    switch (mode) {
      case OpenMode::kRead:
        flags |= O_RDONLY;
        break;
      case OpenMode::kCreate:
        flags |= O_RDWR | O_CREAT | O_TRUNC;
        break;
      case OpenMode::kAppend:
        flags |= O_RDWR | O_CREAT;
        break;
    }
    bool direct = options.direct;
    int fd = Retry([&] { return ::open(path.c_str(), flags | (direct ? O_DIRECT : 0), 0644); });
    if (fd == -1 && direct && errno == EINVAL) {  // tmpfs and others have no O_DIRECT
      direct = false;
      fd = Retry([&] { return ::open(path.c_str(), flags, 0644); });
    }
    if (fd == -1) return SystemError("open", path);
    struct stat info{};
    if (::fstat(fd, &info) == -1) {
      auto error = SystemError("stat", path);
      ::close(fd);
      return error;
    }
    if (S_ISDIR(info.st_mode)) {
      ::close(fd);
      return Fail(ErrorCode::kInvalidArgument, fmt::format("open {}: it is a directory", path));
    }
    const auto size = static_cast<uint64_t>(info.st_size);
    if (!direct) return std::make_unique<PosixFile>(path, fd, size);
    auto file = std::make_unique<DirectFile>(path, fd, size);
    RETURN_IF_ERROR(file->LoadTail());
    return file;
  }

  bool Exists(const std::string& path) override { return ::access(path.c_str(), F_OK) == 0; }

  Result<std::vector<std::string>> List(const std::string& dir) override {
    std::vector<std::string> names;
    DIR* handle = ::opendir(dir.c_str());
    if (handle == nullptr) return SystemError("list", dir);
    while (const dirent* entry = ::readdir(handle)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
    }
    ::closedir(handle);
    std::sort(names.begin(), names.end());
    return names;
  }

  Status CreateDirs(const std::string& dir) override {
    if (IsDir(dir)) return {};
    size_t end = 0;
    do {
      end = std::min(dir.find('/', end + 1), dir.size());
      const std::string level = dir.substr(0, end);
      if (IsDir(level)) continue;
      if (::mkdir(level.c_str(), 0777) == 0) {
        RETURN_IF_ERROR(SyncMade(level));
      } else if (const int error = errno; error != EEXIST || !IsDir(level)) {  // another process may have made it first
        const std::string where = level == dir ? dir : fmt::format("{}: {}", dir, level);
        return std::unexpected(
            Error::FromErrno(error == EEXIST ? ENOTDIR : error, fmt::format("create directory {}", where)));
      }
    } while (end < dir.size());
    return {};
  }

  Result<std::unique_ptr<FileBytes>> Map(const std::string& path) override {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd == -1) return SystemError("open", path);
    struct stat status{};
    void* at = nullptr;
    bool mapped = ::fstat(fd, &status) == 0;
    const auto size = static_cast<size_t>(status.st_size);
    if (mapped && size > 0) {
      at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
      mapped = at != MAP_FAILED;
    }
    auto error = SystemError("map", path);
    ::close(fd);
    if (!mapped) return error;
    return std::make_unique<MappedBytes>(at, size);
  }

  Status Remove(const std::string& path) override {
    if (::unlink(path.c_str()) == -1) return SystemError("remove", path);
    return {};
  }

  Status Rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) == -1) return SystemError("rename", fmt::format("{} to {}", from, to));
    return {};
  }

  Status SyncDir(const std::string& dir) override {
    const int fd = ::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd == -1) return SystemError("open", dir);
    const int result = Retry([&] { return ::fsync(fd); });
    auto error = SystemError("sync directory", dir);
    ::close(fd);
    if (result == -1) return error;
    return {};
  }

  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override {
    for (int attempt = 0;; ++attempt) {
      const int fd = Retry([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644); });
      if (fd == -1) return SystemError("open", path);
      // Of the open file description: also exclusive between two holders in one process.
      struct flock whole = WholeFile();
      if (Retry([&] { return ::fcntl(fd, F_OFD_SETLK, &whole); }) == -1) {
        const bool held = errno == EAGAIN || errno == EACCES;
        auto error = SystemError("lock", path);
        ::close(fd);
        if (held) return Fail(ErrorCode::kBusy, fmt::format("{} is locked: another process uses it", path));
        return error;
      }
      // A holder that removed the file before it released the lock leaves us a lock on a file without a name: another
      // process may hold the file that has this name now.
      if (IsFileAt(fd, path)) return std::make_unique<PosixLock>(path, fd);
      ::close(fd);
      if (attempt == kLockAttempts) {
        return Fail(ErrorCode::kBusy, fmt::format("{} is removed again and again by another process", path));
      }
    }
  }

  Result<uint64_t> FreeSpace(const std::string& dir) override {
    struct statvfs info{};
    if (::statvfs(dir.c_str(), &info) == -1) return SystemError("statvfs", dir);
    return static_cast<uint64_t>(info.f_bavail) * info.f_frsize;
  }

  // By device and inode: sees through links of all kinds and mounts of one directory in two places.
  Result<std::string> Identity(const std::string& dir) override {
    struct stat info{};
    if (::stat(dir.c_str(), &info) == -1) return SystemError("stat", dir);
    return fmt::format("{}:{}", info.st_dev, info.st_ino);
  }

 private:
  static constexpr int kLockAttempts = 100;

  static bool IsFileAt(int fd, const std::string& path) {
    struct stat opened{};
    struct stat named{};
    return ::fstat(fd, &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
  }

  static bool IsDir(const std::string& path) {
    struct stat info{};
    return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
  }

  // Makes the name of a new directory durable, where that can be done: not on all file systems (EINVAL), and not in a
  // directory that can be written but not read (EACCES).
  static Status SyncMade(const std::string& dir) {
    const std::string above = DirName(dir);
    const int fd = Retry([&] { return ::open(above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
    if (fd == -1) return errno == EACCES ? Status() : SystemError("open", above);
    const int result = Retry([&] { return ::fsync(fd); });
    const int error = errno;
    ::close(fd);
    if (result == 0 || error == EINVAL) return {};
    return Fail(ErrorCode::kIo, Error::FromErrno(error, fmt::format("sync directory {}", above)).message());
  }
};

}  // namespace

std::string FileStamp(const std::string& path) {
  struct stat about{};
  if (Retry([&] { return ::stat(path.c_str(), &about); }) != 0) return {};
  return fmt::format("{}:{} {} {}.{:09} {}.{:09}", about.st_dev, about.st_ino, about.st_size, about.st_mtim.tv_sec,
                     about.st_mtim.tv_nsec, about.st_ctim.tv_sec, about.st_ctim.tv_nsec);
}

bool IsLocked(const std::string& path) {
  const int fd = Retry([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); });
  if (fd == -1) return false;
  struct flock whole = WholeFile();
  const bool asked = Retry([&] { return ::fcntl(fd, F_OFD_GETLK, &whole); }) == 0;
  ::close(fd);
  return asked && whole.l_type != F_UNLCK;
}

Status ReplaceSmallFile(const std::string& path, std::string_view contents, const SmallFileOptions& options) {
  const std::string beside = path + ".new";
  ::unlink(beside.c_str());  // left by a process that was killed, or a link
  const int fd = Retry([&] {
    return ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, options.secret ? 0600 : 0644);
  });
  if (fd == -1) return SystemError("open", beside);
  Status status = WriteFrom(fd, beside, contents, 0);
  if (status && options.durable && Retry([&] { return ::fdatasync(fd); }) == -1) {
    status = Fail(ErrorCode::kIo, Error::FromErrno(errno, fmt::format("sync {}", beside)).message());
  }
  ::close(fd);
  if (status && ::rename(beside.c_str(), path.c_str()) == -1) status = SystemError("rename", beside);
  if (!status) {
    ::unlink(beside.c_str());
    return status;
  }
  return options.durable ? SyncDirOnce(Env::Posix(), DirName(path)) : Status();
}

Status OverwriteSmallFile(const std::string& path, std::string_view contents) {
  const int fd = Retry([&] { return ::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC); });
  if (fd == -1) return SystemError("open", path);
  Status status = WriteFrom(fd, path, contents, 0);
  if (status && ::ftruncate(fd, static_cast<off_t>(contents.size())) == -1) status = SystemError("truncate", path);
  ::close(fd);
  return status;
}

Env& Env::Posix() {
  static PosixEnv* const env = new PosixEnv;
  return *env;
}

}  // namespace portolan
