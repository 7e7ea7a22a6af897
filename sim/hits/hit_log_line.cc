#include "sim/hits/hit_log_line.h"

#include <array>
#include <charconv>
#include <concepts>

namespace portolan::sim {
namespace {

constexpr bool NeedsEscape(unsigned char c) { return c < 0x21 || c == '%' || c == 0x7f; }

void AppendEscaped(std::string_view text, std::string& out) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  size_t plain = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (!NeedsEscape(c)) continue;
    out.append(text, plain, i - plain);
    plain = i + 1;
    out += '%';
    out += kHex[c >> 4];
    out += kHex[c & 15];
  }
  out.append(text, plain, text.size() - plain);
}

template <std::integral T>
void AppendNumber(T value, std::string& out) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Appends the decoded field to `out`. False for a wrong escape.
bool AppendDecoded(std::string_view field, std::string& out) {
  for (size_t i = 0; i < field.size(); ++i) {
    if (field[i] != '%') {
      out += field[i];
      continue;
    }
    if (i + 2 >= field.size()) return false;
    const int high = HexValue(field[i + 1]);
    const int low = HexValue(field[i + 2]);
    if (high < 0 || low < 0) return false;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return true;
}

template <std::integral T>
bool ParseNumber(std::string_view field, T& value) {
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  return error == std::errc() && end == field.data() + field.size() && !field.empty();
}

constexpr size_t kMostFields = 13;

// The fields of a line; 0 when there are too many.
size_t Split(std::string_view line, std::array<std::string_view, kMostFields>& fields) {
  size_t count = 0;
  for (;;) {
    if (count == kMostFields) return 0;
    const size_t tab = line.find('\t');
    fields[count++] = line.substr(0, tab);
    if (tab == std::string_view::npos) return count;
    line.remove_prefix(tab + 1);
  }
}

// Decodes fields one after another into one string and hands out views of it.
class FieldDecoder {
 public:
  FieldDecoder(std::string& scratch, size_t room) : scratch_(scratch) {
    scratch_.clear();
    scratch_.reserve(room);  // decoding only shrinks: no view moves
  }

  bool Take(std::string_view field, std::string_view& to) {
    const size_t at = scratch_.size();
    if (!AppendDecoded(field, scratch_)) return false;
    to = std::string_view(scratch_).substr(at);
    return true;
  }

 private:
  std::string& scratch_;
};

}  // namespace

void AppendHeaderLine(const HitLogHeader& header, std::string& out) {
  out += "W\t";
  AppendNumber(header.version, out);
  out += '\t';
  AppendEscaped(header.profile, out);
  out += '\t';
  AppendNumber(header.seed, out);
  out += '\t';
  AppendEscaped(header.parameters, out);
  out += '\n';
}

void AppendHitLine(const Hit& hit, std::string& out) {
  out += "H\t";
  AppendNumber(hit.unix_ns, out);
  out += '\t';
  AppendNumber(hit.connection, out);
  out += '\t';
  AppendEscaped(hit.address, out);
  out += '\t';
  AppendEscaped(hit.host, out);
  out += hit.tls ? "\t1\t" : "\t0\t";
  AppendEscaped(hit.method, out);
  out += '\t';
  AppendEscaped(hit.path_and_query, out);
  out += '\t';
  AppendNumber(hit.status, out);
  out += '\t';
  AppendNumber(hit.bytes, out);
  out += '\t';
  AppendNumber(hit.end_ns, out);
  out += '\t';
  AppendEscaped(hit.user_agent, out);
  out += hit.http2 ? "\t2" : "\t1";
  out += hit.conditional ? "c\n" : "\n";
}

void AppendOpenLine(int64_t unix_ns, uint64_t connection, std::string_view address, uint16_t port, std::string& out) {
  out += "O\t";
  AppendNumber(unix_ns, out);
  out += '\t';
  AppendNumber(connection, out);
  out += '\t';
  AppendEscaped(address, out);
  out += '\t';
  AppendNumber(port, out);
  out += '\n';
}

void AppendCloseLine(int64_t unix_ns, uint64_t connection, std::string& out) {
  out += "C\t";
  AppendNumber(unix_ns, out);
  out += '\t';
  AppendNumber(connection, out);
  out += '\n';
}

void AppendDnsLine(int64_t unix_ns, std::string_view name, std::string_view type, int rcode, std::string& out) {
  out += "D\t";
  AppendNumber(unix_ns, out);
  out += '\t';
  AppendEscaped(name, out);
  out += '\t';
  AppendEscaped(type, out);
  out += '\t';
  AppendNumber(rcode, out);
  out += '\n';
}

std::optional<HitLogHeader> ParseHeaderLine(std::string_view line) {
  std::array<std::string_view, kMostFields> fields;
  HitLogHeader header;
  if (Split(line, fields) != 5 || fields[0] != "W" || !ParseNumber(fields[1], header.version) ||
      !AppendDecoded(fields[2], header.profile) || !ParseNumber(fields[3], header.seed) ||
      !AppendDecoded(fields[4], header.parameters)) {
    return std::nullopt;
  }
  return header;
}

std::optional<HitEvent> ParseEventLine(std::string_view line, std::string& scratch) {
  std::array<std::string_view, kMostFields> fields;
  const size_t count = Split(line, fields);
  if (count < 3 || fields[0].size() != 1) return std::nullopt;
  HitEvent event;
  FieldDecoder decoder(scratch, line.size());
  if (!ParseNumber(fields[1], event.unix_ns)) return std::nullopt;
  switch (fields[0][0]) {
    case 'H': {
      event.kind = HitEventKind::kHit;
      Hit& hit = event.hit;
      hit.unix_ns = event.unix_ns;
      hit.tls = fields[5] == "1";
      hit.conditional = fields[12].ends_with('c');
      if (hit.conditional) fields[12].remove_suffix(1);
      hit.http2 = fields[12] == "2";
      if (count != 13 || !ParseNumber(fields[2], hit.connection) || !decoder.Take(fields[3], hit.address) ||
          !decoder.Take(fields[4], hit.host) || (fields[5] != "0" && fields[5] != "1") ||
          !decoder.Take(fields[6], hit.method) || !decoder.Take(fields[7], hit.path_and_query) ||
          !ParseNumber(fields[8], hit.status) || !ParseNumber(fields[9], hit.bytes) ||
          !ParseNumber(fields[10], hit.end_ns) || !decoder.Take(fields[11], hit.user_agent) ||
          (fields[12] != "1" && fields[12] != "2")) {
        return std::nullopt;
      }
      event.connection = hit.connection;
      return event;
    }
    case 'O':
      event.kind = HitEventKind::kOpen;
      if (count != 5 || !ParseNumber(fields[2], event.connection) || !decoder.Take(fields[3], event.address) ||
          !ParseNumber(fields[4], event.port)) {
        return std::nullopt;
      }
      return event;
    case 'C':
      event.kind = HitEventKind::kClose;
      if (count != 3 || !ParseNumber(fields[2], event.connection)) return std::nullopt;
      return event;
    case 'D':
      event.kind = HitEventKind::kDns;
      if (count != 5 || !decoder.Take(fields[2], event.name) || !decoder.Take(fields[3], event.type) ||
          !ParseNumber(fields[4], event.rcode)) {
        return std::nullopt;
      }
      return event;
    default:
      return std::nullopt;
  }
}

}  // namespace portolan::sim
