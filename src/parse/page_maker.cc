#include "parse/page_maker.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/hash.h"
#include "flow/output_records.h"
#include "http/sniff.h"
#include "parse/answer_fields.h"
#include "parse/page_chain.h"
#include "robots/robots_txt.h"

namespace portolan {
namespace {

FetchOutcome OutcomeOf(HeadOutcome head) {
  return head == HeadOutcome::kTooManyFields || head == HeadOutcome::kTooLarge ? FetchOutcome::kHeadTooLarge
                                                                               : FetchOutcome::kNotHttp;
}

bool LooksLikeText(std::string_view body) {
  return std::ranges::none_of(body.substr(0, kSniffBytes),
                              [](char c) { return IsBinaryByte(static_cast<uint8_t>(c)); });
}

std::optional<std::string_view> LastField(const HeaderFields& fields, std::string_view name) {
  for (size_t i = fields.size(); i > 0; --i) {
    const HeaderFields::Field field = fields[i - 1];
    if (EqualsIgnoringCase(field.name, name)) return field.value;
  }
  return std::nullopt;
}

}  // namespace

Result<PageMaker> PageMaker::Create(const PageMakerOptions& options) {
  if (!IsValidProductToken(options.agent)) {
    return Fail(ErrorCode::kInvalidArgument, "'" + options.agent + "' is no product token: letters, - and _ only");
  }
  ASSIGN_OR_RETURN(PageChain chain, MakePageChain(options));
  return PageMaker(options, std::move(chain));
}

PageMaker::PageMaker(const PageMakerOptions& options, PageChain chain)
    : options_(options), chain_(std::move(chain)), decoder_(CodingStack(), options.decode) {}

void PageMaker::AddHandler(std::unique_ptr<ContentHandler> handler) {
  chain_.handlers.insert(chain_.handlers.begin(), std::move(handler));
}

void PageMaker::AddStage(std::unique_ptr<PageStage> stage) {
  chain_.stages.insert(chain_.stages.end() - (options_.archive ? 1 : 0), std::move(stage));
}

PageResult PageMaker::Make(FetchResponse&& response) {
  PageResult result;
  result.id = response.task.id;
  result.kind = response.task.kind;
  result.outcome = response.outcome;
  result.times = response.times;
  result.wire_bytes = response.wire_bytes;
  result.version = response.version;
  result.tls = !response.tls_version.empty();
  result.detail = std::move(response.detail);
  if (response.task.last != nullptr || (options_.visits && result.kind != UrlKind::kRobots)) {
    result.visit = std::make_unique<Visit>();
    result.visit->last = response.task.last;
  }
  // The default, unless set below: no answer, nothing allowed for now.
  if (result.kind == UrlKind::kRobots) result.robots.emplace();

  if (!HasAnswer(result.outcome)) return result;
  head_ = response.head.outcome == HeadOutcome::kRead ? std::move(response.head)
                                                      : ParseResponseHead(response.response_head, options_.head);
  if (head_.outcome != HeadOutcome::kRead) {
    result.outcome = OutcomeOf(head_.outcome);
    result.detail = HeadOutcomeName(head_.outcome);
    return result;
  }
  if (const UrlStatus status = url_.Assign(response.task.url); status != UrlStatus::kOk) {
    result.outcome = FetchOutcome::kLocal;  // tasks carry canonical URLs: the fault is ours
    result.detail = UrlStatusName(status);
    return result;
  }
  result.status = response.status != 0 ? response.status : head_.status;

  if (result.status == 304 && result.outcome == FetchOutcome::kAnswered && !response.task.conditional()) {
    result.outcome = FetchOutcome::kUnaskedNotModified;
  }

  result.cut = result.outcome == FetchOutcome::kBodyCut;
  bool readable = true;
  const std::string_view body = Decode(response, result, readable);
  result.body_bytes = body.size();
  result.fingerprint = body.empty() ? 0 : Hash64(body);
  const auto content_type = LastField(head_.fields, "content-type");
  result.content_type = CutUtf8(content_type.value_or(""), kMaxContentType);
  result.server = CutUtf8(head_.fields.Find("server").value_or(""), kMaxServer);
  RobotsTag robots(options_.agent);
  PageView view{
      .response = response,
      .head = head_,
      .url = url_,
      .body = body,
      .readable = readable,
      .sniffed = SniffContent(content_type, body.substr(0, kSniffBytes),
                              EqualsIgnoringCase(head_.fields.Find("x-content-type-options").value_or(""), "nosniff")),
      .robots = robots};
  result.mime = view.sniffed.essence;

  const int64_t end_unix_ns =
      response.times.begin_unix_ns + std::max<int64_t>(0, response.times.end_ns - response.times.begin_ns);
  for (size_t i = 0; options_.x_robots_tag && i < head_.fields.size(); ++i) {
    const HeaderFields::Field field = head_.fields[i];
    if (EqualsIgnoringCase(field.name, "x-robots-tag")) robots.AddField(field.value);
  }
  if (const auto value = head_.fields.Find("retry-after")) result.retry_after_ns = RetryAfterNs(*value, end_unix_ns);
  if (result.status / 100 == 3) result.location = CutUtf8(head_.fields.Find("location").value_or(""), kMaxLocation);

  const auto handler = std::ranges::find_if(
      chain_.handlers, [&](const std::unique_ptr<ContentHandler>& one) { return one->Takes(view, result); });
  if (handler != chain_.handlers.end()) (*handler)->Read(view, result);
  for (const std::unique_ptr<PageStage>& stage : chain_.stages) stage->Look(view, result);
  if (result.visit != nullptr) visits_.Read(view, result);
  if (decoded_.capacity() > kKeepBuffer) std::string().swap(decoded_);
  return result;
}

std::string_view PageMaker::Decode(const FetchResponse& response, PageResult& result, bool& readable) {
  if (response.body.empty() || !head_.fields.Find("content-encoding")) return response.body;
  const CodingStack stack = CodingStack::Parse(head_.fields.Joined("content-encoding"));
  if (stack.supported() && stack.codings().empty()) return response.body;
  if (stack.supported() && stack.codings().size() == 1 && stack.codings()[0] == ContentCoding::kGzip &&
      gunzip_.Decode(response.body, options_.decode, decoded_)) {
    return decoded_;
  }
  decoded_.clear();
  decoder_.Restart(stack, options_.decode);
  decoder_.Feed(response.body, decoded_);
  const DecodeOutcome outcome = decoder_.Finish(decoded_);
  switch (outcome) {
    case DecodeOutcome::kWhole:
    case DecodeOutcome::kGoing:
      break;
    case DecodeOutcome::kTruncated:
      // Expected if the body was cut.
      if (!IsCut(response.outcome)) result.detail = "content coding ends early";
      break;
    case DecodeOutcome::kChecksum:
      result.detail = "content coding's checksum differs";
      break;
    case DecodeOutcome::kTooLarge:
      result.detail = "decoded body cut";
      result.cut = true;
      break;
    case DecodeOutcome::kBomb:
      readable = false;
      result.outcome = FetchOutcome::kBomb;
      break;
    case DecodeOutcome::kUnsupported:
      result.detail = "unknown content coding";
      // "none", "utf-8" …: a body that is readable text is not coded at all.
      if (LooksLikeText(response.body)) return response.body;
      [[fallthrough]];
    case DecodeOutcome::kCorrupt:
      readable = false;
      // That the body was cut is the more useful outcome: it may be whole the next time.
      if (!IsCut(response.outcome)) result.outcome = FetchOutcome::kDecodeFailed;
      if (result.detail.empty()) result.detail = DecodeOutcomeName(outcome);
      break;
  }
  return decoded_;
}

}  // namespace portolan
