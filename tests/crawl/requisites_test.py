"""Two servers on sockets: a site, and another host with what its pages need to be displayed. Checks what is fetched, by
default and with --requisites, and that the archive holds it.

usage: requisites_test.py PORTOLAN
"""

import http.server
import pathlib
import shutil
import sys
import tempfile
import unittest

import crawls

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None


class Host(crawls.LocalServer):
    """Answers from a table of path: (type, body), and notes the paths that were asked for."""

    def __init__(self, address):
        self.pages = {}
        self.asked = []
        super().__init__(Handler, address)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        kind, body = self.server.pages.get(self.path, (None, ""))
        if kind == "redirect":
            self.send_response(302)
            self.send_header("Location", body)
            body = ""
        else:
            self.send_response(200 if kind else 404)
            self.send_header("Content-Type", kind or "text/plain")
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


HTML, CSS, PNG = "text/html", "text/css", "image/png"


class Requisites(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name) / "crawl"
        self.site = Host("127.0.0.1")
        self.addCleanup(self.site.close)
        self.other = Host("127.0.0.2")
        self.addCleanup(self.other.close)
        there = self.other.origin
        self.site.pages = {
            "/": (HTML, f"""<link rel=stylesheet href="{there}/style.css">
                <img src=plain.png srcset="small.png 320w, 'odd name.png 2x, large.png 640w">
                <picture><source srcset="{there}/photo.webp 1x"><img src=photo.png></picture>
                <style>body {{ background: URL("back.png") }} /* url(no.png) */</style>
                <p style="list-style-image: url(&quot;dot.png&quot;)">
                <iframe src=/inner></iframe> <iframe src="{there}/widget"></iframe>
                <a href=/deep/1>on</a> <a href="{there}/elsewhere">away</a>"""),
            "/inner": (HTML, "<a href=/from-frame>x</a><img src=inner.png>"),
            "/from-frame": (HTML, "no more"),
            "/deep/1": (HTML, '<a href=/deep/2>x</a><img src=/one.png>'),
            "/deep/2": (HTML, "too deep"),
        }
        self.other.pages = {
            "/style.css": (CSS, """@charset "utf-8"; @IMPORT "sub/more.css" screen;
                @namespace svg url(http://www.w3.org/2000/svg);
                body { background: url(/moved.png), url(data:image/png;base64,AAAA) }"""),
            "/sub/more.css": (CSS, "@font-face { src: local(X), url('../f\\6fnt.woff2') format('woff2') }"
                                   ".a { background-image: image-set('i1.png' 1x, url(i2.png) 2x) }"),
            "/moved.png": ("redirect", f"{self.site.origin}/moved-here.png"),
            "/widget": (HTML, f'<script src=w.js></script><a href=/more>x</a><a href="{self.site.origin}/via">x</a>'),
        }
        for path in ("plain", "small", "large", "photo", "back", "dot", "inner", "one", "moved-here"):
            self.site.pages[f"/{path}.png"] = (PNG, "\x01png")
        for path in ("/font.woff2", "/sub/i1.png", "/sub/i2.png", "/photo.webp", "/w.js"):
            self.other.pages[path] = ("application/octet-stream", path)

    def crawl(self, *flags, depth=1):
        done = crawls.run(PROGRAM, "crawl", "--allow-private", "--delay", "1ms", "--ip-delay", "1ms",
                          "--set", "politeness.delay_factor=0", "--max-depth", depth, "--dir", self.dir, *flags,
                          self.site.origin + "/")
        self.assertEqual(done.returncode, 0, done.stderr)

    def fetched(self):
        return sorted(self.site.asked), sorted(self.other.asked)

    def urls(self):
        return {host.origin + path for host in (self.site, self.other) for path in host.asked}

    def archived(self):
        """The URLs of the responses in the archive, by portolan warc ls."""
        urls = []
        for path in sorted(self.dir.glob("warc/*.warc.gz")):
            listed = crawls.run(PROGRAM, "warc", "ls", path)
            self.assertEqual(listed.returncode, 0, listed.stderr)
            urls += [word for line in listed.stdout.splitlines() if "response" in line.split()
                     for word in line.split() if word.startswith("http://")]
        return sorted(urls)

    NEEDED = {"/plain.png", "/small.png", "/large.png", "/photo.png", "/back.png", "/dot.png", "/inner.png",
              "/one.png", "/moved-here.png"}
    NEEDED_THERE = {"/style.css", "/sub/more.css", "/font.woff2", "/sub/i1.png", "/sub/i2.png", "/moved.png",
                    "/photo.webp", "/widget", "/w.js"}

    def test_frames_in_scope_are_followed_and_nothing_else_is(self):
        self.crawl()
        self.assertEqual(self.fetched(), (["/", "/deep/1", "/inner", "/robots.txt"], []))
        self.dir = self.dir.parent / "again"
        self.site.asked.clear()
        self.crawl(depth=2)
        self.assertEqual(self.fetched()[0], ["/", "/deep/1", "/deep/2", "/from-frame", "/inner", "/robots.txt"])

    def test_requisites_are_fetched_from_any_host_and_links_are_not(self):
        self.crawl("--requisites")
        # A frame is as near as its page, so its links are one step away.
        pages = {"/", "/deep/1", "/inner", "/from-frame", "/robots.txt"}
        self.assertEqual(self.fetched(), (sorted(pages | self.NEEDED), sorted(self.NEEDED_THERE | {"/robots.txt"})))
        expected = [self.site.origin + path for path in pages | self.NEEDED]
        expected += [self.other.origin + path for path in self.NEEDED_THERE | {"/robots.txt"}]
        self.assertEqual(self.archived(), sorted(expected))
        why = crawls.run(PROGRAM, "why", self.dir, self.other.origin + "/font.woff2").stdout
        self.assertIn("out of scope, needed to show a page", why)
        self.assertIn("out of scope", crawls.run(PROGRAM, "why", self.dir, self.other.origin + "/more").stdout)
        checked = crawls.run(PROGRAM, "check", self.dir)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    @unittest.skipUnless(shutil.which("wget2"), "wget2 is not there")
    def test_another_program_finds_nothing_more(self):
        self.crawl("--requisites")
        mine = self.urls()
        self.site.asked.clear()
        self.other.asked.clear()
        crawls.run("wget2", "--no-config", "--page-requisites", "--span-hosts", "--tries=1", "--quiet", "--timeout=20",
                   "-P", self.dir.parent / "wget2", self.site.origin + "/")
        theirs = self.urls()
        self.assertIn(self.other.origin + "/sub/more.css", theirs, "wget2 found too little for a comparison")
        # It takes a candidate with wrong descriptors, and a style attribute as it is written.
        misread = {self.site.origin + path for path in ("/%27odd", "/%26quot%3Bdot.png%26quot%3B")}
        self.assertEqual(theirs - mine - misread, set())

    def test_robots_and_exclusions_hold_for_requisites(self):
        self.other.pages["/robots.txt"] = ("text/plain", "User-agent: *\nDisallow: /sub/\n")
        self.crawl("--requisites", "--exclude", "*/widget", "--exclude", "*.webp")
        self.assertEqual(self.fetched()[1], ["/moved.png", "/robots.txt", "/style.css"])

    def test_embeds_alone_stay_in_scope_and_read_no_styles(self):
        self.crawl("--set", "scope.embeds=true", depth=2)
        embeds = {"/plain.png", "/small.png", "/large.png", "/photo.png", "/inner.png", "/one.png"}
        pages = {"/", "/deep/1", "/deep/2", "/inner", "/from-frame", "/robots.txt"}
        self.assertEqual(self.fetched(), (sorted(pages | embeds), []))

    def test_requisites_survive_a_stop(self):
        """The queue of a crawl that was stopped by a limit still knows what is needed."""
        self.crawl("--requisites", "--max-pages", "3")
        gone_on = crawls.run(PROGRAM, "resume", self.dir, "--max-pages", "0")
        self.assertEqual(gone_on.returncode, 0, gone_on.stderr)
        self.assertEqual(set(self.other.asked), self.NEEDED_THERE | {"/robots.txt"})


if __name__ == "__main__":
    unittest.main()
