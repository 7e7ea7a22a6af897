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
import urllib.parse
import urllib.request

import clusters
import crawls

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None
VERDICT, USAGE, BAD_INPUT, SYSTEM = 1, 2, 3, 4
WORLD = ["--profile", "demo", "--seed", "5", "--set", "domains=40", "--set", "pages=1200", "--set", "https=0"]
PACE = ["--scope", "any", "--delay", "10ms", "--ip-delay", "1ms", "--max-pages", "0", "--contact", "http://localhost/",
        "--set", "politeness.delay_factor=0", "--set", "checkpoint.interval=1s"]
LOGS = ["--set", "outputs.text=true", "--set", "outputs.links=true", "--set", "page.similarity=true"]


def portolan(*arguments, code=0):
    done = crawls.run(PROGRAM, *arguments, errors="replace")
    assert done.returncode == code, f"{arguments}: exit code {done.returncode}\n{done.stdout[:500]}{done.stderr}"
    return done.stderr if code else done.stdout


def said(*arguments):
    """What a verb that succeeds says on standard error."""
    done = crawls.run(PROGRAM, *arguments)
    assert done.returncode == 0, f"{arguments}: exit code {done.returncode}\n{done.stdout[:500]}{done.stderr}"
    return done.stderr


def start(*command):
    """In the background, without output."""
    return subprocess.Popen([str(part) for part in (PROGRAM, *command)], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def kill_some(times, longest, *command):
    """Runs it and kills it at some moment, again and again."""
    chance = random.Random(3)
    for _ in range(times):
        process = start(*command)
        time.sleep(chance.uniform(0.0, longest))
        process.send_signal(signal.SIGKILL)
        process.wait()


class Served:
    """A verb that serves until it is told to stop; its first line is where."""

    def __init__(self, *command):
        self.process = subprocess.Popen([str(part) for part in (PROGRAM, *command)], stdout=subprocess.PIPE, text=True)
        self.ready = json.loads(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)
        self.process.stdout.close()


def setUpModule():
    """Both crawls, for all tests; each leaves what was crawled as it was."""
    TwoWays.folder = folder = pathlib.Path(tempfile.mkdtemp(prefix="portolan-readers-"))
    unittest.addModuleCleanup(shutil.rmtree, folder)
    TwoWays.many, TwoWays.one = many, one = folder / "many", folder / "one"
    with crawls.Web(PROGRAM, folder, *WORLD) as web:
        flags = ["--json", *PACE, *LOGS, *web.flags(), *web.ready["seeds"]]
        crawl = start("crawl", "--nodes", 3, "--memory", "512M", "--dir", many, *flags)
        unittest.addModuleCleanup(crawl.kill)
        # The index follows all shards while they are crawled.
        crawls.wait_until(lambda: list(many.glob("*/shard-*/text/*")), 60, "a shard has texts")
        TwoWays.followed = crawls.run(PROGRAM, "index", "build", many, "--follow", "--interval", "300ms", "-q")
        assert crawl.wait(timeout=60) == 0
        portolan("crawl", "--dir", one, *flags)
    TwoWays.shards = clusters.shard_dirs(many)
    assert len(TwoWays.shards) == 3, TwoWays.shards
    TwoWays.fetched = {shard.name: {line["url"] for line in crawls.log_lines(shard) if line.get("kind") == "page"}
                       for shard in TwoWays.shards}


class TwoWays(unittest.TestCase):
    """One web, crawled by three nodes into `many` and by one process into `one`."""

    def both(self, verb, *arguments):
        """The standard output of a verb, of three shards and of one crawl."""
        return [portolan(*verb, directory, *arguments) for directory in (self.many, self.one)]


class Graph(TwoWays):
    def exported(self, directory, *level):
        text = portolan("graph", "export", directory, "-", "--format", "csv", "-q", *level)
        return text

    def test_the_graph_of_all_shards_is_that_of_one_crawl(self):
        # Builds that are killed leave nothing that the next one does not make good.
        kill_some(6, 0.3, "graph", "build", self.many, "--memory", "64K")
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
        (self.many / "node-9").symlink_to(away)
        self.assertEqual(len(json.loads(portolan("status", self.many, "--json"))["shards"]), 3)
        (self.many / "node-9").unlink()
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


QUESTIONS = ["the", "river window", "\"second summer\"", "engine site:test", "apple -the", "winter lang:en harbour"]


class Search(TwoWays):
    def answers(self, *arguments):
        """Of each question what does not depend on where pages are."""
        found = []
        for question in QUESTIONS:
            done = crawls.run(PROGRAM, "search", *arguments, question, "--limit", 30, "--json")
            self.assertIn(done.returncode, (0, VERDICT), done.stderr)
            answer = json.loads(done.stdout)
            self.assertNotIn("left_out", answer)
            for result in answer["results"]:
                del result["part"], result["fetched"]
            found.append([answer["pages"], answer["results"]])
        self.assertGreater(sum(len(results) for _, results in found), 60)
        return found

    def test_the_index_of_all_shards_answers_like_that_of_one_crawl(self):
        self.assertEqual(self.followed.returncode, 0, self.followed.stderr)
        portolan("index", "build", self.one)
        truth = self.answers(self.one)
        self.assertTrue(all(result["snippet"] for _, results in truth for result in results))
        self.assertIn("up to date", portolan("index", "build", self.many))
        self.assertEqual(self.answers(self.many), truth, "followed beside the crawl")
        stats = json.loads(portolan("index", "stats", self.many, "--json"))
        self.assertEqual([part["shard"] for part in stats["parts"]], ["shard-00", "shard-01", "shard-02"])
        # From scratch, killed and continued.
        shutil.rmtree(self.many / "index")
        kill_some(6, 0.8, "index", "build", self.many, "--memory", "1M")
        portolan("index", "build", self.many)
        self.assertEqual(self.answers(self.many), truth)
        portolan("index", "check", self.many)
        for ours, theirs in zip(*(portolan("search", directory, "river", "--cached", 3) for directory in
                                  (self.many, self.one))):
            self.assertEqual(ours, theirs)
        with Served("serve", self.many, "--listen", "127.0.0.1:0", "--json") as server:
            def get(path):
                with urllib.request.urlopen(server.ready["url"] + path, timeout=30) as reply:
                    return json.load(reply)
            results = get("search?json=1&q=river%20window&limit=30")["results"]
            self.assertEqual([result["url"] for result in results], [result["url"] for result in truth[1][1]])
            target = results[0]["url"]
            links = get("graph/in?url=" + urllib.parse.quote(target, safe="") + "&limit=1000")
            told = [json.loads(line)["source"] for line in
                    portolan("graph", "in", self.one, target, "--json", "--limit", 0).splitlines()]
            self.assertEqual(json.dumps(links).count('"http://') - json.dumps(links).count(f'"{target}"'),
                             len(told) - told.count(target))

    def test_nodes_that_serve_their_own_parts_answer_together(self):
        portolan("index", "build", self.one)
        truth = self.answers(self.one)
        nodes = [shard.parent for shard in self.shards]
        for node in nodes:
            others = [other for other in nodes if other != node]
            portolan("graph", "build", node, "--also", others[0], "--also", others[1])
            portolan("index", "build", node)
        self.assertLess(self.answers(nodes[0])[0][0], truth[0][0])
        with Served("index", "serve", nodes[1], "--listen", "127.0.0.1:0", "--json") as first, \
                Served("index", "serve", nodes[2], "--listen", "127.0.0.1:0", "--json") as second:
            together = self.answers(nodes[0], "--remote", first.ready["address"], "--remote", second.ready["address"])
        for answers in (together, truth):  # the text of a page is on its own machine
            for _, results in answers:
                for result in results:
                    result.pop("snippet", None)
        self.assertEqual(together, truth)


class Verbs(TwoWays):
    def test_lists_are_those_of_one_crawl(self):
        for verb, arguments in ((["links"], []), (["links"], ["--broken", "--json"]), (["text"], []),
                                (["text"], ["--language", "de"])):
            ours, theirs = (sorted(text.splitlines()) for text in self.both(verb, *arguments))
            self.assertGreater(len(theirs), 20, verb)
            self.assertEqual(ours, theirs)
        # What is new since the last time, of each shard.
        out, position = self.folder / "links.csv", self.folder / "links.position"
        for lines in (len(self.both(["links"])[0].splitlines()),) * 2:
            portolan("links", self.many, "-o", out, "--position", position)
            self.assertEqual(len(out.read_text().splitlines()), lines)
        self.assertIn("position shard-02 ", position.read_text())
        for arguments in (["--limit", 0], ["--exact", "--limit", 0]):
            clusters_of = []
            for text in self.both(["dups"], "--csv", *arguments):
                rows = list(csv.DictReader(io.StringIO(text)))
                groups = {}
                for row in rows:
                    groups.setdefault(row["cluster"], set()).add(row["url"])
                clusters_of.append(sorted(map(sorted, groups.values())))
            self.assertGreater(len(clusters_of[0]), 3)
            self.assertEqual(*clusters_of)

    def test_the_report_adds_up_all_shards(self):
        ours, theirs = (json.loads(text)["tables"] for text in self.both(["report"], "--json", "--rows", 100000))
        self.assertEqual(ours.keys(), theirs.keys())
        self.assertGreater(len(ours["broken_links"]["rows"]), 20)
        timing = {"first request", "last answer", "time between them", "mean time of an answer", "pages per second",
                  "mean rate of download, Mbit/s"}
        for name in ours.keys() - {"answer_times", "depths", "timeline"}:  # these depend on who was quicker
            rows = [sorted(json.dumps(row, sort_keys=True) for row in table["rows"] if row.get("what") not in timing)
                    for table in (ours[name], theirs[name])]
            self.assertTrue(rows[0] == rows[1], f"{name}: {[row for row in rows[0] if row not in rows[1]][:3]}")

    def test_a_url_is_looked_up_in_its_shard(self):
        for shard in self.shards:
            texts = [line.split()[-1] for line in portolan("text", shard).splitlines()]
            for url in texts[:: max(1, len(texts) // 5)]:
                self.assertEqual(*self.both(["text"], url))
                self.assertEqual(*self.both(["warc", "cat"], url, "--payload"))
                self.assertIn(url, portolan("warc", "cat", self.many, url, "--list"))
        missing = portolan("text", self.many, texts[0] + "/not-there", code=BAD_INPUT)
        self.assertIn("why", missing)
        # What is on another machine is said.
        here = self.folder / "two-of-three"
        here.mkdir()
        for shard in self.shards[:2]:
            shutil.copytree(shard, here / shard.name)
        for verb in (["text"], ["warc", "cat"]):
            self.assertIn(f"belongs to shard {int(self.shards[2].name[-2:])}, which is not here: ask on the node",
                          portolan(*verb, here, texts[0], code=BAD_INPUT))

    def test_nodes_mounted_side_by_side_are_one_crawl(self):
        side = self.folder / "side-by-side"
        side.mkdir()
        for number, shard in enumerate(self.shards, 1):
            (side / f"node-{number}").symlink_to(shard.parent)
        portolan("graph", "build", side)
        portolan("graph", "build", self.one)
        self.assertEqual(*(portolan("graph", "export", directory, "-", "--format", "csv", "-q") for directory in
                           (side, self.one)))
        self.assertEqual(portolan("links", side), portolan("links", self.many))

    def test_a_directory_without_shards_is_no_crawl(self):
        empty = self.folder / "empty"
        empty.mkdir()
        for verb in (["links"], ["report"], ["text"], ["dups"], ["fresh"], ["graph", "build"], ["index", "build"]):
            self.assertIn("there is no crawl here", portolan(*verb, empty, code=BAD_INPUT))
        self.assertIn("does not come back", portolan("fresh", self.many, code=BAD_INPUT))


if __name__ == "__main__":
    if not clusters.installed():
        print("nats-server is not installed: skipped")
        sys.exit(crawls.SKIPPED)
    unittest.main(argv=sys.argv[:1] + sys.argv[1:])
