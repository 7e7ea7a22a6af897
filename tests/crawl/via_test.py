"""What the crawl log, WARC metadata and `portolan why` say about a page: where it was found, where it leads, its title.

usage: via_test.py PORTOLAN
"""

import json
import pathlib
import sys
import tempfile
import unittest

import crawls
import small_site_test

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None
HTML = {"Content-Type": "text/html; charset=utf-8"}
LONG = "/" + "long" * 520


class Via(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.site = small_site_test.Site()
        cls.addClassCleanup(cls.site.close)
        elsewhere = small_site_test.Site()
        cls.addClassCleanup(elsewhere.close)
        cls.origin = cls.site.origin
        cls.other = elsewhere.origin
        elsewhere.pages["/there"] = (200, HTML, f'<a href="{cls.origin}/back">x</a>'.encode())
        title = "T\u00eftle \u202e\x1b[31m" + "x" * 300
        cls.site.pages = {
            "/robots.txt": (200, small_site_test.TEXT, f"Sitemap: {cls.origin}/map.xml\nUser-agent: *\nDisallow: /no".encode()),
            "/map.xml": (200, {"Content-Type": "text/xml"},
                         f"<urlset><url><loc>{cls.origin}/mapped</loc></url></urlset>".encode()),
            "/": (200, HTML, f'<title>Home</title><a href="/a">a</a><a href="/moved">m</a><a href="{LONG}">l</a>'
                             f'<a href="{cls.other}/there">t</a><a href="/no">n</a>'.encode()),
            "/a": (200, HTML, f'<title>{title}</title><a href="/">home</a><a href="/a/b">b</a>'.encode()),
            "/a/b": (200, {"Content-Type": "Text/Plain"}, b"no page"),
            "/moved": (302, {"Location": "a/../target?x"}, b""),
            "/target?x": (200, HTML, b"moved here"),
            LONG: (200, HTML, b'<a href="/after">x</a>'),
            "/after": (200, HTML, b"its via is too long"),
            "/mapped": (200, HTML, b"from the sitemap"),
            "/back": (200, HTML, b"from another host"),
        }
        cls.dir = cls.crawl("with", "--set", "archive.metadata=true", "--set", "scope.max_url_length=4000")
        cls.lines = {line["url"]: line for line in crawls.log_lines(cls.dir)}

    @classmethod
    def crawl(cls, name, *flags):
        directory = cls.folder / name
        done = crawls.run(PROGRAM, "crawl", "--allow-private", "--delay", "1ms", "--ip-delay", "1ms", "--scope", "any",
                          "--dir", directory, *flags, cls.origin + "/")
        assert done.returncode == 0, done.stderr
        return directory

    def line(self, path, origin=None):
        return self.lines[(origin or self.origin) + path]

    def test_the_log_says_where_a_url_was_found_first(self):
        for path in ("/a", "/moved", LONG, "/no"):
            self.assertEqual(self.line(path)["via"], self.origin + "/", path)
        self.assertEqual(self.line("/a/b")["via"], self.origin + "/a")
        self.assertEqual(self.line("/target?x")["via"], self.origin + "/moved", "a redirect is where its target was found")
        self.assertEqual(self.line("/map.xml")["via"], self.origin + "/robots.txt")
        self.assertEqual(self.line("/mapped")["via"], self.origin + "/map.xml")
        self.assertEqual(self.line("/there", self.other)["via"], self.origin + "/")
        self.assertEqual(self.line("/back")["via"], self.other + "/there")
        for path in ("/", "/robots.txt"):
            self.assertNotIn("via", self.line(path), "no page led here")
        self.assertEqual(self.line("/after")["depth"], 2)
        self.assertNotIn("via", self.line("/after"), "over 2,000 bytes")
        self.assertEqual(self.line("/no")["outcome"], "robots_denied")

    def test_the_log_says_what_the_answer_said(self):
        home = self.line("/")
        self.assertEqual((home["title"], home["mime"], home["content_type"]),
                         ("Home", "text/html", "text/html; charset=utf-8"))
        self.assertEqual(self.line("/a/b")["content_type"], "Text/Plain")
        self.assertEqual(self.line("/moved")["location"], "a/../target?x")
        self.assertEqual([url for url, line in self.lines.items() if "location" in line], [self.origin + "/moved"])
        title = self.line("/a")["title"]
        self.assertTrue(title.startswith("T\u00eftle \u202e [31mxxx"), title)
        self.assertLessEqual(len(title.encode()), 256)
        text = b"".join(path.read_bytes() for path in self.dir.glob("log/*.jsonl"))
        self.assertIn(b"\\u202e [31m", text, "nothing that acts on a terminal")
        self.assertNotIn("\u202e".encode(), text)
        self.assertNotIn(b"\x1b", text)

    def test_numbers_are_numbers(self):
        for line in self.lines.values():
            for key in ("status", "bytes", "decoded", "ms", "depth", "attempt", "links"):
                self.assertIs(type(line.get(key, 0)), int, (key, line))
            for key in ("time", "url", "kind", "outcome", "via", "mime", "content_type", "title", "fingerprint"):
                self.assertIs(type(line.get(key, "")), str, (key, line))
        self.assertEqual((self.line("/a")["status"], self.line("/a")["depth"], self.line("/a")["links"]), (200, 1, 2))

    def test_metadata_records_say_it_too(self):
        found = {}
        for path in self.dir.glob("warc/*.warc.gz"):
            done = crawls.run(PROGRAM, "warc", "ls", "--json", path)
            for line in map(json.loads, done.stdout.splitlines()):
                if line["type"] == "metadata":
                    record = crawls.member(path, line["offset"], line["length"])
                    found[line["uri"]] = record.partition(b"\r\n\r\n")[2].decode().strip().split("\r\n")
        for path, via in (("/a/b", "/a"), ("/target?x", "/moved"), ("/mapped", "/map.xml")):
            self.assertEqual(found[self.origin + path][0], f"via: {self.origin}{via}")
        self.assertEqual(found[self.origin + "/"][0], "depth: 0")
        self.assertIn("title: Home", found[self.origin + "/"])
        self.assertIn("outlinks: 5", found[self.origin + "/"])
        self.assertIn("depth: 2", found[self.origin + "/a/b"])

    def test_why_names_the_referrer(self):
        self.assertEqual(self.why(self.dir, "/a/b")["via"], self.origin + "/a")
        self.assertIsNone(self.why(self.dir, "/")["via"])
        done = crawls.run(PROGRAM, "why", self.dir, self.origin + "/a/b")
        self.assertIn(f"  found    on {self.origin}/a\n", done.stdout)
        # One that waits: its record says so.
        directory = self.crawl("waiting", "--max-pages", "2")
        waiting = [line for line in map(lambda path: self.why(directory, path), ("/a", "/moved", "/no")) if not line["log"]]
        self.assertTrue(waiting)
        for line in waiting:
            self.assertTrue(line["verdict"].startswith("waiting"), line)
            self.assertEqual(line["via"], self.origin + "/")

    def why(self, directory, path):
        done = crawls.run(PROGRAM, "why", directory, self.origin + path, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_it_can_be_left_out(self):
        directory = self.crawl("without", "--set", "crawl.via=false")
        lines = crawls.log_lines(directory)
        self.assertGreater(len(lines), 5)
        self.assertFalse([line for line in lines if "via" in line])
        self.assertIsNone(self.why(directory, "/a/b")["via"])


if __name__ == "__main__":
    unittest.main()
