"""Pages with nearly the same text: what the log says, what `portolan dups` lists, and what near_duplicates does to links.

usage: dups_test.py PORTOLAN
"""

import csv
import io
import json
import pathlib
import random
import shutil
import sys
import tempfile
import unittest

import crawls
from little_site import Site

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None

WORDS = [f"{a}{b}" for a in ("ka", "lo", "mi", "nu", "pe", "ra", "so", "tu") for b in ("ber", "dan", "fel", "gor", "hin")]


def article(seed, changed=()):
    """A page of 300 words; `changed` are places with another word."""
    words = random.Random(seed).choices(WORDS, k=300)
    for place in changed:
        words[place] = "changed"
    return "<title>t</title><p>" + ". ".join(" ".join(words[i:i + 15]) for i in range(0, 300, 15)) + ".</p>"


# The last word stands in one run of three words only, so it moves few bits.
def pages():
    site = {"/robots.txt": "", "/one": article(1), "/one-later": article(1, [299]) + "<a href='/only-here'>x</a>",
            "/one-again": article(1), "/two": article(2), "/three": article(3), "/only-here": article(4),
            "/empty": "<p>no"}
    links = "".join(f"<a href='{path}'>{path}</a> " for path in site if path not in ("/robots.txt", "/only-here"))
    site["/"] = links
    return site


class Dups(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.site = Site(pages())
        cls.addClassCleanup(cls.site.close)
        cls.dirs = {}

    def crawl(self, name, *settings):
        if name not in self.dirs:
            directory = self.folder / name
            flags = [part for setting in settings for part in ("--set", setting)]
            done = crawls.run(PROGRAM, "crawl", "--allow-private", "--delay", "0s", "--ip-delay", "0s", "--dir", directory,
                              *flags, self.site.url + "/")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.dirs[name] = directory
        return self.dirs[name]

    def dups(self, directory, *flags):
        done = crawls.run(PROGRAM, "dups", directory, *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def short(self, url):
        return url.removeprefix(self.site.url)

    def test_clusters_as_json_csv_and_text(self):
        directory = self.crawl("similar", "page.similarity=true", "crawl.max_pages=1000")
        clusters = [json.loads(line) for line in self.dups(directory, "--json").splitlines()]
        self.assertEqual(len(clusters), 1)
        (cluster,) = clusters
        self.assertEqual(cluster["size"], 3)
        self.assertEqual({self.short(page["url"]) for page in cluster["pages"]}, {"/one", "/one-later", "/one-again"})
        self.assertEqual(cluster["representative"], cluster["pages"][0]["url"])
        times = {line["url"]: line["time"] for line in crawls.log_lines(directory)}
        self.assertEqual(min(cluster["pages"], key=lambda page: times[page["url"]])["url"], cluster["representative"])
        for page in cluster["pages"]:
            same = "/one-later" not in (self.short(page["url"]), self.short(cluster["representative"]))
            self.assertEqual(page["same_bytes"], same or page["url"] == cluster["representative"])
            self.assertLessEqual(page["bits"], 3)
        rows = list(csv.DictReader(io.StringIO(self.dups(directory, "--csv"))))
        self.assertEqual([row["url"] for row in rows], [page["url"] for page in cluster["pages"]])
        text = self.dups(directory)
        self.assertIn("1. 3 pages", text)
        self.assertIn("3 pages in 1 cluster", text)
        self.assertIn("… and 1 more", self.dups(directory, "--pages", "2"))
        self.assertNotIn("/one", self.dups(directory, "--min-size", "4"))

    def test_exact_needs_no_setting_and_near_says_which_one_it_needs(self):
        directory = self.crawl("plain")
        done = crawls.run(PROGRAM, "dups", directory)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("page.similarity=true", done.stderr)
        (cluster,) = [json.loads(line) for line in self.dups(directory, "--exact", "--json").splitlines()]
        self.assertEqual({self.short(page["url"]) for page in cluster["pages"]}, {"/one", "/one-again"})

    def test_the_cluster_of_one_page(self):
        directory = self.crawl("similar", "page.similarity=true", "crawl.max_pages=1000")
        self.assertIn("/one-again", self.dups(directory, "--url", self.site.url + "/one-later"))
        self.assertNotIn("/one", self.dups(directory, "--url", self.site.url + "/two").replace("/two", ""))
        done = crawls.run(PROGRAM, "dups", directory, "--url", self.site.url + "/nowhere")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("/nowhere", done.stderr)

    def test_it_goes_on_where_it_was_and_can_be_thrown_away(self):
        directory = self.folder / "resumed"
        flags = ["--allow-private", "--delay", "0s", "--ip-delay", "0s", "--set", "page.similarity=true"]
        done = crawls.run(PROGRAM, "crawl", *flags, "--max-pages", "3", "--dir", directory, self.site.url + "/")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.dups(directory)
        done = crawls.run(PROGRAM, "resume", directory, "--max-pages", "1000")
        self.assertEqual(done.returncode, 0, done.stderr)
        continued = self.dups(directory, "--json")
        shutil.rmtree(directory / "dups")
        self.assertEqual(continued, self.dups(directory, "--json"))
        self.assertEqual(json.loads(continued)["size"], 3)
        check = crawls.run(PROGRAM, "check", directory)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)

    def test_marked_and_skipped_pages_are_named_and_lose_no_links(self):
        for policy in ("mark", "skip"):
            directory = self.crawl(policy, f"content.near_duplicates={policy}")
            lines = {self.short(line["url"]): line for line in crawls.log_lines(directory)}
            near = [url for url, line in lines.items() if "near_duplicate_of" in line]
            self.assertEqual(len(near), 1, "the copy of the same bytes is a duplicate, and no near one")
            original = lines[near[0]]["near_duplicate_of"]
            self.assertLessEqual({near[0], self.short(original)}, {"/one", "/one-later", "/one-again"})
            self.assertIn(lines[near[0]]["near_bits"], (0, 1, 2, 3))
            self.assertIn("/only-here", lines)
            status = json.loads(crawls.run(PROGRAM, "status", "--json", directory).stdout)
            self.assertEqual(status["near_duplicates"], 1)
            why = crawls.run(PROGRAM, "why", directory, self.site.url + near[0])
            self.assertIn("its text is nearly that of " + original, why.stdout)
            check = crawls.run(PROGRAM, "check", directory)
            self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
        kept = crawls.log_lines(self.crawl("similar", "page.similarity=true", "crawl.max_pages=1000"))
        self.assertFalse([line for line in kept if "near_duplicate_of" in line])
        self.assertTrue([line for line in kept if "similarity" in line])


if __name__ == "__main__":
    unittest.main()
