// PayloadDecoder: removes transfer coding (chunked) and content coding (gzip, deflate) from an archived HTTP payload.
//
// For showing a payload to people and tools. Other codings (br, zstd) are left on; `coding_left` names them. Some
// archived bodies are not coded as their head says: a body that does not begin as chunked, or as gzip, is passed on
// unchanged.
//
// Memory: zlib's window and one output step; the caller's sink gets pieces. Thread: one owner.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "warc/archived_chunks.h"
#include "warc/fields.h"

namespace portolan {

class PayloadDecoder {
 public:
  using Sink = std::function<void(std::string_view)>;

  // `fields` are those of the HTTP head.
  PayloadDecoder(const FieldList& fields, Sink sink);
  ~PayloadDecoder();

  // kCorrupt if the compressed bytes are broken; what came before has gone to the sink.
  Status Feed(std::string_view piece);
  // The end of the payload: kCorrupt where the compressed stream has not ended.
  Status Finish();

  const std::string& coding_left() const { return coding_left_; }

 private:
  Status FeedContent(std::string_view piece);

  Sink sink_;
  bool chunked_ = false;
  bool started_ = false;
  ArchivedChunks chunks_;
  struct Zlib;
  std::unique_ptr<Zlib> zlib_;  // null: pass on
  bool deflate_ = false;        // "deflate": zlib's wrapper, or raw as some servers send it
  bool content_started_ = false;
  bool done_ = false;
  std::string coding_left_;
};

}  // namespace portolan
