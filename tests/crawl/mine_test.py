"""The crawl of one's own site: as many connections as configured, and no delay; and what stays polite without --mine.

usage: mine_test.py PORTOLAN
"""

import http.server
import pathlib
import sys
import tempfile
import threading
import time
import unittest

import crawls

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None
PAGES = 60
ANSWER_SECONDS = 0.05


class Site(crawls.LocalServer):
    """A home page with links to PAGES others, each answered after a moment; counts requests that are open together."""

    def __init__(self):
        self.lock = threading.Lock()
        self.open = 0
        self.most = 0
        self.asked = []
        self.robots = b"User-agent: *\nCrawl-delay: 5\nDisallow: /private\n"
        super().__init__(Handler)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        site = self.server
        with site.lock:
            site.open += 1
            site.most = max(site.most, site.open)
            site.asked.append((self.path, time.monotonic()))
        time.sleep(ANSWER_SECONDS)
        links = "".join(f'<a href="/p{n}">{n}</a>' for n in range(PAGES)) + '<a href="/private">x</a>'
        kind, body = ("text/plain", site.robots) if self.path == "/robots.txt" else ("text/html", links.encode())
        with site.lock:
            site.open -= 1
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Mine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name) / "crawl"
        self.site = Site()
        self.addCleanup(self.site.close)

    def crawl(self, *flags):
        # All pages have the same body, as in a trap.
        return crawls.run(PROGRAM, "crawl", "--dir", self.dir, "--set", "traps.enabled=false", *flags,
                          self.site.origin + "/")

    def test_several_connections_and_no_delay(self):
        done = self.crawl("--mine")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.site.asked), PAGES + 2, "home, pages, robots.txt; each once")
        self.assertNotIn("/private", [path for path, _ in self.site.asked], "robots.txt is obeyed")
        self.assertGreater(self.site.most, 2)
        self.assertLessEqual(self.site.most, 8)
        checked = crawls.run(PROGRAM, "check", self.dir)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_what_is_said_beside_it_goes_on_top(self):
        done = self.crawl("--mine", "--set", "politeness.connections_per_host=2", "--max-pages", "20")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.site.most, 2)

    def test_one_connection_without_it(self):
        done = self.crawl("--allow-private", "--delay", "10ms", "--ip-delay", "0s", "--max-pages", "5",
                          "--set", "politeness.delay_factor=0", "--set", "politeness.crawl_delay=false")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.site.most, 1)

    def test_requisites_of_other_hosts_need_a_delay(self):
        for flags in (["--mine", "--requisites"], ["--delay", "0s", "--requisites", "--allow-private"]):
            done = self.crawl(*flags)
            self.assertEqual(done.returncode, 2, (flags, done.stderr))
            self.assertIn("scope.requisites: come from hosts of others, too", done.stderr)
        self.assertEqual(self.site.asked, [])
        self.assertEqual(self.crawl("--mine", "--set", "scope.embeds=true").returncode, 0)

    def test_the_open_web_is_not_ones_own(self):
        for flags in (["--mine", "--profile", "web", "--contact", "http://me.example/"],
                      ["--mine", "--scope", "any", "--contact", "http://me.example/"],
                      ["--set", "politeness.connections_per_host=0"], ["--set", "politeness.connections_per_host=65"]):
            done = self.crawl(*flags)
            self.assertEqual(done.returncode, 2, (flags, done.stderr))
            self.assertIn("politeness.connections_per_host: ", done.stderr)
        self.assertEqual(self.site.asked, [])


if __name__ == "__main__":
    unittest.main()
