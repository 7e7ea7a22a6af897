#include "http/sniff.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace portolan {
namespace {

using namespace std::string_view_literals;

// Section 6: a pattern whose bytes count where the mask is not '.'; '?' stands for any byte.
struct Magic {
  std::string_view bytes;
  std::string_view any;  // same length, '.' where the byte must match, '?' where it need not; empty = all must
  std::string_view essence;
};

bool Matches(const Magic& magic, std::string_view bytes) {
  if (bytes.size() < magic.bytes.size()) return false;
  for (size_t i = 0; i < magic.bytes.size(); ++i) {
    if ((magic.any.empty() || magic.any[i] == '.') && bytes[i] != magic.bytes[i]) return false;
  }
  return true;
}

constexpr std::array kImages = {
    Magic{"\0\0\1\0"sv, "", "image/x-icon"},
    Magic{"\0\0\2\0"sv, "", "image/x-icon"},
    Magic{"BM", "", "image/bmp"},
    Magic{"GIF87a", "", "image/gif"},
    Magic{"GIF89a", "", "image/gif"},
    Magic{"RIFF    WEBPVP", "....????......", "image/webp"},
    Magic{"\x89PNG\r\n\x1a\n", "", "image/png"},
    Magic{"\xff\xd8\xff", "", "image/jpeg"},
};
constexpr std::array kMedia = {
    Magic{"FORM    AIFF", "....????....", "audio/aiff"},
    Magic{"ID3", "", "audio/mpeg"},
    Magic{"OggS\0"sv, "", "application/ogg"},
    Magic{"MThd\0\0\0\6"sv, "", "audio/midi"},
    Magic{"RIFF    AVI ", "....????....", "video/avi"},
    Magic{"RIFF    WAVE", "....????....", "audio/wave"},
};
constexpr std::array kArchives = {
    Magic{"\x1f\x8b\x08", "", "application/x-gzip"},
    Magic{"PK\3\4", "", "application/zip"},
    Magic{"Rar!\x1a\7\0"sv, "", "application/x-rar-compressed"},
};
constexpr std::array kFonts = {
    Magic{"\0\1\0\0"sv, "", "font/ttf"}, Magic{"OTTO", "", "font/otf"},   Magic{"ttcf", "", "font/collection"},
    Magic{"wOFF", "", "font/woff"},      Magic{"wOF2", "", "font/woff2"},
};

template <size_t kCount>
std::string_view FindMagic(const std::array<Magic, kCount>& table, std::string_view bytes) {
  for (const Magic& magic : table) {
    if (Matches(magic, bytes)) return magic.essence;
  }
  return {};
}

uint32_t BigEndian32(std::string_view bytes) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

// Section 6.2.1, of any brand.
std::string_view IsoMedia(std::string_view bytes) {
  if (bytes.size() < 12 || bytes.substr(4, 4) != "ftyp") return {};
  const uint32_t box = BigEndian32(bytes);
  if (bytes.size() < box || box % 4 != 0 || box < 12) return {};
  const std::string_view brand = bytes.substr(8, 4);
  if (brand == "avif" || brand == "avis") return "image/avif";
  if (brand.starts_with("hei") || brand == "mif1") return "image/heic";
  if (brand == "qt  ") return "video/quicktime";
  if (brand.starts_with("M4A")) return "audio/mp4";
  return "video/mp4";
}

// Section 6.2.2: an EBML header that names the document type webm.
bool IsWebm(std::string_view bytes) {
  if (!bytes.starts_with("\x1a\x45\xdf\xa3")) return false;
  const size_t end = std::min<size_t>(bytes.size(), 38);
  for (size_t at = 4; at + 1 < end; ++at) {
    if (bytes.substr(at, 2) != "\x42\x82") continue;
    at += 2;
    if (at >= bytes.size()) return false;
    // A variable-length size, then the name behind any zero bytes.
    size_t width = 1;
    while (width < 8 && (static_cast<uint8_t>(bytes[at]) & (0x80 >> (width - 1))) == 0) ++width;
    at += width;
    while (at < bytes.size() && bytes[at] == '\0') ++at;
    if (bytes.substr(std::min(at, bytes.size()), 4) == "webm") return true;
  }
  return false;
}

// Section 6.2.3: two MPEG audio frames in a row.
size_t Mp3FrameSize(std::string_view bytes) {
  if (bytes.size() < 4 || static_cast<uint8_t>(bytes[0]) != 0xff || (static_cast<uint8_t>(bytes[1]) & 0xe0) != 0xe0) {
    return 0;
  }
  const auto second = static_cast<uint8_t>(bytes[1]);
  const auto third = static_cast<uint8_t>(bytes[2]);
  const unsigned layer = second >> 1 & 3;
  const unsigned bit_rate = third >> 4;
  const unsigned sample_rate = third >> 2 & 3;
  const unsigned version = second >> 3 & 3;
  if (layer != 1 || bit_rate == 15 || bit_rate == 0 || sample_rate == 3 || version == 1) return 0;
  constexpr std::array<unsigned, 15> kRates1 = {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320};
  constexpr std::array<unsigned, 15> kRates2 = {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160};
  constexpr std::array<unsigned, 3> kSamples = {44100, 48000, 32000};
  const bool first_version = version == 3;
  const unsigned rate = (first_version ? kRates1 : kRates2)[bit_rate] * 1000;
  const unsigned samples = kSamples[sample_rate] / (first_version ? 1 : version == 2 ? 2 : 4);
  return (first_version ? 144 : 72) * rate / samples + (third >> 1 & 1);
}

bool IsMp3(std::string_view bytes) {
  const size_t frame = Mp3FrameSize(bytes);
  return frame >= 4 && frame < bytes.size() && Mp3FrameSize(bytes.substr(frame)) != 0;
}

std::string_view MatchImage(std::string_view bytes) {
  const std::string_view iso = IsoMedia(bytes);
  return iso.starts_with("image/") ? iso : FindMagic(kImages, bytes);
}

std::string_view MatchMedia(std::string_view bytes) {
  if (const std::string_view found = FindMagic(kMedia, bytes); !found.empty()) return found;
  if (const std::string_view iso = IsoMedia(bytes); !iso.empty() && !iso.starts_with("image/")) return iso;
  if (IsWebm(bytes)) return "video/webm";
  return IsMp3(bytes) ? "audio/mpeg" : std::string_view();
}

std::string_view MatchFont(std::string_view bytes) {
  if (bytes.size() >= 36 && bytes.substr(34, 2) == "LP") return "application/vnd.ms-fontobject";
  return FindMagic(kFonts, bytes);
}

bool HasTextMark(std::string_view bytes) {
  return bytes.starts_with("\xfe\xff") || bytes.starts_with("\xff\xfe") || bytes.starts_with("\xef\xbb\xbf");
}

bool HasBinaryByte(std::string_view bytes) {
  return std::any_of(bytes.begin(), bytes.end(), [](char c) { return IsBinaryByte(static_cast<uint8_t>(c)); });
}

std::string_view SkipSpace(std::string_view bytes) {
  return bytes.substr(std::min(bytes.find_first_not_of("\t\n\f\r "), bytes.size()));
}

// The scriptable types of section 7.1.
std::string_view MatchScriptable(std::string_view bytes) {
  const std::string_view text = SkipSpace(bytes);
  for (const std::string_view tag : {"<!DOCTYPE HTML", "<HTML", "<HEAD", "<SCRIPT", "<IFRAME", "<H1", "<DIV", "<FONT",
                                     "<TABLE", "<A", "<STYLE", "<TITLE", "<B", "<BODY", "<BR", "<P", "<!--"}) {
    if (text.size() > tag.size() && StartsWithIgnoringCase(text, tag) &&
        (text[tag.size()] == ' ' || text[tag.size()] == '>')) {
      return "text/html";
    }
  }
  if (text.starts_with("<?xml")) return "text/xml";
  if (bytes.starts_with("%PDF-")) return "application/pdf";
  return {};
}

// Section 7.1.
std::string_view UnknownType(std::string_view bytes, bool scriptable) {
  if (scriptable) {
    if (const std::string_view found = MatchScriptable(bytes); !found.empty()) return found;
  }
  if (bytes.starts_with("%!PS-Adobe-")) return "application/postscript";
  // The standard's patterns are four bytes long, the bytes behind the mark being any.
  if (bytes.size() >= 4 && HasTextMark(bytes)) return "text/plain";
  for (const auto match : {MatchImage, MatchMedia}) {
    if (const std::string_view found = match(bytes); !found.empty()) return found;
  }
  if (const std::string_view found = FindMagic(kArchives, bytes); !found.empty()) return found;
  if (const std::string_view found = MatchFont(bytes); !found.empty()) return found;
  return HasBinaryByte(bytes) ? "application/octet-stream" : "text/plain";
}

// Section 7.2, for text/plain as a misconfigured Apache sends it with everything.
std::string_view TextOrBinary(std::string_view bytes) {
  return HasTextMark(bytes) || !HasBinaryByte(bytes) ? "text/plain" : "application/octet-stream";
}

// Section 5.1, the check-for-apache-bug flag: byte by byte, any other spelling was written on purpose.
bool HasApacheBug(std::string_view field) {
  return field == "text/plain" || field == "text/plain; charset=ISO-8859-1" ||
         field == "text/plain; charset=iso-8859-1" || field == "text/plain; charset=UTF-8";
}

// text/html that is a feed: section 7.3 of earlier editions.
std::string_view FeedOrHtml(std::string_view bytes) {
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  for (;;) {
    bytes = SkipSpace(bytes);
    if (!bytes.starts_with('<')) return "text/html";
    size_t end;
    if (bytes.starts_with("<!--")) {
      end = bytes.find("-->", 4);
      end = end == std::string_view::npos ? end : end + 3;
    } else if (bytes.starts_with("<!")) {
      end = bytes.find('>');
      end = end == std::string_view::npos ? end : end + 1;
    } else if (bytes.starts_with("<?")) {
      end = bytes.find("?>", 2);
      end = end == std::string_view::npos ? end : end + 2;
    } else {
      break;
    }
    if (end == std::string_view::npos) return "text/html";
    bytes.remove_prefix(end);
  }
  if (bytes.starts_with("<rss")) return "application/rss+xml";
  if (bytes.starts_with("<feed")) return "application/atom+xml";
  if (bytes.starts_with("<rdf:RDF") && bytes.find("http://purl.org/rss/1.0/") != std::string_view::npos &&
      bytes.find("http://www.w3.org/1999/02/22-rdf-syntax-ns#") != std::string_view::npos) {
    return "application/rss+xml";
  }
  return "text/html";
}

}  // namespace

