"""Verbs that read what a crawl by several nodes has left: they must say what they say of one crawl of the same web.

usage: readers_test.py PORTOLAN

The same simulated web is crawled by three nodes and by one process. The latter's graph, index and report are compared
with the world's truth, or with naive programs, by other tests; here those of three shards are compared with it.
"""

import csv
import io
import json
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import clusters
import crawls

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None
VERDICT, USAGE, BAD_INPUT, SYSTEM = 1, 2, 3, 4
WORLD = ["--profile", "demo", "--seed", "5", "--set", "domains=40", "--set", "pages=1200", "--set", "https=0"]
PACE = ["--scope", "any", "--delay", "10ms", "--ip-delay", "1ms", "--max-pages", "0", "--contact", "http://localhost/",
        "--set", "politeness.delay_factor=0", "--set", "checkpoint.interval=1s"]
LOGS = ["--set", "outputs.text=true", "--set", "outputs.links=true", "--set", "page.similarity=true"]


def portolan(*arguments, code=0):
    done = crawls.run(PROGRAM, *arguments)
    assert done.returncode == code, f"{arguments}: exit code {done.returncode}\n{done.stdout[:500]}{done.stderr}"
    return done.stderr if code else done.stdout


def said(*arguments):
    """What a verb that succeeds says on standard error."""
    done = crawls.run(PROGRAM, *arguments)
    assert done.returncode == 0, f"{arguments}: exit code {done.returncode}\n{done.stdout[:500]}{done.stderr}"
    return done.stderr


