"""Rules and block lists as a person uses them: what is fetched, what the log, why and the summary say, and mistakes.

usage: rules_test.py PORTOLAN
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import crawls
from little_site import Site

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None
BAD_INPUT = 3
SEED = "http://127.0.0.1:99/"  # nobody is there


class Rules(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.dir = self.folder / "crawl"

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def site(self, pages, **more):
        site = Site(pages, **more)
        self.addCleanup(site.close)
        return site

    def crawl(self, *flags):
        done = crawls.run(PROGRAM, "crawl", "--mine", "--dir", self.dir, "-q", *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def why(self, url):
        done = crawls.run(PROGRAM, "why", self.dir, url)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def lines(self):
        return {line["url"]: line for line in crawls.log_lines(self.dir) if line["kind"] != "robots"}


class Mistakes(Rules):
    def refuse(self, words, *flags):
        done = crawls.run(PROGRAM, "crawl", "--dir", self.dir, *flags, SEED, timeout=60)
        self.assertEqual(done.returncode, BAD_INPUT, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Aportolan: [^\n]+\n\Z")
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse((self.dir / "state").exists(), "nothing was begun")

    def test_a_file_of_rules_names_file_line_and_what_is_meant(self):
        for text, line, words in [
            ('[[rule]]\naction = "exclude"\nhots = "a.org"\n', 3, "did you mean 'host'?"),
            ('[[rule]]\naction = "exclude"\npattern = "a(b"\n', 3, "is not a regular expression: missing )"),
            ('[[rule]]\naction = "forbid"\n', 2, "is not one of include, exclude, limit, rate, priority"),
            ('[[rule]]\naction = "exclude"\nhost = "a.org"\n\n[[rule]]\naction = "include"\nhost = "a.org"\n', 5,
             "contradicts rule 1"),
            ('[[rule]]\naction = "exclude"\ndomain = "a.org"\n\n[[rule]]\naction = "include"\nhost = "w.a.org"\n', 5,
             "never decides anything: rule 1"),
            ('[[rule]]\naction = "rate"\ndelay = "1h"\n', 1, "politeness.max_delay"),
            ('[[rule]]\naction = \n', 2, ""),
        ]:
            path = self.write("r.toml", text)
            self.refuse([f"{path}:{line}: ", words], "--rules", path)
        self.refuse(["rules.file", "none.toml"], "--rules", self.folder / "none.toml")

    def test_rules_among_the_settings_too(self):
        path = self.write("my.toml", '[rules]\n\nrule = [\n  { action = "exclude", host = "a.org" },\n'
                                     '  { action = "exclude", patern = "x" },\n]\n')
        done = crawls.run(PROGRAM, "crawl", "--config", path, "--dir", self.dir, SEED, timeout=60)
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertIn(f"{path}:5: unknown key 'patern' in a rule: did you mean 'pattern'?", done.stderr)

    def test_a_block_list_that_is_none(self):
        path = self.write("b.txt", "a.example\n<html>\n")
        self.refuse([f"{path}:2: '<html>' is not a line of a block list"], "--block-list", path)
        self.refuse(["is empty"], "--block-list", self.write("empty.txt", ""))


class Crawls(Rules):
    def test_what_rules_keep_out_is_named_everywhere(self):
        links = "".join(f"<a href='/p{i}'>x</a>" for i in range(20))
        site = self.site({
            "/": f"<title>home</title><a href='/cal/2024'>c</a><a href='/a.ZIP'>z</a><a href='/img'>i</a>{links}",
            "/img": (200, {"Content-Type": "image/gif"}, "GIF89a" + "\x01" * 50),
            # Without links: one that is found when the limit is reached would count, too.
            **{f"/p{i}": f"<title>{i}</title>" for i in range(20)},
        })
        rules = self.write("rules.toml", "\n".join([
            "[[rule]]", "action = 'exclude'", "pattern = '/cal/[0-9]{4}'",
            "[[rule]]", "action = 'exclude'", "extension = 'zip'",
            "[[rule]]", "action = 'exclude'", "type = 'image/*'",
            "[[rule]]", "action = 'priority'", "pattern = '/img$'", "priority = 0",
            "[[rule]]", "action = 'limit'", "pages_per_host = 8"]) + "\n")
        done = self.crawl("--rules", rules, "--json", site.url + "/")
        summary = json.loads(done.stdout)
        self.assertEqual(summary["pages"], 8)
        self.assertEqual((summary["excluded_by_rule"], summary["dropped"]), (2, 1))
        self.assertEqual(summary["over_limit"], 20 + 2 - 8)
        self.assertIn("1 answer that a rule excludes by size or type (rules)",
                      [left_out["words"] for left_out in summary["left_out"]])
        self.assertNotIn("/cal/2024", site.asked)
        self.assertNotIn("/a.ZIP", site.asked)
        self.assertIn("/img", site.asked)
        self.assertEqual(sum(path != "/robots.txt" for path in site.asked), 8)
        lines = self.lines()
        self.assertEqual(lines[site.url + "/img"]["rule"], f"rule 3 at {rules}:7")
        self.assertTrue(lines[site.url + "/img"]["dropped"])
        ends = [line for line in lines.values() if line["outcome"] == "over_limit"]
        self.assertEqual(len(ends), 14)
        self.assertEqual({line["rule"] for line in ends}, {f"rule 5 at {rules}:14"})
        self.assertNotIn(site.url + "/img", {capture[2]["url"] for capture in crawls.captures(self.dir)})
        self.assertIn(f"excluded by rule 1 at {rules}:1", self.why(site.url + "/cal/2024"))
        self.assertIn(f"excluded by rule 2 at {rules}:4", self.why(site.url + "/a.ZIP"))
        self.assertIn(f"not kept, and its links were not followed: rule 3 at {rules}:7", self.why(site.url + "/img"))
        self.assertIn(f"limited by rule 5 at {rules}:14: at most 8 pages per host", self.why(site.url + "/p7"))

    def test_new_rules_hold_for_what_waits_in_a_resumed_crawl(self):
        site = self.site({"/": "".join(f"<a href='/p{i}'>x</a>" for i in range(40)),
                          **{f"/p{i}": f"<title>{i}</title>" for i in range(40)}})
        self.crawl("--max-pages", "5", site.url + "/")
        rules = self.write("later.toml", "[[rule]]\naction = 'exclude'\npattern = '[13579]$'\n")
        site.asked.clear()
        done = crawls.run(PROGRAM, "resume", self.dir, "--rules", os.path.relpath(rules, self.folder), "-q",
                          "--max-pages", "100", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([path for path in site.asked if path[-1] in "13579"], [])
        self.assertGreater(len(site.asked), 10)
        outcomes = [line["outcome"] for line in crawls.log_lines(self.dir)]
        self.assertGreater(outcomes.count("excluded_by_rule"), 10)
        self.assertIn(f"{rules}:1 excluded it", self.why(site.url + "/p39"))

    def test_a_block_list_is_read_again_and_garbage_is_not(self):
        pages = {f"/p{i}": f"<title>{i}</title><a href='/p{i + 1}'>next</a>" for i in range(2000)}
        site = self.site({"/": "<a href='/p0'>first</a>", **pages}, slow=0.05)
        blocked = self.write("blocked.txt", "# nobody yet\n")
        with subprocess.Popen([PROGRAM, "crawl", "--mine", "--dir", self.dir, "--block-list", blocked, "-q",
                               site.url + "/"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
            crawls.wait_until(lambda: len(site.asked) > 5, 30, "the first pages")
            blocked.write_text("<!DOCTYPE html>\n<html>gone</html>\n")
            crawls.wait_until(lambda: crawls.status(PROGRAM, self.dir).get("block_list_trouble"), 30, "the warning")
            self.assertIn("blocked.txt:1: '<!DOCTYPE html>' is not a line",
                          crawls.status(PROGRAM, self.dir)["block_list_trouble"])
            asked = len(site.asked)
            crawls.wait_until(lambda: len(site.asked) > asked + 5, 30, "more pages: the last good list holds")
            blocked.write_text("0.0.0.0 ads.example 127.0.0.1\n")
            _, errors = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 0, errors)
        self.assertIn("is not usable: the last good lists stay in force", errors)
        self.assertLess(len(site.asked), 1000)
        self.assertIn(f"excluded by a block list: {blocked}:1", self.why(site.url + "/p1999"))


if __name__ == "__main__":
    unittest.main()
