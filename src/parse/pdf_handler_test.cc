// PDF documents through the real reader: text and links; and hostile ones, each with a named outcome in bounded time.

#include "parse/pdf_handler.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <chrono>

#include "base/hash.h"
#include "flow/output_records.h"
#include "io/child_program.h"
#include "parse/page_maker.h"

namespace portolan {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

PdfOptions Reader() {
  return {.enabled = true, .program = ProgramBeside("portolan-pdf"), .max_wait_ns = 20'000'000'000};
}

// A document of objects 1, 2, …; the first is the catalogue. `trailer`: more entries of its dictionary.
std::string Document(const std::vector<std::string>& objects, const std::string& trailer = "") {
  std::string pdf = "%PDF-1.5\n";
  std::vector<size_t> offsets;
  for (size_t i = 0; i < objects.size(); ++i) {
    offsets.push_back(pdf.size());
    pdf += fmt::format("{} 0 obj\n{}\nendobj\n", i + 1, objects[i]);
  }
  const size_t table = pdf.size();
  pdf += fmt::format("xref\n0 {}\n0000000000 65535 f \n", objects.size() + 1);
  for (const size_t offset : offsets) pdf += fmt::format("{:010} 00000 n \n", offset);
  pdf += fmt::format("trailer\n<< /Size {} /Root 1 0 R /Info 6 0 R {} >>\nstartxref\n{}\n%%EOF\n", objects.size() + 1,
                     trailer, table);
  return pdf;
}

std::string Stream(const std::string& content, const std::string& entries = "") {
  return fmt::format("<< /Length {} {} >>\nstream\n{}\nendstream", content.size(), entries, content);
}

std::vector<std::string> Objects(const std::string& content) {
  return {"<< /Type /Catalog /Pages 2 0 R >>",
          "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
          "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Annots [7 0 R] "
          "/Resources << /Font << /F1 5 0 R >> >> >>",
          Stream(content),
          "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
          "<< /Title (The  harbour) >>",
          "<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /S /URI /URI (http://b.test/a\\(1\\)) >> >>"};
}

std::string Harbour() {
  return Document(
      Objects("BT /F1 12 Tf 72 700 Td (The harbour was built in 1874.) Tj 0 -20 Td (See https://c.test/x.) Tj ET"));
}

TEST(PdfHandlerTest, TextTitleAndLinks) {
  const PdfText pdf = ReadPdf(Harbour(), Reader());
  ASSERT_EQ(pdf.outcome, PdfOutcome::kRead) << PdfOutcomeName(pdf.outcome);
  EXPECT_EQ(pdf.title, "The harbour");
  EXPECT_EQ(pdf.text, "The harbour was built in 1874.\nSee https://c.test/x.");
  EXPECT_THAT(pdf.links, UnorderedElementsAre("http://b.test/a(1)", "https://c.test/x"));
}

TEST(PdfHandlerTest, LinksInObjectStreams) {
  const std::string objects = "9 0 << /S /URI /URI (http://packed.test/) >>";
  std::string packed(compressBound(objects.size()), '\0');
  uLongf size = packed.size();
  ASSERT_EQ(compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(objects.data()),
                     objects.size()),
            Z_OK);
  packed.resize(size);
  std::vector<std::string> all = Objects("");
  all.push_back(Stream(packed, "/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode"));
  EXPECT_THAT(ReadPdf(Document(all), Reader()).links, testing::Contains("http://packed.test/"));
}

TEST(PdfHandlerTest, APageOfTheCrawl) {
  PageMakerOptions options;
  options.text_log = true;
  options.pdf = Reader();
  PageMaker maker = PageMaker::Create(options).value();
  FetchResponse response;
  response.task.url = "http://a.test/x.pdf";
  response.response_head = "HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n";
  response.body = Harbour();
  const PageResult result = maker.Make(std::move(response));
  EXPECT_EQ(result.title, "The harbour");
  EXPECT_EQ(result.links.links.size(), 2U);
  ASSERT_EQ(result.outputs.size(), 1U);
  PackedRecords records(result.outputs[0].records);
  ASSERT_TRUE(records.Next());
  const auto page = ParseTextRecord(records.record());
  ASSERT_TRUE(page);
  EXPECT_EQ(page->title, "The harbour");
  EXPECT_THAT(MainTextOf(*page), HasSubstr("built in 1874"));
}

TEST(PdfHandlerTest, EachFaultHasItsName) {
  PdfOptions options = Reader();
  EXPECT_EQ(ReadPdf("", options).outcome, PdfOutcome::kBroken);
  EXPECT_EQ(ReadPdf("%PDF-1.4\nnothing", options).outcome, PdfOutcome::kBroken);
  // An owner and a user password that nobody knows.
  const std::string hash(32, 'x');
  std::vector<std::string> objects = Objects("");
  objects.push_back("<< /Filter /Standard /V 1 /R 2 /P -44 /O (" + hash + ") /U (" + hash + ") >>");
  EXPECT_EQ(ReadPdf(Document(objects, "/Encrypt 8 0 R /ID [(" + hash + ") (" + hash + ")]"), options).outcome,
            PdfOutcome::kEncrypted);
  options.program = "/no/such/program";
  EXPECT_EQ(ReadPdf(Harbour(), options).outcome, PdfOutcome::kNoReader);
  options.program = "/bin/true";  // it ends without a word
  EXPECT_EQ(ReadPdf(Harbour(), options).outcome, PdfOutcome::kCrashed);
  options = Reader();
  options.stop = std::make_shared<std::atomic<bool>>(true);
  EXPECT_EQ(ReadPdf(Harbour(), options).outcome, PdfOutcome::kStopped);
}

// Reading it takes a second of a fast processor.
TEST(PdfHandlerTest, ADocumentThatNeverEndsIsEnded) {
  std::string content = "BT /F1 12 Tf ";
  for (int i = 0; i < 3'000'000; ++i) content += "1 0 Td (a) Tj ";
  PdfOptions options = Reader();
  options.max_wait_ns = 100'000'000;
  const auto begin = std::chrono::steady_clock::now();
  const PdfText pdf = ReadPdf(Document(Objects(content + "ET")), options);
  EXPECT_EQ(pdf.outcome, PdfOutcome::kTimeout) << PdfOutcomeName(pdf.outcome);
  EXPECT_TRUE(pdf.text.empty());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(PdfHandlerTest, MutatedDocumentsEndInANamedOutcome) {
  const std::string whole = Harbour();
  uint64_t seed = 7;
  int read = 0;
  PdfOptions options = Reader();
  options.max_wait_ns = 5'000'000'000;
  for (int round = 0; round < 60; ++round) {
    std::string mutated = whole;
    for (int change = 0; change <= round % 8; ++change) {
      seed = Mix64(seed + 1);
      const size_t at = seed % mutated.size();
      if (round % 3 == 0) {
        mutated[at] = static_cast<char>(seed >> 32);
      } else if (round % 3 == 1) {
        mutated.erase(at, 1 + (seed >> 40) % 40);
      } else {
        mutated.insert(at, mutated.substr((seed >> 20) % mutated.size(), 60));
      }
    }
    const PdfText pdf = ReadPdf(mutated, options);
    EXPECT_NE(pdf.outcome, PdfOutcome::kNoReader);
    read += pdf.outcome == PdfOutcome::kRead ? 1 : 0;
  }
  EXPECT_GT(read, 10);  // poppler repairs most of them
}

TEST(ParsePdfFramesTest, AnyBytesGiveAnOutcome) {
  const auto frame = [](char tag, const std::string& bytes) {
    return std::string(1, tag) + static_cast<char>(bytes.size()) + std::string(3, '\0') + bytes;
  };
  const std::string good =
      frame('S', "ok") + frame('T', "a\n b") + frame('X', "one  two\n\n three\xff") + frame('L', "u");
  EXPECT_EQ(ParsePdfFrames(good + frame('E', "")).outcome, PdfOutcome::kRead);
  EXPECT_EQ(ParsePdfFrames(good + frame('E', "")).title, "a b");
  EXPECT_EQ(ParsePdfFrames(good + frame('E', "")).text, "one two\nthree");
  EXPECT_EQ(ParsePdfFrames(good).outcome, PdfOutcome::kCrashed);
  EXPECT_EQ(ParsePdfFrames(good + frame('E', "") + "x").outcome, PdfOutcome::kCrashed);
  EXPECT_EQ(ParsePdfFrames(frame('S', "what") + frame('E', "")).outcome, PdfOutcome::kCrashed);
  EXPECT_EQ(ParsePdfFrames(frame('?', "")).outcome, PdfOutcome::kCrashed);
  EXPECT_EQ(ParsePdfFrames("X\xff\xff\xff\xff").outcome, PdfOutcome::kCrashed);
  for (size_t size = 0; size < good.size(); ++size) ParsePdfFrames(good.substr(0, size));
}

TEST(MayBePdfTest, ByTypeOrByBytes) {
  FetchResponse response;
  response.response_head = "HTTP/1.1 200 OK\r\ncontent-type: Application/PDF;x\r\n\r\n";
  EXPECT_TRUE(MayBePdf(response));
  response.response_head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
  EXPECT_FALSE(MayBePdf(response));
  response.body = "%PDF-1.7";
  EXPECT_TRUE(MayBePdf(response));
}

}  // namespace
}  // namespace portolan
