// Every archive of the outside samples is read, and strict reading agrees with what their makers say of them.
//
// The record counts were taken with a few lines of Python that look for header lines, not with our reader
// (blackbook-truncated.arc, whose records do not begin on lines of their own, by eye).

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "io/env.h"
#include "warc/reader.h"

namespace portolan {
namespace {

const std::string kRoot = "../shared/data/warc";

enum Expect : bool { kClean, kFaulty };

struct Sample {
  const char* path;
  uint64_t records;
  Expect strict;
};

// Names that begin with valid- and invalid- are jwat's verdicts. One of them is not ours: invalid-warcfile-encoding-
// headers has question marks where a crawler lost the encoding of a URL; what is left is a correct header.
constexpr std::array kSamples = std::to_array<Sample>({
    {"cdxj-indexer/bad.arc", 4, kFaulty},
    {"cdxj-indexer/cc.warc.gz", 3, kClean},
    {"cdxj-indexer/example.arc", 2, kFaulty},
    {"cdxj-indexer/example.warc.gz", 6, kFaulty},
    {"cdxj-indexer/missing-http.warc.gz", 2, kFaulty},
    {"cdxj-indexer/post-test-more.warc", 6, kClean},
    {"cdxj-indexer/post-test.warc.gz", 6, kClean},
    {"jwarc/cc.warc.gz", 1, kClean},
    {"jwarc/gzip_extra_sl.warc.gz", 1, kClean},
    {"jwat/jwat-arc/1-1-20110922131213-00000-svc-VirtualBox.arc", 102, kClean},
    {"jwat/jwat-arc/IAH-20080430204825-00000-blackbook.arc.gz", 300, kClean},
    {"jwat/jwat-arc/invalid-arcfile-record-then-garbage.arc", 1, kFaulty},
    {"jwat/jwat-arc/small_BNF.arc", 6, kClean},
    {"jwat/jwat-arc/test-arc-1.0-dashed-fields.arc", 2, kFaulty},
    {"jwat/jwat-arc/test-arc-1.0-invalid-fields.arc", 2, kFaulty},
    {"jwat/jwat-common/test-utf8.warc", 1, kClean},
    {"jwat/jwat-gzip/IAH-20080430204825-00000-blackbook.warc.gz", 822, kClean},
    {"jwat/jwat-gzip/invalid-compression.gz", 0, kFaulty},
    {"jwat/jwat-gzip/invalid-entries.gz", 0, kFaulty},
    {"jwat/jwat-gzip/invalid-magic.gz", 0, kFaulty},
    {"jwat/jwat-gzip/invalid-truncated.gz", 0, kFaulty},
    {"jwat/jwat-gzip/sample.txt.gz", 0, kFaulty},
    {"jwat/jwat-gzip/three-files.gz", 0, kFaulty},
    {"jwat/jwat-warc/IAH-20080430204825-00000-blackbook.warc.gz", 822, kClean},
    {"jwat/jwat-warc/invalid-warcfile-contenttype-recommended.warc", 7, kFaulty},
    {"jwat/jwat-warc/invalid-warcfile-contenttype-warcinfo-recommended.warc", 1, kFaulty},
    {"jwat/jwat-warc/invalid-warcfile-digest-fields.warc", 4, kFaulty},
    {"jwat/jwat-warc/invalid-warcfile-duplicate-fields.warc", 1, kFaulty},
    {"jwat/jwat-warc/invalid-warcfile-encoding-headers.warc.gz", 4, kClean},
    {"jwat/jwat-warc/invalid-warcfile-fields-empty.warc", 1, kFaulty},
    {"jwat/jwat-warc/invalid-warcfile-fields-invalidformat.warc", 1, kFaulty},
    {"jwat/jwat-warc/invalid-warcfile-fields-missing.warc", 1, kFaulty},
    {"jwat/jwat-warc/invalid-warcfile-lonely-continuation.warc", 1, kFaulty},
    {"jwat/jwat-warc/invalid-warcfile-lonely-monkeys.warc", 1, kFaulty},
    {"jwat/jwat-warc/invalid-warcfile-lonely-request-response-resource-conversion.warc", 4, kFaulty},
    {"jwat/jwat-warc/invalid-warcfile-lonely-revisit.warc", 1, kFaulty},
    {"jwat/jwat-warc/invalid-warcfile-lonely-warcinfo-metadata.warc", 2, kFaulty},
    {"jwat/jwat-warc/invalid-warcfile-record-then-garbage.warc", 1, kFaulty},
    {"jwat/jwat-warc/invalid-warcfile-segment-number-continuation.warc", 2, kFaulty},
    {"jwat/jwat-warc/invalid-warcfile-segment-number-response.warc", 2, kFaulty},
    {"jwat/jwat-warc/valid-warcfile-contenttype-continuation.warc", 1, kClean},
    {"jwat/jwat-warc/valid-warcfile-duplicate-concurrentto.warc", 1, kClean},
    {"jwat/jwat-warc/valid-warcfile-fields-continuation.warc", 1, kClean},
    {"jwat/jwat-warc/valid-warcfile-fields-metainfo.warc", 1, kClean},
    {"jwat/jwat-warc/valid-warcfile-fields-warcinfo.warc", 1, kClean},
    {"jwat/jwat-warc/valid-warcfile-non-warc-headers.warc", 1, kClean},
    {"jwat/jwat-warc/valid-warcfile-upper-lower-case.warc", 5, kClean},
    {"jwat/jwat-warc/valid-warcfile-utf8.warc", 1, kClean},
    {"warcio.js/example-bad-length.warc", 6, kFaulty},
    {"warcio.js/example-iana.org-chunked.warc", 3, kClean},
    {"warcio.js/example-resource.warc.gz", 1, kClean},
    {"warcio.js/example-url-agnostic-revisit.warc.gz", 2, kFaulty},
    {"warcio.js/example-wget-bad-target-uri.warc.gz", 6, kClean},
    {"warcio.js/example.warc", 7, kClean},
    {"warcio.js/example.warc.gz", 6, kClean},
    {"warcio.js/post-test-more.warc", 6, kClean},
    {"warcio.js/post-test.warc.gz", 6, kClean},
    {"warcio.js/redirect.warc", 2, kClean},
    {"warcio/bad.arc", 4, kFaulty},
    {"warcio/example-bad-non-chunked.warc.gz", 6, kFaulty},
    {"warcio/example-bad.warc.gz.bad", 6, kFaulty},
    {"warcio/example-digest.warc", 4, kClean},
    {"warcio/example-iana.org-chunked.warc", 3, kClean},
    {"warcio/example-resource.warc.gz", 3, kClean},
    {"warcio/example-space-in-target-uri.warc.gz", 2, kFaulty},
    {"warcio/example-space-in-url.arc", 2, kFaulty},
    {"warcio/example-trunc.warc", 4, kFaulty},
    {"warcio/example-wget-bad-target-uri.warc.gz", 6, kClean},
    {"warcio/example-wrong-chunks.warc.gz", 2, kFaulty},
    {"warcio/example.arc", 2, kFaulty},
    {"warcio/example.arc.gz", 2, kFaulty},
    {"warcio/example.warc", 6, kClean},
    {"warcio/example.warc.gz", 6, kClean},
    {"warcio/post-test.warc.gz", 6, kClean},
    {"webarchive-commons/format/arc/IAH-20080430204825-00000-blackbook-truncated.arc", 9, kFaulty},
    {"webarchive-commons/format/gzip/IAH-urls-wget.warc.gz", 36, kClean},
    {"webarchive-commons/format/gzip/abcd.gz", 0, kFaulty},
    {"webarchive-commons/format/gzip/double-single-inflate-error.gz", 0, kFaulty},
    {"webarchive-commons/format/gzip/empty.gz", 0, kFaulty},
    {"webarchive-commons/format/gzip/hi-2.gz", 0, kFaulty},
    {"webarchive-commons/format/gzip/hi.gz", 0, kFaulty},
    {"webarchive-commons/format/warc/IAH-urls-wget.warc", 36, kClean},
    {"webarchive-commons/format/warc/mutliple-headers.warc", 1, kClean},
    {"webarchive-commons/resource/html/link-extraction-test.warc", 8, kFaulty},
    {"whirlwind/CC-MAIN-2024-22.warc.paths.gz", 0, kFaulty},
    {"whirlwind/whirlwind.warc", 4, kClean},
    {"whirlwind/whirlwind.warc.gz", 4, kClean},
    {"whirlwind/whirlwind.warc.wat", 2, kClean},
    {"whirlwind/whirlwind.warc.wat.gz", 2, kClean},
    {"whirlwind/whirlwind.warc.wet", 2, kClean},
    {"whirlwind/whirlwind.warc.wet.gz", 2, kClean},
});

struct Outcome {
  uint64_t records = 0;
  std::vector<Fault> faults;
};

Outcome ReadStrictly(const std::string& bytes) {
  Outcome outcome;
  WarcReaderOptions options;
  options.strict = true;
  options.faults = [&](const Fault& fault) { outcome.faults.push_back(fault); };
  WarcReader reader(MemorySource(bytes), options);
  while (reader.Next().value_or(false)) {
  }
  outcome.records = reader.stats().records;
  return outcome;
}

bool HasKind(const Outcome& outcome, FaultKind kind) {
  for (const Fault& fault : outcome.faults) {
    if (fault.kind == kind) return true;
  }
  return false;
}

class WarcSamplesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!Env::Posix().Exists(kRoot)) GTEST_SKIP() << kRoot << " is not there";
  }
  static Outcome Strict(const std::string& path) {
    const auto bytes = ReadWholeFile(Env::Posix(), kRoot + "/" + path);
    EXPECT_TRUE(bytes.has_value()) << path;
    return bytes ? ReadStrictly(*bytes) : Outcome();
  }
};

