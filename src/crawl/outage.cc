#include "crawl/outage.h"

#include <algorithm>

namespace portolan {

Outage::Sign Outage::SignOf(FetchOutcome outcome) {
  switch (outcome) {
    case FetchOutcome::kAnswered:
    case FetchOutcome::kBodyCut:
    case FetchOutcome::kTlsCertificate:
    case FetchOutcome::kNotHttp:
    case FetchOutcome::kHeadTooLarge:
    case FetchOutcome::kBadFraming:
    case FetchOutcome::kProtocol:
    case FetchOutcome::kDecodeFailed:
    case FetchOutcome::kBomb:
    case FetchOutcome::kSlowCut:
    case FetchOutcome::kUnaskedNotModified:
      return Sign::kAnswer;
    case FetchOutcome::kConnectRefused:
    case FetchOutcome::kConnectTimeout:
    case FetchOutcome::kUnreachable:
    case FetchOutcome::kFirstByteTimeout:  // on a kept connection, silence ends like this
      return Sign::kFailure;
    case FetchOutcome::kTimeCut:
    case FetchOutcome::kDisconnected:
    case FetchOutcome::kTlsHandshake:
    case FetchOutcome::kReset:
    case FetchOutcome::kEmptyReply:
      return Sign::kBroken;
    case FetchOutcome::kDnsNotFound:
    case FetchOutcome::kDnsFailed:
    case FetchOutcome::kDnsTimeout:
    case FetchOutcome::kAddressForbidden:
    case FetchOutcome::kLocal:
    case FetchOutcome::kNetworkDown:
    case FetchOutcome::kCancelled:
    case FetchOutcome::kShortage:
      break;
  }
  return Sign::kNothing;
}

void Outage::OnFetch(uint64_t host, const Address& address, FetchOutcome outcome, int64_t end_ns, int64_t now_ns) {
  if (options_.hosts == 0) return;
  const Sign sign = SignOf(outcome);
  if (sign == Sign::kAnswer) {
    // An answer that ended before the verdict and arrives only now proves nothing.
    if (connections_.down && end_ns < connections_.since_ns) return;
    anything_answered_ = true;
    called_off_ = false;
    Put(answered_, host);
    Rise(connections_);
    return;
  }
  if (sign != Sign::kFailure || connections_.down || called_off_) return;
  if (anything_answered_ && !Has(answered_, host)) return;
  AddDistinct(connections_.hosts, host);
  AddDistinct(connections_.addresses, address);
  FallIfProven(now_ns);
}

void Outage::FallIfProven(int64_t now_ns) {
  // If no name server answers, two hosts are enough.
  const size_t hosts = names_.down ? std::min<size_t>(options_.hosts, 2) : options_.hosts;
  if (connections_.hosts.size() >= hosts && connections_.addresses.size() >= (hosts + 1) / 2)
    Fall(connections_, now_ns);
}

void Outage::OnName(uint64_t host, FetchOutcome outcome, bool fresh, int64_t now_ns) {
  if (options_.hosts == 0 || !fresh) return;
  if (!NameFailed(outcome)) {
    if (outcome != FetchOutcome::kAnswered && outcome != FetchOutcome::kDnsNotFound &&
        outcome != FetchOutcome::kAddressForbidden) {
      return;
    }
    anything_answered_ = true;
    Rise(names_);
    witness_wanted_ = false;
    if (connections_.down && now_ns - connections_.since_ns >= options_.call_off_ns) {
      Rise(connections_);
      called_off_ = true;
    }
    return;
  }
  if (names_.down || Has(name_failures_, host)) return;
  AddDistinct(names_.hosts, host);
  if (names_.hosts.size() < options_.hosts) return;
  if (witness_.empty()) {
    Fall(names_, now_ns);
  } else {
    witness_wanted_ = !witness_asked_;
  }
}

bool Outage::TakeWitnessQuestion() {
  if (!witness_wanted_) return false;
  witness_wanted_ = false;
  witness_asked_ = true;
  return true;
}

void Outage::OnWitness(FetchOutcome outcome, int64_t now_ns) {
  witness_asked_ = false;
  if (!NameFailed(outcome)) return OnName(0, outcome, /*fresh=*/true, now_ns);
  // If an answer came in the meantime, names_.hosts is empty, and that answer counts.
  if (!names_.down && names_.hosts.size() >= options_.hosts) Fall(names_, now_ns);
}

void Outage::OnNameGivenUp(uint64_t host) { Put(name_failures_, host); }

template <typename T>
void Outage::AddDistinct(std::vector<T>& values, const T& value) {
  if (values.size() >= kMost || std::find(values.begin(), values.end(), value) != values.end()) return;
  values.push_back(value);
}

void Outage::Fall(Track& track, int64_t now_ns) {
  if (!down()) {
    ++count_;
    name_probes_.Reset(options_, now_ns);
  }
  if (&track == &connections_) fetch_probes_.Reset(options_, now_ns);
  track.down = true;
  track.since_ns = now_ns;
  if (&track == &names_ && !connections_.down) FallIfProven(now_ns);
}

void Outage::Believe(bool connections, bool names, int64_t now_ns) {
  if (options_.hosts == 0) return;
  const uint64_t before = count_;
  if (names && !names_.down) Fall(names_, now_ns);
  if (connections && !connections_.down && !called_off_) Fall(connections_, now_ns);
  count_ = before;
}

void Outage::Rise(Track& track) {
  track.down = false;
  track.hosts.clear();
  track.addresses.clear();
}

std::string_view Outage::what() const {
  if (connections_.down) return "no network";
  return names_.down ? "no name server answers" : "";
}

void Outage::Probes::Reset(const OutageOptions& options, int64_t now_ns) {
  out_ = false;
  wait_ns_ = options.first_probe_ns;
  next_ns_ = now_ns + wait_ns_;
}

void Outage::Probes::Ended(const OutageOptions& options, int64_t now_ns) {
  if (!out_) return;
  out_ = false;
  next_ns_ = now_ns + wait_ns_;
  wait_ns_ = std::min(wait_ns_ * 2, options.last_probe_ns);
}

}  // namespace portolan
