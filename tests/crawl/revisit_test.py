"""Pages with the same bytes: one capture in full, revisit records that resolve to it, and what log and why say.

usage: revisit_test.py PORTOLAN SCRATCH

The archive is also read by an independent reader, warcio.js from npm (installed into SCRATCH as by
tests/warc/read_back_test.py); that part is skipped where it cannot be had.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import crawls
from little_site import Site

SCRATCH = pathlib.Path(sys.argv.pop(2)) if __name__ == "__main__" else None
PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None
WARC_TESTS = pathlib.Path(__file__).resolve().parent.parent / "warc"

BODY = "<title>the same</title><p>" + "the same words again and again " * 40
SHELL = BODY + "<a href='inner'>in</a><a href='/top'>top</a>"


def pages():
    site = {"/robots.txt": "", "/": "<a href='/a'>1</a><a href='/b?x=1'>2</a><a href='/dir/c'>3</a><a href='/d1/'>4</a>"
                                    "<a href='/d2/'>5</a><a href='/gone1'>6</a><a href='/gone2'>7</a><a href='/tiny1'>8</a>"
                                    "<a href='/tiny2'>9</a><a href='/gz'>10</a>",
            "/a": BODY, "/b?x=1": BODY, "/dir/c": BODY, "/d1/": SHELL, "/d2/": SHELL,
            "/d1/inner": "<p>one of a kind, in the first directory" + " long" * 60,
            "/d2/inner": "<p>one of a kind, in the second directory" + " long" * 60,
            "/top": "<p>top" + " long" * 60, "/tiny1": "tiny", "/tiny2": "tiny",
            "/gone1": (404, {}, "nothing here, " * 40), "/gone2": (404, {}, "nothing here, " * 40)}
    return site


class Revisits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.site = Site(pages())
        cls.addClassCleanup(cls.site.close)
        cls.dirs = {}

    def crawl(self, policy):
        if policy in self.dirs:
            return self.dirs[policy]
        directory = self.folder / policy
        done = crawls.run(PROGRAM, "crawl", "--allow-private", "--delay", "0s", "--ip-delay", "0s", "--dir", directory, "--set",
                          f"content.duplicates={policy}", "--set", "archive.metadata=true", self.site.url + "/")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.dirs[policy] = directory
        return directory

    def records(self, directory):
        files = sorted(directory.glob("warc/*.warc.gz"))
        self.assertEqual(len(files), 1)
        done = crawls.run(PROGRAM, "warc", "ls", "--json", files[0])
        self.assertEqual(done.returncode, 0, done.stderr)
        return files[0], [json.loads(line) for line in done.stdout.splitlines()]

    def test_each_payload_is_stored_once(self):
        for policy in ("skip", "mark"):
            directory = self.crawl(policy)
            _, records = self.records(directory)
            answers = [one for one in records if one["type"] in ("response", "revisit") and "robots.txt" not in one["uri"]
                       and "/tiny" not in one["uri"]]
            full = [one["digest"] for one in answers if one["type"] == "response"]
            self.assertEqual(len(full), len(set(full)), "each payload has one full capture")
            revisits = [one for one in answers if one["type"] == "revisit"]
            self.assertEqual(len(revisits), 4)  # two of BODY, one of SHELL, one of the 404s
            for one in revisits:
                self.assertIn(one["digest"], full)
            tiny = [one["type"] for one in records if "/tiny" in (one.get("uri") or "") and one["type"] in ("response", "revisit")]
            self.assertEqual(tiny, ["response", "response"], "small bodies are not compared")
            check = crawls.run(PROGRAM, "check", directory)
            self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
            check = crawls.run(PROGRAM, "warc", "check", *directory.glob("warc/*.warc.gz"))
            self.assertEqual(check.returncode, 0, check.stdout + check.stderr)

    def test_kept_duplicates_are_whole_and_named(self):
        directory = self.crawl("keep")
        _, records = self.records(directory)
        self.assertFalse([one for one in records if one["type"] == "revisit"])
        named = [line for line in crawls.log_lines(directory) if "duplicate_of" in line]
        self.assertEqual(len(named), 4)

    def test_links_of_copies_in_another_directory_are_followed(self):
        for policy in ("skip", "mark", "keep"):
            urls = {line["url"].removeprefix(self.site.url) for line in crawls.log_lines(self.crawl(policy))}
            self.assertLessEqual({"/d1/inner", "/d2/inner", "/top"}, urls, policy)

    def test_log_index_status_and_why_name_the_first_capture(self):
        directory = self.crawl("skip")
        lines = {line["url"].removeprefix(self.site.url): line for line in crawls.log_lines(directory)}
        same = {"/a", "/b?x=1", "/dir/c"}
        copies = [url for url in same if "duplicate_of" in lines[url]]
        self.assertEqual(len(copies), 2)
        (first,) = same - set(copies)
        for url in copies:
            self.assertEqual(lines[url]["duplicate_of"], self.site.url + first)
            self.assertEqual(lines[url]["duplicate_time"], lines[first]["time"])
        index = {values["url"].removeprefix(self.site.url): values for _, _, values in crawls.captures(directory)}
        for url in copies:
            self.assertEqual(index[url]["mime"], "warc/revisit")
            self.assertEqual(index[url]["digest"], index[first]["digest"])
            self.assertEqual(index[url]["status"], "200")
        status = json.loads(crawls.run(PROGRAM, "status", "--json", directory).stdout)
        self.assertEqual(status["duplicates"], 4)
        why = crawls.run(PROGRAM, "why", directory, self.site.url + copies[0])
        self.assertIn("its bytes are those of " + self.site.url + first, why.stdout)

    def test_another_reader_resolves_revisits(self):
        sys.path.insert(0, str(WARC_TESTS))
        import read_back_test
        SCRATCH.mkdir(parents=True, exist_ok=True)
        try:
            read_back_test.install(SCRATCH)
        except SystemExit:
            self.skipTest("warcio.js cannot be had")
        shutil.copy(WARC_TESTS / "read_back.mjs", SCRATCH / "read_back.mjs")
        path, ours = self.records(self.crawl("skip"))
        done = subprocess.run(["node", str(SCRATCH / "read_back.mjs"), str(path)], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        theirs = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([(one["type"], one["offset"], one["length"]) for one in ours],
                         [(one["type"], one["offset"], one["length"]) for one in theirs])
        originals = {(one["uri"], one["date"]): one for one in theirs if one["type"] == "response"}
        ids = {one["id"] for one in theirs}
        revisits = [one for one in theirs if one["type"] == "revisit"]
        self.assertEqual(len(revisits), 4)
        for one in revisits:
            self.assertEqual(one["profile"], "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest")
            original = originals[(one["refers_to_uri"], one["refers_to_date"])]
            self.assertEqual(original["declared"], one["declared"])
            self.assertEqual(original["payload_sha1"], one["declared"])
            self.assertIn(one["status"], (200, 404))
            self.assertEqual(one["payload_bytes"], 0)
        for one in theirs:
            for concurrent in one["concurrent_to"] or []:
                self.assertIn(concurrent, ids, "requests and metadata name the record that was written")
        cli = SCRATCH / "node_modules" / "warcio" / "dist" / "cli.js"
        index = subprocess.run(["node", str(cli), "cdx-index", str(path)], capture_output=True, text=True, timeout=60)
        self.assertEqual(index.returncode, 0, index.stderr)
        mine = crawls.run(PROGRAM, "warc", "index", "--style", "warcio", path).stdout.splitlines()
        values = lambda lines: sorted(line.split(" ", 2)[1:] for line in lines)  # keys of directories differ in the last "/"
        self.assertEqual(values(index.stdout.splitlines()), values(mine))


if __name__ == "__main__":
    unittest.main()