TEST_F(WarcSamplesTest, EverySampleIsReadAndStrictReadingAgrees) {
  size_t passed = 0;
  std::set<std::string> known;
  for (const Sample& sample : kSamples) {
    known.insert(sample.path);
    const Outcome outcome = Strict(sample.path);
    std::string faults;
    for (const Fault& fault : outcome.faults) faults += std::string(FaultName(fault.kind)) + ": " + fault.detail + "\n";
    EXPECT_EQ(outcome.records, sample.records) << sample.path;
    EXPECT_EQ(!outcome.faults.empty(), sample.strict == kFaulty) << sample.path << "\n" << faults;
    const std::string name = std::filesystem::path(sample.path).filename();
    bool agrees = outcome.records == sample.records && outcome.faults.empty() == (sample.strict == kClean);
    if (name.starts_with("valid-")) agrees = agrees && outcome.faults.empty();
    if (name.starts_with("invalid-") && !name.starts_with("invalid-warcfile-encoding-headers")) {
      EXPECT_FALSE(outcome.faults.empty()) << name;
      agrees = agrees && !outcome.faults.empty();
    }
    passed += agrees;
  }
  // No sample may be left out silently.
  size_t total = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kRoot)) {
    const std::string name = entry.path().filename();
    if (!entry.is_regular_file() || name == "LICENSE" || name == "index_facts.json") continue;
    ++total;
    EXPECT_TRUE(known.contains(std::filesystem::relative(entry.path(), kRoot).string())) << entry.path();
  }
  std::printf("conformance warc_samples %zu/%zu\n", passed, total);
  EXPECT_EQ(passed, total);
}