std::string_view ContentKindName(ContentKind kind) {
  constexpr std::array<std::string_view, 12> kNames = {"html",     "xml",   "text",  "json", "script",  "pdf",
                                                       "document", "image", "media", "font", "archive", "binary"};
  return kNames[static_cast<size_t>(kind)];
}

ContentKind KindOf(const MimeType& type) {
  if (type.IsHtml()) return ContentKind::kHtml;
  if (type.Is("image/svg+xml")) return ContentKind::kImage;
  if (type.IsXml()) return ContentKind::kXml;
  if (type.IsJson()) return ContentKind::kJson;
  if (type.IsJavaScript() || type.Is("text/css")) return ContentKind::kScript;
  if (type.type == "text") return ContentKind::kText;
  if (type.Is("application/pdf")) return ContentKind::kPdf;
  if (type.Is("application/postscript") || type.subtype.starts_with("vnd.openxmlformats-officedocument") ||
      type.subtype.starts_with("vnd.oasis.opendocument") || type.Is("application/msword") ||
      type.Is("application/rtf") || type.Is("application/epub+zip") || type.subtype.starts_with("vnd.ms-")) {
    return type.IsFont() ? ContentKind::kFont : ContentKind::kDocument;
  }
  if (type.IsImage()) return ContentKind::kImage;
  if (type.IsAudioOrVideo()) return ContentKind::kMedia;
  if (type.IsFont()) return ContentKind::kFont;
  if (type.IsArchive() || type.IsZipBased() || type.Is("application/gzip") || type.Is("application/x-tar") ||
      type.Is("application/x-7z-compressed") || type.Is("application/zstd") || type.Is("application/x-bzip2")) {
    return ContentKind::kArchive;
  }
  return ContentKind::kBinary;
}

Sniffed SniffContent(std::optional<std::string_view> content_type, std::string_view bytes, bool no_sniff) {
  bytes = bytes.substr(0, kSniffBytes);
  const std::optional<MimeType> supplied = content_type ? ExtractMimeType(*content_type) : std::nullopt;
  std::string_view found;
  if (!supplied || supplied->Is("unknown/unknown") || supplied->Is("application/unknown")) {
    found = UnknownType(bytes, !no_sniff);
  } else if (!no_sniff) {
    if (HasApacheBug(*content_type)) {
      found = TextOrBinary(bytes);
    } else if (supplied->IsXml()) {
      found = {};
    } else if (supplied->IsHtml()) {
      found = FeedOrHtml(bytes);
    } else if (supplied->IsImage()) {
      found = MatchImage(bytes);
    } else if (supplied->IsAudioOrVideo()) {
      found = MatchMedia(bytes);
    }
  }
  if (found.empty()) return Sniffed{.essence = supplied->Essence(), .kind = KindOf(*supplied)};
  return Sniffed{.essence = std::string(found), .kind = KindOf(*ParseMimeType(found))};
}

}  // namespace portolan
