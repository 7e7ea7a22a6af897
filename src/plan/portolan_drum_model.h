// The disk traffic of Portolan's own DRUM, beside Theorem 2's.
//
// It departs from the paper's in four places, and each is a term here:
//   - the text of links is one log in arrival order, where neighbours share their host, compressed; only keys are
//     scattered over buckets, and the log carries one byte a link that names the bucket;
//   - keys stay in RAM while they fit; past that they are spilled without the byte that the bucket already says;
//   - URLseen (Z) holds sorted keys as gaps: log2(2^64 / U) bits and a little, not 64;
//   - a round needs one bit a link (new or not), not a pointer. Kept in RAM, these bits limit the round to as many
//   links
//     as their share of RAM has bits; kept on disk, one file a bucket, they cost a quarter of a byte a link and only
//     the largest bucket that RAM can sort limits the round.
//
// A round ends when the keys in RAM are full and rewriting Z then costs no more bytes than spilling the keys would;
// otherwise keys are spilled and the round goes on until its bits or its disk are used up. So a young crawl never
// spills, and an old one rewrites Z rarely.
//
//   α = [2(b/c + i) + spill·2·s + 2|Z|/m + p·b/c + answers/4] / b      i, s: bytes of bucket id and of a spilled key
//
// averaged over the crawl, as Z grows from U keys to U + pn. All functions are pure.

#pragma once

namespace portolan {

struct PortolanDrumParams {
  double unique = 1.0 / 9;             // p
  double seen = 0;                     // U: keys in Z when the crawl starts
  double url_bytes = 110;              // b
  double text_compression = 2.9;       // c: 2.9 by lz4, 3.9 by zstd-1, as measured on links of real pages
  double bucket_id_bytes = 1;          // i: a link in the text log
  double buckets = 256;                // k: by the first 8 bits of the key
  double ram_key_bytes = 8;            // a key in RAM
  double ram_key_share = 0.5;          // of RAM that holds keys
  double spilled_key_bytes = 7;        // s: the bucket knows the first byte
  double gap_overhead_bits = 1.6;      // a key in Z, over log2 of the mean gap
  double answer_ram_share = 0.125;     // of RAM that holds a bit for each link of the round
  bool answers_on_disk = false;        // the bits of a spilling round go to disk instead
  double bucket_buffer_bytes = 65536;  // RAM for each bucket's writes
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

// The write buffers of all buckets must fit into the share of the keys.
double PortolanDrumMinimumRam(const PortolanDrumParams& params);

}  // namespace portolan
