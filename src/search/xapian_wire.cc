#include "search/xapian_wire.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"

namespace portolan {
namespace {

constexpr uint64_t kMaxDocuments = UINT32_MAX;  // ids have 32 bits

std::unexpected<Error> Lie(std::string what) { return Fail(ErrorCode::kCorrupt, std::move(what)); }

void AppendWireString(std::string& out, std::string_view text) {
  AppendWireNumber(out, text.size());
  out += text;
}

}  // namespace

void AppendWireNumber(std::string& out, uint64_t number) {
  if (number < 255) {
    out += static_cast<char>(number);
    return;
  }
  out += '\xff';
  for (number -= 255; number >= 0x80; number >>= 7) out += static_cast<char>(number & 0x7f);
  out += static_cast<char>(number | 0x80);
}

void AppendWireDouble(std::string& out, double value) {
  const bool negative = value < 0;
  int exponent = 0;
  double rest = std::frexp(std::abs(value), &exponent);  // [0.5, 1)
  --exponent;
  rest = std::ldexp(rest, (exponent & 7) + 1);  // [1, 256)
  exponent >>= 3;
  const size_t first = out.size();
  const uint8_t sign = negative ? 0x80 : 0;
  if (exponent >= -7 && exponent <= 6) {
    out += static_cast<char>(sign | (exponent + 7));
  } else if (exponent >= -128 && exponent < 127) {
    out += static_cast<char>(sign | 0x0e);
    out += static_cast<char>(exponent + 128);
  } else {  // a double's exponent is between -135 and 127
    const unsigned biased = static_cast<unsigned>(exponent + 32768);
    out += static_cast<char>(sign | 0x0f);
    out += static_cast<char>(biased & 0xff);
    out += static_cast<char>(biased >> 8);
  }
  unsigned bytes = 0;
  do {
    const auto byte = static_cast<uint8_t>(rest);
    out += static_cast<char>(byte);
    rest = (rest - byte) * 256;
    ++bytes;
  } while (rest != 0 && bytes < 8);
  out[first] = static_cast<char>(static_cast<uint8_t>(out[first]) | (bytes - 1) << 4);
}

void AppendWireMessage(std::string& out, WireAsk type, std::string_view body) {
  out += static_cast<char>(type);
  AppendWireString(out, body);
}

bool WireReader::Byte(uint8_t& byte) {
  if (rest_.empty()) return false;
  byte = static_cast<uint8_t>(rest_[0]);
  rest_.remove_prefix(1);
  return true;
}

bool WireReader::Number(uint64_t& number) {
  uint8_t byte = 0;
  if (!Byte(byte)) return false;
  number = byte;
  if (byte != 255) return true;
  number = 0;
  for (unsigned shift = 0; shift < 63; shift += 7) {
    if (!Byte(byte)) return false;
    number |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) != 0) {
      number += 255;
      return number < uint64_t{1} << 63;
    }
  }
  return false;
}

bool WireReader::Bytes(std::string_view& bytes, uint64_t size) {
  if (rest_.size() < size) return false;
  bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return true;
}

bool WireReader::String(std::string_view& bytes) {
  uint64_t size = 0;
  return Number(size) && Bytes(bytes, size);
}

bool WireReader::Double(double& value) {
  uint8_t first = 0;
  if (!Byte(first)) return false;
  int exponent = (first & 0x0f) - 7;
  if ((first & 0x0f) >= 14) {
    uint8_t low = 0;
    if (!Byte(low)) return false;
    exponent = low - 128;
    if ((first & 0x0f) == 15) {
      uint8_t high = 0;
      if (!Byte(high)) return false;
      exponent = (low | high << 8) - 32768;
    }
  }
  std::string_view mantissa;
  if (!Bytes(mantissa, (first >> 4 & 7) + 1)) return false;
  value = 0;
  for (size_t i = mantissa.size(); i-- > 0;) value = value / 256 + static_cast<uint8_t>(mantissa[i]);
  value = std::ldexp(value, exponent * 8);
  if ((first & 0x80) != 0) value = -value;
  return std::isfinite(value);
}

