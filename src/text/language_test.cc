#include "text/language.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace portolan {
namespace {

TEST(LanguageTest, OfSentences) {
  EXPECT_EQ(
      DetectLanguage("Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft begabt.")
          .code,
      "de");
  EXPECT_EQ(
      DetectLanguage("Todos los seres humanos nacen libres e iguales en dignidad y derechos, dotados de razón.").code,
      "es");
  EXPECT_EQ(DetectLanguage("כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון.").code,
            "he")
      << "CLD2 itself says iw";
  EXPECT_EQ(DetectLanguage("すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。").code,
            "ja");
}

TEST(LanguageTest, NoTextHasNone) {
  for (const std::string_view text : {"", "   ", "1234 5678 90", "\xff\xfe\xff"}) {
    EXPECT_EQ(DetectLanguage(text).code, "und");
    EXPECT_EQ(DetectLanguage(text).confidence, 0);
  }
}

TEST(LanguageTest, HintsDoNotOutvoteTheText) {
  const std::string_view german =
      "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt.";
  const LanguageGuess guess =
      DetectLanguage(german, {.html_lang = "en-US", .content_language = "en, fr;q=0.5", .host = "www.example.co.uk"});
  EXPECT_EQ(guess.code, "de");
  EXPECT_GT(guess.confidence, 50);
}

TEST(LanguageTest, AnyHintIsTaken) {
  std::string strange(10'000, '-');
  strange += '\xff';
  for (const std::string_view hint :
       {std::string_view(strange), std::string_view("\xff,\x01"), std::string_view(",,,,-"),
        std::string_view("x-klingon"), std::string_view(".")}) {
    DetectLanguage("All human beings are born free.", {.html_lang = hint, .content_language = hint, .host = hint});
  }
}

TEST(LanguageTest, InvalidUtf8EndsWhatIsRead) {
  EXPECT_EQ(
      DetectLanguage("Todos los seres humanos nacen libres e iguales en dignidad y derechos, dotados de razón.\xff\xff"
                     "and more")
          .code,
      "es");
}

// The beginning is in two languages, so it does not decide.
TEST(LanguageTest, AMixedBeginningIsReadOn) {
  std::string text = "All human beings are born free and equal in dignity and rights, and have reason and conscience. ";
  for (int i = 0; i < 20; ++i) text += "Alle Menschen sind frei und gleich an Würde und Rechten geboren. ";
  const LanguageGuess guess = DetectLanguage(text);
  EXPECT_EQ(guess.code, "de");
  EXPECT_GE(guess.confidence, 85) << "the share of the whole text, not of the beginning";
}

// Text and declaration agree, so no more is read. Another declaration changes nothing.
TEST(LanguageTest, WhatTextAndDeclarationAgreeOnIsNotReadOn) {
  std::string text;
  for (int i = 0; i < 3; ++i) text += "Alle Menschen sind frei und gleich an Würde und Rechten geboren. ";
  ASSERT_GT(text.size(), kFirstSampleBytes);
  for (int i = 0; i < 40; ++i) text += "All human beings are born free and equal in dignity and rights. ";
  EXPECT_EQ(DetectLanguage(text).code, "en");
  EXPECT_EQ(DetectLanguage(text, {.html_lang = "de-AT"}).code, "de");
  EXPECT_EQ(DetectLanguage(text, {.content_language = "DE"}).code, "de");
  EXPECT_EQ(DetectLanguage(text, {.html_lang = "en", .content_language = "de"}).code, "en") << "the page says first";
  EXPECT_EQ(DetectLanguage(text, {.html_lang = "fr"}).code, "en");
  EXPECT_EQ(DetectLanguage(text, {.html_lang = "d"}).code, "en");
}

// The sample's end is inside a character, at each of its bytes.
TEST(LanguageTest, ACutCharacterDoesNoHarm) {
  std::string greek;
  while (greek.size() < 4 * kSampleBytes) greek += "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι. ";
  for (const std::string_view before : {"", "a", "ab", "abc"}) {
    EXPECT_EQ(DetectLanguage(std::string(before) + greek).code, "el");
  }
}

TEST(LanguageTest, KnownLanguagesAreSorted) {
  EXPECT_EQ(DetectedLanguages().size(), 82U) << "Chinese counts twice, by its scripts";
  EXPECT_TRUE(std::ranges::is_sorted(DetectedLanguages()));
}

}  // namespace
}  // namespace portolan
