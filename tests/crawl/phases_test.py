"""Crawls of the simulated web that are divided by phases (docs/shards.md), on sockets.

usage: phases_test.py PORTOLAN

  - `crawl --nodes 2`: two nodes take turns at all hosts, by the clock of the nats-server between them. Everything that
    can be reached is fetched and archived once, and no gap is too short;
  - one process with two shards, stopped and resumed: likewise;
  - what phases cannot do is refused in one line that says what to change.
"""

import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

import clusters
import crawls

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None
LIMIT = 150  # seconds, for anything
GAP = "20ms"
IP_GAP = "2ms"
# A fetch and the delay after it take at most 0.9 s, clocks may be wrong by 150 ms.
PHASES = ["--partition", "phase", "--set", "crawl.phase_period=2400ms", "--set", "crawl.phase_gap=1500ms", "--set",
          "fetch.total_timeout=800ms", "--set", "fetch.connect_timeout=500ms", "--set",
          "fetch.first_byte_timeout=700ms", "--set", "politeness.max_delay=100ms"]
TURN = r"phases +2, in turns by the clock: (now hosts of group [01].*, swap in|between two turns, the next one begins in)"
WORLD = ["--profile", "small", "--seed", 5, "--set", "pages=60", "--set", "domains=4", "--set", "https=0"]


def crawl_flags(web, *more):
    return [*web.flags(), "--scope", "any", "--delay", GAP, "--ip-delay", IP_GAP, "--max-pages", "0", "--memory", "512M",
            "--set", "politeness.delay_factor=0", "--set", "checkpoint.interval=1s", *more]


