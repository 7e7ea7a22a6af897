"""A crawl whose network fails and returns: loopback is set down and up in a network namespace of its own.

usage: outage.py PORTOLAN

Needs a network namespace (root); skipped where there is none. Not part of ./test: what is in flight when the network goes
is the machine's choice, and the run fails now and then where too few hosts are known for a verdict. The verdict itself
is tested in virtual time (sim/drive/outage_crawl_test.cc).
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "crawl"))
import crawls  # noqa: E402

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None
INSIDE = "PORTOLAN_OUTAGE_TEST_INSIDE"
WORLD = ["--profile", "demo", "--seed", "9", "--set", "domains=60", "--set", "pages=2500", "--set", "https=0"]
# Without TLS: there, requests that were given up can still arrive when the network is back (docs/faults.md).
GAP = "20ms"
QUICK = ["--set", "fetch.connect_timeout=1s", "--set", "fetch.first_byte_timeout=3s", "--set", "fetch.dns_timeout=200ms",
         "--set", "fetch.dns_tries=2", "--set", "politeness.max_back_off=2s"]


def network(state):
    done = crawls.run("ip", "link", "set", "lo", state)
    assert done.returncode == 0, done.stderr


class NetworkDown(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        network("up")
        self.web = crawls.Web(PROGRAM, self.folder.name, *WORLD)
        self.addCleanup(self.web.__exit__)
        self.dir = pathlib.Path(self.folder.name) / "crawl"
        self.command = [PROGRAM, "crawl", *self.web.flags(), "--scope", "any", "--delay", GAP, "--ip-delay", "2ms",
                        "--max-pages", "0", "--set", "politeness.delay_factor=0", "--set", "checkpoint.interval=1s",
                        "--connections", "32", "--dir", self.dir, "--json", *QUICK, *self.web.ready["seeds"]]

    def start(self, command):
        process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        return process

    def status(self):
        return crawls.status(PROGRAM, self.dir)

    def wait_for_pages(self, process, pages):
        def there():
            self.assertIsNone(process.poll(), "the crawl has ended already")
            status = self.status()
            return status is not None and status["pages"] >= pages
        crawls.wait_until(there, 60, f"{pages} pages")

    def wait_for_pause(self, process):
        def paused():
            self.assertIsNone(process.poll(), "it must wait, not end")
            return self.status()["state"].startswith("paused: no network")
        try:
            crawls.wait_until(paused, 30, "the pause")
        except AssertionError:
            process.terminate()
            self.fail(f"no pause: {self.status()} {process.communicate(timeout=30)}")

    def judge(self, summary, fetches=1):
        self.assertEqual((summary["state"], summary["waiting"], summary["unanswered"], summary["at_gate"]),
                         ("done", 0, 0, 0))
        # No URL ended because the network was missing.
        for kind in ("dns", "connection", "tls", "broken", "limit", "local"):
            self.assertEqual(summary["done"][kind], 0, summary["outcomes"])
        self.assertEqual(summary["robots_unreachable"], 0)
        checked = crawls.run(PROGRAM, "check", self.dir, "--json")
        self.assertEqual(checked.returncode, 0, checked.stdout)
        self.web.__exit__()
        self.web.__exit__ = lambda *_: None
        done = crawls.run(PROGRAM, "sim", "check", "--log", self.web.log, "--json", "--host-gap", GAP, "--ip-gap", "2ms",
                          "--crawl-delay", "--complete")
        account = json.loads(done.stdout)
        self.assertEqual((done.returncode, account["violations"]), (0, 0), account["offences"])

    def test_gone_and_back(self):
        process = self.start(self.command)
        for pages in (400, 1000):  # by then many hosts are known
            self.wait_for_pages(process, pages)
            network("down")
            self.wait_for_pause(process)
            shown = crawls.run(PROGRAM, "status", self.dir).stdout
            self.assertIn(f"{self.dir}: paused: no network\n", shown)
            still = self.status()["pages"]
            # Longer than all attempts of a URL would have taken, were they counted.
            time.sleep(5)
            status = self.status()
            self.assertEqual(status["pages"], still)
            self.assertLessEqual(status["in_flight"], 1)
            network("up")
            crawls.wait_until(
                lambda: process.poll() is not None or not self.status()["state"].startswith("paused"), 60, "its end")
        out, error = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, error)
        self.assertIn("paused until the network is back", error)
        self.assertIn("the network is back: going on", error)
        summary = json.loads(out)
        self.assertGreaterEqual(summary["outages"], 2)
        self.judge(summary)

    def test_resumed_without_a_network(self):
        process = self.start(self.command)
        self.wait_for_pages(process, 500)
        network("down")
        self.wait_for_pause(process)
        process.terminate()
        out, error = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0, error)
        self.assertEqual(json.loads(out)["state"], "stopped")
        resumed = self.start([PROGRAM, "resume", self.dir, "--json"])
        crawls.wait_until(lambda: self.status()["state"].startswith("paused: no "), 40, "the pause")
        network("up")
        out, error = resumed.communicate(timeout=120)
        self.assertEqual(resumed.returncode, 0, error)
        self.judge(json.loads(out))


if __name__ == "__main__":
    if os.environ.get(INSIDE):
        unittest.main()
    if not shutil.which("unshare") or not shutil.which("ip"):
        print("skipped: no unshare or ip here")
        sys.exit(crawls.SKIPPED)
    if crawls.run("unshare", "--net", "ip", "link", "set", "lo", "up").returncode != 0:
        print("skipped: no network namespaces here")
        sys.exit(crawls.SKIPPED)
    command = ["unshare", "--net", sys.executable, __file__, PROGRAM, *sys.argv[1:]]
    sys.exit(subprocess.run(command, env={**os.environ, INSIDE: "1"}, check=False).returncode)
