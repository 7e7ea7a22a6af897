#include "follow/generation_file.h"

#include "base/crc32c.h"

namespace portolan {
namespace {

constexpr uint64_t kTakeEvery = 4096;  // nodes

}  // namespace

Result<GenerationFile> GenerationFile::Make(Env& env, const std::string& dir, uint64_t generation,
                                            const std::string& name) {
  ASSIGN_OR_RETURN(auto file, env.Open(GraphFilePath(dir, generation, name), OpenMode::kCreate));
  return GenerationFile(std::move(file), name);
}

Status GenerationFile::Append(std::string_view bytes) {
  buffer_ += bytes;
  size_ += bytes.size();
  return buffer_.size() < kBuffer ? Status() : Flush();
}

Status GenerationFile::Flush() {
  if (buffer_.empty()) return {};
  crc_ = Crc32c(buffer_, crc_);
  RETURN_IF_ERROR(file_->Append(buffer_));
  buffer_.clear();
  return {};
}

Result<GraphCurrent::FileEntry> GenerationFile::Finish() {
  RETURN_IF_ERROR(Flush());
  RETURN_IF_ERROR(SyncOnce(*file_));
  return GraphCurrent::FileEntry{.name = name_, .size = size_, .crc = crc_};
}

Result<GraphLevelWriter> GraphLevelWriter::Make(Env& env, const std::string& dir, uint64_t generation,
                                                const std::string& base) {
  ASSIGN_OR_RETURN(GenerationFile graph, GenerationFile::Make(env, dir, generation, base + ".graph"));
  ASSIGN_OR_RETURN(GenerationFile offsets, GenerationFile::Make(env, dir, generation, base + ".offsets"));
  ASSIGN_OR_RETURN(GenerationFile properties, GenerationFile::Make(env, dir, generation, base + ".properties"));
  return GraphLevelWriter(std::move(graph), std::move(offsets), std::move(properties));
}

Status GraphLevelWriter::CloseList() {
  RETURN_IF_ERROR(writer_.Append(list_));
  list_.clear();
  if (writer_.nodes() % kTakeEvery != 0) return {};
  RETURN_IF_ERROR(graph_.Append(writer_.TakeGraph()));
  return offsets_.Append(writer_.TakeOffsets());
}

Status GraphLevelWriter::Finish(uint64_t nodes, std::vector<GraphCurrent::FileEntry>& files) {
  while (writer_.nodes() < nodes) RETURN_IF_ERROR(CloseList());
  ASSIGN_OR_RETURN(const graph::GraphWriter::End end, writer_.Finish());
  RETURN_IF_ERROR(graph_.Append(end.graph));
  RETURN_IF_ERROR(offsets_.Append(end.offsets));
  RETURN_IF_ERROR(properties_.Append(end.properties.ToText()));
  for (GenerationFile* const file : {&graph_, &offsets_, &properties_}) {
    ASSIGN_OR_RETURN(GraphCurrent::FileEntry entry, file->Finish());
    files.push_back(std::move(entry));
  }
  return {};
}

}  // namespace portolan
