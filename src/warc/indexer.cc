#include "warc/indexer.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "url/raw_bytes.h"
#include "url/surt.h"
#include "warc/archived_chunks.h"
#include "warc/digest.h"
#include "warc/post_query.h"

namespace portolan {
namespace {

const std::vector<std::string> kCdxFields = {"url", "mime", "status", "digest", "length", "offset", "filename"};
// What of Common Crawl's keys can be known from the archive alone.
const std::vector<std::string> kOurFields = {"url",    "mime",   "mime-detected", "status",    "digest",
                                             "length", "offset", "filename",      "truncated", "redirect"};

std::vector<std::string> Split(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    if (comma > 0) out.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return out;
}

// What is kept of a record until its neighbour is known.
struct Entry {
  WarcType type = WarcType::kOther;
  bool listed = false;
  std::string uri;
  std::string id;
  std::vector<std::string> concurrent_to;
  std::string timestamp;
  std::vector<std::optional<std::string>> values;  // beside options.fields
  std::string method;                              // of a request, or of the request next to an answer
  std::string referrer;
  std::string query;  // of the request's body
  bool joined = false;
};

class Indexer {
 public:
  Indexer(const ByteSource& source, const IndexOptions& options, const LineSink& sink)
      : source_(source), options_(options), sink_(sink) {
    if (options_.fields.empty()) {
      options_.fields = kOurFields;
      if (options_.format == IndexFormat::kJson)
        options_.fields.insert(options_.fields.begin(), {"urlkey", "timestamp"});
    }
    if (options_.format == IndexFormat::kCdx11 || options_.format == IndexFormat::kCdx9) {
      options_.fields = kCdxFields;
      options_.digest_label = false;
    }
    all_ = std::ranges::find(options_.records, "all") != options_.records.end();
    captures_ = options_.records.empty();
    if (captures_) options_.records = Split(kCaptureTypes);
  }

  Result<IndexResult> Run(const FaultSink& faults) {
    if (options_.cdx_header && options_.format == IndexFormat::kCdx11) sink_(" CDX N b a m s k r M S V g");
    if (options_.cdx_header && options_.format == IndexFormat::kCdx9) sink_(" CDX N b a m s k r V g");
    WarcReaderOptions reading;
    reading.payload_digest = PayloadDigest::kIfMissing;
    reading.faults = faults;
    WarcReader reader(source_, reading);
    std::optional<Entry> before;
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, reader.Next());
      if (!more) break;
      ASSIGN_OR_RETURN(Entry entry, Read(reader));
      if (before) {
        Join(*before, entry);
        Emit(*before);
      }
      before = std::move(entry);
    }
    if (before) Emit(*before);
    result_.stats = reader.stats();
    return result_;
  }

  CdxjLine LineOf(const WarcRecord& record) {
    CdxjLine line{record.uri().empty() ? "-" : SurtKey(record.uri()), record.Timestamp(), {}};
    for (const std::string& name : options_.fields) {
      // Only recordDigest, which is not one of ours, reads the source and may fail.
      const auto value = Value(record, name);
      if (value && *value) line.fields.push_back({name, **value});
    }
    return line;
  }

 private:
  bool Listed(const WarcRecord& record) const {
    if (all_) return true;
    if (record.is_arc() && record.type == WarcType::kWarcinfo) return false;
    if (std::ranges::find(options_.records, LowerCase(record.type_name())) == options_.records.end()) return false;
    return !captures_ || !EqualsIgnoringCase(MediaType(record.content_type()), "application/warc-fields");
  }

  Result<Entry> Read(WarcReader& reader) {
    const WarcRecord& record = reader.record();
    Entry entry;
    entry.type = record.type;
    entry.uri = record.uri();
    entry.id = record.fields.Get(warc_field::kRecordId);
    for (size_t i = 0; i < record.fields.size(); ++i) {
      const auto field = record.fields[i];
      if (EqualsIgnoringCase(field.name, warc_field::kConcurrentTo)) entry.concurrent_to.emplace_back(field.value);
    }
    entry.timestamp = record.Timestamp();
    if (record.is_arc() && record.type == WarcType::kWarcinfo) entry.uri.clear();
    if (record.type == WarcType::kRequest && record.http.present) {
      entry.method = record.http.method;
      entry.referrer = record.http.fields.Get("Referer");
      if (entry.method != "GET") {
        ASSIGN_OR_RETURN(const std::string body, ReadBody(reader));
        entry.query = PostQuery(record.http.fields.Get("Content-Type"), body);
      }
    }
    RETURN_IF_ERROR(reader.Finish());
    entry.listed = Listed(record);
    if (entry.listed && record.shared_member) {
      entry.listed = false;
      ++result_.unreachable;
    }
    if (!entry.listed) return entry;
    for (const std::string& field : options_.fields) {
      ASSIGN_OR_RETURN(auto value, Value(record, field));
      entry.values.push_back(std::move(value));
    }
    return entry;
  }

