// NodeKey: the key by which a link graph sorts the URL of a page, so that pages of a host are neighbours and hosts of a
// domain too. The URL can be had back from it.
//
//   https://www.example.org:8080/a?b   →   org,example,www):8080/a?b s
//
// A SURT (url/surt.h) with two changes. The scheme stands at the end, after a blank ("s" for https, nothing for http),
// and the port behind the host: so both schemes and all ports of a host are together. Nothing is dropped: two URLs that
// the crawl fetches as two pages are two nodes, which they are not by the key of CDXJ files. Addresses ([::1],
// 127.0.0.1) are not reversed.
//
// The host is what comes before ')', which is lower than every byte of a host, and of these ',' is the lowest. So the
// order of pages is an order of their hosts, and all hosts below a domain follow each other.
//
// What is not such a URL (another scheme, user and password, a host with bytes that DNS names do not have) is its own
// key after a blank; all these belong to one host, " ".
//
// Thread: functions have no state. Memory: the key, a few bytes longer than the URL.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace portolan {

// Appends the key of a canonical URL.
void AppendNodeKey(std::string_view url, std::string& key);
// The same for many URLs of few hosts at a time: the keys of hosts that came lately are kept.
//
// Thread: one owner. Memory bound: kKnown entries of 2 × kLongest bytes.
class NodeKeyMaker {
 public:
  void Append(std::string_view url, std::string& key);

 private:
  static constexpr size_t kKnown = 1024;
  static constexpr size_t kLongest = 512;  // bytes of a scheme, host and port
  struct Known {
    std::string origin;
    std::string key;  // empty: it is not such a host
  };
  std::vector<Known> known_ = std::vector<Known>(kKnown);
};

// The URL of a key, in place of what `url` had. Any bytes give some text.
void UrlOfNodeKey(std::string_view key, std::string& url);

// "org,example,www" of the key of a page; the key of its host.
std::string_view HostOfNodeKey(std::string_view key);
// "www.example.org" of "org,example,www", and the reverse.
std::string HostNameOfKey(std::string_view host_key);
std::string KeyOfHostName(std::string_view host);

}  // namespace portolan