Result<WireMessage> TakeWireMessage(std::string_view bytes) {
  if (bytes.size() < 2) return Fail(ErrorCode::kNotFound, "not whole");
  // A length has at most six bytes here.
  WireReader reader(bytes.substr(1, 6));
  uint64_t size = 0;
  if (!reader.Number(size)) {
    if (bytes.size() < 7) return Fail(ErrorCode::kNotFound, "not whole");
    return Lie("a message has no length");
  }
  if (size > kMaxWireMessage) return Lie(fmt::format("a message of {} bytes", size));
  const size_t head = 1 + std::min<size_t>(bytes.size() - 1, 6) - reader.rest().size();
  if (bytes.size() - head < size) return Fail(ErrorCode::kNotFound, "not whole");
  return WireMessage{.type = static_cast<uint8_t>(bytes[0]), .body = bytes.substr(head, size), .size = head + size};
}

std::string WireQuery(const QueryPlan& plan) {
  std::string out;
  AppendWireString(out, ToXapian(*plan.root(), nullptr).serialise());
  AppendWireNumber(out, 1);  // length of the query: for weights that use it
  AppendWireNumber(out, 0);  // nothing is collapsed
  out += '1';                // what is equal in everything by rising id
  AppendWireNumber(out, kTieSlot);
  out += '3';                // by relevance, then by the value,
  out += '0';                // which rises
  AppendWireDouble(out, 0);  // no time limit
  out += '\0';               // no cutoff in percent
  AppendWireDouble(out, 0);  // and in weight
  const Xapian::BM25Weight weight(plan.options().k1, 0, 0, plan.options().b, kMinNormLength);
  AppendWireString(out, weight.name());
  AppendWireString(out, weight.serialise());
  AppendWireString(out, "");  // no documents are known to be relevant
  return out;
}

std::string WireMset(const QueryPlan& plan, const SearchStatistics& all, uint32_t most, uint32_t count) {
  std::string out;
  AppendWireNumber(out, 0);  // from the first
  AppendWireNumber(out, most);
  AppendWireNumber(out, std::max(most, count));
  AppendWireNumber(out, all.total_length);
  AppendWireNumber(out, all.documents);
  AppendWireNumber(out, 0);  // documents known to be relevant
  AppendWireNumber(out, all.total_length);
  out += '\0';  // no greatest parts of weights
  AppendWireNumber(out, plan.terms().size());
  for (const std::string& term : plan.terms()) {
    const auto counts = all.terms.find(term);
    AppendWireString(out, term);
    AppendWireNumber(out, counts == all.terms.end() ? 0 : counts->second.documents);
    AppendWireNumber(out, counts == all.terms.end() ? 0 : counts->second.occurrences);
  }
  return out;
}

Result<SearchStatistics> ParseWireUpdate(std::string_view body) {
  WireReader reader(body);
  uint8_t major = 0;
  uint8_t minor = 0;
  if (!reader.Byte(major) || !reader.Byte(minor)) return Lie("no Xapian server answers there");
  if (major != kWireMajor) {
    return Lie(
        fmt::format("it speaks version {} of Xapian's protocol, or another protocol; {} is needed", major, kWireMajor));
  }
  SearchStatistics statistics;
  uint64_t more_ids = 0;
  uint64_t shortest = 0;
  uint64_t range = 0;
  uint8_t positions = 0;
  if (!reader.Number(statistics.documents) || !reader.Number(more_ids) || !reader.Number(shortest) ||
      !reader.Number(range) || !reader.Byte(positions) || !reader.Number(statistics.total_length) ||
      statistics.documents > kMaxDocuments || more_ids > kMaxDocuments ||
      statistics.total_length > statistics.documents * UINT32_MAX) {
    return Lie("its greeting makes no sense");
  }
  return statistics;
}

