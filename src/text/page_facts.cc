#include "text/page_facts.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/ascii.h"

namespace portolan {
namespace {

struct Date {
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = -1;  // not known
  int minute = 0;
  int second = 0;
  std::optional<int> zone = {};  // minutes east of UTC
};

bool IsDay(const Date& date) {
  if (date.year < 1970 || date.year > 2199 || date.month < 1 || date.month > 12 || date.day < 1) return false;
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (date.year % 4 == 0 && date.year % 100 != 0) || date.year % 400 == 0;
  return date.day <= kDays[static_cast<size_t>(date.month - 1)] + (date.month == 2 && leap ? 1 : 0);
}

void AppendTwo(std::string& out, int value) {
  out += static_cast<char>('0' + value / 10 % 10);
  out += static_cast<char>('0' + value % 10);
}

std::string Format(const Date& date) {
  std::string out = std::to_string(date.year);
  out += '-';
  AppendTwo(out, date.month);
  out += '-';
  AppendTwo(out, date.day);
  if (date.hour < 0 || !date.zone) return out;
  out += 'T';
  AppendTwo(out, date.hour);
  out += ':';
  AppendTwo(out, date.minute);
  out += ':';
  AppendTwo(out, date.second);
  if (*date.zone == 0) return out + 'Z';
  const int minutes = *date.zone < 0 ? -*date.zone : *date.zone;
  out += *date.zone < 0 ? '-' : '+';
  AppendTwo(out, minutes / 60);
  out += ':';
  AppendTwo(out, minutes % 60);
  return out;
}

class DateReader {
 public:
  explicit DateReader(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  char Peek() const { return rest_.empty() ? '\0' : rest_[0]; }
  bool Take(char c) {
    if (Peek() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void SkipBlanks() {
    while (Peek() == ' ' || Peek() == '\t' || Peek() == '\n') rest_.remove_prefix(1);
  }
  // A number of `least` to `most` digits; -1: there is none.
  int Number(size_t least, size_t most) {
    size_t digits = 0;
    int value = 0;
    while (digits < rest_.size() && digits < most && IsDigit(rest_[digits])) {
      value = 10 * value + (rest_[digits++] - '0');
    }
    if (digits < least) return -1;
    rest_.remove_prefix(digits);
    return value;
  }
  std::string_view Word() {
    size_t size = 0;
    while (size < rest_.size() && IsAlpha(rest_[size])) ++size;
    const std::string_view word = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return word;
  }

 private:
  std::string_view rest_;
};

int MonthOf(std::string_view word) {
  constexpr std::array<std::string_view, 12> kMonths = {"january",   "february", "march",    "april",
                                                        "may",       "june",     "july",     "august",
                                                        "september", "october",  "november", "december"};
  if (word.size() < 3) return 0;
  for (size_t i = 0; i < kMonths.size(); ++i) {
    if (word.size() <= kMonths[i].size() && EqualsIgnoringCase(word, kMonths[i].substr(0, word.size()))) {
      return static_cast<int>(i + 1);
    }
  }
  return EqualsIgnoringCase(word, "sept") ? 9 : 0;
}

// "16:07", "16:07:00", "16:07:00.123" and behind it "Z", "GMT", "UTC", "+01:00", "-0600". What it does not understand
// leaves the time unknown: the day stands.
void ReadTime(DateReader& reader, Date& date) {
  const int hour = reader.Number(1, 2);
  if (hour < 0 || hour > 23 || !reader.Take(':')) return;
  const int minute = reader.Number(2, 2);
  if (minute < 0 || minute > 59) return;
  int second = 0;
  if (reader.Take(':')) {
    second = reader.Number(2, 2);
    if (second < 0 || second > 60) return;
    if (reader.Take('.')) {
      while (IsDigit(reader.Peek())) reader.Take(reader.Peek());
    }
  }
  reader.SkipBlanks();
  const char sign = reader.Peek();
  if (sign == '+' || sign == '-') {
    reader.Take(sign);
    const int hours = reader.Number(2, 2);
    reader.Take(':');
    const int minutes = reader.done() ? 0 : reader.Number(2, 2);
    if (hours < 0 || hours > 14 || minutes < 0 || minutes > 59) return;
    date.zone = (sign == '-' ? -1 : 1) * (60 * hours + minutes);
  } else {
    const std::string_view word = reader.Word();
    if (word != "Z" && word != "z" && word != "GMT" && word != "UTC") return;
    date.zone = 0;
  }
  date.hour = hour;
  date.minute = minute;
  date.second = second;
}

// "2019-11-18", "2019/11/18", "2019.11.18", "20191118", each with a time or without.
std::optional<Date> ReadYearFirst(DateReader reader) {
  Date date;
  date.year = reader.Number(4, 4);
  const char between = reader.Peek();
  if (between == '-' || between == '/' || between == '.') reader.Take(between);
  const bool packed = IsDigit(between);
  date.month = reader.Number(packed ? 2 : 1, 2);
  if (!packed && !reader.Take(between)) return std::nullopt;
  date.day = reader.Number(packed ? 2 : 1, 2);
  if (IsDigit(reader.Peek()) || !IsDay(date)) return std::nullopt;
  if (!reader.Take('T') && !reader.Take('t')) reader.SkipBlanks();
  ReadTime(reader, date);
  return date;
}

// "18 November 2019", "18-Nov-2019", "Nov 18, 2019", with the name of the day before it or without.
std::optional<Date> ReadNamedMonth(DateReader reader) {
  Date date;
  const auto skip = [&] {
    while (reader.Peek() == ' ' || reader.Peek() == ',' || reader.Peek() == '.' || reader.Peek() == '-') {
      reader.Take(reader.Peek());
    }
  };
  for (int words = 0; words < 3 && (date.month == 0 || date.day <= 0); ++words) {
    skip();
    if (IsDigit(reader.Peek())) {
      date.day = reader.Number(1, 2);
      if (IsAlpha(reader.Peek())) reader.Word();  // "18th"
    } else {
      const std::string_view word = reader.Word();
      if (word.empty()) return std::nullopt;
      date.month = MonthOf(word);
    }
  }
  skip();
  date.year = reader.Number(4, 4);
  if (!IsDay(date)) return std::nullopt;
  skip();
  ReadTime(reader, date);
  return date;
}

int RankOfMeta(std::string_view name) {
  // Lower is better; as they are written by publishing software, in lower case.
  constexpr std::array<std::string_view, 22> kNames = {"article:published_time",
                                                       "og:article:published_time",
                                                       "og:published_time",
                                                       "datepublished",
                                                       "article:published",
                                                       "publish_date",
                                                       "publish-date",
                                                       "publishdate",
                                                       "published_time",
                                                       "parsely-pub-date",
                                                       "sailthru.date",
                                                       "citation_publication_date",
                                                       "citation_date",
                                                       "dcterms.issued",
                                                       "dc.date.issued",
                                                       "dcterms.date",
                                                       "dc.date",
                                                       "dcterms.created",
                                                       "dc.date.created",
                                                       "pubdate",
                                                       "article_date_original",
                                                       "date"};
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (EqualsIgnoringCase(name, kNames[i])) return static_cast<int>(i);
  }
  return -1;
}

bool NamesPublication(std::string_view name) {
  return EqualsIgnoringCase(name, "pubdate") || EqualsIgnoringCase(name, "datepublished") ||
         LowerCase(name).find("publish") != std::string::npos || name.find("entry-date") != std::string_view::npos;
}

std::string_view FirstHeading(const Page& page) {
  for (std::string_view rest = page.headings; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    if (line.starts_with("1 ")) return line.substr(2);
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  return {};
}

std::string_view CutDescription(std::string_view text) {
  if (text.size() <= kMaxDescription) return text;
  size_t end = kMaxDescription;
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace

std::optional<std::string> NormaliseDate(std::string_view text) {
  constexpr size_t kLongest = 64;
  text = TrimBlanks(text);
  if (text.size() < 8 || text.size() > kLongest) return std::nullopt;
  std::optional<Date> date;
  if (IsDigit(text[0]) && IsDigit(text[1]) && IsDigit(text[2]) && IsDigit(text[3])) {
    date = ReadYearFirst(DateReader(text));
  } else {
    date = ReadNamedMonth(DateReader(text));
  }
  if (!date) return std::nullopt;
  return Format(*date);
}

std::optional<std::string> DateInUrl(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  size_t at = url.find("://");
  at = url.find('/', at == std::string_view::npos ? 0 : at + 3);
  for (; at != std::string_view::npos; at = url.find('/', at + 1)) {
    const std::string_view rest = url.substr(at + 1);
    if (rest.size() < 8 || !IsDigit(rest[0])) continue;
    DateReader reader(rest);
    Date date;
    date.year = reader.Number(4, 4);
    const char between = reader.Peek();
    if (between == '/' || between == '-') {
      reader.Take(between);
      date.month = reader.Number(1, 2);
      if (!reader.Take(between)) continue;
      date.day = reader.Number(1, 2);
    } else if (IsDigit(between)) {
      date.month = reader.Number(2, 2);
      date.day = reader.Number(2, 2);
    }
    if (IsDigit(reader.Peek()) || IsAlpha(reader.Peek()) || !IsDay(date)) continue;
    return Format(date);
  }
  return std::nullopt;
}

std::optional<std::string> JsonString(std::string_view json, std::string_view key) {
  for (size_t at = json.find(key); at != std::string_view::npos; at = json.find(key, at + key.size())) {
    const size_t end = at + key.size();
    if (at == 0 || json[at - 1] != '"' || end >= json.size() || json[end] != '"') continue;
    DateReader reader(json.substr(end + 1));
    reader.SkipBlanks();
    if (!reader.Take(':')) continue;
    reader.SkipBlanks();
    if (!reader.Take('"')) continue;
    std::string value;
    while (!reader.done() && reader.Peek() != '"' && value.size() < 256) {
      if (reader.Take('\\') && reader.done()) break;
      value += reader.Peek();
      reader.Take(reader.Peek());
    }
    return value;
  }
  return std::nullopt;
}

PageFacts FindPageFacts(const Page& page, std::string_view url) {
  PageFacts facts;
  facts.title = page.View(page.title);
  facts.description = page.View(page.description);
  std::string_view og_title;
  std::string_view og_description;
  std::string_view only_time;
  size_t times = 0;
  constexpr int kNone = 1000;
  int best = kNone;
  const auto offer = [&](int rank, std::string_view text) {
    if (rank >= best) return;
    if (auto date = NormaliseDate(text)) {
      facts.published = std::move(*date);
      best = rank;
    }
  };
  for (const PageMeta& meta : page.metas) {
    const std::string_view name = page.View(meta.name);
    const std::string_view content = page.View(meta.content);
    switch (meta.kind) {
      case PageMeta::Kind::kFact:
        if (og_title.empty() && EqualsIgnoringCase(name, "og:title")) og_title = content;
        if (og_description.empty() && EqualsIgnoringCase(name, "og:description")) og_description = content;
        // The four most explicit names stand before JSON-LD, the others behind it.
        if (const int rank = RankOfMeta(name); rank >= 0) offer(rank < 4 ? rank : rank + 10, content);
        break;
      case PageMeta::Kind::kJsonLd:
        if (const auto date = JsonString(content, "datePublished")) offer(5, *date);
        break;
      case PageMeta::Kind::kTime:
        if (NamesPublication(name)) {
          offer(100, content);
        } else {
          only_time = times == 0 ? content : std::string_view();
        }
        ++times;
        break;
      default:
        break;
    }
  }
  if (const auto date = DateInUrl(url)) offer(200, *date);
  if (times == 1) offer(300, only_time);  // one of several may be that of a comment or of another page
  if (facts.title.empty()) facts.title = og_title;
  if (facts.title.empty()) facts.title = FirstHeading(page);
  if (facts.description.empty()) facts.description = og_description;
  facts.description = CutDescription(facts.description);
  return facts;
}

}  // namespace portolan
