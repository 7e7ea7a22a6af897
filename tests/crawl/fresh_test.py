"""A crawl that comes back, on sockets: a day of a living web in half a minute, with servers of every bad habit, a kill in the
middle, and an archive whose revisit records resolve.

usage: fresh_test.py PORTOLAN SCRATCH

An hour takes a second: freshness.shortest is 1 s instead of an hour, and the web lives as much faster. The archive is also
read by an independent reader, warcio.js from npm (installed into SCRATCH as by tests/warc/read_back_test.py); that part
is skipped where it cannot be had.
"""

import collections
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import crawls

SCRATCH = pathlib.Path(sys.argv.pop(2)) if __name__ == "__main__" else None
PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None
WARC_TESTS = pathlib.Path(__file__).resolve().parent.parent / "warc"

HOUR = 1.0
DAY = 24 * HOUR
FIRST_S = 12  # until it is killed
DAYS = DAY / 86400  # of the web, in days of the world's parameters

WORLD = {"domains": 12, "pages": 300, "max_pages_per_host": 60, "change_days": 1.0 * DAYS, "boilerplate": 0.4,
         "boilerplate_days": 0.5 * DAYS, "born": 0.3, "born_days": 2 * DAYS, "dying": 0.3, "life_days": 1 * DAYS,
         "sitemaps": 1, "sitemap_entries": 20, "validators": 0.8, "etag_random": 0.15, "modified_now": 0.15,
         "modified_future": 0.1, "stuck_304": 0.1, "unasked_304": 0.02, "max_age": 0.5, "lastmod_lying": 0.3,
         "lastmod_absent": 0.2, "lastmod_time": 1, "changefreq": 0.5, "https": 0.3,
         "fault_reset": 0.02, "fault_close_early": 0.02, "fault_empty_reply": 0.02, "fault_garbage": 0.02,
         "fault_bad_chunks": 0.02, "server_error": 0.03}
SETTINGS = {"politeness.delay_factor": "0", "freshness.shortest": f"{HOUR:g}s", "freshness.least_gain": "50ms",
            "checkpoint.interval": "1s", "traps.enabled": "true", "fetch.total_timeout": "8s",
            "fetch.first_byte_timeout": "6s", "fetch.connect_timeout": "6s", "politeness.max_back_off": "1s"}


