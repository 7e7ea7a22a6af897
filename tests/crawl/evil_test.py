"""A web with every fault, over HTTP, HTTPS and HTTP/2: the crawl continues, obeys the rules, and reports the result of
each URL.

usage: evil_test.py PORTOLAN [PAGES]
"""

import collections
import json
import pathlib
import sys
import tempfile
import unittest

import crawls

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None
PAGES = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 6000

# Faults ten times as frequent as in the profile, and limits that end a tarpit within seconds; but not so short that the
# simulated web, on a busy machine or under a sanitizer, answers later than that: what it sent it counts as fetched.
WORLD = {"https": 0.4, "cut_keep_alive": 0.1, "fault_reset": 0.02, "fault_reset_in_body": 0.02, "fault_close_early": 0.02,
         "fault_empty_reply": 0.02, "fault_slow_first_byte": 0.005, "fault_tarpit": 0.003, "fault_endless": 0.002,
         "fault_long_length": 0.02, "fault_short_length": 0.02, "fault_header_flood": 0.01, "fault_garbage": 0.02,
         "fault_http09": 0.02, "fault_bad_chunks": 0.02, "bomb": 0.003, "server_error": 0.03}
SETTINGS = {"fetch.total_timeout": "8s", "fetch.first_byte_timeout": "6s", "fetch.connect_timeout": "6s",
            "fetch.speed_window": "1s", "fetch.dns_timeout": "300ms", "fetch.dns_tries": "2", "fetch.max_body": "1M",
            "politeness.max_back_off": "2s"}


class Evil(unittest.TestCase):
    def test_evil_world(self):
        with tempfile.TemporaryDirectory() as folder:
            directory = pathlib.Path(folder) / "evil"
            flags = [flag for key, value in WORLD.items() for flag in ("--world", f"{key}={value}")]
            flags += [flag for key, value in SETTINGS.items() for flag in ("--set", f"{key}={value}")]
            done = crawls.run(PROGRAM, "demo", "--world-profile", "evil", "--pages", PAGES, "--dir", directory, "--json",
                              *flags, timeout=max(150, PAGES / 50))
            self.assertNotEqual(done.stdout, "", f"exit code {done.returncode}: {done.stderr}")
            report = json.loads(done.stdout)
            lines = crawls.log_lines(directory)
            warcs = sorted(directory.glob("warc/*.warc.gz"))
            checked = crawls.run(PROGRAM, "warc", "check", *warcs)
            whole = crawls.run(PROGRAM, "check", directory)
        offences = report["oracle"]["offences"]
        offended = {offence["url"] for offence in offences}
        self.assertEqual(report["oracle_violations"], 0,
                         (offences, [line for line in lines if line["url"].split("://")[-1] in offended]))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(report["pages"], PAGES)
        self.assertEqual(checked.returncode, 0, checked.stdout)
        self.assertEqual(whole.returncode, 0, whole.stdout)

        # Every outcome has a class and is counted once.
        ended = [line for line in lines if line["kind"] != "robots" and not line.get("again")]
        fetched = [line for line in ended if not line["outcome"].startswith("robots_")]
        outcomes = collections.Counter(line["outcome"] for line in fetched)
        self.assertEqual(outcomes, report["outcomes"])
        self.assertEqual(sum(report["done"].values()), len(fetched))
        self.assertEqual(len(ended), len(fetched) + report["robots_denied"] + report["robots_unreachable"])
        self.assertEqual(report["done"]["local"], 0)
        self.assertNotIn("cancelled", outcomes)

        kinds = collections.Counter(line["outcome"] for line in lines)
        versions = collections.Counter(line.get("http") for line in lines)
        print(f"{report['pages']} pages in {report['seconds']:.1f} s, {report['peak_rss_bytes'] >> 20} MiB;",
              f"{len(kinds)} kinds of ends: {dict(kinds)}; {dict(versions)}")
        self.assertGreaterEqual(len(kinds), 14, kinds)
        self.assertTrue({"h2", "http/1.1", "http/1.0"} <= set(versions), versions)
        tls = [line for line in lines if line["url"].startswith("https:") and line["outcome"] == "answered"]
        self.assertGreater(len(tls), PAGES / 20)


if __name__ == "__main__":
    unittest.main()
