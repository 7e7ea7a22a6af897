"""A crawl, its index, and its search: at a terminal, over HTTP, from another part; the archive copy of a result.

usage: search_test.py PORTOLAN
"""

import http.client
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

import crawls
import little_site

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None

WORDS = "Ships sail the sea and their crews tell stories about what they saw far from the coast. " * 3
HOSTILE = "<script>document.title='owned'</script>"


def page(title, body, links=()):
    anchors = "".join(f'<a href="{url}">{text}</a> ' for url, text in links)
    return (f"<!doctype html><html lang=en><title>{title}</title><body><nav>{anchors}</nav>"
            f"<article><h1>{title}</h1><p>{body}</p><p>{WORDS}</p></article></body></html>")


PAGES = {
    "/robots.txt": "User-agent: *\nAllow: /\n",
    "/": page("Harbour", "The beginning of all journeys.", [("/whale", "the leviathan"), ("/copy", "copy"),
                                                           ("/evil", "evil"), ("/none", "hidden"), ("/gone", "gone")]),
    "/whale": page("White whale", "The white whale swims in the southern ocean, where nobody has seen it for years."),
    "/evil": page("Evil &lt;script&gt;alert(1)&lt;/script&gt; whale",
                  "A whale with &lt;script&gt;document.title='owned'&lt;/script&gt; and \x1b[31m colours."),
    "/none": page("Hidden whale", "Nobody may find this.").replace("<title>", "<meta name=robots content=noindex><title>"),
}
PAGES["/copy"] = PAGES["/whale"]


class Served:
    """A verb that serves until it is told to stop; its first line is where."""

    def __init__(self, *command):
        self.process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.where = json.loads(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=20)
        self.process.stdout.close()


class SearchTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.dir = pathlib.Path(cls.folder.name, "crawl")
        cls.site = little_site.Site(PAGES)
        done = crawls.run(PROGRAM, "crawl", cls.site.url + "/", "--dir", cls.dir, "--mine", "--allow-private",
                          "--set", "outputs.text=true", "--set", "outputs.links=true",
                          "--set", "politeness.host_delay=0ms")
        assert done.returncode == 0, done.stderr
        done = crawls.run(PROGRAM, "index", "build", cls.dir, "--parts", "2")
        assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.site.close()
        cls.folder.cleanup()

    def search(self, *arguments, code=0):
        done = crawls.run(PROGRAM, "search", self.dir, *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def found(self, *arguments, code=0):
        answer = json.loads(self.search("--json", *arguments, code=code))
        return answer, [result["url"].removeprefix(self.site.url) for result in answer["results"]]

    def test_words_links_and_conditions(self):
        answer, paths = self.found("white whale swims")
        self.assertEqual(len(paths), 1, "the copy is folded")
        self.assertEqual(answer["results"][0]["similar"], 1)
        self.assertEqual(answer["matches"], 2)
        self.assertIn("whale", [piece.lower() for piece in answer["results"][0]["snippet"][1::2]])
        self.assertEqual(self.found("leviathan")[1], ["/whale"], "a text of a link")
        self.assertEqual(self.found("nobody may find this hidden", "--limit", "50")[1].count("/none"), 0, "noindex")
        self.assertEqual(self.found("zzzz", code=1)[1], [])
        self.assertEqual(set(self.found("whale", "--limit", "1")[0]) >= {"next", "query", "pages"}, True)
        for refused in ("x after:never", '"', "w " * 1500):
            self.assertEqual(crawls.run(PROGRAM, "search", self.dir, refused).returncode, 2, refused)
        self.assertEqual(crawls.run(PROGRAM, "search", self.folder.name, "x").returncode, 3, "no index")

    def test_scores_are_explained(self):
        answer, _ = self.found("white whale", "--explain")
        for result in answer["results"]:
            self.assertAlmostEqual(sum(part["score"] for part in result["explain"]), result["score"], places=4)
        self.assertIn("title", self.search("white whale", "--explain"))

    def test_a_terminal_gets_no_controls_of_pages(self):
        text = self.search("evil colours")
        self.assertNotIn("\x1b", text)
        self.assertIn("Evil <script>", text)

    def test_the_text_and_the_archive_copy_of_a_result(self):
        self.assertIn("southern ocean", self.search("white whale swims", "--cached", "1"))
        payload = crawls.run(PROGRAM, "warc", "cat", self.dir, self.site.url + "/whale", "--payload")
        self.assertEqual(payload.stdout, PAGES["/whale"], payload.stderr)
        copy = crawls.run(PROGRAM, "warc", "cat", self.dir, self.site.url + "/copy", "--payload")
        self.assertEqual(copy.stdout, PAGES["/whale"], "a revisit record is followed")
        self.assertIn("was the same as", (payload.stderr + copy.stderr), "one of the two is the copy")
        self.assertEqual(len(crawls.run(PROGRAM, "warc", "cat", self.dir, self.site.url + "/whale",
                                        "--list").stdout.splitlines()), 1)
        missing = crawls.run(PROGRAM, "warc", "cat", self.dir, self.site.url + "/never")
        self.assertEqual((missing.returncode, missing.stderr.count("\n")), (3, 1))

    def test_a_part_on_another_machine(self):
        other = pathlib.Path(self.folder.name, "searcher")
        other.mkdir(exist_ok=True)
        with Served(PROGRAM, "index", "serve", self.dir, "--listen", "127.0.0.1:0", "--json") as server:
            remote = server.where["address"]
            done = crawls.run(PROGRAM, "search", other, "white whale", "--json", "--remote", remote)
            self.assertEqual(done.returncode, 0, done.stderr)
            here, _ = self.found("white whale")
            there = json.loads(done.stdout)
            key = [(result["url"], result["score"]) for result in here["results"]]
            self.assertEqual([(result["url"], result["score"]) for result in there["results"]], key)
        answer, _ = self.found("white whale", "--remote", remote)
        self.assertEqual(answer["left_out"][0]["part"], remote)

    def test_http_for_programs_and_people(self):
        with Served(PROGRAM, "serve", self.dir, "--listen", "127.0.0.1:0", "--json") as server:
            def ask(path, **parameters):
                client = http.client.HTTPConnection("127.0.0.1", server.where["port"], timeout=30)
                client.request("GET", path + "?" + urllib.parse.urlencode(parameters))
                answer = client.getresponse()
                body = answer.read().decode()
                client.close()
                return answer.status, answer.headers["Content-Type"], body

            status, kind, body = ask("/search", q="white whale swims", json=1, explain=1)
            self.assertEqual((status, kind), (200, "application/json"))
            here, _ = self.found("white whale swims", "--explain")
            there = json.loads(body)
            for answer in (here, there):
                del answer["ms"]
            self.assertEqual(there, here)
            status, kind, body = ask("/search", q="evil whale")
            self.assertEqual(body.count("<style>"), 1)
            self.assertEqual((status, kind), (200, "text/html; charset=utf-8"))
            self.assertNotIn("<script", body)
            self.assertIn("&lt;script", body)
            self.assertEqual(ask("/search")[0], 200)
            self.assertEqual(ask("/search", q="", json=1)[0], 400)
            self.assertEqual(ask("/search", q="x after:never")[0], 400)
            self.assertEqual(ask("/search", q="w* " * 1000)[0], 413)
            self.assertEqual(ask("/search", q="x", limit=101)[0], 400)
            status, _, body = ask("/cached", url=self.site.url + "/evil")
            self.assertEqual(status, 200)
            self.assertNotIn("<script", body)
            self.assertNotIn("\x1b", body)
            self.assertEqual(ask("/cached", url=self.site.url + "/never")[0], 404)
            self.look(f"http://127.0.0.1:{server.where['port']}/search?q=evil+OR+white+whale&explain")

    def look(self, url):
        """The page in a browser: drawn, nothing of a page executed."""
        browser = shutil.which("chromium")
        if browser is None:
            return
        shot = pathlib.Path(self.folder.name, "search.png")
        command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.folder.name}/browser",
                   "--window-size=900,1200", f"--screenshot={shot}", url]
        crawls.run(*command)
        self.assertGreater(shot.stat().st_size, 10_000)
        dom = crawls.run(*command[:-2], "--dump-dom", url).stdout
        self.assertIn("<mark>", dom)
        self.assertNotIn("<title>owned", dom)


if __name__ == "__main__":
    unittest.main()
