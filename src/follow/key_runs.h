// The keys of all batches, and of the last generation, merged: each key once and in order, and for each run the rising
// map from its own numbers to those of all.
//
// Thread: one owner. Memory bound: a buffer per run; per run some KiB of its map, which goes to a nameless file.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "follow/link_batch.h"
#include "follow/spool_file.h"
#include "graph/bit_writer.h"
#include "graph/offsets.h"
#include "graph/url_dictionary.h"

namespace portolan {

// Keys in rising order.
class KeyRun {
 public:
  virtual ~KeyRun() = default;
  virtual Result<bool> Next() = 0;
  virtual std::string_view key() const = 0;  // valid until Next
  virtual bool fetched() const = 0;
};

class SpooledKeys : public KeyRun {
 public:
  SpooledKeys(File& file, const SpoolPart& part, size_t buffer) : reader_(file, part, buffer) {}
  Result<bool> Next() override;
  std::string_view key() const override { return key_; }
  bool fetched() const override { return fetched_; }

 private:
  SpoolReader reader_;
  std::string key_;
  bool fetched_ = false;
};

// The keys of a generation. `fetched` is a bit per key.
class DictionaryKeys : public KeyRun {
 public:
  DictionaryKeys(const graph::UrlDictionary& dictionary, std::string_view fetched)
      : scan_(dictionary), fetched_(fetched) {}
  Result<bool> Next() override {
    if (scan_.Next()) return true;
    RETURN_IF_ERROR(scan_.status());
    return false;
  }
  std::string_view key() const override { return scan_.key(); }
  bool fetched() const override {
    const uint64_t number = scan_.number();
    return number / 8 < fetched_.size() && (static_cast<uint8_t>(fetched_[number / 8]) >> number % 8 & 1) != 0;
  }

 private:
  graph::UrlDictionary::Scan scan_;
  std::string_view fetched_;
};

// The rising map of a run from its own numbers to those of all, in memory: as an array where that fits, otherwise as an
// Elias–Fano sequence, which takes a fifth of that and is several times slower.
class NumberMap {
 public:
  NumberMap() = default;
  explicit NumberMap(std::vector<uint32_t> plain) : plain_(std::move(plain)) {}
  explicit NumberMap(graph::GraphOffsets packed) : packed_(std::move(packed)) {}

  uint64_t size() const { return plain_.empty() ? packed_.size() : plain_.size(); }
  // REQUIRES: index < size().
  uint64_t operator[](uint64_t index) const { return plain_.empty() ? packed_[index] : plain_[index]; }

 private:
  std::vector<uint32_t> plain_;
  graph::GraphOffsets packed_;
};

// The same gap-coded in a file.
class RankMap {
 public:
  Status Add(uint64_t number, SpoolFile& spool);
  Status Finish(SpoolFile& spool);
  // In `memory` as an array; otherwise some 6 bits per key. `numbers`: how many there are of all.
  Result<NumberMap> Load(SpoolFile& spool, uint64_t numbers, size_t memory) const;

 private:
  Status Spill(std::string bytes, SpoolFile& spool);

  graph::BitWriter bits_;
  uint64_t count_ = 0;
  uint64_t last_ = 0;
  std::vector<SpoolPart> parts_;
};

// `each` is called for each different key in order. Gives the maps in the order of the runs.
Result<std::vector<RankMap>> MergeKeyRuns(const std::vector<std::unique_ptr<KeyRun>>& runs, SpoolFile& maps,
                                          const std::function<Status(std::string_view key, bool fetched)>& each);

}  // namespace portolan
