"""The verbs of the link graph: what they say of a crawl, of graphs of known shape, and of one from outside.

usage: graph_test.py PORTOLAN GRAPH_DATA
GRAPH_DATA is the folder with cnr-2000 of the Laboratory for Web Algorithmics; without it those tests are skipped.

Everything is compared with naive implementations here: dense PageRank, a search from each node, sets.
"""

import collections
import csv
import gzip
import io
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import crawls

DATA = pathlib.Path(sys.argv.pop(2)) if __name__ == "__main__" else None
PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None
VERDICT, USAGE, BAD_INPUT, SYSTEM = 1, 2, 3, 4
WORLD = ["--profile", "demo", "--seed", "5", "--set", "domains=40", "--set", "pages=1500"]
PACE = ["--scope", "any", "--delay", "10ms", "--ip-delay", "1ms", "--set", "politeness.delay_factor=0",
        "--contact", "http://localhost/", "--connections", "32"]


def graph(*arguments, code=0):
    done = crawls.run(PROGRAM, "graph", *arguments)
    assert done.returncode == code, f"{arguments}: exit code {done.returncode}\n{done.stdout[:500]}{done.stderr}"
    if code:
        assert done.stderr.startswith("portolan: ") and done.stderr.count("\n") == 1, done.stderr
        return done.stderr
    return done.stdout


def files_below(directory):
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in pathlib.Path(directory).rglob("*")}


def page_rank(lists, damping=0.85):
    n = len(lists)
    ranks = [1 / n] * n
    for _ in range(300):
        dangling = sum(rank for rank, targets in zip(ranks, lists) if not targets)
        following = [(1 - damping + damping * dangling) / n] * n
        for rank, targets in zip(ranks, lists):
            for target in targets:
                following[target] += damping * rank / len(targets)
        ranks = following
    return ranks


def distances_from(lists, root):
    found = {root: 0}
    queue = collections.deque([root])
    while queue:
        node = queue.popleft()
        for target in lists[node]:
            if target not in found:
                found[target] = found[node] + 1
                queue.append(target)
    return found


def bow_tie(lists):
    """(core, in, out, tendrils, disconnected) of the largest component, by the sets that nodes reach."""
    n = len(lists)
    reach = [set(distances_from(lists, node)) for node in range(n)]
    components = {frozenset(other for other in reach[node] if node in reach[other]) for node in range(n)}
    most = max(map(len, components))
    core = [component for component in components if len(component) == most]
    if len(core) > 1:
        return None  # which one is the core is a matter of taste
    core = set(core[0])
    some = next(iter(core))
    after = reach[some] - core
    before = {node for node in range(n) if some in reach[node]} - core
    either = [set(targets) for targets in lists]
    for node, targets in enumerate(lists):
        for target in targets:
            either[target].add(node)
    connected = set(distances_from(either, some)) - core - after - before
    return {"core": most, "in": len(before), "out": len(after), "tendrils": len(connected),
            "disconnected": n - most - len(before) - len(after) - len(connected), "components": len(components)}


class Bits:
    """A second, naive writer of WebGraph's format: no references, no intervals."""

    def __init__(self):
        self.bits = []

    def gamma(self, x):
        text = bin(x + 1)[2:]
        self.bits.append("0" * (len(text) - 1) + text)

    def zeta(self, x, k):
        x += 1
        h = (x.bit_length() - 1) // k
        low = 1 << h * k
        self.bits.append("0" * h + "1")
        left = x - low
        if left < low:
            self.bits.append(bin(left)[2:].zfill((h + 1) * k - 1) if (h + 1) * k > 1 else "")
        else:
            self.bits.append(bin(x)[2:].zfill((h + 1) * k))

    def bytes(self):
        text = "".join(self.bits)
        text += "0" * (-len(text) % 8)
        return bytes(int(text[i:i + 8], 2) for i in range(0, len(text), 8))


