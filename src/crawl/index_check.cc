#include "crawl/index_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/hash.h"
#include "base/log.h"
#include "warc/cdxj.h"
#include "warc/indexer.h"

namespace portolan {
namespace {

// The fourth word of a row of MergedIndexCheck: which index and which line of it. The merged index is number 0.
constexpr int kLineBits = 40;
constexpr uint64_t kLineMask = (uint64_t{1} << kLineBits) - 1;
constexpr size_t kMostOfOnePlace = 1000;  // lines

bool ToNumber(std::string_view text, uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool KnownToTheCrawlerAlone(std::string_view field) { return field == "charset" || field == "languages"; }

// The line that a record should have, as it reads after writing: bytes that are not UTF-8 become U+FFFD in a line.
CdxjLine LineOf(const WarcRecord& record, std::string_view filename) {
  CdxjLine line = CaptureLine(record, filename);
  std::string text;
  AppendCdxj(line, CdxjStyle::kSpaced, text);
  auto read = ParseCdxj(text);
  return read ? *std::move(read) : line;
}

// What a line and a record must agree on, as one text.
std::string ComparedText(const CdxjLine& line) {
  std::string text = line.key + ' ' + line.timestamp;
  for (const std::string& field : CaptureFields()) {
    text += ' ';
    text += JsonQuote(line.Get(field));
  }
  return text;
}

// "status is "404", but the record says "200"; …"
std::string Differences(const CdxjLine& line, const CdxjLine& record) {
  std::string out;
  const auto compare = [&](std::string_view what, std::string_view here, std::string_view there) {
    if (here == there) return;
    out += fmt::format("{}{} is {}, but the record says {}", out.empty() ? "" : "; ", what,
                       JsonQuote(here.substr(0, 300)), JsonQuote(there.substr(0, 300)));
  };
  compare("key", line.key, record.key);
  compare("timestamp", line.timestamp, record.timestamp);
  for (const std::string& field : CaptureFields()) compare(field, line.Get(field), record.Get(field));
  return out;
}

}  // namespace

// ---- one WARC file

FileIndexCheck::FileIndexCheck(Env& env, Env& scratch, const RowSort::Options& sort, const CheckSink& sink,
                               std::string index, std::string name)
    : env_(env), sink_(sink), index_(std::move(index)), name_(std::move(name)), rows_(scratch, sort) {}

Status FileIndexCheck::ReadIndex(bool sorted, MergedIndexCheck* merged, uint64_t& lines) {
  const uint64_t name_hash = Hash64(name_);
  std::string before;
  return ForEachLine(env_, index_, sink_, [&](const FileLine& at) -> Status {
    ++lines;
    const auto error = [&](const std::string& what) { sink_.error(fmt::format("{}:{}: {}", index_, at.number, what)); };
    const auto line = ParseCdxj(at.text);
    if (!line) {
      error(line.error().message());
      return {};
    }
    if (sorted && at.text < before) error("out of order");
    before = at.text;
    for (const CdxjField& field : line->fields) {
      if (KnownToTheCrawlerAlone(field.name) || std::ranges::count(CaptureFields(), field.name) > 0) continue;
      error(fmt::format("has the field {}, which a crawl does not write", JsonQuote(field.name)));
    }
    uint64_t offset = 0;
    uint64_t length = 0;
    if (!ToNumber(line->Get("offset"), offset) || !ToNumber(line->Get("length"), length)) {
      error("no offset and length");
      return {};
    }
    if (merged != nullptr) RETURN_IF_ERROR(merged->AddOfFile(index_, name_hash, offset, at));
    return rows_.Add({offset, Hash64(ComparedText(*line)), at.number, at.position});
  });
}

Status FileIndexCheck::Step() {
  if (!begun_) RETURN_IF_ERROR(rows_.Sort());
  begun_ = true;
  ASSIGN_OR_RETURN(more_, rows_.Next(row_));
  return {};
}

Status FileIndexCheck::OnCapture(const WarcRecord& record, const std::string& path) {
  if (!begun_) RETURN_IF_ERROR(Step());
  for (; more_ && row_[0] < record.offset;) {
    Astray(path);
    RETURN_IF_ERROR(Step());
  }
  if (!more_ || row_[0] != record.offset) {
    sink_.error(fmt::format("{}:{}: a capture that is missing in {}", path, record.offset, index_));
    return {};
  }
  const uint64_t expected = Hash64(ComparedText(LineOf(record, name_)));
  const uint64_t first = row_[2];
  for (bool again = false; more_ && row_[0] == record.offset; again = true) {
    if (again) {
      sink_.error(fmt::format("{}:{}: the capture at {} of {} already has line {}", index_, row_[2], record.offset,
                              path, first));
    } else if (row_[1] != expected) {
      RETURN_IF_ERROR(Explain(row_, record));
    }
    RETURN_IF_ERROR(Step());
  }
  return {};
}

Status FileIndexCheck::Finish(const std::string& path) {
  if (!begun_) RETURN_IF_ERROR(Step());
  while (more_) {
    Astray(path);
    RETURN_IF_ERROR(Step());
  }
  return {};
}

void FileIndexCheck::Astray(const std::string& path) {
  sink_.error(fmt::format("{}:{}: no capture begins at {} of {}", index_, row_[2], row_[0], path));
}

Status FileIndexCheck::Explain(const RowSort::Row& row, const WarcRecord& record) {
  ASSIGN_OR_RETURN(const auto file, env_.Open(index_, OpenMode::kRead));
  constexpr size_t kPiece = 4096;
  std::string text;
  for (size_t end = std::string::npos; end == std::string::npos; end = text.find('\n')) {
    const size_t before = text.size();
    text.resize(before + kPiece);
    ASSIGN_OR_RETURN(const size_t got, file->ReadAt(row[3] + before, text.data() + before, kPiece));
    text.resize(before + got);
    if (got == 0) break;
  }
  const auto line = ParseCdxj(std::string_view(text).substr(0, text.find('\n')));
  sink_.error(fmt::format("{}:{}: {}", index_, row[2],
                          line ? Differences(*line, LineOf(record, name_)) : line.error().message()));
  return {};
}

// ---- the whole archive

Status MergedIndexCheck::AddOfFile(const std::string& index, uint64_t filename_hash, uint64_t offset,
                                   const FileLine& line) {
  if (indexes_.empty() || indexes_.back() != index) indexes_.push_back(index);
  return rows_.Add({filename_hash, offset, Hash64(line.text), indexes_.size() << kLineBits | line.number});
}

Status MergedIndexCheck::Compare(Env& env, const std::string& path, bool complete, uint64_t& lines) {
  std::string before;
  RETURN_IF_ERROR(ForEachLine(env, path, sink_, [&](const FileLine& at) -> Status {
    ++lines;
    const auto error = [&](const std::string& what) { sink_.error(fmt::format("{}:{}: {}", path, at.number, what)); };
    if (at.text < before) error("out of order");
    before = at.text;
    const auto line = ParseCdxj(at.text);
    uint64_t offset = 0;
    if (!line) {
      error(line.error().message());
    } else if (!ToNumber(line->Get("offset"), offset)) {
      error("no offset");
    } else if (complete) {
      return rows_.Add({Hash64(line->Get("filename")), offset, Hash64(at.text), at.number});
    }
    return {};
  }));
  return complete ? Judge(path) : Status();
}

Status MergedIndexCheck::Judge(const std::string& merged) {
  RETURN_IF_ERROR(rows_.Sort());
  std::vector<RowSort::Row> place;  // lines that name the same place of the archive
  for (RowSort::Row row;;) {
    ASSIGN_OR_RETURN(const bool more, rows_.Next(row));
    const bool same = more && !place.empty() && row[0] == place[0][0] && row[1] == place[0][1];
    if (!same) {
      JudgePlace(merged, place);
      place.clear();
      if (!more) return {};
    }
    if (place.size() < kMostOfOnePlace) {
      place.push_back(row);
    } else {
      sink_.error(fmt::format("{}: more than {} lines name this place of the archive", NameOf(row), kMostOfOnePlace));
    }
  }
}

void MergedIndexCheck::JudgePlace(const std::string& merged, const std::vector<RowSort::Row>& rows) {
  std::vector<RowSort::Row> here;
  std::vector<RowSort::Row> there;
  for (const RowSort::Row& row : rows) ((row[3] >> kLineBits) == 0 ? here : there).push_back(row);
  // Lines that are the same in both are correct.
  for (size_t i = 0; i < there.size();) {
    const auto found = std::ranges::find(here, there[i][2], [](const RowSort::Row& row) { return row[2]; });
    if (found == here.end()) {
      ++i;
      continue;
    }
    here.erase(found);
    there.erase(there.begin() + static_cast<ptrdiff_t>(i));
  }
  for (size_t i = 0; i < std::max(here.size(), there.size()); ++i) {
    if (i < here.size() && i < there.size()) {
      sink_.error(fmt::format("{}:{}: differs from {}", merged, here[i][3] & kLineMask, NameOf(there[i])));
    } else if (i < here.size()) {
      sink_.error(fmt::format("{}:{}: {}", merged, here[i][3] & kLineMask,
                              rows.size() > here.size() ? "occurs more often than in the index of its WARC file"
                                                        : "is not in the index of any WARC file"));
    } else {
      sink_.error(fmt::format("{}: lacks {}", merged, NameOf(there[i])));
    }
  }
}

std::string MergedIndexCheck::NameOf(const RowSort::Row& row) const {
  const uint64_t index = row[3] >> kLineBits;
  return fmt::format("{}:{}", index == 0 ? "the merged index" : indexes_[index - 1], row[3] & kLineMask);
}

}  // namespace portolan