TEST_F(WarcSamplesTest, FaultsAreNamedForWhatTheyAre) {
  const std::string warc = "jwat/jwat-warc/invalid-warcfile-";
  EXPECT_TRUE(HasKind(Strict(warc + "duplicate-fields.warc"), FaultKind::kDuplicateField));
  EXPECT_TRUE(HasKind(Strict(warc + "fields-empty.warc"), FaultKind::kEmptyField));
  EXPECT_TRUE(HasKind(Strict(warc + "fields-invalidformat.warc"), FaultKind::kBadDate));
  EXPECT_TRUE(HasKind(Strict(warc + "fields-invalidformat.warc"), FaultKind::kBadLength));
  EXPECT_TRUE(HasKind(Strict(warc + "lonely-revisit.warc"), FaultKind::kMissingField));
  EXPECT_TRUE(HasKind(Strict(warc + "record-then-garbage.warc"), FaultKind::kGarbage));
  EXPECT_TRUE(HasKind(Strict(warc + "segment-number-response.warc"), FaultKind::kBadSegment));
  EXPECT_TRUE(HasKind(Strict(warc + "digest-fields.warc"), FaultKind::kBadDigest));
  EXPECT_TRUE(HasKind(Strict(warc + "digest-fields.warc"), FaultKind::kBlockDigest));
  EXPECT_TRUE(HasKind(Strict(warc + "contenttype-recommended.warc"), FaultKind::kMissingContentType));
  EXPECT_TRUE(HasKind(Strict(warc + "contenttype-warcinfo-recommended.warc"), FaultKind::kWrongContentType));
  EXPECT_TRUE(HasKind(Strict("jwat/jwat-gzip/invalid-truncated.gz"), FaultKind::kGzipTruncated));
  EXPECT_TRUE(HasKind(Strict("jwat/jwat-gzip/invalid-entries.gz"), FaultKind::kGzipData));
  EXPECT_TRUE(HasKind(Strict("jwat/jwat-gzip/invalid-compression.gz"), FaultKind::kGzipData));
  EXPECT_TRUE(HasKind(Strict("warcio/example-bad-non-chunked.warc.gz"), FaultKind::kSharedMember));
}

// What is good gzip but no archive has no gzip fault.
TEST_F(WarcSamplesTest, GzipOfOtherThingsIsOnlyNoArchive) {
  for (const char* path :
       {"jwat/jwat-gzip/sample.txt.gz", "jwat/jwat-gzip/three-files.gz", "webarchive-commons/format/gzip/hi-2.gz",
        "webarchive-commons/format/gzip/empty.gz", "whirlwind/CC-MAIN-2024-22.warc.paths.gz"}) {
    const Outcome outcome = Strict(path);
    ASSERT_EQ(outcome.faults.size(), 1U) << path;
    EXPECT_EQ(outcome.faults[0].kind, FaultKind::kNotAnArchive) << path;
  }
}

// However the source cuts its answers, the same records come out.
TEST_F(WarcSamplesTest, ShortReadsChangeNothing) {
  for (const Sample& sample : kSamples) {
    const auto bytes = ReadWholeFile(Env::Posix(), kRoot + "/" + sample.path);
    ASSERT_TRUE(bytes.has_value());
    if (bytes->size() > 300'000) continue;
    size_t step = 1;
    WarcReader reader(
        [&](uint64_t offset, char* to, size_t count) -> Result<size_t> {
          step = step * 5 % 97 + 1;
          return offset >= bytes->size() ? 0 : bytes->copy(to, std::min(count, step), offset);
        },
        {});
    while (reader.Next().value_or(false)) {
    }
    EXPECT_EQ(reader.stats().records, sample.records) << sample.path;
  }
}

}  // namespace
}  // namespace portolan
