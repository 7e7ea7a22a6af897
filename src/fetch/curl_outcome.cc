#include "fetch/curl_outcome.h"

#include <array>
#include <cerrno>

namespace portolan {
namespace {

using enum FetchOutcome;

struct CodeRow {
  FetchOutcome connecting;
  FetchOutcome asked;  // also while the head is not whole
  FetchOutcome body;
};

// Codes that a GET over HTTP cannot end in (FTP, LDAP, uploads …). Should one appear all the same, the URL is tried
// once more and then given up: kLocal would be tried for ever.
constexpr CodeRow kUnexpected = {kProtocol, kProtocol, kDisconnected};
constexpr CodeRow kOurs = {kLocal, kLocal, kLocal};

constexpr std::array<CodeRow, CURL_LAST> MakeRows() {
  std::array<CodeRow, CURL_LAST> rows;
  rows.fill(kUnexpected);
  // An answer without a whole head that libcurl accepts: the connection closed between two lines.
  rows[CURLE_OK] = {kEmptyReply, kReset, kAnswered};

  rows[CURLE_COULDNT_RESOLVE_HOST] = {kDnsFailed, kDnsFailed, kDnsFailed};
  rows[CURLE_COULDNT_CONNECT] = {kUnreachable, kReset, kDisconnected};
  rows[CURLE_OPERATION_TIMEDOUT] = {kConnectTimeout, kFirstByteTimeout, kTimeCut};
  rows[CURLE_SEND_ERROR] = {kReset, kReset, kDisconnected};
  rows[CURLE_RECV_ERROR] = {kReset, kReset, kDisconnected};
  rows[CURLE_SEND_FAIL_REWIND] = {kReset, kReset, kDisconnected};
  rows[CURLE_AGAIN] = {kReset, kReset, kDisconnected};
  rows[CURLE_GOT_NOTHING] = {kEmptyReply, kEmptyReply, kDisconnected};
  rows[CURLE_PARTIAL_FILE] = {kReset, kReset, kDisconnected};

  rows[CURLE_SSL_CONNECT_ERROR] = {kTlsHandshake, kTlsHandshake, kDisconnected};
  rows[CURLE_SSL_CIPHER] = rows[CURLE_SSL_CONNECT_ERROR];
  rows[CURLE_SSL_CERTPROBLEM] = rows[CURLE_SSL_CONNECT_ERROR];
  rows[CURLE_SSL_CLIENTCERT] = rows[CURLE_SSL_CONNECT_ERROR];
  rows[CURLE_SSL_SHUTDOWN_FAILED] = rows[CURLE_SSL_CONNECT_ERROR];
  rows[CURLE_USE_SSL_FAILED] = rows[CURLE_SSL_CONNECT_ERROR];
  rows[CURLE_PEER_FAILED_VERIFICATION] = {kTlsCertificate, kTlsCertificate, kTlsCertificate};
  rows[CURLE_SSL_ISSUER_ERROR] = rows[CURLE_PEER_FAILED_VERIFICATION];
  rows[CURLE_SSL_INVALIDCERTSTATUS] = rows[CURLE_PEER_FAILED_VERIFICATION];
  rows[CURLE_SSL_PINNEDPUBKEYNOTMATCH] = rows[CURLE_PEER_FAILED_VERIFICATION];

  // HTTP/0.9, or a scheme that is not ours. A URL that libcurl cannot parse will not parse later either.
  rows[CURLE_UNSUPPORTED_PROTOCOL] = {kNotHttp, kNotHttp, kNotHttp};
  rows[CURLE_URL_MALFORMAT] = rows[CURLE_UNSUPPORTED_PROTOCOL];
  rows[CURLE_WEIRD_SERVER_REPLY] = {kNotHttp, kNotHttp, kBadFraming};
  rows[CURLE_BAD_CONTENT_ENCODING] = {kBadFraming, kBadFraming, kBadFraming};
  rows[CURLE_FILESIZE_EXCEEDED] = rows[CURLE_BAD_CONTENT_ENCODING];
  rows[CURLE_TOO_MANY_REDIRECTS] = {kNotHttp, kNotHttp, kAnswered};
  rows[CURLE_HTTP2] = {kProtocol, kProtocol, kDisconnected};
  rows[CURLE_HTTP2_STREAM] = rows[CURLE_HTTP2];
  rows[CURLE_HTTP3] = rows[CURLE_HTTP2];
  rows[CURLE_QUIC_CONNECT_ERROR] = rows[CURLE_HTTP2];

  // libcurl reports a line longer than its own limit of 100 KiB as "out of memory".
  rows[CURLE_OUT_OF_MEMORY] = {kLocal, kHeadTooLarge, kLocal};
  for (const CURLcode ours :
       {CURLE_FAILED_INIT, CURLE_NOT_BUILT_IN, CURLE_COULDNT_RESOLVE_PROXY, CURLE_WRITE_ERROR, CURLE_READ_ERROR,
        CURLE_ABORTED_BY_CALLBACK, CURLE_BAD_FUNCTION_ARGUMENT, CURLE_INTERFACE_FAILED, CURLE_UNKNOWN_OPTION,
        CURLE_SETOPT_OPTION_SYNTAX, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED,
        CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_NO_CONNECTION_AVAILABLE, CURLE_RECURSIVE_API_CALL,
        CURLE_PROXY, CURLE_UNRECOVERABLE_POLL}) {
    rows[ours] = kOurs;
  }
  return rows;
}

constexpr std::array<CodeRow, CURL_LAST> kCodeRows = MakeRows();

// A proxy that resolves names and connects for us reports what we would have met ourselves. SOCKS has no code for a
// name that does not exist: proxies report that the host is unreachable, or just that they failed.
FetchOutcome OutcomeOfProxy(CURLproxycode code) {
  switch (code) {
    case CURLPX_REPLY_CONNECTION_REFUSED:
      return kConnectRefused;
    case CURLPX_REPLY_TTL_EXPIRED:
      return kConnectTimeout;
    case CURLPX_REPLY_HOST_UNREACHABLE:
    case CURLPX_REPLY_NETWORK_UNREACHABLE:
    case CURLPX_REPLY_GENERAL_SERVER_FAILURE:
    case CURLPX_REPLY_NOT_ALLOWED:
    case CURLPX_REPLY_ADDRESS_TYPE_NOT_SUPPORTED:
    case CURLPX_REPLY_UNASSIGNED:
    case CURLPX_REQUEST_FAILED:  // SOCKS4
    case CURLPX_RESOLVE_HOST:
      return kUnreachable;
    case CURLPX_LONG_HOSTNAME:
      return kDnsNotFound;
    default:  // the proxy itself: it closed, wants a password, speaks something else
      return kLocal;
  }
}

bool Says(const TransferEnd& end, std::string_view words) { return end.detail.find(words) != std::string_view::npos; }

}  // namespace

FetchOutcome OutcomeOfConnectError(int os_error) {
  switch (os_error) {
    case ECONNREFUSED:
      return kConnectRefused;
    case ETIMEDOUT:
      return kConnectTimeout;
    case ECONNRESET:
    case ECONNABORTED:
    case EPIPE:
      return kReset;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
      return kShortage;
    case EADDRNOTAVAIL:  // no local port is free
    case EADDRINUSE:
    case EAGAIN:
      return kLocal;
    default:
      return kUnreachable;
  }
}

FetchOutcome OutcomeOfTransfer(const TransferEnd& end) {
  const size_t index = static_cast<size_t>(end.code);
  const CodeRow& row = index < kCodeRows.size() ? kCodeRows[index] : kUnexpected;
  if (end.code == CURLE_COULDNT_CONNECT && end.phase == TransferPhase::kConnecting) {
    return OutcomeOfConnectError(end.os_error);
  }
  if (end.code == CURLE_PROXY && end.phase == TransferPhase::kConnecting) return OutcomeOfProxy(end.proxy);
  if (Says(end, "chunked-encod") || (end.code == CURLE_WEIRD_SERVER_REPLY && Says(end, "Content-Length"))) {
    return kBadFraming;
  }
  // Over HTTP/2 libcurl's own limit aborts nghttp2, which can only report that it was aborted.
  if (end.code == CURLE_RECV_ERROR &&
      (Says(end, "Too large response headers") || Says(end, "user callback function failed"))) {
    return kHeadTooLarge;
  }
  switch (end.phase) {
    case TransferPhase::kConnecting:
      return row.connecting;
    case TransferPhase::kAsked:
    case TransferPhase::kHead:
      return row.asked;
    case TransferPhase::kBody:
      break;
  }
  return row.body;
}

}  // namespace portolan
