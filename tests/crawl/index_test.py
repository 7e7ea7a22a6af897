"""The search index of a crawl that runs: followed live, killed at random moments, and equal to one from scratch.

usage: index_test.py PORTOLAN
"""

import json
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import crawls

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None
VERDICT, USAGE, BAD_INPUT, SYSTEM = 1, 2, 3, 4
WORLD = ["--profile", "demo", "--seed", "5", "--set", "domains=40", "--set", "pages=1000"]
PACE = ["--scope", "any", "--delay", "20ms", "--ip-delay", "1ms", "--set", "politeness.delay_factor=0",
        "--set", "checkpoint.interval=1s", "--contact", "http://localhost/", "--connections", "32"]
LOGS = ["--set", "outputs.text=true", "--set", "outputs.links=true"]


def index(*arguments, code=0):
    done = crawls.run(PROGRAM, "index", *arguments)
    assert done.returncode == code, f"{arguments}: exit code {done.returncode}\n{done.stdout[:500]}{done.stderr}"
    return done.stderr if code else done.stdout


class FollowedIndexTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="portolan-index-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.dir = self.folder / "crawl"

    def test_crawl_and_follower_are_killed_and_the_index_equals_one_from_scratch(self):
        chance = random.Random(21)
        started = []

        def start(*command):
            process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, text=True)
            started.append(process)
            return process

        def stop_all():
            for process in started:
                if process.poll() is None:
                    process.kill()
                process.wait()
                process.stderr.close()

        self.addCleanup(stop_all)
        follow = ["index", "build", self.dir, "--follow", "--interval", "500ms", "--memory", "2M", "--parts", "3", "-q"]
        with crawls.Web(PROGRAM, self.folder, *WORLD) as web:
            crawl = start(PROGRAM, "crawl", "--dir", self.dir, *PACE, *LOGS, *web.flags(), *web.ready["seeds"])
            deadline = time.monotonic() + 20
            while crawls.run(PROGRAM, "index", "build", self.dir, "--parts", 3).returncode != 0:  # no checkpoint yet
                self.assertLess(time.monotonic(), deadline, "the crawl does not begin")
                self.assertIsNone(crawl.poll())
                time.sleep(0.05)
            killed = 0
            follower = start(PROGRAM, *follow)
            for _ in range(5):
                time.sleep(chance.uniform(0.2, 0.9))
                if chance.random() < 0.5 and crawl.poll() is None:
                    crawl.kill()
                    crawl.communicate()
                    killed += 1
                    crawl = start(PROGRAM, "resume", self.dir)
                if follower.poll() is None:
                    follower.kill()
                    killed += 1
                _, complaint = follower.communicate()
                self.assertIn(follower.returncode, (0, -signal.SIGKILL), complaint)
                follower = start(PROGRAM, *follow)
            # The last ones are left in peace. A follower that begins while no crawl runs makes one pass and ends.
            crawl.communicate(timeout=60)
            self.assertEqual(crawl.returncode, 0)
            _, complaint = follower.communicate(timeout=60)
            self.assertEqual(follower.returncode, 0, complaint)
        self.assertGreater(killed, 1)
        index("build", self.dir)
        self.assertIn("up to date", index("build", self.dir))
        followed = json.loads(index("check", self.dir, "--deep", "--json"))
        self.assertGreater(followed["documents"], 200)
        stats = json.loads(index("stats", self.dir, "--json"))
        self.assertEqual(len(stats["parts"]), 3)
        self.assertEqual(stats["documents"], followed["documents"])
        self.assertTrue(all(part["inlinks"].startswith("inlinks-") for part in stats["parts"]), stats)
        # From scratch, with another number of parts, and with a graph that is built from scratch.
        shutil.rmtree(self.dir / "graph")
        again = json.loads(index("build", self.dir, "--rebuild", "--parts", "1", "--json"))
        self.assertEqual(again["parts"], 1)
        self.assertEqual(json.loads(index("check", self.dir, "--deep", "--json")), followed)

    def test_what_cannot_be_is_said_with_what_to_do(self):
        self.assertIn("no search index", index("stats", self.dir, code=BAD_INPUT))
        self.assertIn("portolan index build", index("check", self.dir, code=BAD_INPUT))
        index("build", self.dir, code=BAD_INPUT)
        self.assertIn("did you mean 'build'", index("buidl", self.dir, code=USAGE))
        with crawls.Web(PROGRAM, self.folder, "--profile", "demo", "--set", "pages=60", "--set", "domains=3") as web:
            done = crawls.run(PROGRAM, "crawl", "--dir", self.dir, *PACE, "--max-pages", "40", *web.flags(),
                              *web.ready["seeds"])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("outputs.text=true", index("build", self.dir, code=BAD_INPUT))
            shutil.rmtree(self.dir)
            done = crawls.run(PROGRAM, "crawl", "--dir", self.dir, *PACE, "--max-pages", "40", *web.flags(),
                              "--set", "outputs.text=true", *web.ready["seeds"])
            self.assertEqual(done.returncode, 0, done.stderr)
        index("build", self.dir)  # without a link log
        whole = json.loads(index("check", self.dir, "--deep", "--json"))
        self.assertGreater(whole["documents"], 10)
        table = self.dir / "index" / "gen-1-part-0" / "postlist.glass"
        table.write_bytes(table.read_bytes()[:5000])
        for verb, code in (("check", VERDICT), ("build", BAD_INPUT)):
            said = index(verb, self.dir, code=code)
            self.assertIn("gen-1-part-0", said)
            self.assertIn(f"portolan index build --rebuild {self.dir}", said)
        index("build", "--rebuild", self.dir)
        self.assertEqual(json.loads(index("check", self.dir, "--deep", "--json")), whole)


if __name__ == "__main__":
    unittest.main(verbosity=2)
