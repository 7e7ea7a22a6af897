// The disk traffic of Portolan's own DRUM, beside Theorem 2's.
//
// It departs from the paper's in five places, and each is a term here:
//   - the text of links is one log in arrival order, where neighbours share their host, compressed; the log has one
//     byte per link for the bucket of its key;
//   - keys stay in RAM while they fit, and are spilled in runs when rewriting Z would cost more than that;
//   - keys in RAM are also written to a log that only recovery reads;
//   - URLseen (Z) holds sorted keys as gaps: log2(2^64 / U) bits and a little, not 64;
//   - answers are one bit per link, written and read once, so that only the largest bucket that can be sorted bounds a
//     round.
//
// A round ends when the keys in RAM are full and rewriting Z then costs no more bytes than spilling the keys would;
// otherwise keys are spilled and the round continues until a bucket or the disk is full. So a young crawl never spills,
// and an old one rewrites Z rarely.
//
//   α = [2(b/c + i + 1/8) + w + spill·2·s + 2|Z|/m + p·b/c] / b      i, w, s: bytes of bucket id, logged and spilled
//   key
//
// averaged over the crawl, as Z grows from U keys to U + pn. All functions are pure.

#pragma once

namespace portolan {

struct PortolanDrumParams {
  double unique = 1.0 / 9;         // p
  double seen = 0;                 // U: keys in Z when the crawl starts
  double url_bytes = 110;          // b
  double text_compression = 2.6;   // c: front coding and lz4; 3.9 with zstd-1; as `bench seen` measures it
  double bucket_id_bytes = 1;      // i: per link in the text log
  double logged_key_bytes = 8;     // w: per key in the log that recovery reads; 0 for a DRUM that is not durable
  double buckets = 256;            // k: by the first 8 bits of the key
  double ram_key_bytes = 8;        // per key in RAM
  double ram_key_share = 0.375;    // of RAM that holds the keys of the open batch
  double spilled_key_bytes = 8;    // s
  double gap_overhead_bits = 1.6;  // per key in Z, over log2 of the mean gap
  double sort_ram_share = 0.1875;  // of RAM that sorts one bucket
  double sort_key_bytes = 25;      // per key while it is sorted
};

struct PortolanDrumCost {
  double alpha = 0;
  double rounds = 0;
  double round_links = 0;       // m of the crawl's last round
  double spilled_share = 0;     // of links whose keys went to disk
  double bucket_bytes = 0;      // keys of one bucket in the last round, as sorted in RAM
  double seen_bytes = 0;        // |Z| at the end
  double round_disk_bytes = 0;  // text log and spilled keys of the last round
};

// REQUIRES: links > 0, ram >= PortolanDrumMinimumRam(params), disk > 0.
PortolanDrumCost PortolanDrumModel(const PortolanDrumParams& params, double links, double ram, double disk);
double PortolanDrumAlpha(const PortolanDrumParams& params, double links, double ram, double disk);

// Bytes of Z with `keys` keys in it.
double GapCodedBytes(const PortolanDrumParams& params, double keys);

// With less, chunks and buffers cannot be made: DrumMemoryPlan::kMinMemory.
double PortolanDrumMinimumRam();

}  // namespace portolan
