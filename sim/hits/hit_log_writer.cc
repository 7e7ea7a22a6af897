#include "sim/hits/hit_log_writer.h"

#include <chrono>
#include <utility>

namespace portolan::sim {
namespace {

// The line being made, so that its text is ready before the lock is taken.
std::string& Line() {
  thread_local std::string line;
  line.clear();
  return line;
}

}  // namespace

Result<std::unique_ptr<HitLogWriter>> HitLogWriter::Create(Env& env, const std::string& path,
                                                           const HitLogHeader& header) {
  ASSIGN_OR_RETURN(auto file, env.Open(path, OpenMode::kCreate));
  auto writer = std::unique_ptr<HitLogWriter>(new HitLogWriter(std::move(file)));
  std::string& line = Line();
  AppendHeaderLine(header, line);
  writer->Add(line);
  RETURN_IF_ERROR(writer->Flush());
  return writer;
}

HitLogWriter::HitLogWriter(std::unique_ptr<File> file) : file_(std::move(file)) {
  buffer_.reserve(kBufferBytes);
  writing_.reserve(kBufferBytes);
  flusher_ = std::thread([this] { FlushLoop(); });
}

HitLogWriter::~HitLogWriter() { static_cast<void>(Close()); }

void HitLogWriter::Add(std::string_view line) {
  std::unique_lock lock(mutex_);
  // A line longer than the whole buffer (nothing the server accepts) goes into an empty one, which then grows.
  while (!buffer_.empty() && buffer_.size() + line.size() > kBufferBytes) {
    lock.unlock();
    static_cast<void>(Flush());  // kept in status_
    lock.lock();
  }
  if (!closed_) buffer_ += line;
}

void HitLogWriter::OnHit(const Hit& hit) {
  std::string& line = Line();
  AppendHitLine(hit, line);
  Add(line);
}

void HitLogWriter::OnOpen(int64_t unix_ns, uint64_t connection, std::string_view address, uint16_t port) {
  std::string& line = Line();
  AppendOpenLine(unix_ns, connection, address, port, line);
  Add(line);
}

void HitLogWriter::OnClose(int64_t unix_ns, uint64_t connection) {
  std::string& line = Line();
  AppendCloseLine(unix_ns, connection, line);
  Add(line);
}

void HitLogWriter::OnDns(int64_t unix_ns, std::string_view name, std::string_view type, int rcode) {
  std::string& line = Line();
  AppendDnsLine(unix_ns, name, type, rcode, line);
  Add(line);
}

Status HitLogWriter::Flush() {
  const std::lock_guard write_lock(write_mutex_);
  {
    const std::lock_guard lock(mutex_);
    std::swap(buffer_, writing_);
  }
  if (!writing_.empty() && status_) status_ = file_->Append(writing_);
  writing_.clear();
  return status_;
}

Status HitLogWriter::Close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  wake_.notify_all();
  if (flusher_.joinable()) flusher_.join();
  return Flush();
}

void HitLogWriter::FlushLoop() {
  std::unique_lock lock(mutex_);
  while (!closed_) {
    wake_.wait_for(lock, std::chrono::milliseconds(kFlushMs), [this] { return closed_; });
    lock.unlock();
    static_cast<void>(Flush());  // kept in status_
    lock.lock();
  }
}

}  // namespace portolan::sim