def write_webgraph(base, lists):
    out = Bits()
    for node, targets in enumerate(lists):
        out.gamma(len(targets))
        last = None
        for target in targets:
            if last is None:
                left = target - node
                out.zeta(2 * left if left >= 0 else -2 * left - 1, 3)
            else:
                out.zeta(target - last - 1, 3)
            last = target
    pathlib.Path(f"{base}.graph").write_bytes(out.bytes())
    pathlib.Path(f"{base}.properties").write_text(
        f"# by hand\nnodes = {len(lists)}\narcs={sum(map(len, lists))}\nwindowsize=0\nminintervallength=0\nzetak=3\n")


def random_lists(n, seed):
    draw = random.Random(seed)
    return [sorted({draw.randrange(n) for _ in range(draw.choice([0, 0, 1, 2, 3, 6]))}) for _ in range(n)]


class Known(unittest.TestCase):
    """Graphs of known shape, imported."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def take(self, lists, name="g"):
        write_webgraph(self.folder / name, lists)
        told = graph("import", self.folder / f"{name}.dir", self.folder / name)
        self.assertIn(f"imported {len(lists)} nodes and {sum(map(len, lists))} links", told)
        return self.folder / f"{name}.dir"

    def ranking(self, directory, by, *more):
        rows = [json.loads(line) for line in graph("rank", directory, "--by", by, "--limit", "0", "--json", *more).splitlines()]
        self.assertEqual([row["rank"] for row in rows], list(range(1, len(rows) + 1)))
        self.assertEqual(sorted(rows, key=lambda row: (-row["score"], row["node"])), rows)
        return {row["node"]: row["score"] for row in rows}

    def test_ranks_are_those_of_naive_implementations(self):
        for seed in range(4):
            lists = random_lists(70, seed)
            directory = self.take(lists, f"r{seed}")
            turned = [[source for source, targets in enumerate(lists) if node in targets] for node in range(len(lists))]
            self.assertEqual(self.ranking(directory, "indegree"), dict(enumerate(map(len, turned))))
            for damping in (0.85, 0.5):
                found = self.ranking(directory, "pagerank", "--damping", damping, "--tolerance", "1e-13")
                self.assertAlmostEqual(sum(found.values()), 1, places=12)
                for node, rank in enumerate(page_rank(lists, damping)):
                    self.assertAlmostEqual(found[node], rank, places=11)
            found = self.ranking(directory, "harmonic")
            for node in range(len(lists)):
                true = sum(1 / d for d in distances_from(turned, node).values() if d > 0)
                # Counters of 2^14 registers count 70 nodes nearly exactly, if no two of them share a register.
                self.assertLess(abs(found[node] - true), 0.05 * (true + 1), node)

    def test_stats_are_those_of_naive_implementations(self):
        compared = 0
        for seed in range(6):
            lists = random_lists(60, 100 + seed)
            directory = self.take(lists, f"s{seed}")
            stats = json.loads(graph("stats", directory, "--json", "--top", "3"))
            self.assertEqual(stats["nodes"], 60)
            self.assertEqual(stats["links"], sum(map(len, lists)))
            self.assertEqual(stats["loops"], sum(node in targets for node, targets in enumerate(lists)))
            self.assertIsNone(stats["fetched"])
            indegrees = collections.Counter(target for targets in lists for target in targets)
            for side, degrees in (("out", list(map(len, lists))), ("in", [indegrees[node] for node in range(60)])):
                self.assertEqual(stats[side]["counts"], [list(item) for item in sorted(collections.Counter(degrees).items())])
                self.assertEqual(stats[side]["zero"], degrees.count(0))
                self.assertEqual(stats[side]["max"], max(degrees))
                self.assertEqual(stats[side]["median"], sorted(degrees)[30])
                self.assertAlmostEqual(stats[side]["mean"], sum(degrees) / 60)
                top = sorted(range(60), key=lambda node: (-degrees[node], node))[:3]
                self.assertEqual([row["node"] for row in stats[side]["top"]], top)
            tie = bow_tie(lists)
            if tie is not None:
                compared += 1
                self.assertEqual({key: stats["bow_tie"][key] for key in tie}, tie)
            found = [d for node in range(60) for d in distances_from(lists, node).values() if d > 0]
            distances = stats["distances"]
            self.assertLess(abs(distances["pairs"] / len(found) - 1), 0.05)
            self.assertLess(abs(distances["mean"] / (sum(found) / len(found)) - 1), 0.05)
            self.assertAlmostEqual(sum(distances["fractions"]), 1, places=9)
            text = graph("stats", directory)
            self.assertIn("bow tie", text)
            self.assertLessEqual(max(map(len, text.splitlines()[1:])), 100)
        self.assertGreater(compared, 2)

    def test_a_graph_without_links_is_said_as_such(self):
        for lists in ([[]], [[], [], []]):
            directory = self.take(lists, f"none{len(lists)}")
            self.assertIn("no node leads to another one", graph("stats", directory))
            self.assertEqual(len(self.ranking(directory, "pagerank")), len(lists))
            self.assertEqual(set(self.ranking(directory, "harmonic").values()), {0})
            self.assertEqual(graph("export", directory, "-", "--format", "csv"), "source,target\n")

    def test_numbers_stand_for_nodes(self):
        directory = self.take([[1, 2], [2], [0], []])
        self.assertEqual(graph("out", directory, "0"), "1\n2\n")
        self.assertEqual(graph("in", directory, "2"), "0\n1\n")
        self.assertEqual(json.loads(graph("in", directory, "0", "--json")), {"source": 2, "target": 0})
        self.assertEqual(graph("out", directory, "3"), "")
        self.assertIn("4 nodes", graph("out", directory, "4", code=VERDICT))
        self.assertIn("4 nodes", graph("out", directory, "9" * 30, code=VERDICT))
        for wrong in ("http://example.org/", "-1", "1x", ""):
            self.assertIn("number", graph("out", directory, "--", wrong, code=USAGE))
        for part in (["out", directory, "1", "--host"], ["stats", directory, "--domain"],
                     ["rank", directory, "--by", "indegree", "--host"],
                     ["export", directory, self.folder / "x", "--format", "csv", "--domain"]):
            self.assertIn("was imported", graph(*part, code=BAD_INPUT))
        self.assertIn("has no names", graph("export", directory, self.folder / "x", "--format", "names", code=BAD_INPUT))
        self.assertFalse((self.folder / "x").exists())

    def test_a_graph_is_replaced_only_on_request(self):
        directory = self.take([[1], []])
        write_webgraph(self.folder / "other", [[], [], [0]])
        self.assertIn("--force", graph("import", directory, self.folder / "other", code=BAD_INPUT))
        self.assertEqual(graph("out", directory, "0"), "1\n")
        graph("import", directory, self.folder / "other.properties", "--force")
        self.assertEqual(graph("out", directory, "2"), "0\n")
        self.assertIn("files are intact", graph("check", directory))

    def test_damaged_files_are_named_and_change_nothing(self):
        directory = self.take([[1], []])
        base = self.folder / "bad"
        lists = random_lists(300, 1)
        before = files_below(directory)
        for suffix, damage in ((".graph", lambda b: b[:len(b) // 2]), (".graph", lambda b: b""),
                               (".properties", lambda b: b.replace(b"arcs=", b"arcs=1")),
                               (".properties", lambda b: b"\0" * 100), (".properties", lambda b: b"nodes=3\n"),
                               (".properties", lambda b: b + b"version=9\n"),
                               (".offsets", lambda b: b"\0" * 10), (".offsets", lambda b: b"\xff" * 100)):
            write_webgraph(base, lists)
            path = pathlib.Path(f"{base}{suffix}")
            path.write_bytes(damage(path.read_bytes() if path.exists() else b""))
            told = graph("import", directory, base, "--force", code=BAD_INPUT)
            self.assertIn(str(base) + ".", told)
            self.assertEqual(files_below(directory), before)
            fresh = self.folder / "fresh"
            graph("import", fresh, base, code=BAD_INPUT)
            self.assertFalse(fresh.exists())
            pathlib.Path(f"{base}.offsets").unlink(missing_ok=True)
        path.with_suffix(".graph").unlink()
        self.assertIn("bad.graph: there is no such file", graph("import", directory, base, "--force", code=BAD_INPUT))

    def test_too_little_memory_is_said_with_what_helps(self):
        directory = self.take(random_lists(2000, 2))
        self.assertIn("--no-distances", graph("stats", directory, "--memory", "50K", code=SYSTEM))
        self.assertIn("--precision", graph("stats", directory, "--memory", "1M", "--precision", "12", code=SYSTEM))
        self.assertNotIn("distances", json.loads(graph("stats", directory, "--memory", "60K", "--no-distances", "--json")))
        self.assertNotIn("bow_tie", json.loads(graph("stats", directory, "--no-bow-tie", "--no-distances", "--json")))
        self.assertIn("--by", graph("rank", directory, "--by", "pagerank", "--memory", "30K", code=SYSTEM))
        graph("rank", directory, "--by", "indegree", "--memory", "30K")

    def test_wrong_flags_are_refused(self):
        directory = self.take([[1], []])
        for arguments, fragment in ((["rank", directory], "--by is required"),
                                    (["rank", directory, "--by", "fame"], "fame"),
                                    (["rank", directory, "--by", "pagerank", "--damping", "1"], "below 1"),
                                    (["rank", directory, "--by", "pagerank", "--tolerance", "0"], "above 0"),
                                    (["rank", directory, "--by", "harmonic", "--precision", "3"], "precision"),
                                    (["rank", directory, "--by", "indegree", "--json", "--csv"], "--csv"),
                                    (["export", directory, "x", "--format", "xml"], "xml"),
                                    (["export", directory, "x"], "--format is required"),
                                    (["export", directory, "", "--format", "csv"], "not the name of a file"),
                                    (["export", directory, "-", "--format", "webgraph"], "several files"),
                                    (["export", directory, "x", "--format", "ascii", "--numbers"], "csv"),
                                    (["stats", directory, "--tpo", "3"], "did you mean '--top'?"),
                                    (["rank", directory, "--by", "indegree", "--memory", "much"], "much")):
            self.assertIn(fragment, graph(*arguments, code=USAGE))
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, "graph", "export", str(directory), "-", "--format", "csv"], stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (SYSTEM, "portolan: cannot write to standard output\n"))
        self.assertIn("there is no link graph", graph("stats", self.folder / "nowhere", code=BAD_INPUT))

    def test_an_export_that_is_stopped_leaves_no_file(self):
        # Large enough to take a while when it is packed.
        n = 400_000
        lists = [[(node + 1) % n, (node + 2) % n] if node + 2 < n else [] for node in range(n)]
        directory = self.take(lists, "long")
        out = self.folder / "out"
        out.mkdir()
        for stop in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen([PROGRAM, "graph", "export", str(directory), str(out / "x.csv.gz"), "--format", "csv"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            crawls.wait_until(lambda: any(out.iterdir()) or process.poll() is not None, 20, "the export began")
            process.send_signal(stop)
            told = process.communicate(timeout=30)[1]
            if process.returncode == 0:
                self.assertEqual(os.listdir(out), ["x.csv.gz"])  # it was faster
                (out / "x.csv.gz").unlink()
                continue
            self.assertEqual(process.returncode, SYSTEM, told)
            self.assertIn("no file is left", told)
            self.assertEqual(os.listdir(out), [])


class Crawl(unittest.TestCase):
    """The graph of a crawl: what is exported agrees with what out says, and among each other."""

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        cls.dir = cls.folder / "crawl"
        with crawls.Web(PROGRAM, cls.folder, *WORLD) as web:
            done = crawls.run(PROGRAM, "crawl", "--dir", cls.dir, *web.flags(), *PACE, "--quiet", "--set",
                              "outputs.links=true", "--max-pages", "300", *web.ready["seeds"])
            assert done.returncode == 0, done.stderr
        cls.built = json.loads(graph("build", cls.dir, "--json"))
        cls.before = files_below(cls.dir)

    def tearDown(self):
        self.assertEqual(files_below(self.dir), self.before, "looking at a graph changed a file")

    def csv_links(self, *level):
        rows = list(csv.reader(io.StringIO(graph("export", self.dir, "-", "--format", "csv", *level))))
        self.assertEqual(rows[0], ["source", "target"])
        return rows[1:]

    def test_levels_agree(self):
        for level in ("pages", "hosts", "domains"):
            flags = {"pages": [], "hosts": ["--host"], "domains": ["--domain"]}[level]
            stats = json.loads(graph("stats", self.dir, "--json", *flags))
            self.assertEqual(stats["nodes"], self.built[level])
            self.assertEqual(stats["links"], self.built[level + "_links"])
            self.assertEqual(stats["level"], level)
            links = self.csv_links(*flags)
            self.assertEqual(len(links), stats["links"])
            names = graph("export", self.dir, "-", "--format", "names", *flags).splitlines()
            self.assertEqual(len(set(names)), stats["nodes"])
            lines = graph("export", self.dir, "-", "--format", "ascii", *flags).splitlines()
            self.assertEqual(int(lines[0]), len(names))
            lists = [[int(word) for word in line.split()] for line in lines[1:]]
            self.assertEqual([[names[node], names[target]] for node, targets in enumerate(lists) for target in targets], links)
            turned = graph("export", self.dir, "-", "--format", "csv", "--transposed", "--numbers", *flags).splitlines()[1:]
            self.assertEqual(sorted(tuple(map(int, line.split(","))) for line in turned),
                             sorted((target, node) for node, targets in enumerate(lists) for target in targets))
            # By another way: out, and ranks.
            indegree = collections.Counter(target for _, target in links)
            rows = [json.loads(line) for line in
                    graph("rank", self.dir, "--by", "indegree", "--limit", "7", "--json", *flags).splitlines()]
            self.assertEqual([row["score"] for row in rows], sorted(indegree.values(), reverse=True)[:7])
            self.assertTrue(all(indegree[row["name"]] == row["score"] for row in rows))
            first = rows[0]["name"]
            sources = graph("in", self.dir, first, "--json", "--limit", "0", *flags).splitlines()
            self.assertEqual({json.loads(line)["source"] for line in sources}, {a for a, b in links if b == first})
            ranks = graph("rank", self.dir, "--by", "pagerank", "--limit", "0", "--csv", *flags)
            ranks = {int(row["node"]): float(row["score"]) for row in csv.DictReader(io.StringIO(ranks))}
            for node, rank in enumerate(page_rank(lists)):
                self.assertAlmostEqual(ranks[node], rank, places=7)
        fetched = json.loads(graph("stats", self.dir, "--json", "--no-distances", "--no-bow-tie"))["fetched"]
        self.assertGreater(fetched, 250)
        self.assertLess(fetched, 700)

    def test_common_crawls_files(self):
        hosts_of = collections.Counter()
        for level, flag in (("host", "--host"), ("domain", "--domain")):
            base = self.folder / f"cc-{level}"
            made = json.loads(graph("export", self.dir, base, "--format", "commoncrawl", flag, "--json"))
            self.assertEqual([file["path"] for file in made["files"]], [f"{base}-vertices.txt.gz", f"{base}-edges.txt.gz"])
            with gzip.open(f"{base}-vertices.txt.gz", "rt") as file:
                vertices = [line.rstrip("\n").split("\t") for line in file]
            with gzip.open(f"{base}-edges.txt.gz", "rt") as file:
                edges = [tuple(map(int, line.split("\t"))) for line in file]
            self.assertEqual([int(row[0]) for row in vertices], list(range(made["nodes"])))
            reversed_names = [row[1] for row in vertices]
            self.assertEqual(sorted(reversed_names, key=str.encode), reversed_names)
            self.assertEqual(sorted(edges), edges)
            names = [".".join(reversed(name.split("."))) for name in reversed_names]
            self.assertEqual(sorted([names[a], names[b]] for a, b in edges), sorted(self.csv_links(flag)))
            if level == "host":
                for name in names:
                    hosts_of[".".join(name.split(".")[-2:])] += 1
                self.assertTrue(all(len(row) == 2 for row in vertices))
            else:
                self.assertEqual({name: int(row[2]) for name, row in zip(names, vertices)}, dict(hosts_of))
            # Little memory gives the same.
            graph("export", self.dir, self.folder / "small", "--format", "commoncrawl", flag, "--memory", "4K", "--force")
            for part in ("-vertices.txt.gz", "-edges.txt.gz"):
                self.assertEqual(pathlib.Path(f"{self.folder}/small{part}").read_bytes(),
                                 pathlib.Path(f"{base}{part}").read_bytes())
        self.assertIn("--host or", graph("export", self.dir, self.folder / "cc", "--format", "commoncrawl", code=USAGE))

    def test_webgraphs_files_go_out_and_in(self):
        base = self.folder / "w"
        graph("export", self.dir, base, "--format", "webgraph")
        taken = self.folder / "taken"
        graph("import", taken, base)
        self.assertEqual(graph("export", taken, "-", "--format", "ascii"), graph("export", self.dir, "-", "--format", "ascii"))
        self.assertEqual(graph("export", taken, "-", "--format", "ascii", "--transposed"),
                         graph("export", self.dir, "-", "--format", "ascii", "--transposed"))
        self.assertIn("exists already; --force", graph("export", self.dir, base, "--format", "webgraph", code=BAD_INPUT))
        self.assertIn("make it first", graph("export", self.dir, self.folder / "no" / "x", "--format", "csv", code=BAD_INPUT))
        self.assertIn("there is a crawl here", graph("import", self.dir, base, code=BAD_INPUT))

    def test_a_packed_file_is_the_file(self):
        graph("export", self.dir, self.folder / "l.csv", "--format", "csv")
        graph("export", self.dir, self.folder / "l.csv.gz", "--format", "csv")
        with gzip.open(self.folder / "l.csv.gz") as file:
            self.assertEqual(file.read(), (self.folder / "l.csv").read_bytes())
        self.assertFalse(list(self.folder.glob("*.part")))


class Outside(unittest.TestCase):
    """cnr-2000, which another program made."""

    def test_it_is_read_and_written_as_it_is(self):
        base = DATA / "cnr-2000"
        if not base.with_suffix(".properties").exists():
            self.skipTest(f"{base}.properties is not there")
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            begin = time.monotonic()
            self.assertIn("325557 nodes and 3216152 links; the offsets were checked", graph("import", folder / "cnr", base))
            graph("export", folder / "cnr", folder / "ascii", "--format", "ascii")
            with gzip.open(f"{base}.graph-txt.gz") as file:
                self.assertEqual(file.read(), (folder / "ascii").read_bytes())
            graph("export", folder / "cnr", folder / "again", "--format", "webgraph")
            for suffix in (".graph", ".offsets", ".properties"):
                self.assertEqual((folder / f"again{suffix}").read_bytes(), base.with_suffix(suffix).read_bytes())
            stats = json.loads(graph("stats", folder / "cnr", "--json", "--no-distances"))
            # Known of this graph.
            self.assertEqual((stats["nodes"], stats["links"]), (325557, 3216152))
            self.assertEqual(stats["bow_tie"]["core"], 112023)
            self.assertEqual(stats["bow_tie"]["components"], 100977)
            self.assertEqual((stats["out"]["max"], stats["in"]["max"]), (2716, 18235))
            self.assertAlmostEqual(stats["out"]["bits_per_link"], 3.56, places=2)
            self.assertLess(time.monotonic() - begin, 100)


if __name__ == "__main__":
    unittest.main()
