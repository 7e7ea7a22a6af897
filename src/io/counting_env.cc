#include "io/counting_env.h"

namespace portolan {
namespace {

class CountingFile : public File {
 public:
  CountingFile(std::unique_ptr<File> base, std::shared_ptr<CountingEnv::Counters> counters)
      : base_(std::move(base)), counters_(std::move(counters)) {}

  Status Append(std::string_view bytes) override {
    counters_->bytes_written += bytes.size();
    ++counters_->writes;
    return base_->Append(bytes);
  }
  Result<size_t> ReadAt(uint64_t offset, char* to, size_t count) override {
    auto got = base_->ReadAt(offset, to, count);
    ++counters_->reads;
    if (got) counters_->bytes_read += *got;
    return got;
  }
  void WillNeed(uint64_t offset, uint64_t count) override {
    ++counters_->hints;
    base_->WillNeed(offset, count);
  }
  Status Preallocate(uint64_t size) override { return base_->Preallocate(size); }
  Status Truncate(uint64_t size) override { return base_->Truncate(size); }
  Status Sync() override {
    ++counters_->syncs;
    return base_->Sync();
  }
  uint64_t Size() const override { return base_->Size(); }
  const std::string& path() const override { return base_->path(); }

 private:
  const std::unique_ptr<File> base_;
  const std::shared_ptr<CountingEnv::Counters> counters_;
};

}  // namespace

Result<std::unique_ptr<File>> CountingEnv::Open(const std::string& path, OpenMode mode, const FileOptions& options) {
  ASSIGN_OR_RETURN(auto file, base_.Open(path, mode, options));
  return std::make_unique<CountingFile>(std::move(file), counters_);
}

}  // namespace portolan
