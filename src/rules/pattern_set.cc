#include "rules/pattern_set.h"

#include <fmt/core.h>
#include <re2/filtered_re2.h>
#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/check.h"
#include "rules/atom_finder.h"

namespace portolan {
namespace {

// Of one pattern; RE2 uses two thirds for the programs and one third for the automata.
constexpr int64_t kLeastForOne = int64_t{64} << 10;
constexpr int64_t kMostForOne = int64_t{1} << 20;
constexpr int64_t kBytesPerInstruction = 16;
constexpr size_t kFewPatterns = 32;         // which are one set, whatever they need
constexpr int64_t kBytesPerPattern = 2048;  // the object, its parsed form, its literals

// Canonical URLs are ASCII, so bytes are enough.
RE2::Options PatternOptions(int64_t memory) {
  RE2::Options options(RE2::Latin1);
  options.set_log_errors(false);
  options.set_never_capture(true);
  options.set_max_mem(memory);
  return options;
}

}  // namespace

struct PatternSet::Parts {
  // With literals: the filter's own numbers count from 0.
  std::unique_ptr<re2::FilteredRE2> filter;
  std::vector<int> filtered;  // the pattern of each
  AtomFinder atoms;
  // Without.
  std::unique_ptr<RE2::Set> set;
  std::vector<int> always;
  std::vector<std::unique_ptr<RE2>> alone;  // the same, one by one: for a URL on which the set runs out of memory
};

PatternSet::PatternSet(std::unique_ptr<Parts> parts, size_t size) : parts_(std::move(parts)), size_(size) {}
PatternSet::PatternSet(PatternSet&&) noexcept = default;
PatternSet& PatternSet::operator=(PatternSet&&) noexcept = default;
PatternSet::~PatternSet() = default;

size_t PatternSet::always() const { return parts_->always.size(); }

std::string PatternSet::WhatIsWrong(std::string_view pattern) {
  if (pattern.empty()) return "is empty: it would be found in every URL";
  if (pattern.size() > kMaxPatternBytes) return fmt::format("is longer than {} bytes", kMaxPatternBytes);
  if (std::ranges::any_of(pattern, [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) {
    return "has characters that no canonical URL has: write them in percent encoding, a host as xn--…";
  }
  const RE2 compiled(re2::StringPiece(pattern.data(), pattern.size()), PatternOptions(kMostForOne));
  if (compiled.ok()) return {};
  if (compiled.error_code() == RE2::ErrorPatternTooLarge) return "is too large: it repeats too much";
  return fmt::format("is not a regular expression: {}", compiled.error());
}

Result<PatternSet> PatternSet::Create(const std::vector<std::string>& patterns, size_t* culprit) {
  auto parts = std::make_unique<Parts>();
  const auto count = static_cast<int64_t>(std::max<size_t>(1, patterns.size()));
  const RE2::Options options = PatternOptions(std::clamp(kPatternMemory / count, kLeastForOne, kMostForOne));
  const auto too_much = [&](size_t index) {
    if (culprit != nullptr) *culprit = index;
    return Fail(ErrorCode::kBusy, fmt::format("'{}' is one pattern too many: together they need more than {} MiB",
                                              patterns[index], kPatternMemory >> 20));
  };
  // First all of them, to learn which need no literal.
  const auto make_filter = [&](const std::vector<int>& which) {
    auto filter = std::make_unique<re2::FilteredRE2>(static_cast<int>(AtomFinder::kLeast));
    for (const int index : which) {
      int id = 0;
      const std::string& pattern = patterns[static_cast<size_t>(index)];
      CHECK(filter->Add(pattern, options, &id) == RE2::NoError, "the pattern '{}' was not checked", pattern);
    }
    return filter;
  };
  std::vector<int> all;
  int64_t bytes = 0;
  for (size_t i = 0; i < patterns.size(); ++i) {
    const RE2 compiled(patterns[i], options);
    if (!compiled.ok()) {
      if (culprit != nullptr) *culprit = i;
      return Fail(ErrorCode::kBusy,
                  fmt::format("'{}' is too large to be one of {} patterns, which may take {} KiB each", patterns[i],
                              patterns.size(), options.max_mem() >> 10));
    }
    bytes += kBytesPerPattern + compiled.ProgramSize() * kBytesPerInstruction;
    if (bytes > kPatternMemory) return too_much(i);
    all.push_back(static_cast<int>(i));
  }
  std::vector<int> potentials;
  std::vector<std::string> atoms;
  if (all.size() > kFewPatterns) {
    const auto filter = make_filter(all);
    filter->Compile(&atoms);
    filter->AllPotentials({}, &potentials);
  } else {
    potentials = all;
  }
  std::ranges::sort(potentials);
  parts->always = potentials;
  std::ranges::set_difference(all, potentials, std::back_inserter(parts->filtered));
  atoms.clear();
  if (!parts->filtered.empty()) {
    parts->filter = make_filter(parts->filtered);
    parts->filter->Compile(&atoms);
    parts->atoms = AtomFinder(atoms);
  }
  if (!parts->always.empty()) {
    RE2::Options for_set = options;
    for_set.set_max_mem(kSetMemory);
    parts->set = std::make_unique<RE2::Set>(for_set, RE2::UNANCHORED);
    for (const int index : parts->always) {
      parts->set->Add(patterns[static_cast<size_t>(index)], nullptr);
      parts->alone.push_back(std::make_unique<RE2>(patterns[static_cast<size_t>(index)], options));
    }
    if (!parts->set->Compile()) return too_much(static_cast<size_t>(parts->always.back()));
  }
  return PatternSet(std::move(parts), patterns.size());
}

void PatternSet::Find(std::string_view url, std::vector<int>& found) const {
  found.clear();
  const re2::StringPiece text(url.data(), url.size());
  if (parts_->filter) {
    thread_local std::string lower;
    thread_local std::vector<int> atoms;
    thread_local std::vector<int> matches;
    lower.resize(url.size());
    std::ranges::transform(url, lower.begin(), AsciiLower);
    parts_->atoms.Find(lower, atoms);
    if (!atoms.empty()) {
      parts_->filter->AllMatches(text, atoms, &matches);
      for (const int match : matches) found.push_back(parts_->filtered[static_cast<size_t>(match)]);
    }
  }
  if (parts_->set) {
    thread_local std::vector<int> matches;
    matches.clear();
    RE2::Set::ErrorInfo error{};
    if (parts_->set->Match(text, &matches, &error) || error.kind == RE2::Set::kNoError) {
      for (const int match : matches) found.push_back(parts_->always[static_cast<size_t>(match)]);
    } else {
      for (size_t i = 0; i < parts_->alone.size(); ++i) {
        if (RE2::PartialMatch(text, *parts_->alone[i])) found.push_back(parts_->always[i]);
      }
    }
  }
  std::ranges::sort(found);
}

}  // namespace portolan
