"""A small site on a server of our own that shows us every request as it came: what a crawl asks for, and how.

usage: small_site_test.py PORTOLAN
"""

import http.server
import pathlib
import sys
import tempfile
import unittest

import crawls

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None


class Site(crawls.LocalServer):
    """Answers from a table of path: (status, fields, body), and notes each request's path and fields."""

    def __init__(self, address="127.0.0.1", port=0):
        self.pages = {}
        self.asked = []
        super().__init__(Handler, address, port)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append((self.path, dict(self.headers.items())))
        status, fields, body = self.server.pages.get(self.path, (404, {}, b""))
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


HTML = {"Content-Type": "text/html"}
TEXT = {"Content-Type": "text/plain"}


class SmallSite(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name) / "crawl"
        self.site = Site()
        self.addCleanup(self.site.close)

    def crawl(self, *flags, private="--allow-private"):
        done = crawls.run(PROGRAM, "crawl", *([private] if private else []), "--delay", "1ms", "--ip-delay", "1ms", "--dir", self.dir,
                          *flags, self.site.origin + "/")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def paths(self):
        return sorted(path for path, _ in self.site.asked)

    def test_a_password_in_a_link_is_not_sent(self):
        port = self.site.server_address[1]
        self.site.pages["/"] = (200, HTML, b"".join(
            b'<a href="http://%s127.0.0.1:%d/secret">x</a>' % (user, port)
            for user in (b"me:word@", b"me@", b"1@", b"")))
        self.site.pages["/secret"] = (200, HTML, b"found")
        self.crawl()
        self.assertEqual(self.paths(), ["/", "/robots.txt", "/secret"], "one page, and one robots.txt")
        for path, fields in self.site.asked:
            self.assertEqual(fields["Host"], f"127.0.0.1:{port}", path)
            self.assertNotIn("Authorization", fields)

    def test_a_sitemap_that_moved_is_still_one(self):
        origin = self.site.origin.encode()
        self.site.pages["/robots.txt"] = (200, TEXT, b"Sitemap: " + origin + b"/sitemap.txt\n")
        self.site.pages["/sitemap.txt"] = (301, {"Location": "/maps/all.txt"}, b"")
        self.site.pages["/maps/all.txt"] = (200, TEXT, origin + b"/hidden\n")
        self.site.pages["/"] = (200, HTML, b"nothing here")
        self.site.pages["/hidden"] = (200, HTML, b"found")
        self.crawl()
        self.assertIn("/hidden", self.paths())

    def test_a_finished_crawl_is_not_to_be_resumed(self):
        self.site.pages["/"] = (200, HTML, b"all")
        out = self.crawl("--set", "log.fetches=false", "--set", "archive.enabled=false")
        self.assertEqual(out.splitlines()[1:], [], "no archive, no log, nothing left")
        self.assertEqual(crawls.log_lines(self.dir), [])
        shown = crawls.run(PROGRAM, "status", self.dir).stdout
        self.assertIn(": done", shown)
        self.assertNotIn("go on", shown)
        checked = crawls.run(PROGRAM, "check", self.dir)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        refused = crawls.run(PROGRAM, "resume", self.dir, "--config", self.dir / "crawl.toml")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--config cannot be used here", refused.stderr)

    def test_a_crawl_without_its_manifest_is_left_alone(self):
        self.site.pages["/"] = (200, HTML, b"all")
        self.crawl()
        state = self.dir / "state"
        for path in state.glob("MANIFEST-*"):
            path.unlink()
        before = sorted(path.name for path in state.iterdir())
        self.assertGreater(len(before), 1)
        refused = crawls.run(PROGRAM, "resume", self.dir)
        self.assertEqual(refused.returncode, 3, refused.stderr)
        self.assertIn("has no manifest", refused.stderr)
        self.assertEqual(sorted(path.name for path in state.iterdir()), before)

    def test_another_profile_keeps_what_the_file_says(self):
        self.site.pages["/"] = (200, HTML, b'<a href="/no/way">x</a><a href="/yes">x</a>')
        self.site.pages["/more"] = (200, HTML, b"a seed of the file")
        config = self.dir.parent / "mine.toml"
        config.write_text(f'[crawl]\nseeds = ["{self.site.origin}/more"]\n[scope]\nmode = "host"\nexclude = ["*/no/*"]\n'
                          '[politeness]\ncontact_url = "http://me.example/"\n')
        self.crawl("--config", config, "--profile", "web")
        self.assertEqual(self.paths(), ["/", "/more", "/robots.txt", "/yes"])
        shown = (self.dir / "crawl.toml").read_text()
        self.assertIn('profile = "web"', shown)
        self.assertIn('contact_url = "http://me.example/"', shown)


if __name__ == "__main__":
    unittest.main()
