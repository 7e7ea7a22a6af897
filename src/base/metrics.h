// The metrics registry: counters, gauges and histograms that any part may add, served later as Prometheus text.
//
// Storage and text form are prometheus-cpp's; this header keeps its templates out of other translation units. A metric
// is made once (usually at start) and lives as long as its registry; updating it is one atomic operation.
//
// Thread: Make* and PrometheusText take the registry's lock; updates are lock-free from every thread.

#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace portolan {

using MetricLabels = std::initializer_list<std::pair<const std::string, std::string>>;

class Counter {
 public:
  void Add(double amount = 1);  // REQUIRES: amount >= 0
  double Value() const;

 private:
  friend class MetricsRegistry;
  explicit Counter(void* impl) : impl_(impl) {}
  void* impl_;
};

class Gauge {
 public:
  void Set(double value);
  void Add(double amount);
  double Value() const;

 private:
  friend class MetricsRegistry;
  explicit Gauge(void* impl) : impl_(impl) {}
  void* impl_;
};

class Histogram {
 public:
  void Observe(double value);

 private:
  friend class MetricsRegistry;
  explicit Histogram(void* impl) : impl_(impl) {}
  void* impl_;
};

class MetricsRegistry {
 public:
  MetricsRegistry();
  ~MetricsRegistry();
  MetricsRegistry(const MetricsRegistry&) = delete;
  MetricsRegistry& operator=(const MetricsRegistry&) = delete;

  // The same name and labels give the same metric again. REQUIRES: a valid Prometheus name, one type per name.
  Counter MakeCounter(const std::string& name, const std::string& help, MetricLabels labels = {});
  Gauge MakeGauge(const std::string& name, const std::string& help, MetricLabels labels = {});
  // `bounds` are the upper edges of the buckets, rising; values above the last are counted too.
  Histogram MakeHistogram(const std::string& name, const std::string& help, const std::vector<double>& bounds,
                          MetricLabels labels = {});

  std::string PrometheusText() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace portolan
