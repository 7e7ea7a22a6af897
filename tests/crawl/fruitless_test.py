"""A crawl without a page says why, seed by seed, and ends with exit code 1.

usage: fruitless_test.py PORTOLAN
"""

import json
import pathlib
import socket
import sys
import tempfile
import unittest

import crawls
from bad_input_test import RefusingDns
from little_site import QUICK, Site

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None
VERDICT = 1


class Fruitless(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.site = Site({
            "/robots.txt": "User-agent: *\nDisallow: /secret",
            "/away": (302, {"Location": "http://elsewhere.test/login"}, ""),
            "/two": (301, {"Location": "/three"}, ""),
            "/three": (302, {"Location": "http://elsewhere.test/"}, ""),
            "/password": (401, {"WWW-Authenticate": "Basic realm=x"}, ""),
            "/no": (403, {}, ""),
            "/cookie": (302, {"Location": "/cookie", "Set-Cookie": "a=b"}, ""),
            "/round": (302, {"Location": "/and-round"}, ""),
            "/and-round": (302, {"Location": "/round"}, ""),
            "/broken": (500, {}, ""),
        })
        self.addCleanup(self.site.close)
        self.crawls = 0

    def crawl(self, *arguments, flags=QUICK):
        self.crawls += 1
        return crawls.run(PROGRAM, "crawl", "--dir", self.folder / f"crawl-{self.crawls}", "--quiet", *flags, *arguments)

    def why(self, *arguments, flags=QUICK):
        """The reasons by seed, as JSON and as text have them."""
        done = self.crawl("--json", *arguments, flags=flags)
        self.assertEqual(done.returncode, VERDICT, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual((report["state"], report["pages"]), ("done", 0))
        text = self.crawl(*arguments, flags=flags)
        self.assertEqual(text.returncode, VERDICT, text.stderr)
        self.assertRegex(text.stdout, r"\Adone: 0 pages, ")
        for one in report["seeds_failed"]:
            self.assertIn(f"  why       {one['url']}: {one['why']}\n", text.stdout)
        return {one["url"]: one["why"] for one in report["seeds_failed"]}, report["seeds_failed_more"], text.stdout

    def test_answers_that_are_no_pages(self):
        names = ["/away", "/two", "/password", "/no", "/missing", "/cookie", "/round", "/secret"]
        why, more, _ = self.why(*[self.site.url + name for name in names])
        self.assertEqual(more, 0)
        why = {url[len(self.site.url):]: text for url, text in why.items()}
        self.assertEqual(set(why), set(names))
        self.assertRegex(why["/away"], r"^302 to http://elsewhere\.test/login, which is out of scope")
        self.assertRegex(why["/two"], rf"^301 to {self.site.url}/three, 302 to http://elsewhere\.test/, which is out of")
        self.assertRegex(why["/password"], "^401: .*password")
        self.assertRegex(why["/no"], "^403: ")
        self.assertRegex(why["/missing"], "^404: there is no such page")
        self.assertRegex(why["/cookie"], rf"^302 to {self.site.url}/cookie, which is itself: it may want cookies")
        self.assertRegex(why["/round"], "in a circle$")
        self.assertEqual(why["/secret"], "its robots.txt denies it")

    def test_no_way_to_the_server(self):
        dns = RefusingDns(3)
        self.addCleanup(dns.close)
        why, _, _ = self.why("http://nobody.test/", flags=["--dns", dns.address])
        self.assertRegex(why["http://nobody.test/"], "^dns_not_found: the name does not exist")
        self.assertGreater(dns.asked, 0)
        why, _, _ = self.why("http://127.0.0.1:99/", flags=[])
        self.assertRegex(why["http://127.0.0.1:99/"], "^address_forbidden: .*--allow-private")
        # One attempt for robots.txt, then its host is given up.
        fast = [*QUICK, "--set", "politeness.give_up_after=1", "--set", "politeness.max_back_off=1s", "--set",
                "politeness.robots_retry=1s"]
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))  # and nobody listens
            seed = "http://127.0.0.1:%d/" % closed.getsockname()[1]
            why, _, _ = self.why(seed, flags=fast)
            self.assertRegex(why[seed], "^connect_refused: the connection was refused")
        seed = self.site.url.replace("http", "https") + "/"
        why, _, _ = self.why(seed, flags=fast)
        self.assertRegex(why[seed], "^tls_handshake: TLS failed")

    def test_many_seeds(self):
        seeds = [f"{self.site.url}/missing-{i:02}" for i in range(13)]
        why, more, text = self.why(*seeds)
        self.assertEqual(list(why), seeds[:10])
        self.assertEqual(more, 3)
        self.assertIn("… and 3 more seeds\n", text)

    def test_a_limit_that_comes_first(self):
        self.site.pages["/"] = "<p>here"
        done = self.crawl("--max-time", "1s", "--set", "politeness.host_delay=1m", self.site.url + "/")  # a minute after its robots.txt
        self.assertEqual(done.returncode, VERDICT, done.stderr)
        self.assertIn("it was not fetched before the crawl ended", done.stdout)

    def test_one_page_is_enough(self):
        self.site.pages["/"] = "<p>here"
        done = self.crawl(self.site.url + "/", self.site.url + "/missing")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\Adone: 1 page, ")
        self.assertNotIn("why", done.stdout)
        done = self.crawl("--json", self.site.url + "/")
        self.assertEqual(json.loads(done.stdout)["seeds_failed"], [])

    def test_bodies_that_were_cut_are_mentioned(self):
        self.site.pages["/"] = "<a href='/more'>x</a>" + "x" * 300_000
        self.site.pages["/more"] = "y" * 300_000
        done = self.crawl("--set", "fetch.max_body=100K", self.site.url + "/")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("  left out  2 bodies cut at 100 KiB (fetch.max_body)\n", done.stdout)
        shown = crawls.run(PROGRAM, "status", self.folder / f"crawl-{self.crawls}").stdout
        self.assertIn("  left out   2 bodies cut at 100 KiB (fetch.max_body)\n", shown)


if __name__ == "__main__":
    unittest.main()
