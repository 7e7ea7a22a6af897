#include "plan/url_check_models.h"

#include <cmath>

namespace portolan {
namespace {

// Bytes that rewriting a file of U and then pn more entries costs in a round, averaged over the crawl: reading the old
// file and writing the new one, 2U + pn entries.
double RewriteBytes(const UrlCheckParams& params, double links, double entry_bytes) {
  return entry_bytes * (2 * params.seen + params.unique * links);
}

double Lambda(const UrlCheckParams& params, double disk) {
  return 8 * params.file_buffer_bytes * disk * (params.hash_bytes + params.pointer_bytes) /
         (params.hash_bytes + params.url_bytes);
}

}  // namespace

double MercatorBBatch(const UrlCheckParams& params, double ram) {
  return ram / (2 * (params.hash_bytes + params.pointer_bytes));
}

double PolybotBatch(const UrlCheckParams& params, double ram) {
  return ram / (2 * (params.url_bytes + 4 * params.pointer_bytes));
}

double MercatorBAlpha(const UrlCheckParams& params, double links, double ram) {
  return RewriteBytes(params, links, params.hash_bytes) / (params.url_bytes * MercatorBBatch(params, ram)) +
         TextOnDiskBound(params);
}

double PolybotAlpha(const UrlCheckParams& params, double links, double ram) {
  const double entry = params.url_bytes * params.url_compression;
  return RewriteBytes(params, links, entry) / (params.url_bytes * PolybotBatch(params, ram)) + TextInRamBound(params);
}

DrumShape DrumShapeFor(const UrlCheckParams& params, double ram, double disk) {
  const double h = params.hash_bytes;
  const double m = params.file_buffer_bytes;
  DrumShape shape;
  shape.limited_by_ram = ram * ram < Lambda(params, disk);
  if (shape.limited_by_ram) {
    shape.buckets = ram / (4 * m);  // k_0: half of RAM for file buffers, half for the bucket that is checked
  } else {
    const double a = (h + params.pointer_bytes) * disk / (h + params.url_bytes);
    shape.buckets = (ram - std::sqrt(std::fmax(ram * ram - 8 * m * a, 0))) / (4 * m);  // k_1, equation (12)
  }
  shape.bucket_bytes = (ram - 2 * m * shape.buckets) * h / (h + params.pointer_bytes);  // equation (8)
  shape.round_links = shape.buckets * shape.bucket_bytes / h;
  shape.disk_bytes = shape.round_links * (h + params.url_bytes);
  return shape;
}

double DrumAlpha(const UrlCheckParams& params, double links, double ram, double disk) {
  const double h = params.hash_bytes;
  const double rewritten = RewriteBytes(params, links, h);
  const double rewriting =
      ram * ram < Lambda(params, disk)
          ? 8 * params.file_buffer_bytes * (h + params.pointer_bytes) * rewritten / (params.url_bytes * ram * ram)
          : (h + params.url_bytes) * rewritten / (params.url_bytes * disk);
  return rewriting + HashesAndTextOnDiskBound(params);
}

double DrumMinimumRam(const UrlCheckParams& params) {
  return 2 * params.bucket_min_bytes * (1 + params.pointer_bytes / params.hash_bytes);
}

double DrumOptimalDisk(const UrlCheckParams& params, double ram) {
  return ram * ram * (params.hash_bytes + params.url_bytes) /
         (8 * params.file_buffer_bytes * (params.hash_bytes + params.pointer_bytes));
}

double TextOnDiskBound(const UrlCheckParams& params) { return 2 + params.unique; }
double TextInRamBound(const UrlCheckParams& params) { return params.unique; }
double HashesAndTextOnDiskBound(const UrlCheckParams& params) {
  return 2 + params.unique + 2 * params.hash_bytes / params.url_bytes;
}

}  // namespace portolan
