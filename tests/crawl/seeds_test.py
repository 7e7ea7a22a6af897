"""Many seeds: they are kept in the crawl's state, take no memory, and are offered once.

usage: seeds_test.py PORTOLAN
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import tomllib
import unittest

import crawls
from little_site import QUICK, Site

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None
USAGE, BAD_INPUT = 2, 3
MANY = 300_000


class Seeds(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.dir = self.folder / "crawl"
        self.list = self.folder / "list.txt"

    def site(self, count):
        site = Site({"/robots.txt": "", **{f"/{i}": f"<p>page {i}" for i in range(count)}})
        self.addCleanup(site.close)
        return site

    def run_verb(self, *arguments):
        return crawls.run(PROGRAM, "run", self.dir, "--quiet", *QUICK, *arguments)

    def settings(self):
        return tomllib.loads((self.dir / "crawl.toml").read_text())["crawl"]

    def pages(self):
        return crawls.status(PROGRAM, self.dir)["pages"]

    def test_more_than_a_hundred_are_not_in_the_settings(self):
        site = self.site(160)
        self.list.write_text("".join(f"{site.url}/{i}\n" for i in range(100)))
        self.assertEqual(self.run_verb("--seeds", self.list).returncode, 0)
        self.assertEqual(len(self.settings()["seeds"]), 100)
        self.assertEqual(self.settings()["seed_list"], "")
        self.assertEqual(self.pages(), 100)

        # The same file with more: they follow. What was fetched is not fetched again.
        self.list.write_text("".join(f"{site.url}/{i}\n" for i in range(150)))
        for _ in range(2):
            done = self.run_verb("--seeds", self.list)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.settings()["seeds"], [])
            self.assertEqual(self.pages(), 150)
        listed = self.settings()["seed_list"]
        self.assertRegex(listed, rf"\A\d+ seeds from {self.list}\Z")
        done = self.run_verb("--seeds", self.list, f"{site.url}/155")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.pages(), 151)
        self.assertEqual(len([path for path in site.asked if path != "/robots.txt"]), 151)  # each once

        self.assertEqual(crawls.run(PROGRAM, "resume", self.dir, "--quiet").returncode, 0)
        checked = crawls.run(PROGRAM, "check", self.dir)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        why = crawls.run(PROGRAM, "why", self.dir, f"{site.url}/149")
        self.assertEqual(why.returncode, 0, why.stdout + why.stderr)
        outside = crawls.run(PROGRAM, "why", self.dir, "http://elsewhere.test/")
        self.assertIn("scope", outside.stdout)

    def test_the_settings_list_is_the_crawls_own(self):
        done = self.run_verb("--set", "crawl.seed_list=mine", "http://a.test/")
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("crawl.seed_list", done.stderr)

    def test_scope_is_that_of_the_listed_seeds(self):
        site = Site({"/robots.txt": "", **{f"/a/{i}": f'<a href="/a/x{i}">in</a><a href="/b/{i}">out</a>' for i in range(120)},
                     **{f"/a/x{i}": "<p>in" for i in range(120)}, **{f"/b/{i}": "<p>out" for i in range(120)}})
        self.addCleanup(site.close)
        self.list.write_text("".join(f"{site.url}/a/{i}\n" for i in range(120)))
        for scope, expected in (("prefix", 240), ("host", 360), ("domain", 360)):
            self.dir = self.folder / scope
            done = self.run_verb("--scope", scope, "--seeds", self.list)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.pages(), expected, scope)
            self.assertEqual(self.settings()["seed_list"], f"120 seeds from {self.list}")

    def test_bad_lines_far_down_are_named_or_refused(self):
        site = self.site(130)
        self.list.write_text("".join(f"{site.url}/{i}\n" for i in range(120)) + "not a url\n" + f"{site.url}/125\n")
        refused = self.run_verb("--strict", "--seeds", self.list)
        self.assertEqual(refused.returncode, BAD_INPUT)
        self.assertIn(f"{self.list}:121: 'not a url'", refused.stderr)
        self.assertFalse(self.dir.exists())  # what cannot begin leaves nothing behind
        done = crawls.run(PROGRAM, "run", self.dir, *QUICK, "--seeds", self.list)
        self.assertIn(f"{self.list}:121: 'not a url'", done.stderr)
        self.assertEqual(self.pages(), 121)

    def peak(self, *arguments):
        """Runs a crawl and says how many KiB of memory it took at most."""
        command = [str(part) for part in (PROGRAM, "crawl", "--quiet", *QUICK, "--memory", "128M", *arguments)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        error = process.stderr.read()
        process.stderr.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0, error)
        return usage.ru_maxrss

    def test_many_take_no_memory(self):
        class Everything(dict):
            def get(self, path, default=None):
                return "" if path == "/robots.txt" else "<p>a page"

        site = self.site(1)
        site.pages = Everything()
        self.list.write_text("".join(f"{site.url}/{i}?a-query-that-makes-the-seed-about-seventy-bytes-long\n"
                                     for i in range(MANY)))
        one = self.peak("--dir", self.folder / "one", "--max-pages", "3", f"{site.url}/1")
        many = self.peak("--dir", self.dir, "--max-pages", "3", "--seeds", self.list)
        self.assertEqual(self.settings()["seed_list"], f"{MANY} seeds from {self.list}")
        self.assertLess((self.dir / "crawl.toml").stat().st_size, 100_000)
        # 600 bytes for each would be 180 MB. The tables that 128 MB pay for are filled further by many URLs.
        self.assertLess(many, one + 64 * 1024)

    def test_killed_while_they_are_read(self):
        site = self.site(150)
        self.list.write_text("".join(f"{site.url}/{i}\n" for i in range(150)))
        read, write = os.pipe()
        command = [str(part) for part in (PROGRAM, "run", self.dir, "--quiet", *QUICK, "--seeds", "-")]
        process = subprocess.Popen(command, stdin=read, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read)
        os.write(write, self.list.read_bytes() + b"# more to come\n" * 6000)  # more than is read at once
        crawls.wait_until((self.dir / "state/lock").exists, 60, "the crawl has begun to read")
        process.kill()
        process.wait(timeout=60)
        os.close(write)
        self.assertFalse((self.dir / "crawl.toml").exists())
        self.assertNotEqual(crawls.run(PROGRAM, "resume", self.dir).returncode, 0)
        done = self.run_verb("--seeds", self.list)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.pages(), 150)


if __name__ == "__main__":
    unittest.main()
