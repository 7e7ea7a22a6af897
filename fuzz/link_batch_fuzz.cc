// What comes out of a stream: any bytes give a batch or an error, and a batch that is written again reads the same. The
// same bytes are read as a position, as a ledger and as a lease.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "cluster/batch_ledger.h"
#include "cluster/lease_record.h"
#include "cluster/link_batch.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace portolan;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto lease = DecodeLease(bytes)) CHECK(DecodeLease(EncodeLease(*lease)) == lease);
  auto ledger = BatchLedger::Decode(bytes);
  if (ledger) {
    CHECK(*BatchLedger::Decode(ledger->Encode()) == *ledger);
  } else {
    ledger = BatchLedger();
  }
  static LinkBatchReader& reader = *new LinkBatchReader;
  static LinkBatchReader& second = *new LinkBatchReader;
  static LinkBatchWriter& writer = *new LinkBatchWriter;
  if (!reader.Decode(bytes)) return 0;
  BatchLedger::Lost lost;
  const BatchVerdict verdict = ledger->Judge(reader.header(), lost);
  if (verdict == BatchVerdict::kNew || verdict == BatchVerdict::kLost) {
    CHECK(ledger->Judge(reader.header(), lost) == BatchVerdict::kDuplicate);
  }
  for (const std::string_view message : reader.messages()) {
    if (message.size() > kMaxLinkMessage) return 0;
    // A batch of another writer may be larger than ours are.
    if (!*writer.Add(message)) {
      writer.Finish(reader.header());
      return 0;
    }
  }
  CHECK(second.Decode(writer.Finish(reader.header())));
  CHECK(std::ranges::equal(second.messages(), reader.messages()));
  return 0;
}
