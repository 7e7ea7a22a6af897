#include "crawl/trap_park.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

namespace portolan {

std::string YieldWords(uint32_t seen, uint32_t points) {
  std::string words = fmt::format("{} of its last {} fetches brought something new", points / TrapTable::kNew, seen);
  if (const uint32_t credits = points % TrapTable::kNew; credits > 0) {
    words += fmt::format(", and {} led to new pages", credits);
  }
  return words;
}

Result<std::unique_ptr<TrapPark>> TrapPark::Open(Env& env, const Manifest& manifest, const TrapOptions& asked) {
  TrapOptions options = asked;
  options.idle.key = options.key;
  ASSIGN_OR_RETURN(PayLevelDomains domains, PayLevelDomains::Create(options.key));
  std::unique_ptr<TrapPark> made(new TrapPark(std::move(domains), options));
  ASSIGN_OR_RETURN(made->table_, TrapTable::Open(env, manifest, options.table));
  ASSIGN_OR_RETURN(made->idle_, IdleParameters::Open(env, manifest, options.idle));
  ASSIGN_OR_RETURN(made->queue_, DiskQueue::Open(env, manifest, {.name = options.queue}));
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(options.name, kKind));
  if (section == nullptr) return made;
  ASSIGN_OR_RETURN(made->scan_left_, section->Number("scan_left"));
  ASSIGN_OR_RETURN(made->news_, section->Number("news"));
  ASSIGN_OR_RETURN(made->fetches_, section->Number("fetches"));
  ASSIGN_OR_RETURN(const uint64_t scanned, section->Number("scanned_idle"));
  made->scanned_idle_ = scanned != 0;
  ASSIGN_OR_RETURN(const uint64_t refused, section->Number("refused_hosts"));
  made->refused_hosts_ = refused != 0;
  if (made->scan_left_ > made->queue_->size()) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: a scan of {} URLs, but {} are parked", options.name,
                                                 made->scan_left_, made->queue_->size()));
  }
  return made;
}

uint32_t TrapPark::Price(std::string_view url, uint64_t host_key) {
  return options_.enabled ? table_->Judge(Shape(url, host_key)).price : 1;
}

TrapPark::Turn TrapPark::Judge(std::string_view url, uint64_t host_key, bool count) {
  if (!options_.enabled) return Turn::kFetch;
  const bool quick = !table_->any_suspect();  // only the number of new hosts counts
  const UrlShape shape =
      quick ? HostShapeOf(host_key, domains_.Key(url, host_key), options_.key) : Shape(url, host_key);
  TrapVerdict verdict = table_->Judge(shape);
  if (!verdict.suspect) {
    if (table_->AdmitHost(shape)) return Turn::kFetch;
    refused_hosts_ = true;
    verdict.group = shape.count - 1;
  }
  if (table_->Probe(shape, verdict)) return Turn::kProbe;
  if (!count) return Turn::kPark;
  std::string host(HostOf(url));
  std::string form = ShapeWords(url, shape, verdict.group);
  if (shape.groups[verdict.group].level == ShapeLevel::kDomain) {
    host = domains_.Name(host);
    form = "its hosts";
  } else if (shape.groups[verdict.group].level == ShapeLevel::kHost) {
    form = "/";
  }
  auto found = forms_.find({host, form});
  if (found == forms_.end() && forms_.size() >= kForms) {
    // Gives its place to the newcomer, with its count: so those with most are kept (Metwally's space saving).
    const auto least = std::ranges::min_element(forms_, {}, [](const auto& item) { return item.second.urls; });
    auto node = forms_.extract(least);
    node.key() = {host, form};
    node.mapped().host = host;
    node.mapped().form = form;
    found = forms_.insert(std::move(node)).position;
  } else if (found == forms_.end()) {
    found = forms_.emplace(std::pair(host, form), ParkedForm{.host = host, .form = form}).first;
  }
  ++found->second.urls;
  found->second.seen = verdict.seen;
  found->second.points = verdict.points;
  return Turn::kPark;
}

TrapPark::Turn TrapPark::Hold(const UrlRecord& record, uint64_t host_key) {
  // Seeds were asked for; what a page needs is part of it; and what was let through once is not held again.
  if (record.kind != UrlKind::kPage || record.attempts > 0 || record.requisite > 0 || record.probe) return Turn::kFetch;
  if (record.depth == 0 && record.hops == 0) return Turn::kFetch;
  return Judge(record.url, host_key, /*count=*/true);
}