  Result<std::string> ReadBody(WarcReader& reader) const {
    const bool chunked = LowerCase(reader.record().http.fields.Get("Transfer-Encoding")) == "chunked";
    std::string body;
    ArchivedChunks decoder;
    while (body.size() < kMaxPostBody) {
      ASSIGN_OR_RETURN(const std::string_view piece, reader.ReadPayload());
      if (piece.empty()) break;
      if (chunked && options_.unchunk_post) {
        decoder.Feed(piece, [&](std::string_view bytes) { body.append(bytes); });
      } else {
        body.append(piece);
      }
    }
    return body;
  }

  std::optional<std::string> Digest(const WarcRecord& record) const {
    if (record.type == WarcType::kWarcinfo) return std::nullopt;
    std::string digest;
    if (const auto declared = record.fields.Find(warc_field::kPayloadDigest); declared && !record.is_arc()) {
      digest = *declared;
    } else if (record.type != WarcType::kRevisit && !record.payload_sha1.empty()) {
      digest = LabelledSha1(record.payload_sha1);
    }
    if (digest.empty()) return std::nullopt;
    if (!options_.digest_label && digest.starts_with("sha1:")) digest.erase(0, 5);
    return digest;
  }

  static std::optional<std::string> Mime(const WarcRecord& record) {
    if (record.type == WarcType::kRevisit) return "warc/revisit";
    if (record.type == WarcType::kRequest) return std::nullopt;
    if (record.type == WarcType::kResponse) {
      const std::string_view type = MediaType(record.http.fields.Get("Content-Type"));
      return type.empty() ? std::nullopt : std::optional(std::string(type));
    }
    const std::string_view type = MediaType(record.content_type());
    return type.empty() ? std::nullopt : std::optional(std::string(type));
  }

  Result<std::optional<std::string>> Value(const WarcRecord& record, const std::string& field) {
    const auto text = [](std::string_view value) {
      return value.empty() ? std::nullopt : std::optional(std::string(value));
    };
    if (field == "url" || field == "warc-target-uri") {
      // JSON is UTF-8: other bytes stand as their escapes, as in the key.
      return text(record.is_arc() && record.type == WarcType::kWarcinfo ? "" : EscapeBrokenUtf8(record.uri()));
    }
    if (field == "mime") return Mime(record);
    if (field == "status" || field == "http:status") {
      return record.http.status > 0 ? std::optional(fmt::format("{}", record.http.status)) : std::nullopt;
    }
    if (field == "digest") return Digest(record);
    if (field == "length") return fmt::format("{}", record.length);
    if (field == "offset") return fmt::format("{}", record.offset);
    if (field == "filename") return text(options_.filename);
    if (field == "timestamp") return record.Timestamp();
    if (field == "warc-type") return text(record.type_name());
    if (field == "recordDigest") return RecordDigest(record);
    if (field.starts_with("http:")) return text(record.http.fields.Get(std::string_view(field).substr(5)));
    if (field == "mime-detected") return text(record.fields.Get(warc_field::kIdentifiedPayloadType));
    if (field == "truncated") return text(record.fields.Get(warc_field::kTruncated));
    if (field == "redirect") {
      return record.http.status / 100 == 3 ? text(record.http.fields.Get("Location")) : std::nullopt;
    }
    return text(record.fields.Get(field));
  }

  Result<std::optional<std::string>> RecordDigest(const WarcRecord& record) {
    Digester sha256(DigestKind::kSha256);
    std::string buffer(size_t{64} << 10, '\0');
    for (uint64_t done = 0; done < record.length;) {
      const size_t want = static_cast<size_t>(std::min<uint64_t>(buffer.size(), record.length - done));
      ASSIGN_OR_RETURN(const size_t got, source_(record.offset + done, buffer.data(), want));
      if (got == 0) return std::nullopt;
      sha256.Update(std::string_view(buffer).substr(0, got));
      done += got;
    }
    return "sha256:" + Base16(sha256.Finish());
  }

  void Join(Entry& a, Entry& b) const {
    Entry& request = a.type == WarcType::kRequest ? a : b;
    Entry& answer = a.type == WarcType::kRequest ? b : a;
    if (request.type != WarcType::kRequest || request.uri != answer.uri || request.uri.empty()) return;
    const bool right_type =
        answer.type == WarcType::kResponse || (options_.join_revisits && answer.type == WarcType::kRevisit);
    if (!right_type) return;
    const auto names = [](const Entry& from, const Entry& to) {
      return from.concurrent_to.empty() || std::ranges::find(from.concurrent_to, to.id) != from.concurrent_to.end();
    };
    if (!names(request, answer) || !names(answer, request)) return;
    if (request.joined || answer.joined) return;  // response, request, response: to the first
    request.joined = answer.joined = true;
    answer.method = request.method;
    answer.referrer = request.referrer;
    answer.query = request.query;
  }

