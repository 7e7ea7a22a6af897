#include "base/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace portolan {
namespace {

prometheus::Labels ToLabels(MetricLabels labels) { return {labels.begin(), labels.end()}; }

}  // namespace

struct MetricsRegistry::Impl {
  // Merge: asking again for a name gives the family that is there.
  prometheus::Registry registry{prometheus::Registry::InsertBehavior::Merge};
};

MetricsRegistry::MetricsRegistry() : impl_(std::make_unique<Impl>()) {}
MetricsRegistry::~MetricsRegistry() = default;

Counter MetricsRegistry::MakeCounter(const std::string& name, const std::string& help, MetricLabels labels) {
  auto& family = prometheus::BuildCounter().Name(name).Help(help).Register(impl_->registry);
  return Counter(&family.Add(ToLabels(labels)));
}

Gauge MetricsRegistry::MakeGauge(const std::string& name, const std::string& help, MetricLabels labels) {
  auto& family = prometheus::BuildGauge().Name(name).Help(help).Register(impl_->registry);
  return Gauge(&family.Add(ToLabels(labels)));
}

Histogram MetricsRegistry::MakeHistogram(const std::string& name, const std::string& help,
                                         const std::vector<double>& bounds, MetricLabels labels) {
  auto& family = prometheus::BuildHistogram().Name(name).Help(help).Register(impl_->registry);
  return Histogram(&family.Add(ToLabels(labels), bounds));
}

std::string MetricsRegistry::PrometheusText() const {
  return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

void Counter::Add(double amount) { static_cast<prometheus::Counter*>(impl_)->Increment(amount); }
double Counter::Value() const { return static_cast<prometheus::Counter*>(impl_)->Value(); }
void Gauge::Set(double value) { static_cast<prometheus::Gauge*>(impl_)->Set(value); }
void Gauge::Add(double amount) { static_cast<prometheus::Gauge*>(impl_)->Increment(amount); }
double Gauge::Value() const { return static_cast<prometheus::Gauge*>(impl_)->Value(); }
void Histogram::Observe(double value) { static_cast<prometheus::Histogram*>(impl_)->Observe(value); }

}  // namespace portolan
