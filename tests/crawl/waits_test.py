"""What a crawl waits for, what it leaves out, and what can be asked about it while it runs; on real sockets.

usage: waits_test.py PORTOLAN
"""

import json
import os
import pathlib
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import unittest

import crawls
from small_site_test import HTML, Site

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None
PACE = ["--allow-private", "--ip-delay", "1ms", "--set", "politeness.delay_factor=0"]


def dead_origin():
    """An address of this machine without a listener as long as the socket is open."""
    taken = socket.socket()
    taken.bind(("127.0.0.9", 0))
    return taken, f"http://127.0.0.9:{taken.getsockname()[1]}"


class Waits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.dir = self.folder / "crawl"
        self.site = Site()
        self.addCleanup(self.site.close)

    def command(self, *more, delay="1ms"):
        return [str(part) for part in (PROGRAM, "crawl", "--dir", self.dir, *PACE, "--delay", delay, *more,
                                       self.site.origin + "/")]

    def begin(self, *command):
        process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def stop(self, process):
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)

    def status(self):
        return crawls.status(PROGRAM, self.dir)

    def why(self, url):
        done = crawls.run(PROGRAM, "why", self.dir, url, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def pages(self, count, prefix="/p"):
        links = "".join(f'<a href="{prefix}{i}">x</a>' for i in range(count)).encode()
        for i in range(count):
            self.site.pages[f"{prefix}{i}"] = (200, HTML, f"page {prefix}{i}".encode())
        return links

    def test_a_dead_seed_is_named_and_holds_nobody(self):
        self.site.pages["/"] = (200, HTML, b"alive")
        taken, dead = dead_origin()
        self.addCleanup(taken.close)
        process = self.begin(*self.command(dead + "/a"))
        # At once, long before it is given up.
        first = process.stderr.readline()
        while "does not answer" not in first:
            self.assertNotEqual(first, "", "it ended without a word")
            first = process.stderr.readline()
        self.assertIn(dead, first)
        self.assertIn("connect_refused", first)
        crawls.wait_until(lambda: (self.status() or {}).get("waiting_for"), 60, "status names what it waits for")
        awaited = self.status()["waiting_for"]
        if awaited:
            self.assertEqual((awaited[0]["url"], awaited[0]["why"]), (dead + "/robots.txt", "connect_refused"))
        out, _ = process.communicate(timeout=120)
        self.assertIn(f"  given up  {dead}/robots.txt (connect_refused)", out)
        report = self.status()
        self.assertEqual((report["state"], report["pages"], report["robots_unreachable"]), ("done", 1, 1))
        self.assertEqual(report["unreachable_hosts"][0]["why"], "connect_refused")
        tries = [line for line in crawls.log_lines(self.dir) if line["url"] == dead + "/robots.txt"]
        self.assertEqual([line.get("again", False) for line in tries], [True, True, True, False])
        answer = self.why(dead + "/a")
        self.assertEqual(answer["where"], "denied")
        self.assertIn("connect_refused", answer["verdict"])
        self.assertIn("given up", crawls.run(PROGRAM, "status", self.dir).stdout)

    def test_a_host_that_comes_to_life_is_crawled(self):
        taken, dead = dead_origin()
        self.addCleanup(taken.close)
        self.site.pages["/"] = (200, HTML, b"alive")
        process = self.begin(*self.command(dead + "/"))
        while "does not answer" not in process.stderr.readline():
            pass
        port = int(dead.rpartition(":")[2])
        taken.close()
        late = Site("127.0.0.9", port)
        self.addCleanup(late.close)
        late.pages["/"] = (200, HTML, b"late")
        process.communicate(timeout=120)
        self.assertEqual(self.status()["pages"], 2)

    def test_a_broken_page_is_named_while_it_is_waited_for(self):
        self.site.pages["/"] = (200, HTML, b'<a href="/broken">x</a>')
        self.site.pages["/broken"] = (500, HTML, b"")
        process = self.begin(*self.command("--set", "politeness.give_up_quickly=false"))
        crawls.wait_until(lambda: (self.status() or {}).get("waiting_for"), 60, "status names what it waits for")
        awaited = self.status()["waiting_for"][0]
        self.assertTrue(awaited["words"].startswith(f"{self.site.origin}/broken (500, attempt 2 of 3) until "), awaited)
        self.assertIn(f"waiting    for {self.site.origin}/broken (500", crawls.run(PROGRAM, "status", self.dir).stdout)
        self.stop(process)
        # With nothing else to do the other attempts come soon.
        self.dir = self.folder / "quick"
        begin = time.monotonic()
        done = crawls.run(*self.command())
        self.assertLess(time.monotonic() - begin, 60, "a minute and two would lie between the attempts")
        self.assertTrue(done.stdout.startswith("done: 1 page, "), done.stdout)
        self.assertEqual(len([1 for line in crawls.log_lines(self.dir) if line["url"].endswith("/broken")]), 3)

    def test_what_is_excluded_later_is_not_fetched(self):
        taken, other = dead_origin()
        taken.close()
        elsewhere = Site("127.0.0.9", int(other.rpartition(":")[2]))
        self.addCleanup(elsewhere.close)
        links = self.pages(30, "/keep/") + self.pages(30, "/drop/")
        self.site.pages["/"] = (200, HTML, links + b'<a href="%s/x">x</a>' % other.encode())
        process = self.begin(*self.command("--scope", "any", delay="300ms"))
        crawls.wait_until(lambda: (self.status() or {}).get("pages", 0) >= 3, 60, "it fetches")
        self.stop(process)
        settings = self.dir / "crawl.toml"
        text = settings.read_text()
        self.assertIn("\nexclude = []\n", text)
        text = text.replace("\nexclude = []\n", '\nexclude = ["*/drop/*"]\n')
        self.assertIn('\nhost_delay = "300ms"\n', text)
        text = text.replace('\nhost_delay = "300ms"\n', '\nhost_delay = "1ms"\n')
        settings.write_text(text.replace("\nexclude_domains = []\n", '\nexclude_domains = ["127.0.0.9"]\n'))
        before = len(self.site.asked), len(elsewhere.asked)
        done = crawls.run(PROGRAM, "resume", self.dir, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        after = [path for path, _ in self.site.asked[before[0]:]]
        self.assertEqual([path for path in after if path.startswith("/drop/")], [])
        self.assertGreater(len([path for path in after if path.startswith("/keep/")]), 10)
        self.assertEqual(len(elsewhere.asked), before[1])
        left = [line["url"] for line in crawls.log_lines(self.dir) if line["outcome"] == "out_of_scope"]
        self.assertGreater(len(left), 10)
        self.assertEqual(json.loads(done.stdout)["excluded"], len(left))
        answer = self.why(left[0])
        self.assertIn("out of scope", answer["verdict"])
        self.assertFalse(answer["in_scope"])
        checked = crawls.run(PROGRAM, "check", self.dir)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_a_running_crawl_answers_for_now(self):
        # A path too long for a socket's address.
        self.dir = self.folder / ("d" * 100) / ("e" * 100) / "crawl"
        self.dir.parent.mkdir(parents=True)
        self.site.pages["/"] = (200, HTML, self.pages(400))
        begin = time.monotonic()
        process = self.begin(*self.command("--set", "checkpoint.interval=1h", delay="100ms"))
        fetched = lambda: [line["url"] for line in crawls.log_lines(self.dir) if "/p" in line["url"]]
        crawls.wait_until(fetched, 60, "the log is written without a checkpoint")
        control = self.dir / "control.sock"
        self.assertTrue(stat.S_ISSOCK(control.stat().st_mode))
        self.assertEqual(stat.S_IMODE(control.stat().st_mode), 0o600)
        done = self.why(fetched()[-1])
        self.assertEqual((done["where"], done["now"], done["running"]), ("done", True, True))
        waiting = self.why(self.site.origin + "/p399")
        self.assertEqual((waiting["where"], waiting["seen"], waiting["now"]), ("back", True, True), waiting)
        # A killed process leaves the socket's name, and the next process takes it over.
        process.kill()
        process.communicate()
        self.assertTrue(control.exists())
        answer = self.why(self.site.origin + "/p399")
        self.assertEqual((answer["now"], answer["running"]), (False, False))
        process = self.begin(PROGRAM, "resume", self.dir)
        crawls.wait_until(lambda: self.why(self.site.origin + "/p399")["now"], 60, "it answers again")
        # If it does not answer, its last checkpoint is read, and the answer says so.
        process.send_signal(signal.SIGSTOP)
        shown = crawls.run(PROGRAM, "why", self.dir, self.site.origin + "/p399").stdout
        process.send_signal(signal.SIGCONT)
        self.assertIn("the crawl runs and did not answer", shown)
        self.stop(process)
        self.assertFalse(control.exists())

    def test_what_limits_left_out_is_said(self):
        for i in range(300):
            self.site.pages[f"/c{i}"] = (200, HTML, f'<a href="/c{i + 1}">next chapter</a>'.encode())
        self.site.pages["/"] = (200, HTML, b'<a href="/c0">x</a><a href="/n" rel="nofollow">x</a><img src="/i.png">'
                                b'<a href="/%s">x</a>' % (b"l" * 3000))
        done = crawls.run(*self.command("--json"))
        report = json.loads(done.stdout)
        self.assertEqual(report["pages"], 301, "a chain of chapters has no end in sight")
        self.assertEqual((report["nofollow"], report["url_too_long"], report["too_deep"]), (1, 1, 0))
        self.assertIn("1 link that says nofollow (scope.follow_nofollow)",
                      [left["words"] for left in report["left_out"]])
        self.dir = self.folder / "shallow"
        done = crawls.run(*self.command("--max-depth", "5"))
        self.assertIn("  left out  1 link deeper than 5 (crawl.max_depth)\n", done.stdout)
        self.assertIn("  left out  1 link of more than 2000 bytes (scope.max_url_length)\n", done.stdout)
        self.assertIn("  left out   1 link deeper than 5", crawls.run(PROGRAM, "status", self.dir).stdout)
        verdict = self.why(self.site.origin + "/i.png")["verdict"]
        self.assertIn("scope.embeds = false", verdict)
        self.assertIn("crawl.max_depth", self.why(self.site.origin + "/c200")["verdict"])
        self.assertIn("scope.max_url_length", self.why(self.site.origin + "/" + "l" * 3000)["verdict"])

    def test_status_says_where_the_bytes_are(self):
        self.site.pages["/"] = (200, HTML, self.pages(5))
        crawls.run(*self.command())
        report = self.status()
        for part in ("archive", "log", "state"):
            self.assertGreater(report["disk"][part], 0, part)
        self.assertEqual(report["disk"]["log"], sum(os.path.getsize(path) for path in self.dir.glob("log/*")))
        self.assertEqual(report["hosts_crawled"], 1)
        self.assertEqual(report["top_hosts"][0]["pages"], 6)
        shown = crawls.run(PROGRAM, "status", self.dir).stdout
        self.assertIn("127.0.0.1: 6 pages", shown)
        self.assertIn("disk       archive ", shown)


if __name__ == "__main__":
    unittest.main()
