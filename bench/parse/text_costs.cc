#include "bench/parse/text_costs.h"

#include <time.h>

#include <algorithm>
#include <string>
#include <utility>

#include "disk/codec.h"
#include "disk/record_block.h"
#include "flow/output_records.h"
#include "html/page_reader.h"
#include "parse/page_maker.h"
#include "parse/similarity.h"
#include "text/language.h"
#include "text/main_text.h"
#include "text/page_facts.h"

namespace portolan::bench {
namespace {

double ThreadSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// The records of one log as its writing thread puts them into blocks.
class LogBlocks {
 public:
  explicit LogBlocks(size_t tag_width) : block_(tag_width) {}

  void Add(std::string_view packed) {
    raw_ += packed.size();
    PackedRecords records(packed);
    while (records.Next()) {
      block_.Add(records.record(), records.tag());
      if (block_.size() < kBlock) continue;
      const BlockParts parts = block_.Finish(0);
      out_.clear();
      compressor_.Append(parts.compressible, out_);
      stored_ += parts.plain.size() + out_.size();
      block_.Clear();
    }
  }
  double raw() const { return static_cast<double>(raw_); }
  double stored() const { return static_cast<double>(stored_); }

 private:
  static constexpr size_t kBlock = size_t{512} << 10;  // as outputs/log_files.h

  RecordBlockBuilder block_;
  Compressor compressor_{Codec::kZstd};
  std::string out_;
  size_t raw_ = 0;
  size_t stored_ = 0;
};

struct Made {
  std::string links;
  std::string text;
};

}  // namespace

Result<nlohmann::ordered_json> MeasureTextCosts(const std::vector<Sample>& samples, int rounds, Report& report) {
  const auto pages = static_cast<double>(samples.size());
  uint64_t sum = 0;
  const auto best = [&](const auto& call) {
    double seconds = 1e9;
    for (int round = 0; round < rounds; ++round) {
      const double start = ThreadSeconds();
      for (size_t i = 0; i < samples.size(); ++i) call(i);
      seconds = std::min(seconds, ThreadSeconds() - start);
    }
    return seconds / pages * 1e6;
  };
  const auto make = [&](bool similarity, bool links, bool text) {
    PageMakerOptions options;
    options.content_seen = true;
    options.similarity = similarity;
    options.link_log = links;
    options.text_log = text;
    return PageMaker::Create(options);
  };
  ASSIGN_OR_RETURN(PageMaker bare, make(false, false, false));
  ASSIGN_OR_RETURN(PageMaker similar, make(true, false, false));
  ASSIGN_OR_RETURN(PageMaker linked, make(true, true, false));
  ASSIGN_OR_RETURN(PageMaker whole, make(true, true, true));
  const auto time_maker = [&](PageMaker& maker) {
    return best([&](size_t i) { sum += maker.Make(CopyOf(samples[i].response)).fingerprint; });
  };
  const double makes = time_maker(bare);
  const double with_similarity = time_maker(similar);
  const double with_links = time_maker(linked);
  const double with_text = time_maker(whole);

  // The stages alone.
  const auto time_reader = [&](const PageOptions& options) {
    PageReader reader(options);
    return best([&](size_t i) { sum += reader.Read(samples[i].html).links.size(); });
  };
  const double reads = time_reader({.anchor_text = false});
  const double reads_text = time_reader({.text = true, .anchor_text = false});
  const double reads_outline = time_reader({.text = true, .anchor_text = false, .outline = true});
  const PageOptions everything{.text = true, .headings = true, .outline = true, .facts = true};
  const double reads_all = time_reader(everything);
  PageReader reader(everything);
  std::vector<Page> read;
  double text_bytes = 0;
  for (const Sample& sample : samples) {
    read.push_back(reader.Read(sample.html));
    text_bytes += static_cast<double>(read.back().text.size());
  }
  MainTextFinder finder;
  std::vector<std::string> main_texts(read.size());
  double main_bytes = 0;
  for (size_t i = 0; i < read.size(); ++i) {
    JoinRanges(read[i].text, finder.Find(read[i]), main_texts[i]);
    main_bytes += static_cast<double>(main_texts[i].size());
    if (main_texts[i].empty()) main_texts[i] = read[i].text;
  }
  std::string joined;
  const double finds = best([&](size_t i) {
    JoinRanges(read[i].text, finder.Find(read[i]), joined);
    sum += joined.size();
  });
  const double hashes = best([&](size_t i) { sum += SimilarityHash(main_texts[i]); });
  const double facts = best([&](size_t i) { sum += FindPageFacts(read[i], samples[i].url.href()).title.size(); });
  const double language = best([&](size_t i) {
    const LanguageHints hints{.html_lang = read[i].View(read[i].lang), .host = samples[i].url.hostname()};
    sum += DetectLanguage(main_texts[i], hints).confidence;
  });

  std::vector<Made> made(samples.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    PageResult result = whole.Make(CopyOf(samples[i].response));
    for (OutputItem& item : result.outputs) {
      (item.output == OutputId::kText ? made[i].text : made[i].links) = std::move(item.records);
    }
  }
  LogBlocks link_log(1);
  LogBlocks text_log(0);
  const double packs_links = best([&](size_t i) { link_log.Add(made[i].links); });
  const double packs_text = best([&](size_t i) { text_log.Add(made[i].text); });

  nlohmann::ordered_json figures;
  const auto line = [&](std::string_view name, const char* key, double us) {
    report.Line("  {:<44} {:>8.1f} us", name, us);
    figures[key] = us;
  };
  report.Line("beside the links, per page of {:.1f} KB of visible text, {:.1f} KB of main text:",
              text_bytes / pages / 1000, main_bytes / pages / 1000);
  line("all without text", "make_us", makes);
  line("and similarity", "make_similarity_us", with_similarity - makes);
  line("and records of the link log", "make_link_log_us", with_links - with_similarity);
  line("and records of the text log", "make_text_log_us", with_text - with_links);
  line("blocks of the link log", "link_blocks_us", packs_links);
  line("blocks of the text log", "text_blocks_us", packs_text);
  line("sum of the five", "text_sum_us", with_text - makes + packs_links + packs_text);
  report.Line("these stages alone:");
  line("visible text", "visible_text_us", reads_text - reads);
  line("its outline", "outline_us", reads_outline - reads_text);
  line("anchors, headings, facts", "anchors_us", reads_all - reads_outline);
  line("main text", "main_text_us", finds);
  line("similarity", "simhash_us", hashes);
  line("title, description, date", "facts_us", facts);
  line("language", "language_us", language);
  const auto size = [&](std::string_view name, const std::string& key, const LogBlocks& log) {
    report.Line("  {:<44} {:>8.3f} of {:.0f} bytes", name, log.stored() / log.raw(), log.raw() / pages / rounds);
    figures[key] = log.stored() / log.raw();
  };
  size("link log, stored", "link_log_stored", link_log);
  size("text log, stored", "text_log_stored", text_log);
  figures["text_check"] = sum;
  return figures;
}

}  // namespace portolan::bench