Result<SearchStatistics> ParseWireStatistics(std::string_view body, const QueryPlan& plan) {
  WireReader reader(body);
  SearchStatistics statistics;
  uint64_t relevant = 0;
  uint64_t again = 0;
  uint8_t parts = 0;
  uint64_t terms = 0;
  if (!reader.Number(statistics.total_length) || !reader.Number(statistics.documents) || !reader.Number(relevant) ||
      !reader.Number(again) || !reader.Byte(parts) || !reader.Number(terms) || relevant != 0 || parts != 0 ||
      statistics.documents > kMaxDocuments || statistics.total_length > statistics.documents * UINT32_MAX) {
    return Lie("its statistics make no sense");
  }
  if (terms > plan.terms().size()) return Lie("it has statistics of terms that were not asked for");
  for (uint64_t i = 0; i < terms; ++i) {
    std::string_view term;
    TermCounts counts;
    if (!reader.String(term) || !reader.Number(counts.documents) || !reader.Number(counts.occurrences)) {
      return Lie("its statistics are cut");
    }
    if (!std::ranges::binary_search(plan.terms(), term))
      return Lie("it has statistics of a term that was not asked for");
    if (counts.documents > statistics.documents ||
        counts.occurrences > statistics.total_length + statistics.documents) {
      return Lie(fmt::format("it says that {} of its {} pages have a word", counts.documents, statistics.documents));
    }
    statistics.terms[std::string(term)] = counts;
  }
  if (!reader.rest().empty()) return Lie("its statistics have a tail");
  return statistics;
}

Result<PartHits> ParseWireResults(std::string_view body, uint32_t most, uint32_t count) {
  WireReader reader(body);
  uint64_t first = 0;
  uint64_t bounds[6] = {};
  double doubles[3] = {};
  uint64_t size = 0;
  if (!reader.Number(first)) return Lie("its results are cut");
  for (uint64_t& bound : bounds) {
    if (!reader.Number(bound) || bound > kMaxDocuments) return Lie("its number of matches makes no sense");
  }
  for (double& value : doubles) {
    if (!reader.Double(value)) return Lie("its greatest score makes no sense");
  }
  if (!reader.Number(size) || size > most)
    return Lie(fmt::format("it gives more than the {} results that were asked for", most));
  PartHits hits;
  std::set<uint32_t> seen;
  double last = HUGE_VAL;
  for (uint64_t i = 0; i < size; ++i) {
    PartHit hit;
    uint64_t docid = 0;
    std::string_view tie;
    std::string_view collapse_key;
    uint64_t collapsed = 0;
    if (!reader.Double(hit.score) || !reader.Number(docid) || !reader.String(tie) || !reader.String(collapse_key) ||
        !reader.Number(collapsed)) {
      return Lie("its results are cut");
    }
    if (docid == 0 || docid > kMaxDocuments || !seen.insert(static_cast<uint32_t>(docid)).second) {
      return Lie("a page is twice in its results, or has no number");
    }
    if (hit.score < 0 || hit.score > last || tie.size() > 64) return Lie("its results are not in order");
    last = hit.score;
    hit.score = RoundScore(hit.score);
    hit.docid = static_cast<uint32_t>(docid);
    hit.tie = tie;
    hits.hits.push_back(std::move(hit));
  }
  const auto [lower, estimated, upper] = std::tuple(bounds[0], bounds[1], bounds[2]);
  if (lower > upper || size > upper) return Lie("its number of matches makes no sense");
  hits.matches = std::clamp(std::max(estimated, size), lower, upper);
  hits.exact = lower == upper || upper < count;
  return hits;
}

Result<std::pair<std::string, uint64_t>> ParseWireTerm(std::string_view body, std::string_view last) {
  WireReader reader(body);
  uint64_t documents = 0;
  uint8_t same = 0;
  if (!reader.Number(documents) || !reader.Byte(same) || same > last.size() || documents > kMaxDocuments ||
      reader.rest().size() > 255) {
    return Lie("its list of languages makes no sense");
  }
  return std::pair(std::string(last.substr(0, same)).append(reader.rest()), documents);
}

Result<std::pair<uint64_t, std::string>> ParseWireValue(std::string_view body) {
  WireReader reader(body);
  uint64_t slot = 0;
  if (!reader.Number(slot)) return Lie("a value has no number");
  return std::pair(slot, std::string(reader.rest()));
}

std::string WireErrorText(std::string_view body) {
  WireReader reader(body);
  uint8_t kind = 0;
  std::string_view context;
  std::string_view message;
  if (!reader.Byte(kind) || !reader.String(context) || !reader.String(message)) return "an error without a text";
  return Printable(message.substr(0, 300));
}

}  // namespace portolan
