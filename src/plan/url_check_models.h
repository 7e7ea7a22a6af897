// The disk traffic of batch URL checks: Theorems 1 and 2 of the IRLbot thesis.
//
// A crawl that finds n links of b bytes each moves α(n, R)·b·n bytes to and from disk to learn which of them are new.
// α is what separates the methods: Mercator-B and Polybot rewrite the whole of URLseen each time a buffer in RAM is
// full, so their α grows with n; DRUM collects on disk first and rewrites URLseen far less often.
//
// All functions are pure. Sizes are bytes and counts are entries, both as double: the formulas reach 10^26.
// REQUIRES throughout: positive b, H, P, M and RAM; 0 <= p <= 1. docs/models.md derives the formulas and compares
// every printed table.

#pragma once

namespace portolan {

// The letters of the thesis beside the names. Defaults are the figures behind its tables.
struct UrlCheckParams {
  double unique = 1.0 / 9;           // p: probability that a link is new
  double seen = 100e6;               // U: entries in URLseen when the crawl starts
  double url_bytes = 110;            // b
  double url_compression = 0.05;     // q: compressed URL over URL, in Polybot's file (the tables need bq = 5.5)
  double hash_bytes = 8;             // H
  double pointer_bytes = 4;          // P
  double file_buffer_bytes = 256e3;  // M: RAM for each open bucket file
  double bucket_min_bytes = 32e6;    // Δ: smallest bucket that the disk still reads fast
};

// Theorem 1, equation (1). `ram` is for both halves of the double buffer.
double MercatorBAlpha(const UrlCheckParams& params, double links, double ram);
// Theorem 1, equation (2).
double PolybotAlpha(const UrlCheckParams& params, double links, double ram);

// How many URLs one pass checks: m in the proof of Theorem 1.
double MercatorBBatch(const UrlCheckParams& params, double ram);
double PolybotBatch(const UrlCheckParams& params, double ram);

// How Theorem 2 divides RAM and disk: k buckets of r bytes of keys each.
struct DrumShape {
  double buckets = 0;           // k
  double bucket_bytes = 0;      // r: keys only
  double disk_bytes = 0;        // all buckets, keys and text
  double round_links = 0;       // links that one pass over URLseen checks: k·r/H
  bool limited_by_ram = false;  // R² < Λ: more disk would not help
};
DrumShape DrumShapeFor(const UrlCheckParams& params, double ram, double disk);

// Theorem 2, equation (7). REQUIRES: ram >= DrumMinimumRam(params).
double DrumAlpha(const UrlCheckParams& params, double links, double ram, double disk);

// 2Δ(1 + P/H): below it the buckets cannot be as large as Δ.
double DrumMinimumRam(const UrlCheckParams& params);
// D_opt, equation (17): the disk that a given RAM can use to the full.
double DrumOptimalDisk(const UrlCheckParams& params, double ram);

// Bounds that no method of a kind can pass: text on disk; whole URLs in RAM; hashes and text on disk.
double TextOnDiskBound(const UrlCheckParams& params);           // 2 + p
double TextInRamBound(const UrlCheckParams& params);            // p
double HashesAndTextOnDiskBound(const UrlCheckParams& params);  // 2 + p + 2H/b

}  // namespace portolan
