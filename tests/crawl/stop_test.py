"""A crawl that is stopped, interrupted again and again, or killed, and then resumed.

usage: stop_test.py PORTOLAN

The web is small and is crawled whole; its log spans both runs of a crawl, so the oracle sees what was fetched twice.
"""

import collections
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import crawls

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None
WORLD = ["--profile", "demo", "--seed", "5", "--set", "domains=200", "--set", "pages=6000", "--set", "https=0.3"]
GAP = "20ms"
ENOUGH = 600  # pages, before anything happens to the crawl
CHECKPOINT_S = 1


class Stop(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.web = crawls.Web(PROGRAM, self.folder.name, *WORLD)
        self.addCleanup(self.web.__exit__)
        self.dir = pathlib.Path(self.folder.name) / "crawl"

    def start(self):
        """A crawl that has fetched a part of the web."""
        command = [PROGRAM, "crawl", *self.web.flags(), "--scope", "any", "--delay", GAP, "--ip-delay", "5ms",
                   "--max-pages", "0", "--set", "politeness.delay_factor=0", "--set",
                   f"checkpoint.interval={CHECKPOINT_S}s", "--connections", "64", "--dir", self.dir, "--json",
                   *self.web.ready["seeds"]]
        process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)

        def enough():
            if process.poll() is not None:
                self.fail(f"the crawl has ended already: {process.returncode} {process.communicate()}")
            status = crawls.status(PROGRAM, self.dir)
            return status is not None and status["pages"] >= ENOUGH

        crawls.wait_until(enough, 60, f"{ENOUGH} pages")
        return process

    def resume(self, *flags):
        done = crawls.run(PROGRAM, "resume", self.dir, "--json", *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def check_archive(self):
        urls = collections.Counter(values["url"] for _, _, values in crawls.captures(self.dir))
        self.assertEqual({url: count for url, count in urls.items() if count > 1}, {})
        checked = crawls.run(PROGRAM, "warc", "check", *sorted(self.dir.glob("warc/*.warc.gz")))
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        return urls

    def judge(self, *rules):
        self.web.__exit__()
        self.web.__exit__ = lambda *_: None
        done = crawls.run(PROGRAM, "sim", "check", "--log", self.web.log, "--json", "--host-gap", GAP, "--ip-gap", "5ms",
                          "--connections", "1", "--crawl-delay", *rules)
        account = json.loads(done.stdout)
        return done.returncode, account

    def stop_and_go_on(self, number):
        process = self.start()
        process.send_signal(number)
        asked = time.monotonic()
        out, error = process.communicate(timeout=30)
        self.assertLess(time.monotonic() - asked, 10)
        self.assertEqual(process.returncode, 0, error)
        stopped = json.loads(out)
        self.assertEqual(stopped["state"], "stopped")
        self.assertGreaterEqual(stopped["pages"], ENOUGH)
        self.assertEqual(stopped["in_flight"], 0)
        shown = crawls.run(PROGRAM, "status", self.dir)
        self.assertIn(f"{self.dir}: stopped\n", shown.stdout)
        self.assertIn(f"portolan resume {self.dir}", shown.stdout)
        self.check_archive()

        # A limit that the crawl passes on its way: it ends there and can go on again.
        limit = stopped["pages"] + 300
        some = self.resume("--max-pages", limit)
        self.assertEqual((some["state"], some["pages"]), ("done", limit))
        rest = self.resume("--max-pages", 0)
        self.assertEqual(rest["state"], "done")
        self.assertEqual((rest["waiting"], rest["unanswered"], rest["in_flight"]), (0, 0, 0))
        self.assertEqual(len(self.check_archive()), rest["archived"])
        # Three runs, one crawl: everything that can be reached, and nothing twice.
        code, account = self.judge("--max-fetches-per-url", "1", "--complete")
        self.assertEqual((code, account["violations"]), (0, 0), account["offences"])
        self.assertEqual(crawls.run(PROGRAM, "status", self.dir).stdout.splitlines()[0], f"{self.dir}: done")

    def test_interrupt(self):
        self.stop_and_go_on(signal.SIGINT)

    def test_terminate(self):
        self.stop_and_go_on(signal.SIGTERM)

    def test_third_interrupt_ends_at_once(self):
        process = self.start()
        # Requests that are more than two seconds apart; what is in flight keeps the crawl until the second, at most.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGINT):
            process.send_signal(number)
            time.sleep(2.2)
        process.communicate(timeout=30)
        self.assertIn(process.returncode, (128 + signal.SIGINT, 0))
        rest = self.resume("--max-pages", 0)
        self.assertEqual(rest["state"], "done")
        self.check_archive()

    def test_kill(self):
        process = self.start()
        process.kill()
        process.communicate(timeout=30)
        shown = crawls.run(PROGRAM, "status", self.dir)
        self.assertIn("it broke off", shown.stdout)
        rest = self.resume("--max-pages", 0)
        self.assertEqual(rest["state"], "done")
        self.assertEqual(len(self.check_archive()), rest["archived"])
        # What came after the last checkpoint was fetched again, and no rule about pace or robots.txt is excused.
        code, account = self.judge("--max-fetches-per-url", "2", "--complete")
        self.assertEqual((code, account["violations"]), (0, 0), account["offences"])

    def test_kill_again_and_again(self):
        process = self.start()
        process.kill()
        process.communicate(timeout=30)
        for _ in range(4):
            process = subprocess.Popen([PROGRAM, "resume", str(self.dir), "--quiet"], stdout=subprocess.DEVNULL)
            try:
                process.wait(timeout=0.7)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(timeout=30)
        rest = self.resume("--max-pages", 0)
        self.assertEqual(rest["state"], "done")
        self.assertEqual(len(self.check_archive()), rest["archived"])
        code, account = self.judge("--complete")
        self.assertEqual((code, account["violations"]), (0, 0), account["offences"])


if __name__ == "__main__":
    unittest.main()