void TrapPark::Observe(const UrlRecord& record, uint64_t host_key, const PageResult& result) {
  ++fetches_;
  if (!options_.enabled) return;
  if (record.kind != UrlKind::kPage || record.requisite > 0) return;
  const UrlShape shape = Shape(record.url, host_key);
  table_->WillNeed(shape);
  if (!HasAnswer(result.outcome) || result.status < 200 || result.status >= 300) table_->GiveHostBack(shape);
  if (!HasAnswer(result.outcome) || result.status < 200 || result.status >= 400) return;
  const std::string via = record.via.ToString();
  std::optional<UrlShape> from;
  if (!via.empty()) table_->WillNeed(from.emplace(Shape(via, HostKey(via, options_.key))));
  const bool same_form = from && from->whole().key == shape.whole().key;
  if (result.status >= 300) {
    if (record.hops > 0 && same_form) table_->Observe(shape, false);
    return;
  }
  if (result.fingerprint == 0 && result.similarity == 0) return;
  const bool is_new = table_->IsNew(domains_.Key(record.url, host_key), result.fingerprint, result.similarity);
  const TrapTable::Effect effect = table_->Observe(shape, is_new);
  bool recovers = effect == TrapTable::Effect::kRecovers || (effect == TrapTable::Effect::kNewHost && refused_hosts_);
  if (is_new && from && !same_form) recovers = table_->Credit(*from) || recovers;
  if (recovers) ++news_;
  if (!options_.parameters) return;
  for (const IdleParameters::Change& change :
       idle_->Observe(record.url, host_key, result.fingerprint, result.similarity)) {
    if (notes_.size() >= kNotes) break;
    const std::string_view host = HostOf(record.url);
    const std::string name = change.name.empty() ? "a part of its URLs" : fmt::format("'{}' in its URLs", change.name);
    notes_.push_back(
        change.idle ? fmt::format("{}: {} never changes the page, and is left out of links from now on", host, name)
                    : fmt::format("{}: {} does change the page, and is kept again", host, name));
  }
}

bool TrapPark::BeginScan(bool idle) {
  if (scan_left_ > 0 || queue_->size() == 0) return false;
  const bool off = !options_.enabled;
  if (off) {
    // Lets all go.
  } else if (idle ? news_ == 0 && scanned_idle_
                  : news_ == 0 || fetches_ < std::max<uint64_t>(kScanFetches, queue_->size() / 16)) {
    return false;
  }
  scan_left_ = queue_->size();
  news_ = 0;
  fetches_ = 0;
  refused_hosts_ = false;
  scanned_idle_ = scanned_idle_ || idle;
  return true;
}

Result<std::optional<std::string>> TrapPark::NextReleased(uint64_t max) {
  for (uint64_t looked = 0; looked < max && scan_left_ > 0; ++looked) {
    ASSIGN_OR_RETURN(const std::string* front, queue_->Front());
    if (front == nullptr) return Fail(ErrorCode::kCorrupt, "the queue of parked URLs ends early");
    std::string bytes = *front;
    std::optional<UrlRecord> record = DecodeUrlRecord(bytes);
    if (!record) return Fail(ErrorCode::kCorrupt, "the queue of parked URLs holds bytes that are not a URL record");
    const Turn turn = Judge(record->url, HostKey(record->url, options_.key), /*count=*/false);
    const bool held = turn == Turn::kPark;
    if (held) RETURN_IF_ERROR(queue_->Append(bytes));
    queue_->PopFront();
    --scan_left_;
    if (held) continue;
    record->probe = turn == Turn::kProbe;
    return EncodeUrlRecord(*record);
  }
  return std::optional<std::string>();
}

std::vector<ParkedForm> TrapPark::Forms(size_t max) const {
  std::vector<ParkedForm> all;
  for (const auto& [key, form] : forms_) all.push_back(form);
  std::ranges::sort(all, [](const ParkedForm& a, const ParkedForm& b) {
    return a.urls != b.urls ? a.urls > b.urls : std::tie(a.host, a.form) < std::tie(b.host, b.form);
  });
  if (all.size() > max) all.resize(max);
  return all;
}

std::vector<Checkpointable*> TrapPark::Checkpointables() {
  std::vector<Checkpointable*> all = {this, queue_.get()};
  for (Checkpointable* part : table_->Checkpointables()) all.push_back(part);
  for (Checkpointable* part : idle_->Checkpointables()) all.push_back(part);
  return all;
}

Status TrapPark::Flush() {
  described_ = {};
  described_.name = options_.name;
  described_.kind = kKind;
  described_.numbers = {{"scan_left", scan_left_},
                        {"news", news_},
                        {"fetches", fetches_},
                        {"refused_hosts", refused_hosts_ ? 1 : 0},
                        {"scanned_idle", scanned_idle_ ? 1 : 0}};
  return {};
}

}  // namespace portolan
