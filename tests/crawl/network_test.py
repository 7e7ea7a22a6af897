"""Which name servers a crawl asks, where it connects to and where not, and how it writes untrusted text.

usage: network_test.py PORTOLAN
"""

import pathlib
import socket
import socketserver
import sys
import tempfile
import threading
import unittest

import crawls
from small_site_test import HTML, Site

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None

# What must not be raw in a file that people read.
HIDDEN = "".join(map(chr, [*range(0x80, 0xA0), 0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)]))


class Socks(socketserver.ThreadingTCPServer):
    """A SOCKS5 proxy that notes whom it is asked for, and knows one server for every name."""

    daemon_threads = True

    def __init__(self, target):
        super().__init__(("127.0.0.1", 0), SocksHandler)
        self.target = target
        self.asked = []
        self.thread = threading.Thread(target=self.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.shutdown()
        self.thread.join(10)
        self.server_close()


class SocksHandler(socketserver.StreamRequestHandler):
    def handle(self):
        self.rfile.read(self.rfile.read(2)[1])
        self.wfile.write(b"\5\0")
        kind = self.rfile.read(4)[3]
        host = self.rfile.read(self.rfile.read(1)[0]).decode() if kind == 3 else socket.inet_ntoa(self.rfile.read(4))
        port = int.from_bytes(self.rfile.read(2), "big")
        self.server.asked.append((kind, host, port))
        self.wfile.write(b"\5\0\0\1" + bytes(6))
        with socket.create_connection(self.server.target, 30) as web:
            back = threading.Thread(target=self.copy, args=(web, self.connection), daemon=True)
            back.start()
            self.copy(self.connection, web)
            back.join(30)

    @staticmethod
    def copy(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass


class SilentDns:
    """A port at which questions arrive and are never answered."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.setblocking(False)
        self.address = "127.0.0.1:%d" % self.socket.getsockname()[1]

    def was_asked(self):
        try:
            self.socket.recv(2000)
            return True
        except BlockingIOError:
            return False

    def close(self):
        self.socket.close()


class Network(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name) / "crawl"
        self.site = Site()
        self.addCleanup(self.site.close)
        self.port = self.site.server_address[1]
        self.dns = SilentDns()
        self.addCleanup(self.dns.close)

    def crawl(self, *flags, code=0):
        done = crawls.run(PROGRAM, "crawl", "--delay", "1ms", "--ip-delay", "1ms", "--dns", self.dns.address, "--dir",
                          self.dir, *flags)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def outcomes(self):
        return {line["url"]: line["outcome"] for line in crawls.log_lines(self.dir)}

    def test_localhost_needs_no_name_server(self):
        self.site.pages["/"] = (200, HTML, b"here")
        seed = f"http://localhost:{self.port}/"
        self.crawl("--allow-private", seed)
        self.assertEqual(self.outcomes()[seed], "answered")
        self.dir = self.dir.parent / "public"
        asked = len(self.site.asked)
        self.crawl(seed, code=1)
        self.assertIn("address_forbidden", self.outcomes().values())
        self.assertEqual(len(self.site.asked), asked, "no connection was made")
        self.assertFalse(self.dns.was_asked())

    def test_a_proxy_resolves_names(self):
        proxy = Socks(self.site.server_address)
        self.addCleanup(proxy.close)
        self.site.pages["/"] = (200, HTML, b'<a href="http://10.0.0.1/">x</a><a href="/a">y</a>')
        self.site.pages["/a"] = (200, HTML, b"there")
        seeds = ["http://one.test/", "http://two.test/"]
        self.crawl("--set", f"fetch.proxy=socks5h://127.0.0.1:{proxy.server_address[1]}", "--scope", "any",
                   "--contact", "http://me.example/", *seeds)
        outcomes = self.outcomes()
        for url in [*seeds, "http://one.test/a", "http://two.test/a"]:
            self.assertEqual(outcomes[url], "answered", url)
        self.assertEqual(outcomes["http://10.0.0.1/robots.txt"], "address_forbidden", "whatever the proxy would do")
        self.assertEqual({(kind, host) for kind, host, _ in proxy.asked}, {(3, "one.test"), (3, "two.test")})
        self.assertFalse(self.dns.was_asked())
        self.assertFalse([line for line in crawls.log_lines(self.dir) if "ip" in line])
        for _, _, capture in crawls.captures(self.dir):
            path = self.dir / "warc" / capture["filename"]
            record = crawls.member(path, int(capture["offset"]), int(capture["length"]))
            self.assertIsNone(crawls.header(record, "WARC-IP-Address"))

    def test_ports_of_other_protocols_are_not_asked(self):
        self.site.pages["/"] = (200, HTML, b'<a href="http://127.0.0.1:25/">x</a><a href="/moved">y</a><a href="/a">z</a>')
        self.site.pages["/moved"] = (302, {"Location": "http://127.0.0.1:22/"}, b"")
        self.site.pages["/a"] = (200, HTML, b"there")
        self.crawl("--allow-private", "--set", "scope.mode=any", self.site.origin + "/")
        self.assertEqual(sorted(self.outcomes()),
                         sorted(self.site.origin + path for path in ("/", "/a", "/moved", "/robots.txt")))

    def test_strangers_text_is_escaped(self):
        target = "/to" + HIDDEN + "\x1b[31m\x7f"
        self.site.pages["/"] = (302, {"Location": target.encode().decode("latin-1")}, b"")
        self.crawl("--allow-private", self.site.origin + "/", code=1)
        files = [*self.dir.glob("warc/*.cdxj*"), *self.dir.glob("log/*.jsonl")]
        self.assertGreater(len(files), 1)
        for path in files:
            text = path.read_bytes().decode()
            raw = [hex(ord(c)) for c in text if c in HIDDEN or c == "\x7f" or (c < " " and c != "\n")]
            self.assertEqual(raw, [], path)
        redirects = [capture["redirect"] for _, _, capture in crawls.captures(self.dir) if "redirect" in capture]
        self.assertEqual(redirects, [target], "and nothing of it is lost")
        archive = next(self.dir.glob("warc/*.warc.gz"))
        listed = crawls.run(PROGRAM, "warc", "index", archive).stdout
        self.assertFalse([c for c in listed if c in HIDDEN])


if __name__ == "__main__":
    unittest.main()
