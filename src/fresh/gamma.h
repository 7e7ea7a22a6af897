// Gamma: the belief about a rate (changes per day, new links per day): a gamma distribution, two numbers.
//
// It is conjugate to counts and to times without an event, so most observations are two additions; what else is needed
// (the mean and variance of the rate's logarithm, in which rates of pages are compared) are the two functions below.
//
// Thread: values. No randomness; the same on every machine whose libm is the same.

#pragma once

namespace portolan {

double Digamma(double x);   // REQUIRES: x > 0
double Trigamma(double x);  // REQUIRES: x > 0

struct Gamma {
  double shape = 1;
  double rate = 1;  // in days

  double mean() const { return shape / rate; }
  double MeanLog() const;
  double VarLog() const;
  // The distribution whose logarithm has this mean and variance.
  static Gamma FromLog(double mean_log, double var_log);
  bool operator==(const Gamma&) const = default;
};

}  // namespace portolan
