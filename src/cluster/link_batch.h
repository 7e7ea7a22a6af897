// LinkBatch: messages of one shard to another (crawl/crossing.h; here they are opaque bytes) as one message of a
// stream: a header, and the messages, compressed together (zstd, or as they are when that saves nothing).
//
// Format: link_batch_format.h, docs/formats/link_stream.md. What comes back from the stream is checked before it is
// believed: DecodeLinkBatch gives a batch or the reason.
//
// Thread: one owner. Memory bound: writer and reader kMaxLinkBatchBody each, and the codec's working memory.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/link_batch_format.h"
#include "disk/codec.h"

namespace portolan {

struct LinkBatchHeader {
  uint64_t cluster = 0;   // id of the cluster (ClusterStore): batches of another one with the same name are refused
  uint32_t receiver = 0;  // shards
  uint32_t sender = 0;
  uint64_t epoch = 0;     // of the sender's claim to its shard
  uint64_t number = 0;    // 1, 2, … per epoch and receiver
  uint32_t messages = 0;  // Decode sets it; none: the sender says only that its epoch has begun
};

class LinkBatchWriter {
 public:
  LinkBatchWriter();

  // False if the batch is full: Finish it and try again. A message that fits no batch is kInvalidArgument.
  Result<bool> Add(std::string_view message);
  bool empty() const { return messages_ == 0; }
  uint64_t body_size() const { return body_.size(); }
  // The bytes of the batch. The writer is empty again.
  std::string Finish(const LinkBatchHeader& header);

 private:
  Compressor compressor_;
  std::string body_;
  uint32_t messages_ = 0;
};

// Gives a batch that LinkBatchWriter made, or LinkBatchReader took, another epoch and number.
void RestampLinkBatch(std::string& batch, uint64_t epoch, uint64_t number);

class LinkBatchReader {
 public:
  // kCorrupt: not a batch, or not as it was written. kUnsupported: of a later version. The messages are views into this
  // reader, until the next call.
  Status Decode(std::string_view bytes);
  const LinkBatchHeader& header() const { return header_; }
  const std::vector<std::string_view>& messages() const { return messages_; }

 private:
  Decompressor decompressor_;
  LinkBatchHeader header_;
  std::string body_;
  std::vector<std::string_view> messages_;
};

}  // namespace portolan