class Phases(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="portolan-phases-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.directory = self.folder / "crawl"

    def start(self, *command):
        process = subprocess.Popen([str(part) for part in [PROGRAM, *command]], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        return process

    def status(self):
        done = crawls.run(PROGRAM, "status", self.directory)
        return done.stdout

    def judge(self, web, directories):
        """The oracle on all requests, and which hosts are in which archives."""
        time.sleep(0.5)  # the web writes its log a moment later
        judged = crawls.run(PROGRAM, "sim", "check", "--log", web.log, "--json", "--host-gap", GAP, "--ip-gap", IP_GAP,
                            "--crawl-delay", "--complete", timeout=LIMIT)
        account = json.loads(judged.stdout)
        self.assertEqual(account["violations"], 0, account["offences"])
        self.assertEqual(judged.returncode, 0, judged.stderr)
        captured = collections.Counter()
        shards_of = collections.defaultdict(set)
        for directory in directories:
            for _, _, values in crawls.captures(directory):
                captured[values["url"]] += 1
                if not values["url"].endswith("/robots.txt"):
                    shards_of[urllib.parse.urlsplit(values["url"]).netloc].add(directory)
            done = crawls.run(PROGRAM, "check", directory, "--json", timeout=LIMIT)
            self.assertEqual(done.returncode, 0, f"{directory}: {done.stdout} {done.stderr}")
        again = [url for url, count in captured.items() if count > 1 and not url.endswith("/robots.txt")]
        self.assertEqual(again, [], "URLs are in the archives twice")
        return shards_of

    @unittest.skipUnless(clusters.installed(), "nats-server is not installed")
    def test_two_nodes_take_turns_by_the_servers_clock(self):
        with crawls.Web(PROGRAM, self.folder, *WORLD) as web:
            began = time.monotonic()
            process = self.start("crawl", "--nodes", 2, "--dir", self.directory, "--json", "--quiet",
                                 *crawl_flags(web, *PHASES), *web.ready["seeds"])
            crawls.wait_until(lambda: re.search(TURN, self.status()), 30, "a node knows whose turn it is")
            out, error = process.communicate(timeout=LIMIT)
            seconds = time.monotonic() - began
            self.assertEqual(process.returncode, 0, error)
            summary = json.loads(out)
            self.assertEqual((summary["state"], summary["shards_done"]), ("done", 2))
            shards_of = self.judge(web, clusters.shard_dirs(self.directory))
        several = [host for host, shards in shards_of.items() if len(shards) == 2]
        # Which URLs are whose depends on the crawl's random key; divided by domains, no host has two shards.
        self.assertGreater(len(several), 0, "both nodes fetch from a host, in turns")
        for shard in summary["shards"]:
            phases = shard["status"]["phases"]
            self.assertEqual(phases["number"], 2)
            self.assertLessEqual(phases["error_ms"], 150)
        for log in self.directory.glob("node-*.log"):
            self.assertIn("the phases' clock is known", log.read_text())
        print(f"two nodes: {seconds:.1f} s", file=sys.stderr)

    def test_one_process_takes_turns_by_its_own_clock_and_goes_on_after_a_stop(self):
        with crawls.Web(PROGRAM, self.folder, *WORLD) as web:
            began = time.monotonic()
            flags = crawl_flags(web, *PHASES, "--set", "crawl.shards=2")
            process = self.start("crawl", "--dir", self.directory, "--json", "--quiet", *flags, *web.ready["seeds"])
            crawls.wait_until(lambda: re.search(TURN, self.status()), 30, "it fetches in turns")
            process.terminate()
            out, error = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, error)
            self.assertEqual(json.loads(out)["state"], "stopped")
            for change, stays in [("crawl.phase_period=4s", 'crawl.phase_period: stays "2400ms"'),
                                  ("crawl.phases=3", "crawl.phases: stays 0"),
                                  ("crawl.partition=domain", 'crawl.partition: stays "phase"')]:
                refused = crawls.run(PROGRAM, "resume", self.directory, "--set", change)
                self.assertEqual(refused.returncode, 2, refused.stderr)
                self.assertIn(stays, refused.stderr)
            process = self.start("resume", self.directory, "--json", "--quiet")
            out, error = process.communicate(timeout=LIMIT)
            self.assertEqual(process.returncode, 0, error)
            done = json.loads(out)
            self.assertEqual((done["state"], done["shards"], done["phases"]["number"]), ("done", 2, 2))
            print(f"one process: {time.monotonic() - began:.1f} s", file=sys.stderr)
            self.judge(web, [self.directory])
            why = crawls.run(PROGRAM, "why", self.directory, web.ready["seeds"][0])
            self.assertIn("done: 200", why.stdout)
        self.assertRegex(self.status(), r"phases +2, in turns by the clock")

    def test_what_phases_cannot_do_is_refused_in_one_line(self):
        limits = self.folder / "limits.toml"
        limits.write_text('[[rule]]\naction = "limit"\npages_per_host = 10\n')
        short = ["--set", "fetch.total_timeout=20s", "--set", "politeness.max_delay=10s"]
        bad = [
            (["--set", "budget.enabled=true"], "budget.enabled: must be false"),
            (["--set", "traps.enabled=true"], "traps.enabled: must be false"),
            (["--set", "content.duplicates=skip"], "content.duplicates: must be"),
            (["--rules", limits], f"{limits}:1: limits pages"),
            (["--set", "rules.rule=[{action='limit', pages_per_host=10}]"], "rules.rule: cannot limit pages"),
            ([*short, "--set", "crawl.phase_gap=30s"], "crawl.phase_gap: must be at least 30.4 s"),
            ([*short, "--set", "crawl.phase_gap=1m", "--set", "crawl.phase_period=1m"],
             "crawl.phase_period: must be longer than the gap of 1 m 00 s"),
            ([*short, "--set", "crawl.phase_period=34s"], "must be longer than the gap of 34 s"),
            (["--set", "crawl.shards=3", "--memory", "512M", "--set", "crawl.phases=2"],
             "crawl.phases: 2 are too few for 3 shards"),
            (["--set", "crawl.phase_period=500ms"], "crawl.phase_period: must be from"),
        ]
        for flags, message in bad:
            with self.subTest(message):
                done = crawls.run(PROGRAM, "crawl", "--dir", self.directory, "--partition", "phase", *flags,
                                  "http://site.test/")
                self.assertIn(done.returncode, (2, 3), done.stderr)
                self.assertIn(message, done.stderr)
                self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        for flags, message in [(["--set", "crawl.phases=2"], "crawl.phases: is used only with"),
                               (["--partition", "phases"], "'phases' is not one of domain, phase")]:
            done = crawls.run(PROGRAM, "crawl", "--dir", self.directory, *flags, "http://site.test/")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)

    @unittest.skipUnless(clusters.installed(), "nats-server is not installed")
    def test_a_cluster_that_could_not_keep_its_phases_is_not_made(self):
        limits = self.folder / "limits.toml"
        limits.write_text('[[rule]]\naction = "limit"\npages_per_host = 10\n')
        with clusters.Nats(self.folder / "nats") as nats:
            for flags, message in [(["--set", "crawl.phases=2"], "crawl.phases: 2 are too few for 3 shards"),
                                   (["--set", "budget.enabled=true"], "budget.enabled: must be false"),
                                   (["--rules", limits], "limits pages")]:
                done = crawls.run(PROGRAM, "cluster", "init", "--nats", nats.url, "--name", "test", "--shards", 3,
                                  "--partition", "phase", *flags, "http://site.test/")
                self.assertIn(done.returncode, (2, 3), done.stderr)
                self.assertIn(message, done.stderr)
                self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
            made = crawls.run(PROGRAM, "cluster", "init", "--nats", nats.url, "--name", "test", "--shards", 3,
                              "--partition", "phase", "http://site.test/")
            self.assertEqual(made.returncode, 0, made.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[1:])