class Fresh(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.directory = cls.folder / "crawl"
        world = WORLD | {"epoch_s": int(time.time())}
        flags = [flag for key, value in world.items() for flag in ("--set", f"{key}={value}")]
        with crawls.Web(PROGRAM, cls.folder, "--profile", "evil", *flags) as web:
            settings = [flag for key, value in SETTINGS.items() for flag in ("--set", f"{key}={value}")]
            crawl = [PROGRAM, "crawl", "--continuous", "--dir", cls.directory, *web.flags(), "--scope", "any", "--delay",
                     "20ms", "--ip-delay", "0s", "--quiet", *settings, *web.ready["seeds"]]
            with subprocess.Popen([str(part) for part in crawl], stderr=subprocess.PIPE) as process:
                time.sleep(FIRST_S)
                process.send_signal(signal.SIGKILL)
                process.communicate()
            cls.after_kill = crawls.run(PROGRAM, "check", cls.directory)
            resumed = subprocess.Popen([str(part) for part in (PROGRAM, "resume", cls.directory, "--quiet", "--json",
                                                               "--max-time", f"{DAY + FIRST_S:g}s")],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(DAY / 2)
            cls.beside = crawls.run(PROGRAM, "fresh", "--json", cls.directory)
            cls.out, cls.errors = resumed.communicate(timeout=60)
            cls.code = resumed.returncode
            cls.hits = web.log
        cls.judged = crawls.run(PROGRAM, "sim", "check", "--log", cls.hits, "--host-gap", "20ms", "--gap-from-end",
                                "--connections", "1", "--freshness-every", f"{HOUR:g}s", "--json")
        cls.lines = crawls.log_lines(cls.directory)

    def test_a_day_is_crawled_without_a_violation(self):
        self.assertEqual(self.code, 0, self.errors)
        summary = json.loads(self.out)
        account = json.loads(self.judged.stdout)
        self.assertEqual(account["violations"], 0, self.judged.stdout[-3000:])
        self.assertEqual(summary["limit"], "max_time")
        self.assertGreater(summary["visits"]["changed"], 100)
        self.assertGreater(summary["gone"], 5, "that pages are gone is noticed")
        self.assertGreater(summary["conditional"], summary["revisits"] / 4)
        self.assertGreater(summary["not_modified"], 50)
        first = {line["url"] for line in self.lines if "visit" not in line and line.get("status", 0) // 100 == 2
                 and line["kind"] != "robots" and not line.get("again")}
        self.assertEqual(summary["pages"], summary["done"]["fetched"])
        # Broken answers (a coding that cannot be read) have a status as well.
        self.assertLessEqual(abs(summary["pages"] - len(first)), 0.02 * len(first), "a page counts once")
        # What 304s saved: the bytes of the last whole answer of the same URL.
        whole, saved, received = {}, 0, 0
        for line in self.lines:
            if line.get("status") == 200:
                whole[line["url"]] = line["bytes"]
                received += line["bytes"]
            elif line.get("visit") == "not_modified":
                saved += whole.get(line["url"], 0)
        self.assertGreater(saved, 0)
        share = summary["conditional"] / summary["revisits"]
        print(f"{summary['pages']} pages, {summary['revisits']} revisits, {100 * share:.0f} % conditional, "
              f"{summary['not_modified']} times 304, {saved >> 10} KiB not sent of {(saved + received) >> 10}; "
              f"freshness {account['freshness'][-1] if account.get('freshness') else '?'}, "
              f"discovery {account.get('discovery')}; visits {summary['visits']}")

    def test_a_kill_loses_no_schedule(self):
        self.assertEqual(self.after_kill.returncode, 0, self.after_kill.stdout + self.after_kill.stderr)
        checked = crawls.run(PROGRAM, "check", self.directory)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_fresh_and_why_say_what_is_believed(self):
        beside = json.loads(self.beside.stdout)
        self.assertTrue(beside["now"], "a crawl that runs is asked")
        after = json.loads(crawls.run(PROGRAM, "fresh", "--json", self.directory).stdout)
        for look in (beside, after):
            self.assertGreater(look["all"]["pages"], 100)
            self.assertGreater(look["all"]["fresh"], 0.1)
            self.assertLess(look["all"]["fresh"], 1)
            self.assertGreater(look["all"]["age_s"], 0)
            self.assertEqual(look["all"]["pages"], sum(row["pages"] for row in look["domains"]))
        text = crawls.run(PROGRAM, "fresh", "--top", "3", self.directory)
        self.assertEqual(text.returncode, 0, text.stderr)
        self.assertIn("believed to be up to date", text.stdout)
        visited = collections.Counter(line["url"] for line in self.lines if line.get("visit") in ("other", "not_modified"))
        url, _ = visited.most_common(1)[0]
        why = json.loads(crawls.run(PROGRAM, "why", "--json", self.directory, url).stdout)
        schedule = why["schedule"]
        self.assertGreater(schedule["visits"], 1)
        self.assertGreaterEqual(schedule["visits"], schedule["changes"])
        self.assertGreater(schedule["changes_per_day"], 0)
        told = crawls.run(PROGRAM, "why", self.directory, url)
        self.assertIn("changes per day", told.stdout)

    def test_another_reader_resolves_the_revisits(self):
        sys.path.insert(0, str(WARC_TESTS))
        import read_back_test
        SCRATCH.mkdir(parents=True, exist_ok=True)
        try:
            read_back_test.install(SCRATCH)
        except SystemExit:
            self.skipTest("warcio.js cannot be had")
        shutil.copy(WARC_TESTS / "read_back.mjs", SCRATCH / "read_back_fresh.mjs")
        records = []
        for path in sorted(self.directory.glob("warc/*.warc.gz")):
            done = subprocess.run(["node", str(SCRATCH / "read_back_fresh.mjs"), str(path)], capture_output=True, text=True,
                                  timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            records += [json.loads(line) for line in done.stdout.splitlines()]
        originals = {(one["uri"], one["date"]): one for one in records if one["type"] == "response"}
        kinds = collections.Counter()
        for one in records:
            if one["type"] != "revisit":
                continue
            profile = one["profile"].rsplit("/", 1)[-1]
            kinds[profile] += 1
            original = originals[(one["refers_to_uri"], one["refers_to_date"])]
            if profile == "identical-payload-digest":
                self.assertEqual(original["declared"], one["declared"])
        print(f"{len(records)} records, revisits {dict(kinds)}: all resolve")
        self.assertGreater(kinds["server-not-modified"], 50)
        self.assertGreater(kinds["identical-payload-digest"], 5)


if __name__ == "__main__":
    unittest.main()
