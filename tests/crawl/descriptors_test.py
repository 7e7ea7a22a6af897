"""Crawls with few descriptors: fewer connections from the start, fewer when they run out, and one clear line.

usage: descriptors_test.py PORTOLAN
"""

import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest

import crawls

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None
SYSTEM = 4
WORLD = ["--profile", "demo", "--seed", "4", "--set", "domains=80", "--set", "pages=1200", "--set", "https=0.3",
         "--set", "latency_ms=100"]


class FewDescriptors(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.dir = self.folder / "crawl"
        self.web = crawls.Web(PROGRAM, folder.name, *WORLD)
        self.addCleanup(self.web.__exit__)

    def start(self, limit, *flags, delay="5ms"):
        command = [PROGRAM, "crawl", *self.web.flags(), "--scope", "any", "--delay", delay, "--ip-delay", "1ms",
                   "--max-pages", "0", "--set", "politeness.delay_factor=0", "--dir", self.dir, "--json", *flags,
                   *self.web.ready["seeds"]]
        process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limit))
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        return process

    def judge(self, summary):
        self.assertEqual((summary["state"], summary["waiting"], summary["at_gate"]), ("done", 0, 0))
        for kind in ("dns", "connection", "tls", "broken", "limit", "local"):
            self.assertEqual(summary["done"][kind], 0, summary["outcomes"])
        self.web.__exit__()
        self.web.__exit__ = lambda *_: None
        done = crawls.run(PROGRAM, "sim", "check", "--log", self.web.log, "--json", "--complete")
        self.assertEqual(json.loads(done.stdout)["violations"], 0, done.stdout)

    def test_few_from_the_start(self):
        process = self.start((64, 160), "--connections", "500")
        out, error = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, error)
        lines = [line for line in error.splitlines() if "fewer connections" in line]
        self.assertEqual(len(lines), 1, error)
        self.assertIn("160", lines[0])
        summary = json.loads(out)
        self.assertEqual(summary["shortages"], 0)
        self.judge(summary)

    def test_the_soft_limit_is_raised(self):
        process = self.start((64, 4096), "--connections", "200")
        out, error = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, error)
        self.assertNotIn("fewer connections", error)
        self.judge(json.loads(out))

    def test_taken_away_while_it_runs(self):
        process = self.start((4096, 4096), "--connections", "100", "--quiet", delay="200ms")

        def some():
            self.assertIsNone(process.poll(), "the crawl has ended already")
            status = crawls.status(PROGRAM, self.dir)
            return status is not None and status["pages"] >= 50
        crawls.wait_until(some, 60, "50 pages")
        # Fewer than those that stay open for the whole crawl: nothing new can be opened.
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (16, 4096))
        def short():
            return process.poll() is not None or crawls.status(PROGRAM, self.dir)["shortages"] > 0
        crawls.wait_until(short, 60, "the shortage")
        if process.poll() is None:
            resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (4096, 4096))
        out, error = process.communicate(timeout=120)
        if process.returncode != 0:
            # A file of the crawl's own was hit: a stop that says what is wrong, and nothing is lost.
            self.assertEqual(process.returncode, SYSTEM, error)
            self.assertRegex(error, r"Too many open files \(at most \d+: ulimit -n")
            done = crawls.run(PROGRAM, "resume", self.dir, "--json", "--quiet")
            self.assertEqual(done.returncode, 0, done.stderr)
            out = done.stdout
        else:
            self.assertIn("no descriptors for more connections", error)
        self.judge(json.loads(out))

    def test_too_few_for_anything(self):
        process = self.start((40, 40))
        out, error = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (SYSTEM, ""))
        self.assertRegex(error, r"\Aportolan: the system allows 40 open files \(ulimit -n\)[^\n]*\n\Z")
        self.assertFalse(self.dir.exists())


if __name__ == "__main__":
    unittest.main()