  static bool IsNumber(std::string_view field) {
    return field == "offset" || field == "length" || field == "status" || field == "http:status";
  }

  void Emit(const Entry& entry) {
    if (!entry.listed) return;
    const bool posted = options_.post_append && !entry.method.empty() && entry.method != "GET";
    std::string key = "-";
    if (!entry.uri.empty()) {
      key = SurtKey(posted ? AppendPostQuery(entry.uri, entry.method, entry.query) : entry.uri);
    }
    CdxjLine line{key, entry.timestamp, {}};
    for (size_t i = 0; i < options_.fields.size(); ++i) {
      const std::string& name = options_.fields[i];
      std::optional<std::string> value = entry.values[i];
      if (name == "urlkey") value = entry.uri.empty() ? std::nullopt : std::optional(key);
      if (name == "method" && !entry.method.empty()) value = entry.method;
      if (name == "referrer" && !entry.referrer.empty()) value = entry.referrer;
      if (name == "requestBody" && !entry.query.empty()) value = entry.query;
      if (value) line.fields.push_back({name, *value, options_.format == IndexFormat::kJson && IsNumber(name)});
    }
    if (posted) AddPost(entry, line);
    out_.clear();
    const CdxjStyle style = options_.compact ? CdxjStyle::kCompact : CdxjStyle::kSpaced;
    switch (options_.format) {
      case IndexFormat::kCdxj:
        AppendCdxj(line, style, out_);
        break;
      case IndexFormat::kJson:
        AppendJsonObject(line.fields, style, out_);
        break;
      case IndexFormat::kCdx11:
      case IndexFormat::kCdx9:
        AppendCdx(line);
    }
    sink_(out_);
    ++result_.lines;
  }

  void AddPost(const Entry& entry, CdxjLine& line) const {
    const auto add = [&](std::string_view name, const std::string& value) {
      const bool there = std::ranges::any_of(line.fields, [&](const CdxjField& f) { return f.name == name; });
      if (!value.empty() && !there) line.fields.push_back({std::string(name), value});
    };
    if (options_.method_first) add("method", entry.method);
    add("requestBody", entry.query);
    add("method", entry.method);
  }

  void AppendCdx(const CdxjLine& line) {
    const auto word = [&](std::string_view name) {
      std::string value(line.Get(name));
      std::ranges::replace_if(value, [](char c) { return static_cast<unsigned char>(c) <= 0x20; }, '_');
      return value.empty() ? std::string("-") : value;
    };
    out_ = fmt::format("{} {} {} {} {} {} -", line.key, line.timestamp, word("url"), word("mime"), word("status"),
                       word("digest"));
    if (options_.format == IndexFormat::kCdx11) out_ += fmt::format(" - {}", word("length"));
    out_ += fmt::format(" {} {}", word("offset"), word("filename"));
  }

  const ByteSource& source_;
  IndexOptions options_;
  const LineSink& sink_;
  bool all_ = false;
  bool captures_ = false;
  IndexResult result_;
  std::string out_;
};

}  // namespace

IndexOptions CdxjIndexerStyle() {
  IndexOptions options;
  options.fields = kCdxFields;
  options.digest_label = true;
  options.post_append = false;
  options.join_revisits = false;
  return options;
}

IndexOptions WarcioStyle() {
  IndexOptions options;
  options.fields = kCdxFields;
  options.compact = true;
  options.cdx_header = false;
  options.method_first = true;
  options.unchunk_post = false;
  options.join_revisits = false;
  return options;
}

Result<IndexOptions> IndexStyle(std::string_view name) {
  if (name == "portolan") return IndexOptions();
  if (name == "cdxj-indexer") return CdxjIndexerStyle();
  if (name == "warcio") return WarcioStyle();
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("'{}' is not a style: use portolan, cdxj-indexer or warcio", name));
}

const std::vector<std::string>& CaptureFields() { return kOurFields; }

CdxjLine CaptureLine(const WarcRecord& record, std::string_view filename) {
  IndexOptions options;
  options.filename = filename;
  return Indexer({}, options, {}).LineOf(record);
}

Result<IndexResult> IndexArchive(const ByteSource& source, const IndexOptions& options, const LineSink& sink,
                                 const FaultSink& faults) {
  return Indexer(source, options, sink).Run(faults);
}

}  // namespace portolan
