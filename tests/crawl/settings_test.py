"""Settings and flags of a crawl as a person uses them, on servers of our own that show every request.

usage: settings_test.py PORTOLAN
"""

import base64
import gzip
import json
import os
import pathlib
import stat
import sys
import tempfile
import threading
import time
import unittest

import crawls

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None

from small_site_test import HTML, TEXT, Site  # noqa: E402: the command line is read first

USAGE, BAD_INPUT = 2, 3
SEED = "http://127.0.0.1:99/"  # nobody is there
BIG = "18446744073709551615"


class Settings(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.dir = self.folder / "crawl"

    def site(self, address="127.0.0.1"):
        site = Site(address)
        self.addCleanup(site.close)
        return site

    def run_crawl(self, *flags, **more):
        return crawls.run(PROGRAM, "crawl", "--allow-private", "--ip-delay", "0", "--dir", self.dir, *flags, **more)

    def crawl(self, *flags, **more):
        done = self.run_crawl("--delay", "0s", "-q", *flags, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def refuse(self, code, words, *command, **more):
        """One line that says `words`, and nothing on standard output."""
        done = crawls.run(PROGRAM, *command, timeout=60, **more)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Aportolan: [^\n]+\n\Z")
        for word in [words] if isinstance(words, str) else words:
            self.assertIn(word, done.stderr)
        return done.stderr


class Values(Settings):
    def test_numbers_have_one_range_wherever_they_stand(self):
        config = self.folder / "mine.toml"
        for value in (BIG, "1000000000", "100001", "0"):
            for words, code, flags in (
                ("--connections (fetch.connections)", USAGE, ["--connections", value]),
                ("fetch.connections", USAGE, ["--set", f"fetch.connections={value}"]),
                ("mine.toml:2:", BAD_INPUT, ["--config", config]),
            ):
                with self.subTest(flags):
                    config.write_text(f"[fetch]\nconnections = {value}\n")
                    line = self.refuse(code, words, "crawl", "--dir", self.dir, *flags, SEED)
                    if not (value == BIG and code == BAD_INPUT):  # there it is no integer of TOML
                        self.assertIn("from 1 to 100000", line)
                    self.assertFalse(self.dir.exists())

    def test_flags_out_of_range(self):
        for flag, value, words in (
            ("--loops", "257", "from 0 to 256"),
            ("--max-depth", "70000", "from 0 to"),
            ("--max-depth", "deep", "--max-depth"),
            ("--max-pages", BIG, "from 0 to 1000000000000000"),
            ("--max-bytes", "2000T", "from 0 to 1024T"),
            ("--max-time", "99999999d", "--max-time"),
            ("--delay", "400d", "from 0s to 365d"),
            ("--ip-delay", "-1s", "--ip-delay"),
            ("--memory", "1M", "from 128M"),
            ("--dns", "127.0.0.1:99999", ["127.0.0.1:99999", "from 1 to 65535"]),
            ("--dns", "dns.example", "fetch.dns_servers"),
            ("--proxy", "proxy.example:3128", "fetch.proxy"),
            ("--user-agent", "", "politeness.user_agent"),
            ("--user-agent", "1 bot", "politeness.robots_token"),
            ("--header", "Host: elsewhere", "Host"),
            ("--header", "X-A: b\r\nX-C: d", "fetch.headers"),
            ("--header", "nothing", "fetch.headers"),
            ("--header", "Cookie: a=b", "--cookie"),
            ("--cookie", "a", "fetch.cookies"),
            ("--user", "me", "NAME:PASSWORD"),
            ("--ca", "/nonexistent/ca.pem", "/nonexistent/ca.pem"),
        ):
            with self.subTest(flag=flag, value=value):
                self.refuse(USAGE, words, "crawl", "--dir", self.dir, flag, value, SEED)
                self.assertFalse(self.dir.exists())

    def test_deep_nesting_is_refused(self):
        config = self.folder / "mine.toml"
        for deep in ("x = " + "[" * 200_000, "[" + "a." * 200_000 + "a]\n", "x = " + "{a=" * 200_000):
            config.write_text(deep)
            self.refuse(BAD_INPUT, ["mine.toml", "nested"], "config", "--config", config)
        self.refuse(USAGE, ["fetch.dns_servers", "nested"], "crawl", "--dir", self.dir, "--set",
                    "fetch.dns_servers=" + "[" * 50_000, SEED)

    def test_a_crawls_own_file(self):
        site = self.site()
        site.pages["/"] = (200, HTML, b"all")
        self.crawl(site.origin)
        path = self.dir / "crawl.toml"
        whole = path.read_text()
        asked = len(site.asked)
        for text in ("", "\0\1\2 garbage", "[crawl]\n", whole[:len(whole) // 2], "x = " + "[" * 200_000,
                     whole.replace("connections = 1024", "connections = 0")):
            self.assertNotEqual(text, whole)
            path.write_text(text)
            for verb in (["resume", self.dir], ["check", self.dir], ["domains", self.dir], ["why", self.dir, SEED]):
                with self.subTest(verb=verb[0], text=text[:20]):
                    self.refuse(BAD_INPUT, "crawl.toml", *verb)
        path.write_text("\0\1\2 garbage")
        self.refuse(BAD_INPUT, "crawl.toml", "config", "--config", path)
        self.refuse(BAD_INPUT, "crawl.toml", "crawl", "--config", path, "--dir", self.folder / "other", SEED)
        path.write_text(whole)
        self.assertEqual(crawls.run(PROGRAM, "resume", self.dir).returncode, 0)
        self.assertEqual(len(site.asked), asked)

    def test_the_largest_number_of_connections_can_be_resumed(self):
        site = self.site()
        site.pages["/"] = (200, HTML, b"all")
        self.crawl("--connections", "100000", site.origin)
        self.assertEqual(crawls.run(PROGRAM, "resume", self.dir, "-q").returncode, 0)


class Seeds(Settings):
    def setUp(self):
        super().setUp()
        self.web = self.site()
        for path in ("/", "/a", "/b"):
            self.web.pages[path] = (200, HTML, b"page")

    def paths(self):
        return sorted(path for path, _ in self.web.asked if path != "/robots.txt")

    def test_standard_input(self):
        self.crawl("--seeds", "-", input=f"{self.web.origin}/a\r\n# nothing\n  {self.web.origin}/b  # two\n")
        self.assertEqual(self.paths(), ["/a", "/b"])

    def test_a_pipe(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        threading.Thread(target=pipe.write_text, args=(f"{self.web.origin}/a\n",), daemon=True).start()
        self.crawl("--seeds", pipe)
        self.assertEqual(self.paths(), ["/a"])
        self.refuse(BAD_INPUT, "no regular file", "config", "--config", pipe)

    def test_a_bad_line_is_named_and_left_out(self):
        seeds = self.folder / "seeds.txt"
        seeds.write_bytes(b"\xef\xbb\xbf" + f"{self.web.origin}/a\nnot a url\n{self.web.origin}/b\n".encode())
        done = self.crawl("--seeds", seeds)
        self.assertIn(f"{seeds}:2: 'not a url'", done.stderr)
        self.assertEqual(self.paths(), ["/a", "/b"])

    def test_strict_refuses_it(self):
        seeds = self.folder / "seeds.txt"
        seeds.write_text(f"{self.web.origin}/a\nnot a url\n")
        self.refuse(BAD_INPUT, f"{seeds}:2: 'not a url'", "crawl", "--dir", self.dir, "--strict", "--seeds", seeds)
        self.refuse(BAD_INPUT, "standard input:1:", "crawl", "--dir", self.dir, "--strict", "--seeds", "-", input="x y\n")
        self.assertFalse(self.dir.exists())

    def test_nothing_but_bad_lines(self):
        seeds = self.folder / "seeds.txt"
        seeds.write_text("no\n" * 100)
        done = crawls.run(PROGRAM, "crawl", "--dir", self.dir, "--seeds", seeds)
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertIn("none of its 100 lines", done.stderr.splitlines()[-1])
        self.assertLess(len(done.stderr.splitlines()), 30, "not a line for each")
        self.refuse(BAD_INPUT, str(self.folder), "crawl", "--dir", self.dir, "--seeds", self.folder)
        self.refuse(USAGE, "no seeds", "crawl", "--dir", self.dir, "--seeds", "-", input="# none\n")


class Meanings(Settings):
    def test_depth_zero_is_the_seeds_alone(self):
        site = self.site()
        site.pages["/"] = (200, HTML, b'<a href="/a">x</a>')
        site.pages["/a"] = (200, HTML, b'<a href="/b">x</a>')
        site.pages["/b"] = (200, HTML, b"end")
        for depth, paths in (("0", ["/"]), ("1", ["/", "/a"]), ("none", ["/", "/a", "/b"])):
            site.asked.clear()
            self.dir = self.folder / f"depth-{depth}"
            self.crawl("--max-depth", depth, site.origin)
            self.assertEqual(sorted(path for path, _ in site.asked if path != "/robots.txt"), paths, depth)
            self.assertRegex((self.dir / "crawl.toml").read_text(), rf'\nmax_depth = "?{depth}"?\n')

    def test_no_delay_waits_for_nothing(self):
        site = self.site()
        came = []

        def page():
            came.append(time.monotonic())
            time.sleep(0.5)
            came.append(time.monotonic())
            return (200, HTML, b'<a href="/next">x</a>')

        class Pages(dict):
            def get(self, path, default):
                return page() if path in ("/", "/next") else default

        site.pages = Pages()
        self.crawl(site.origin)
        self.assertEqual(len(came), 4, "two pages, each slow")
        self.assertLess(came[2] - came[1], 4, "ten times the last answer are five seconds")

    def test_quiet_and_verbose(self):
        site = self.site()
        site.pages["/"] = (200, HTML, b"all")
        self.assertEqual(self.crawl(site.origin).stderr, "", "-q: nothing to warn of")
        self.dir = self.folder / "verbose"
        loud = self.run_crawl("-v", site.origin)
        self.assertEqual(loud.returncode, 0, loud.stderr)
        self.refuse(USAGE, "-q", "crawl", "-q", "-v", SEED)
        self.assertIn('level = "debug"', crawls.run(PROGRAM, "config", "-v").stdout)
        self.assertIn('level = "warn"', crawls.run(PROGRAM, "config", "-q").stdout)
        self.assertIn('level = "info"', crawls.run(PROGRAM, "config", "-q", "--log-level", "info").stdout)

    def test_a_proxy_of_the_environment_is_told_of(self):
        site = self.site()
        site.pages["/"] = (200, HTML, b"all")
        environment = {**os.environ, "http_proxy": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9"}
        for name in ("no_proxy", "NO_PROXY"):
            environment.pop(name, None)
        done = self.crawl(site.origin, env=environment)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertRegex(done.stderr, "proxy.*not used.*http_proxy, HTTPS_PROXY")
        self.assertTrue(site.asked)
        self.dir = self.folder / "none"
        self.assertEqual(self.crawl(site.origin, env={**environment, "no_proxy": "*"}).stderr, "")

    def test_a_proxy_that_is_set_is_used(self):
        proxy = self.site()
        proxy.pages["http://127.0.0.1:99/"] = (200, HTML, b"through the proxy")
        done = self.crawl("--proxy", proxy.origin, "--json", SEED,
                          env={**os.environ, "http_proxy": "http://127.0.0.1:9"})
        self.assertEqual(done.stderr, "")
        self.assertEqual(json.loads(done.stdout)["pages"], 1)


class Domains(Settings):
    def test_no_reputation_is_told(self):
        site = self.site()
        site.pages["/"] = (200, HTML, b'<a href="/a">x</a>')
        site.pages["/a"] = (200, HTML, b"alone")
        self.crawl("--set", "budget.enabled=true", site.origin)
        self.assertIn("There is no reputation to count", crawls.run(PROGRAM, "domains", self.dir).stdout)
        listing = json.loads(crawls.run(PROGRAM, "domains", self.dir, "--json").stdout)
        self.assertEqual((listing["reputation"], listing["totals"]["fetched"]), ("none", 2))


class Requests(Settings):
    def fields(self, site, path="/"):
        return next(fields for asked, fields in site.asked if asked == path)

    def test_secrets_go_to_the_seeds_own(self):
        ours, theirs = self.site(), self.site("127.0.0.2")
        ours.pages["/"] = (200, HTML, f'<a href="{theirs.origin}/">x</a><a href="/in">x</a>'.encode())
        ours.pages["/in"] = (302, {"Location": theirs.origin + "/moved"}, b"")
        theirs.pages["/"] = theirs.pages["/moved"] = (200, HTML, b"other")
        self.crawl("--scope", "any", "--user", "me:pass:word", "--header", "X-Key: 12345", "--header", "X-Other: 1",
                   "--cookie", "a=b", "--cookie", "c=d", "--accept-language", "de", ours.origin)
        basic = "Basic " + base64.b64encode(b"me:pass:word").decode()
        for path in ("/robots.txt", "/", "/in"):
            fields = self.fields(ours, path)
            self.assertEqual((fields["Authorization"], fields["X-Key"], fields["X-Other"], fields["Cookie"],
                              fields["Accept-Language"]), (basic, "12345", "1", "a=b; c=d", "de"), path)
        for path in ("/robots.txt", "/", "/moved"):
            fields = self.fields(theirs, path)
            self.assertFalse({"Authorization", "X-Key", "X-Other", "Cookie"} & fields.keys(), path)
            self.assertEqual(fields["Accept-Language"], "de")
        self.assertEqual(stat.S_IMODE((self.dir / "crawl.toml").stat().st_mode), 0o600)
        text = b"".join(gzip.decompress(path.read_bytes()) for path in (self.dir / "warc").glob("*.warc.gz"))
        for secret in (basic.encode(), b"X-Key: 12345", b"a=b; c=d"):
            self.assertNotIn(secret, text)
        self.assertIn(b"X-Key: [not archived]", text)

    def test_secrets_are_there_after_a_resume(self):
        site = self.site()
        site.pages["/"] = (200, HTML, b'<a href="/a">x</a>')
        site.pages["/a"] = (200, HTML, b"a")
        self.crawl("--user", "me:word", "--max-pages", "1", site.origin)
        site.asked.clear()
        done = crawls.run(PROGRAM, "resume", self.dir, "--max-pages", "10", "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Authorization", self.fields(site, "/a"))

    def test_a_free_user_agent(self):
        site = self.site()
        site.pages["/robots.txt"] = (200, TEXT, b"User-agent: Chart-Bot\nDisallow: /no\n\nUser-agent: *\nDisallow: /\n")
        site.pages["/"] = (200, HTML, b'<a href="/no">x</a><a href="/yes">x</a>')
        site.pages["/no"] = site.pages["/yes"] = (200, HTML, b"page")
        agent = "Chart-Bot/2.0 (made for charts; see http://me.example/)"
        self.crawl("--user-agent", agent, site.origin)
        self.assertEqual(sorted(path for path, _ in site.asked), ["/", "/robots.txt", "/yes"])
        for _, fields in site.asked:
            self.assertEqual(fields["User-Agent"], agent)
        site.asked.clear()
        self.dir = self.folder / "token"
        self.crawl("--user-agent", "Mozilla/5.0 (compatible)", "--set", "politeness.robots_token=chart-bot", site.origin)
        self.assertEqual(sorted(path for path, _ in site.asked), ["/", "/robots.txt", "/yes"])
        self.assertEqual(self.fields(site)["User-Agent"], "Mozilla/5.0 (compatible)")


if __name__ == "__main__":
    unittest.main()
