"""Looking into a crawl with budgets: portolan domains and portolan why.

usage: look_test.py PORTOLAN

The web has farms of spam and giant sites; the crawl ends at a limit, so that URLs wait in every place.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import crawls

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None
USAGE, BAD_INPUT = 2, 3
WORLD = ["--profile", "spam", "--seed", "3", "--set", "domains=60", "--set", "pages=3000", "--set", "spam_domains=30",
         "--set", "giant_pages=1000", "--set", "robots_rules=1"]
BUDGETS = ["--set", "budget.enabled=true", "--set", "budget.function=ranked top=50 least=2 most=40",
           "--set", "budget.queues=8"]
PACE = ["--scope", "any", "--delay", "20ms", "--ip-delay", "2ms", "--set", "politeness.delay_factor=0",
        "--contact", "http://localhost/", "--connections", "8"]
PLACES = {"unknown", "unchecked", "budget_queue", "budget_failed", "robots", "front", "back", "done", "denied"}
# The URL of a record: what is before it, the page on which it was found, has no blank behind it.
LINK = re.compile(r"https?://[a-z0-9.:-]+/(?:(?!https?://)[^\"<>\s])*(?=[\"<>\s]|$)")


def files(directory):
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in directory.rglob("*") if path.is_file()}


class Look(unittest.TestCase):
    SHARDS = 1

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.web = crawls.Web(PROGRAM, cls.folder, *WORLD)
        cls.addClassCleanup(cls.web.__exit__)
        cls.dir = cls.folder / "crawl"
        done = crawls.run(PROGRAM, "crawl", "--dir", cls.dir, *cls.web.flags(), *BUDGETS, *PACE, "--json", "--quiet",
                          "--set", f"crawl.shards={cls.SHARDS}", "--max-pages", "400", *cls.web.ready["seeds"])
        assert done.returncode == 0, done.stderr
        cls.report = json.loads(done.stdout)
        cls.files = files(cls.dir)

    def tearDown(self):
        self.assertEqual(files(self.dir), self.files, "looking changed a file")

    def ask(self, *command):
        done = crawls.run(PROGRAM, *command, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def why(self, url):
        answer = self.ask("why", self.dir, url)
        self.assertIn(answer["where"], PLACES)
        for key in ("url", "in_scope", "seen", "domain", "queues_ahead", "log", "verdict", "checkpoint"):
            self.assertIn(key, answer)
        text = crawls.run(PROGRAM, "why", self.dir, url)
        self.assertEqual(text.returncode, 0, text.stderr)
        self.assertEqual(text.stdout.splitlines()[-1], answer["verdict"])
        self.assertIn(answer["checkpoint"], text.stdout)
        return answer

    def test_domains(self):
        listing = self.ask("domains", self.dir, "--top", "100000")
        domains, totals = listing["domains"], listing["totals"]
        self.assertGreater(len(domains), 30)
        self.assertEqual(len(domains), totals["domains"])
        # Whether a round of the links came in time depends on speed; that it is reported does not.
        counted = totals["in_degrees"] > 0
        self.assertEqual(listing["reputation"], "counted" if counted else "waiting")
        told = crawls.run(PROGRAM, "domains", self.dir).stdout
        self.assertEqual("Reputation has not been counted yet" in told, not counted)
        order = [(-row["in_degree"], -row["urls"]) for row in domains]
        self.assertEqual(order, sorted(order))
        for key in ("urls", "fetched", "waiting", "failed"):
            self.assertEqual(sum(row[key] for row in domains), totals[key], key)
        self.assertEqual(sum(row["in_degree"] for row in domains), totals["in_degrees"])
        for row in domains:
            self.assertEqual(row["fetched"] + row["waiting"] + row["failed"], row["urls"], row)
            self.assertGreaterEqual(row["budget"], 2)
        self.assertEqual(totals["fetched"], self.report["pages"])
        ended = sum(self.report["done"].values()) + self.report["robots_denied"] + self.report["robots_unreachable"]
        self.assertEqual(totals["fetched"] + totals["failed"], ended)
        self.assertGreater(totals["waiting"], 100)
        self.assertTrue(totals["complete"])

        by_urls = self.ask("domains", self.dir, "--by", "urls", "--top", "5")
        self.assertEqual([row["urls"] for row in by_urls["domains"]],
                         sorted((row["urls"] for row in domains), reverse=True)[:5])
        self.assertEqual(by_urls["totals"], totals)
        name = by_urls["domains"][1]["domain"]
        filtered = self.ask("domains", self.dir, "--filter", name)["domains"]
        self.assertIn(by_urls["domains"][1], filtered)
        self.assertTrue(all(name in row["domain"] for row in filtered))
        self.assertEqual(self.ask("domains", self.dir, "--filter", "no such name")["domains"], [])

        table = crawls.run(PROGRAM, "domains", self.dir, "--top", "3").stdout.splitlines()
        self.assertEqual(len(table), 6 if counted else 8)
        self.assertTrue(table[0].startswith("domain "))
        self.assertTrue(table[4].startswith(f"all {totals['domains']} domains"))

    def test_fetched(self):
        lines = [line for line in crawls.log_lines(self.dir) if line["kind"] == "page" and line.get("status") == 200]
        line = lines[len(lines) // 2]
        answer = self.why(line["url"])
        self.assertEqual((answer["where"], answer["seen"], answer["in_scope"]), ("done", True, True))
        self.assertEqual(answer["log"][-1], line)
        self.assertIn("200", answer["verdict"])
        self.assertIn(line["time"], answer["verdict"])
        self.assertGreater(answer["domain"]["fetched"], 0)

    def sections(self):
        """The manifest: section → (files, numbers)."""
        found = {}
        for line in max(self.dir.glob("state/MANIFEST-*")).read_text().splitlines():
            word, _, rest = line.partition(" ")
            if word == "section":
                found[rest.split()[0]] = files_of, numbers = [], {}
            elif word == "file":
                files_of.append(rest.split()[0])
            elif word == "number":
                numbers[rest.split()[0]] = int(rest.split()[1])
        return found

    def last_of(self, queue):
        """The URL at the end of a queue, None for an empty one."""
        names, numbers = self.sections()[queue]
        if numbers["pushed"] == numbers["popped"]:
            return None
        text = crawls.run(PROGRAM, "disk", "dump", self.dir / "state" / names[-1], "--limit", "1000000").stdout
        return LINK.findall(text)[-1]

    def test_waiting(self):
        sections = self.sections()
        beast = sections["beast"][1]
        asked = collections.Counter()
        for queue in sections:
            ring = re.fullmatch(r"beast-q(\d+)", queue)
            place = ("budget_failed" if queue == "beast-failed" else "budget_queue" if ring else
                     "robots" if queue in ("robots_qr", "robots_qu") else
                     "front" if re.fullmatch(r"frontier-front\d+", queue) else None)
            url = self.last_of(queue) if place else None
            if url is None:
                continue
            asked[place] += 1
            answer = self.why(url)
            self.assertEqual((answer["url"], answer["where"], answer["seen"]), (url, place, True), queue)
            self.assertTrue(answer["verdict"].startswith("waiting"), answer["verdict"])
            self.assertGreater(answer["domain"]["waiting"], 0)
            ahead = (int(ring[1]) - beast["tick"]) % beast["ring"] if ring else None
            self.assertEqual(answer["queues_ahead"], ahead)
            if ring and ahead > 1:
                self.assertIn(f"{ahead} queues ahead", answer["verdict"])
        # What is being judged, for the first time or again, is on its way to a queue.
        names, numbers = sections["star_domains"]
        for batch in (numbers["sealed"], numbers["open"]):
            if batch == 0 or numbers[f"batch.{batch}.taken"] > 0:
                continue
            tuples = self.dir / "state" / f"star_domains-{batch:06}.tuples"
            urls = LINK.findall(crawls.run(PROGRAM, "disk", "dump", tuples, "--limit", "1000000").stdout)
            if urls:
                asked["star"] += 1
                answer = self.why(urls[-1])
                self.assertEqual((answer["where"], answer["queues_ahead"]), ("budget_queue", None))
                self.assertEqual(answer["verdict"], "waiting: the budget of its domain is being looked up")
        self.assertGreater(asked["budget_queue"] + asked["budget_failed"] + asked["star"], 0, sections["beast"])

    def test_back_queues(self):
        snapshot = max(self.dir.glob("state/frontier-*.snapshot"))
        text = crawls.run(PROGRAM, "disk", "dump", snapshot, "--limit", "100000").stdout
        urls = [url for url in LINK.findall(text) if not url.endswith("/robots.txt")]
        self.assertTrue(urls)
        for url in urls[::max(1, len(urls) // 5)]:
            self.assertIn(self.why(url)["where"], {"back", "front"}, url)

    def test_denied(self):
        denied = [line["url"] for line in crawls.log_lines(self.dir) if line["outcome"] == "robots_denied"]
        self.assertTrue(denied, "this web forbids nothing: choose another seed")
        answer = self.why(denied[0])
        self.assertEqual((answer["where"], answer["robots_allowed"]), ("denied", False))

    def test_never_found(self):
        seed = self.web.ready["seeds"][0]
        answer = self.why(seed.rstrip("/") + "/no/page/links/here")
        self.assertEqual((answer["where"], answer["seen"], answer["log"]), ("unknown", False, []))
        self.assertTrue(answer["verdict"].startswith("never found"))
        answer = self.why("http://nobody.links.example/")
        self.assertEqual((answer["where"], answer["domain"]), ("unknown", None))

    def test_nonsense(self):
        for url in ("not a url", "ftp://example.org/", "http://"):
            done = crawls.run(PROGRAM, "why", self.dir, url)
            self.assertEqual((done.returncode, done.stdout), (USAGE, ""), done.stderr)
            self.assertRegex(done.stderr, r"\Aportolan: [^\n]+\n\Z")
        for command in (["why", self.folder, "http://example.org/"], ["domains", self.folder]):
            done = crawls.run(PROGRAM, *command)
            self.assertEqual(done.returncode, BAD_INPUT, done.stderr)
            self.assertIn("no crawl here", done.stderr)
        self.assertEqual(crawls.run(PROGRAM, "domains", self.dir, "--by", "colour").returncode, USAGE)


class Running(unittest.TestCase):
    def test_asked_while_files_come_and_go(self):
        with tempfile.TemporaryDirectory() as folder:
            directory = pathlib.Path(folder) / "crawl"
            with crawls.Web(PROGRAM, folder, *WORLD) as web:
                seed = web.ready["seeds"][0]
                process = subprocess.Popen([str(part) for part in (
                    PROGRAM, "crawl", "--dir", directory, "--quiet", *web.flags(), *BUDGETS, *PACE,
                    "--set", "checkpoint.interval=1s", "--max-time", "6s", seed)],
                    stdout=subprocess.DEVNULL)
                try:
                    crawls.wait_until(lambda: list(directory.glob("state/MANIFEST-*")), 30, "the first checkpoint")
                    asked = 0
                    while process.poll() is None:
                        listing = crawls.run(PROGRAM, "domains", directory, "--json")
                        self.assertEqual(listing.returncode, 0, listing.stderr)
                        totals = json.loads(listing.stdout)["totals"]
                        self.assertEqual(totals["fetched"] + totals["failed"] + totals["waiting"], totals["urls"])
                        why = crawls.run(PROGRAM, "why", directory, seed, "--json")
                        self.assertEqual(why.returncode, 0, why.stderr)
                        asked += 1
                    self.assertEqual(process.returncode, 0)
                    self.assertGreater(asked, 5)
                    self.assertEqual(json.loads(why.stdout)["where"], "done")
                finally:
                    process.kill()
                    process.wait(timeout=30)


class LookAtShards(Look):
    """The same crawl in three shards, each with domains of its own."""

    SHARDS = 3

    def test_shards_are_named_and_stay(self):
        self.assertEqual(self.report["shards"], 3)
        urls = [line["url"] for line in crawls.log_lines(self.dir) if not line["url"].endswith("/robots.txt")]
        shards = collections.Counter(self.why(url)["shard"] for url in urls[:60])
        self.assertEqual(set(shards), {0, 1, 2})
        text = crawls.run(PROGRAM, "why", self.dir, urls[0]).stdout
        self.assertRegex(text, r"\n  shard    [123] of 3\n")
        self.assertIn("\n  shards     3\n", crawls.run(PROGRAM, "status", self.dir).stdout)
        refused = crawls.run(PROGRAM, "resume", self.dir, "--set", "crawl.shards=2")
        self.assertEqual(refused.returncode, USAGE, refused.stderr)
        self.assertIn("crawl.shards: stays 3", refused.stderr)
        checked = self.ask("check", self.dir)
        self.assertTrue(checked["ok"], checked)


class WithoutBudgets(unittest.TestCase):
    def test_scope_and_running(self):
        """A crawl of one domain, without budgets, while it runs."""
        with tempfile.TemporaryDirectory() as folder:
            directory = pathlib.Path(folder) / "crawl"
            with crawls.Web(PROGRAM, folder, "--profile", "small", "--seed", "2") as web:
                seed = web.ready["seeds"][0]
                process = subprocess.Popen([str(part) for part in (
                    PROGRAM, "crawl", "--dir", directory, "--quiet", "--delay", "300ms", *web.flags(),
                    "--set", "checkpoint.interval=1s", seed)], stdout=subprocess.DEVNULL)
                try:
                    def ask(url):
                        done = crawls.run(PROGRAM, "why", directory, url, "--json")
                        return json.loads(done.stdout) if done.returncode == 0 else {}

                    crawls.wait_until(lambda: ask(seed).get("where") == "done", 60, "the seed in the log")
                    self.assertTrue(ask(seed)["in_scope"])
                    answer = ask("http://elsewhere.example/")
                    self.assertEqual((answer["where"], answer["in_scope"], answer["domain"]), ("unknown", False, None))
                    self.assertTrue(answer["verdict"].startswith("out of scope"))
                    done = crawls.run(PROGRAM, "domains", directory)
                    self.assertEqual(done.returncode, BAD_INPUT)
                    self.assertRegex(done.stderr, r"\Aportolan: [^\n]*no budgets[^\n]*\n\Z")
                finally:
                    process.terminate()
                    process.wait(timeout=30)


if __name__ == "__main__":
    unittest.main()
