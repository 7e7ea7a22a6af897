#include "reputation/domain_record.h"

#include <algorithm>
#include <limits>

#include "base/bytes.h"
#include "base/check.h"

namespace portolan {
namespace {

uint32_t AddSaturating(uint32_t a, uint32_t b) {
  const uint32_t sum = a + b;
  return sum < a ? std::numeric_limits<uint32_t>::max() : sum;
}

}  // namespace

void EncodeDomainRecord(const DomainRecord& record, char* to) {
  StoreLe<uint32_t>(to, record.in_degree);
  StoreLe<uint32_t>(to + 4, record.passed);
  StoreLe<uint32_t>(to + 8, record.used);
  StoreLe<uint32_t>(to + 12, record.tick);
  StoreLe<uint16_t>(to + 16, record.horizon);
  StoreLe<uint16_t>(to + 18, record.price);
  StoreLe<uint32_t>(to + 20, record.vouched);
  StoreLe<uint32_t>(to + 24, record.fetched);
  StoreLe<uint32_t>(to + 28, record.failed);
}

std::string EncodeDomainRecord(const DomainRecord& record) {
  std::string bytes(kDomainRecordSize, '\0');
  EncodeDomainRecord(record, bytes.data());
  return bytes;
}

DomainRecord DecodeDomainRecord(std::string_view bytes) {
  CHECK(bytes.size() == kDomainRecordSize);
  DomainRecord record;
  record.in_degree = LoadLe<uint32_t>(bytes.data());
  record.passed = LoadLe<uint32_t>(bytes.data() + 4);
  record.used = LoadLe<uint32_t>(bytes.data() + 8);
  record.tick = LoadLe<uint32_t>(bytes.data() + 12);
  record.horizon = LoadLe<uint16_t>(bytes.data() + 16);
  record.price = LoadLe<uint16_t>(bytes.data() + 18);
  record.vouched = LoadLe<uint32_t>(bytes.data() + 20);
  record.fetched = LoadLe<uint32_t>(bytes.data() + 24);
  record.failed = LoadLe<uint32_t>(bytes.data() + 28);
  return record;
}

BucketPlace PlaceInBucket(const DomainRecord& stored, const BucketUrl& url, uint32_t budget) {
  DCHECK(budget >= 1 && budget <= kMaxBudget);
  BucketPlace result;
  result.tick = std::max(stored.tick, url.tick);
  const uint64_t leaked = uint64_t{result.tick - stored.tick} * budget;
  const uint32_t used = leaked >= stored.used ? 0 : stored.used - static_cast<uint32_t>(leaked);
  result.place = used / budget;
  result.later = result.place >= url.horizon;
  // Bytes from a damaged disk may hold any `used`; ours always stay below 2^32.
  result.used = result.later ? used : AddSaturating(used, url.price);
  return result;
}

DomainRecord InDegreeTuple() {
  DomainRecord tuple;
  tuple.in_degree = 1;
  return tuple;
}

DomainRecord VouchTuple() {
  DomainRecord tuple;
  tuple.vouched = 1;
  return tuple;
}

DomainRecord EndsTuple(uint32_t fetched, uint32_t failed) {
  DomainRecord tuple;
  tuple.fetched = fetched;
  tuple.failed = failed;
  return tuple;
}

DomainRecord UrlTuple(const BucketUrl& url, bool fresh) {
  CHECK(url.price >= 1);
  // The state after the first URL of a domain, whatever the budget: its place is 0.
  DomainRecord tuple;
  tuple.passed = fresh ? 1 : 0;
  tuple.used = url.horizon > 0 ? url.price : 0;
  tuple.tick = url.tick;
  tuple.horizon = url.horizon;
  tuple.price = url.price;
  return tuple;
}

void CombineDomain(DomainRecord& stored, const DomainRecord& tuple, const BudgetTable& budgets, bool may_vouch) {
  if (tuple.price != 0) {
    const BucketPlace place =
        PlaceInBucket(stored, {tuple.tick, tuple.horizon, tuple.price}, budgets.BudgetOf(stored.in_degree));
    stored.used = place.used;
    stored.tick = place.tick;
    stored.horizon = tuple.horizon;
    stored.price = tuple.price;
  }
  stored.in_degree = AddSaturating(stored.in_degree, tuple.in_degree);
  stored.passed = AddSaturating(stored.passed, tuple.passed);
  stored.fetched = AddSaturating(stored.fetched, tuple.fetched);
  stored.failed = AddSaturating(stored.failed, tuple.failed);
  if (may_vouch) stored.vouched = AddSaturating(stored.vouched, tuple.vouched);
}

void EncodeStarAux(const StarAux& aux, std::string& out) {
  out.clear();
  AppendLe<uint32_t>(out, aux.url.tick);
  AppendLe<uint16_t>(out, aux.url.horizon);
  AppendLe<uint16_t>(out, aux.url.price);
  out.push_back(aux.fresh ? '\1' : '\0');
  if (aux.fresh) {
    AppendLe<uint64_t>(out, aux.pld);
    AppendString(out, aux.pld_name);
  }
  out.append(aux.record);
}

std::optional<StarAux> DecodeStarAux(std::string_view bytes) {
  ByteReader reader(bytes);
  StarAux aux;
  uint8_t fresh = 0;
  reader.Read(aux.url.tick);
  reader.Read(aux.url.horizon);
  reader.Read(aux.url.price);
  reader.Read(fresh);
  if (fresh == 1) {
    reader.Read(aux.pld);
    reader.ReadString(aux.pld_name);
  }
  if (!reader.ok() || fresh > 1 || aux.url.price == 0) return std::nullopt;
  aux.fresh = fresh == 1;
  aux.record = bytes.substr(reader.position());
  return aux;
}

}  // namespace portolan
