"""portolan report: the same numbers as another count of the logs gives, and a page that a browser shows.

usage: report_test.py PORTOLAN
"""

import collections
import csv
import html
import html.parser
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

import crawls
import little_site

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None
BAD_INPUT, USAGE = 3, 2
WORLD = ["--profile", "demo", "--seed", "11", "--set", "domains=60", "--set", "pages=3000"]
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")


def report_of(directory, *flags):
    done = crawls.run(PROGRAM, "report", directory, "--json", *flags)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def by_name(report, table, value):
    rows = report["tables"][table]["rows"]
    name = next(iter(rows[0]))
    return {row[name]: row[value] for row in rows}


class Numbers(unittest.TestCase):
    """A crawl of the simulated web, counted a second time here."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        folder = pathlib.Path(cls.temporary.name)
        cls.dir = folder / "crawl"
        with crawls.Web(PROGRAM, folder, *WORLD) as web:
            done = crawls.run(PROGRAM, "crawl", "--dir", cls.dir, *web.flags(), "--quiet", "--scope", "any", "--delay", "0s",
                              "--ip-delay", "0s", "--contact", "http://localhost/", "--max-pages", "600",
                              "--set", "outputs.links=true", *web.ready["seeds"])
        assert done.returncode == 0, done.stderr
        cls.log = crawls.log_lines(cls.dir)
        cls.final = [line for line in cls.log if not line.get("again") and line["kind"] != "robots"
                     and line["outcome"] != "late_duplicate"]
        cls.report = report_of(cls.dir, "--rows", "100000")

    def summary(self, what):
        return {row["what"]: row["number"] for row in self.report["tables"]["summary"]["rows"]}[what]

    def test_totals(self):
        sent = [line for line in self.log if "ms" in line]
        pages = [line for line in self.final if line.get("status", 0) // 100 == 2]
        documents = [line for line in pages if line.get("mime") == "text/html"]
        self.assertGreaterEqual(len(pages), 600)
        self.assertEqual(self.summary("requests"), len(sent))
        self.assertEqual(self.summary("of them made again"), sum(1 for line in sent if line.get("again")))
        self.assertEqual(self.summary("pages"), len(pages))
        self.assertEqual(self.summary("HTML documents"), len(documents))
        self.assertEqual(self.summary("answers whose bytes were captured before"),
                         sum(1 for line in self.log if "duplicate_time" in line))
        self.assertEqual(self.summary("received"), sum(line["bytes"] for line in sent))
        self.assertEqual(self.summary("links on HTML documents"), sum(line.get("links", 0) for line in documents))
        self.assertEqual(self.summary("machines (addresses)"),
                         len({line["ip"] for line in sent if "ip" in line and "status" in line}))
        hosts = {urllib.parse.urlsplit(line["url"]).netloc for line in sent if "status" in line}
        self.assertEqual(self.summary("web servers (hosts) that answered"), len(hosts))

    def test_tables_by_name(self):
        answered = [line for line in self.final if "status" in line]
        self.assertEqual(by_name(self.report, "statuses", "urls"),
                         dict(collections.Counter(str(line["status"]) for line in answered)))
        self.assertEqual(by_name(self.report, "outcomes", "urls"),
                         dict(collections.Counter(line["outcome"] for line in self.final)))
        pages = [line for line in answered if line["status"] // 100 == 2]
        self.assertEqual(by_name(self.report, "types", "pages"),
                         dict(collections.Counter(line.get("mime", "(unknown)") for line in pages)))
        documents = collections.Counter(urllib.parse.urlsplit(line["url"]).netloc for line in pages
                                        if line.get("mime") == "text/html")
        told = {name: count for name, count in by_name(self.report, "hosts", "documents").items() if count}
        self.assertEqual(told, dict(documents))
        groups = collections.Counter(line["fingerprint"] for line in pages if "fingerprint" in line)
        stages = by_name(self.report, "stages", "count")
        self.assertEqual(stages["different contents"], len(groups))
        for row in self.report["tables"]["contents"]["rows"]:
            self.assertEqual(row["pages"], groups[row["fingerprint"]])
        depths = collections.Counter(str(line["depth"]) for line in pages)
        self.assertEqual(by_name(self.report, "depths", "pages"), dict(depths))
        sizes = {(row["from"], row["to"]): row["pages"] for row in self.report["tables"]["sizes"]["rows"]}
        for (low, high), count in sizes.items():
            self.assertEqual(count, sum(1 for line in pages if low <= line["decoded"] <= high))
        self.assertEqual(sum(sizes.values()), len(pages))

    def test_links(self):
        def listed(*flags):
            done = crawls.run(PROGRAM, "links", self.dir, *flags)
            self.assertEqual(done.returncode, 0, done.stderr)
            return list(csv.DictReader(io.StringIO(done.stdout)))

        def domain(url):
            return ".".join(urllib.parse.urlsplit(url).hostname.split(".")[-2:])

        edges = {(domain(link["source"]), domain(link["target"])) for link in listed()}
        degrees = collections.Counter(target for source, target in edges if source != target)
        self.assertEqual(by_name(self.report, "domains_by_in_degree", "in_degree"), dict(degrees))
        broken = collections.Counter((row["source"], row["target"]) for row in listed("--broken"))
        told = collections.Counter((row["source"], row["target"])
                                   for row in self.report["tables"]["broken_links"]["rows"])
        self.assertEqual(told, broken)
        matrix = self.report["tables"]["link_matrix"]["rows"]
        self.assertEqual(sum(row["sum"] for row in matrix), len(listed()))

    def test_few_rows_and_little_memory_change_no_number(self):
        few = report_of(self.dir, "--rows", "3", "--memory", "64K")
        self.assertEqual(few["tables"]["summary"], self.report["tables"]["summary"])
        for name, table in few["tables"].items():
            whole = self.report["tables"][name]
            self.assertEqual(len(table["rows"]) + table["rows_left_out"],
                             len(whole["rows"]) + whole["rows_left_out"], name)
        self.assertEqual(few["tables"]["hosts"]["rows"], self.report["tables"]["hosts"]["rows"][:3])

    def test_csv_and_terminal(self):
        folder = self.dir.parent / "tables"
        done = crawls.run(PROGRAM, "report", self.dir, "--csv", folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({path.stem for path in folder.iterdir()}, set(self.report["tables"]))
        with open(folder / "statuses.csv", newline="") as file:
            rows = {row["status"]: int(row["urls"]) for row in csv.DictReader(file)}
        self.assertEqual(rows, by_name(self.report, "statuses", "urls"))
        done = crawls.run(PROGRAM, "report", self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        for table in self.report["tables"].values():
            if table["title"] != "Pages over time":
                self.assertIn("\n" + table["title"] + "\n", done.stdout)
        self.assertLessEqual(max(len(line) for line in done.stdout.splitlines()), 250)

    def test_mistakes(self):
        for command, code, said in [
                ((self.dir.parent,), BAD_INPUT, "crawl"),
                ((self.dir, "--rows", "0"), USAGE, "--rows"),
                ((self.dir, "--html", self.dir / "no" / "such" / "r.html"), None, "r.html"),
        ]:
            done = crawls.run(PROGRAM, "report", *command)
            self.assertNotEqual(done.returncode, 0)
            if code is not None:
                self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(said, done.stderr)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)


HOSTILE = "<script>document.title='taken'</script><img src=http://127.0.0.1:9/x onerror=alert(1)>\"'&"


class Page(html.parser.HTMLParser):
    """What a page would load or run, and its plots."""

    def __init__(self, text):
        super().__init__()
        self.loads = []
        self.tags = collections.Counter()
        self.bars = 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags[tag] += 1
        values = dict(attributes)
        self.bars += values.get("class") == "bar" and float(values.get("width", 0)) > 0
        for name, value in attributes:
            if name in ("src", "srcset", "data", "action", "poster", "background") or name.startswith("on"):
                self.loads.append((tag, name, value))
            if name in ("href", "xlink:href") and not value.startswith("#"):
                self.loads.append((tag, name, value))


class Html(unittest.TestCase):
    """The page of a crawl whose server says hostile things, in a browser."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        folder = pathlib.Path(cls.temporary.name)
        pages = {f"/{n}": f"<title>{HOSTILE}</title><p>{'word ' * n}<a href=/{n + 1}>x</a>" for n in range(40)}
        pages["/"] = f"<a href=/0>a</a> <a href='/gone?<b>'>{html.escape(HOSTILE)}</a><a href=/moved>c</a>"
        pages["/moved"] = (301, {"Location": "/3"}, "")
        site = little_site.Site(pages)
        cls.addClassCleanup(site.close)
        done = crawls.run(PROGRAM, "crawl", "--mine", "--quiet", "--dir", folder / "crawl", "--set", "outputs.links=true",
                          site.url + "/")
        assert done.returncode == 0, done.stderr
        cls.file = folder / "report.html"
        done = crawls.run(PROGRAM, "report", folder / "crawl", "--html", cls.file)
        assert done.returncode == 0, done.stderr
        assert done.stdout == "", done.stdout
        cls.text = cls.file.read_text()

    def test_loads_and_runs_nothing(self):
        page = Page(self.text)
        self.assertEqual(page.loads, [])
        self.assertEqual(page.tags["script"] + page.tags["img"] + page.tags["iframe"] + page.tags["link"], 0)
        self.assertIsNone(re.search(r"url\(|@import", self.text))
        self.assertTrue("Content-Security-Policy" in self.text)
        self.assertTrue("&lt;script&gt;" in self.text, "the anchor text is missing")
        self.assertTrue("/gone" in self.text)

    @unittest.skipUnless(BROWSER, "no chromium")
    def test_a_browser_draws_the_plots_and_complains_of_nothing(self):
        picture = self.file.with_suffix(".png")
        log = self.file.with_suffix(".net.json")
        done = subprocess.run(
            [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1000,2000",
             f"--user-data-dir={self.file.parent / 'profile'}", "--enable-logging=stderr", "--disable-background-networking",
             "--no-first-run", "--disable-component-update", "--disable-sync", "--disable-extensions", f"--log-net-log={log}",
             "--dump-dom", f"--screenshot={picture}", self.file.as_uri()],
            capture_output=True, text=True, timeout=100, env={**os.environ, "HOME": str(self.file.parent)})
        self.assertEqual(done.returncode, 0, done.stderr)
        # Messages of the page's console, the errors of styles and policies among them.
        self.assertEqual([line for line in done.stderr.splitlines() if "CONSOLE" in line], [])
        self.assertFalse("<title>taken</title>" in done.stdout)
        shown = Page(done.stdout)
        written = Page(self.text)
        self.assertGreater(written.bars, 20)
        self.assertEqual(shown.bars, written.bars)
        self.assertEqual(shown.tags["svg"], written.tags["svg"])
        self.assertGreater(picture.stat().st_size, 20_000)
        requested = set(re.findall(r'"url":\s*"((?:https?|wss?)://[^"]+)"', log.read_text(errors="replace")))
        self.assertEqual({url for url in requested if "127.0.0.1" in url}, set())


if __name__ == "__main__":
    unittest.main(verbosity=2)