class TwoWays(unittest.TestCase):
    """One web, crawled by three nodes into `many` and by one process into `one`."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="portolan-readers-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.many, cls.one = cls.folder / "many", cls.folder / "one"
        with crawls.Web(PROGRAM, cls.folder, *WORLD) as web:
            for directory, more in ((cls.many, ["--nodes", 3, "--memory", "512M"]), (cls.one, [])):
                portolan("crawl", *more, "--dir", directory, "--json", *PACE, *LOGS, *web.flags(), *web.ready["seeds"])
        cls.shards = clusters.shard_dirs(cls.many)
        assert len(cls.shards) == 3, cls.shards
        cls.fetched = {shard.name: {line["url"] for line in crawls.log_lines(shard) if line.get("kind") == "page"}
                       for shard in cls.shards}

    def both(self, verb, *arguments, part=()):
        """The standard output of a verb, of three shards and of one crawl."""
        return [portolan(*verb, directory, *arguments) for directory in (self.many, self.one)]


class Graph(TwoWays):
    def exported(self, directory, *level):
        text = portolan("graph", "export", directory, "-", "--format", "csv", "-q", *level)
        return text

    def test_the_graph_of_all_shards_is_that_of_one_crawl(self):
        # Builds that are killed leave nothing that the next one does not make good.
        chance = random.Random(3)
        for _ in range(6):
            process = subprocess.Popen([PROGRAM, "graph", "build", str(self.many), "--memory", "64K"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(chance.uniform(0.0, 0.3))
            process.send_signal(signal.SIGKILL)
            process.wait()
        built = json.loads(portolan("graph", "build", self.many, "--json"))
        self.assertEqual((built["shards"], built["gone_shards"]), (3, []))
        portolan("graph", "build", self.one)
        self.assertIn("up to date", portolan("graph", "build", self.many))
        for level in ((), ("--host",), ("--domain",)):
            self.assertEqual(self.exported(self.many, *level), self.exported(self.one, *level))
        for verb in (("graph", "rank"),):
            ours, theirs = self.both(verb, "--by", "pagerank", "--json", "--limit", 0)
            self.assertEqual(ours, theirs)
        stats = [json.loads(text) for text in self.both(("graph", "stats"), "--json", "--domain")]
        for one in stats:
            for volatile in ("dir", "seconds", "directory", "generation", "memory"):
                one.pop(volatile, None)
        self.assertEqual(*stats)
        portolan("graph", "check", self.many)

    def test_links_from_pages_of_other_shards_are_found(self):
        portolan("graph", "build", self.many)
        portolan("graph", "build", self.one)
        shard_of = {url: shard for shard, urls in self.fetched.items() for url in urls}
        crossing = [(row["source"], row["target"])
                    for row in csv.DictReader(io.StringIO(self.exported(self.one)))
                    if shard_of.get(row["source"]) != shard_of.get(row["target"], "?") and row["target"] in shard_of]
        self.assertGreater(len(crossing), 50)
        for source, target in crossing[:: len(crossing) // 8]:
            ours, theirs = self.both(("graph", "in"), target, "--json", "--limit", 0)
            self.assertEqual(ours, theirs)
            self.assertIn(source, [json.loads(line)["source"] for line in ours.splitlines()])
            ours, theirs = self.both(("graph", "out"), source, "--json", "--limit", 0)
            self.assertEqual(ours, theirs)
        # One shard alone knows less.
        source, target = crossing[0]
        alone = next(shard for shard in self.shards if shard.name == shard_of[target])
        portolan("graph", "build", alone)
        self.assertNotIn(source, portolan("graph", "in", alone, target, "--limit", 0))
        shutil.rmtree(alone / "graph")

    def test_shards_that_go_and_come_and_copies(self):
        portolan("graph", "build", self.one)
        whole = self.exported(self.one)
        shutil.rmtree(self.many / "graph", ignore_errors=True)
        away = self.folder / "away"
        moved = self.shards[0].parent
        moved.rename(away)
        name = self.shards[0].name
        built = json.loads(portolan("graph", "build", self.many, "--json"))
        self.assertEqual(built["shards"], 2)
        part = self.exported(self.many)
        self.assertLess(len(part), len(whole))
        # A node's copy of another node's shard is not another shard.
        copy = self.shards[1].parent / name
        shutil.copytree(away / name, copy)
        (copy / "copy").write_text("whole 00f1e2d3c4b5a697\ncrc32c ed61fd02\n")
        self.assertIn("up to date", portolan("graph", "build", self.many))
        # Another machine's directory, mounted here.
        self.assertIn(f"{name}: is new in the graph", said("graph", "build", self.many, "--also", away))
        self.assertEqual(self.exported(self.many), whole)
        self.assertIn(f"{name}: is not here any more", said("graph", "build", self.many))
        self.assertEqual(self.exported(self.many), whole, "what was read of it stays")
        # Taken over from the copy: its shard, once.
        (copy / "copy").unlink()
        refused = portolan("graph", "build", self.many, "--also", away, code=BAD_INPUT)
        self.assertIn("both hold shard", refused)
        # Whoever takes a directory over writes a new number into its mark, and which one it replaces.
        mark = (copy / "cluster").read_text()
        files = re.search("files=([0-9a-f]+)", mark)[1]
        (copy / "cluster").write_text(re.sub("before=.*", f"before={files}", mark.replace(files, "00000000000000ff", 1)))
        self.assertIn("up to date", portolan("graph", "build", self.many, "--also", away))
        self.assertEqual(json.loads(portolan("graph", "build", self.many, "--json"))["gone_shards"], [])
        shutil.rmtree(copy)
        away.rename(moved)
        self.assertEqual(json.loads(portolan("graph", "build", self.many, "--json"))["shards"], 3)
        self.assertEqual(self.exported(self.many), whole)

    def test_only_what_another_machine_needs_is_copied(self):
        portolan("graph", "build", self.one)
        here = self.folder / "here"
        shutil.copytree(self.shards[0].parent, here, ignore=shutil.ignore_patterns("graph", "warc"))
        others = []
        for shard in self.shards[1:]:
            to = self.folder / f"logs-of-{shard.parent.name}" / shard.name
            (to / "state").mkdir(parents=True)
            (to / "links").mkdir()
            for pattern in ("crawl.toml", "cluster", "state/MANIFEST-*", "links/*"):
                for file in shard.glob(pattern):
                    shutil.copy(file, to / file.relative_to(shard))
            others += ["--also", to.parent]
        portolan("graph", "build", here, *others)
        self.assertEqual(self.exported(here), self.exported(self.one))


if __name__ == "__main__":
    if not clusters.installed():
        print("nats-server is not installed: skipped")
        sys.exit(crawls.SKIPPED)
    unittest.main(argv=sys.argv[:1] + sys.argv[1:])
