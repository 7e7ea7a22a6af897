#include "plan/portolan_drum_model.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace portolan {
namespace {

// The integral of GapCodedBytes over the number of keys from 0 to `keys`.
double GapCodedIntegral(const PortolanDrumParams& params, double keys) {
  if (keys <= 1) return 0;
  const double square = keys * keys / 2;
  return (square * (64 + params.gap_overhead_bits - std::log2(keys)) + square / 2 * std::numbers::log2e) / 8;
}

// Mean of |Z| while it grows from `first` to `last` keys.
double MeanGapCodedBytes(const PortolanDrumParams& params, double first, double last) {
  if (last - first < 1e-6 * last) return GapCodedBytes(params, last);
  return (GapCodedIntegral(params, last) - GapCodedIntegral(params, first)) / (last - first);
}

// The number of keys at which Z has `bytes` bytes.
double KeysOfBytes(const PortolanDrumParams& params, double bytes) {
  double low = 0;
  double high = 0x1p62;
  for (int i = 0; i < 64; ++i) {
    const double middle = (low + high) / 2;
    (GapCodedBytes(params, middle) < bytes ? low : high) = middle;
  }
  return low;
}

}  // namespace

double GapCodedBytes(const PortolanDrumParams& params, double keys) {
  return keys <= 1 ? 0 : keys * (64 + params.gap_overhead_bits - std::log2(keys)) / 8;
}

double PortolanDrumMinimumRam() { return 256 * 1024; }

PortolanDrumCost PortolanDrumModel(const PortolanDrumParams& params, double links, double ram, double disk) {
  constexpr double kAnswerBytes = 1.0 / 8;
  const double text = params.url_bytes / params.text_compression;
  const double logged = text + params.bucket_id_bytes;
  const double sortable = ram * params.sort_ram_share / params.sort_key_bytes * params.buckets;
  const double in_ram = std::min(
      {ram * params.ram_key_share / params.ram_key_bytes, sortable, disk / (logged + params.logged_key_bytes)});
  const double on_disk = logged + params.spilled_key_bytes;
  const double spilling = std::min(sortable, disk / on_disk);
  const double spill_bytes = 2 * params.spilled_key_bytes;

  // Until Z has this many keys, rewriting it costs no more than spilling a round's keys. Where spilling does not make
  // rounds longer (little disk), it is never done.
  const double first = params.seen;
  const double last = params.seen + params.unique * links;
  const double turn = spilling > in_ram ? KeysOfBytes(params, spill_bytes * in_ram / 2) : last;
  const double without =
      links * (last > first ? std::clamp((turn - first) / (last - first), 0.0, 1.0) : (first <= turn ? 1.0 : 0.0));
  const double with = links - without;
  const double middle = std::clamp(turn, first, last);

  PortolanDrumCost cost;
  cost.rounds = std::max(without / in_ram + with / spilling, 1.0);
  // A crawl of less than a round still reads Z once and writes it once.
  const double rewriting = cost.rounds == 1 ? GapCodedBytes(params, first) + GapCodedBytes(params, last)
                                            : without / in_ram * 2 * MeanGapCodedBytes(params, first, middle) +
                                                  with / spilling * 2 * MeanGapCodedBytes(params, middle, last);
  const double streamed =
      links * (2 * (logged + kAnswerBytes) + params.logged_key_bytes + params.unique * text) + with * spill_bytes;
  cost.alpha = (streamed + rewriting) / (links * params.url_bytes);
  cost.round_links = std::min(links, with > 0 ? spilling : in_ram);
  cost.spilled_share = with / links;
  cost.bucket_bytes = cost.round_links * params.ram_key_bytes / params.buckets;
  cost.seen_bytes = GapCodedBytes(params, last);
  cost.round_disk_bytes = cost.round_links * (with > 0 ? on_disk : logged);
  return cost;
}

double PortolanDrumAlpha(const PortolanDrumParams& params, double links, double ram, double disk) {
  return PortolanDrumModel(params, links, ram, disk).alpha;
}

}  // namespace portolan
