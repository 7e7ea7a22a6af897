// What other shards and the disk say to a shard's exchange: any bytes give a report, a datagram of notices, a state, or
// an error; and what was read is written and read again as the same.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "cluster/end_detector.h"
#include "cluster/exchange_state.h"
#include "cluster/notice_mail.h"
#include "cluster/shard_report.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace portolan;
  constexpr uint32_t kShards = 3;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto report = ShardReport::Decode(bytes, kShards)) {
    CHECK(*ShardReport::Decode(report->Encode(), kShards) == *report);
    EndDetector detector(kShards);
    detector.Set(*report);
    CHECK(detector.Done() == report->done);
  }
  if (const auto mail = NoticeMail::Decode(bytes); mail && !mail->notices.empty()) {
    std::vector<AddressNotice> notices;
    for (const std::string& datagram : mail->Encode(100)) {
      const auto again = NoticeMail::Decode(datagram);
      CHECK(again);
      notices.insert(notices.end(), again->notices.begin(), again->notices.end());
    }
    CHECK(notices == mail->notices);
    NoticeFilter(mail->cluster, kShards, 1).Accepts(*mail);
  }
  if (const auto state = ExchangeState::Decode(bytes)) {
    const auto again = ExchangeState::Decode(state->Encode());
    CHECK(again && again->outbox == state->outbox && again->position.Encode() == state->position.Encode());
  }
  return 0;
}
