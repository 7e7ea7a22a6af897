"""Crawls of the simulated web by several nodes, with a real nats-server between them.

usage: cluster_test.py PORTOLAN

  - `crawl --nodes 3`, with kill -9 of nodes and of nats-server while it works: everything that can be reached is
    fetched and archived once, the gaps between requests to hosts and addresses hold over all nodes, and no process is
    left;
  - the verbs: init, node, status, pause, resume, move, stop;
  - a node whose machine is gone: another one goes on from its copy;
  - what is refused, and what is waited for.
"""

import collections
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import clusters
import crawls
import nats_secrets

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None
PAGES = int(os.environ.get("CLUSTER_TEST_PAGES", "20000"))
LIMIT = 120 + PAGES // 50  # seconds, for anything
KILLS = int(os.environ.get("CLUSTER_TEST_KILLS", "5"))
PAUSE = 2.5 if KILLS < 10 else 8  # seconds between two kills, on average
GAP = "20ms"
IP_GAP = "2ms"


def crawl_flags(web, *more, gap=GAP, max_pages=0):
    return [*web.flags(), "--scope", "any", "--delay", gap, "--ip-delay", IP_GAP, "--max-pages", max_pages, "--set",
            "politeness.delay_factor=0", "--set", "checkpoint.interval=1s", "--set", "fetch.total_timeout=3s",
            "--set", "fetch.connect_timeout=2s", "--set", "fetch.first_byte_timeout=2s", *more]


def world(pages, seed=1):
    return ["--profile", "demo", "--seed", seed, "--set", f"pages={pages}", "--set", f"domains={max(40, pages // 40)}",
            "--set", "https=0"]


class Base(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="portolan-cluster-"))
        self.addCleanup(self.clean)

    def clean(self):
        result = self._outcome.result
        failed = any(test is self for test, _ in result.failures + result.errors)
        if not failed:
            shutil.rmtree(self.folder, ignore_errors=True)
        else:
            print(f"everything is in {self.folder}", file=sys.stderr)

    def judge(self, web, directory):
        """The oracle on all requests, and the archives of all shards together."""
        time.sleep(0.5)  # the web writes its log a moment later
        judged = crawls.run(PROGRAM, "sim", "check", "--log", web.log, "--json", "--host-gap", GAP, "--ip-gap", IP_GAP,
                            "--crawl-delay", "--complete", timeout=LIMIT)
        account = json.loads(judged.stdout)
        self.assertEqual(account["violations"], 0, account["offences"])
        self.assertEqual(judged.returncode, 0, judged.stderr)
        captured = collections.Counter()
        for shard in clusters.shard_dirs(directory):
            captured.update(values["url"] for _, _, values in crawls.captures(shard))
        again = [url for url, count in captured.items() if count > 1]
        self.assertEqual(again, [], f"{len(again)} URLs are in the archives twice")
        for shard in clusters.shard_dirs(directory):
            done = crawls.run(PROGRAM, "check", shard, "--json", timeout=LIMIT)
            self.assertEqual(done.returncode, 0, f"{shard}: {done.stdout} {done.stderr}")
        return account, captured

    def init(self, nats, web, *flags, shards=3, name="test", **crawl):
        done = crawls.run(PROGRAM, "cluster", "init", *nats.client, "--name", name, "--shards", shards, *flags,
                          *crawl_flags(web, **crawl), *web.ready["seeds"])
        self.assertEqual(done.returncode, 0, done.stderr)


class OneMachine(Base):
    def test_nodes_and_server_are_killed_and_nothing_is_lost(self):
        directory = self.folder / "crawl"
        chance = random.Random(7)
        with crawls.Web(PROGRAM, self.folder, *world(PAGES), max_seconds=2 * LIMIT) as web:
            began = time.monotonic()
            with open(self.folder / "messages", "wb") as messages:
                process = subprocess.Popen(
                    [str(part) for part in [PROGRAM, "crawl", "--nodes", 3, "--dir", directory, "--json", "--memory",
                                            "512M", *crawl_flags(web), *web.ready["seeds"]]],
                    stdout=subprocess.PIPE, stderr=messages, text=True)
            self.addCleanup(process.kill)
            killed = collections.Counter()
            seen = set()
            for number in range(KILLS):
                time.sleep(chance.uniform(0.5, 1.5) * PAUSE)
                if process.poll() is not None:
                    break
                kin = clusters.children(process.pid)
                seen.update(pid for pid, _ in kin)
                wanted = "nats-server" if number % 3 == 2 else "node"
                victims = [pid for pid, words in kin if (words[0].endswith("nats-server")) == (wanted == "nats-server")]
                if not victims:
                    continue
                os.kill(chance.choice(victims), signal.SIGKILL)
                killed[wanted] += 1
            out, _ = process.communicate(timeout=LIMIT)
            seconds = time.monotonic() - began
            self.assertEqual(process.returncode, 0, (self.folder / "messages").read_text())
            summary = json.loads(out)
            self.assertEqual(summary["state"], "done")
            self.assertEqual(summary["shards_done"], 3)
            account, captured = self.judge(web, directory)
        self.assertTrue(all(clusters.is_gone(pid) for pid in seen), "a process is left")
        self.assertGreaterEqual(killed["node"], 2, killed)
        self.assertGreaterEqual(killed["nats-server"], 1, killed)
        self.assertEqual(len(clusters.shard_dirs(directory)), 3)
        print(json.dumps({"seconds": round(seconds, 1), "killed": killed, "captures": len(captured),
                          "pages": summary["pages"], "requests": account.get("requests"),
                          "epochs": [shard["epoch"] for shard in summary["shards"]]}), file=sys.stderr)

    def test_a_stop_is_clean_and_resume_goes_on_and_nothing_outlives_its_parent(self):
        directory = self.folder / "crawl"
        with crawls.Web(PROGRAM, self.folder, *world(3000)) as web:
            command = [str(part) for part in [PROGRAM, "crawl", "--nodes", 2, "--dir", directory, "--json", "--quiet",
                                              "--memory", "512M", *crawl_flags(web), *web.ready["seeds"]]]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            crawls.wait_until(lambda: len(clusters.shard_dirs(directory)) == 2, 30, "shards are begun")
            time.sleep(1)
            process.send_signal(signal.SIGTERM)
            out, error = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, error)
            self.assertIn(json.loads(out)["state"], ("no node works for it", "done"))
            # The parent is killed: its children go with it.
            resume = [PROGRAM, "resume", directory, "--json", "--quiet"]
            process = subprocess.Popen([str(part) for part in resume], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       text=True)
            crawls.wait_until(lambda: len(clusters.children(process.pid)) == 3, 30, "all children run")
            kin = [pid for pid, _ in clusters.children(process.pid)]
            process.kill()
            process.communicate()
            crawls.wait_until(lambda: all(clusters.is_gone(pid) for pid in kin), 10, "the children end")
            done = crawls.run(*resume)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["state"], "done")
            self.judge(web, directory)
        refused = crawls.run(PROGRAM, "resume", clusters.shard_dirs(directory)[0])
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("is one shard of a cluster", refused.stderr)


    def test_a_crawl_without_a_page_says_why(self):
        done = crawls.run(PROGRAM, "crawl", "--nodes", 2, "--dir", self.folder / "crawl", "--memory", "512M",
                          "http://127.0.0.1:8080/")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("http://127.0.0.1:8080/: address_forbidden: it has no public address", done.stdout)


class Verbs(Base):
    def test_pause_move_and_stop(self):
        with clusters.Nats(self.folder / "nats") as nats, crawls.Web(PROGRAM, self.folder, *world(3000)) as web:
            self.init(nats, web, "--lease", "2s", "--nodes", 2, shards=4)
            nodes = {name: clusters.Node(PROGRAM, nats, self.folder, name, "--memory", "512M")
                     for name in ("alpha", "beta")}
            for node in nodes.values():
                self.addCleanup(node.process.kill)
            crawls.wait_until(lambda: all(shard["pages"] > 0 for shard in clusters.status(PROGRAM, nats)["shards"]), 30,
                              "all shards fetch")
            crawls.run(PROGRAM, "cluster", "pause", "--cluster", "test", "--nats", nats.url)
            crawls.wait_until(lambda: all(shard["status"]["state"].startswith("paused") and
                                          shard["status"]["in_flight"] == 0
                                          for shard in clusters.status(PROGRAM, nats)["shards"]), 20, "all are paused")
            before = clusters.status(PROGRAM, nats)
            self.assertEqual(before["state"], "paused")
            time.sleep(2.5)
            self.assertEqual(clusters.status(PROGRAM, nats)["pages"], before["pages"])
            # One shard moves from alpha to beta, which may hold one more.
            shard = next(one["shard"] for one in before["shards"] if one["holder"] == "alpha")
            nodes["beta"].stop()
            nodes["beta"] = clusters.Node(PROGRAM, nats, self.folder, "beta", "--capacity", 3, "--memory", "512M")
            self.addCleanup(nodes["beta"].process.kill)
            moved = crawls.run(PROGRAM, "cluster", "move", shard, "beta", "--cluster", "test", "--nats", nats.url)
            self.assertEqual(moved.returncode, 0, moved.stderr)
            name = f"shard-{shard:02}"
            crawls.wait_until(lambda: clusters.status(PROGRAM, nats)["shards"][shard]["node"] == "beta", 40,
                              "beta has copied the shard and taken it")
            crawls.run(PROGRAM, "cluster", "resume", "--cluster", "test", "--nats", nats.url)
            # A stop ends the nodes; they end again until the cluster is resumed.
            crawls.run(PROGRAM, "cluster", "stop", "--cluster", "test", "--nats", nats.url)
            for node in nodes.values():
                code, _, messages = node.end()
                self.assertEqual(code, 0, messages)
            self.assertIn(clusters.status(PROGRAM, nats)["state"], ("stopped", "done"))
            crawls.run(PROGRAM, "cluster", "resume", "--cluster", "test", "--nats", nats.url)
            nodes = [clusters.Node(PROGRAM, nats, self.folder, "alpha", "--memory", "512M"),
                     clusters.Node(PROGRAM, nats, self.folder, "beta", "--capacity", 3, "--memory", "512M")]
            for node in nodes:
                code, summary, messages = node.end(100)
                self.assertEqual((code, summary["state"]), (0, "done"), messages)
            shutil.rmtree(self.folder / "alpha" / name)  # the files that were left behind
            self.judge(web, self.folder)
            self.assertEqual(clusters.status(PROGRAM, nats)["shards_done"], 4)


class Seeds(Base):
    def test_more_seeds_than_settings_hold_are_each_fetched_once_even_if_a_node_dies_reading_them(self):
        wanted, left_out = 1500, 100_000
        seeds, rules = self.folder / "seeds.txt", self.folder / "rules.toml"
        rules.write_text('[[rule]]\naction = "exclude"\ndomain = "left-out.example"\n')
        with clusters.Nats(self.folder / "nats") as nats, \
                crawls.Web(PROGRAM, self.folder, *world(2000), "--set", f"domains={wanted}", "--seeds", wanted,
                           "--seeds-file", seeds) as web:
            real = seeds.read_text().split()
            self.assertEqual(len(set(real)), wanted)
            with open(seeds, "a", encoding="ascii") as more:  # so many that reading them takes a while
                more.writelines(f"http://h{i}.left-out.example/\n" for i in range(left_out))
            web.ready["seeds"] = ["--seeds", seeds]
            self.init(nats, web, "--lease", "2s", "--nodes", 2, "--rules", rules, shards=4)
            nodes = [clusters.Node(PROGRAM, nats, self.folder, name, "--memory", "512M") for name in ("alpha", "beta")]
            for node in nodes:
                self.addCleanup(node.process.kill)

            def begun():  # made, and without the settings that are written when the seeds have been read
                return [path for path in nodes[0].dir.glob("shard-*") if not (path / "crawl.toml").exists()]
            crawls.wait_until(begun, 20, "alpha reads the seeds")
            nodes[0].kill()
            self.assertTrue(begun(), "it was killed while it read them")
            nodes[0] = clusters.Node(PROGRAM, nats, self.folder, "alpha", "--memory", "512M")
            self.addCleanup(nodes[0].process.kill)
            for node in nodes:
                code, summary, messages = node.end(LIMIT)
                self.assertEqual((code, summary["state"]), (0, "done"), messages)
            self.judge(web, self.folder)
        ended = collections.Counter(line["url"] for shard in clusters.shard_dirs(self.folder)
                                    for line in crawls.log_lines(shard))
        self.assertEqual([seed for seed in real if ended[seed] != 1], [])


class Limits(Base):
    """A limit counts all shards: nodes tell each other once per second what they have fetched."""

    SLACK = 4  # seconds; two are promised, and the machine may be busy

    def crawl(self, *flags, **limit):
        """Three nodes until the limit. Returns what the summaries and `status` say, and of each request when it was made
        and answered, the status and the bytes."""
        with clusters.Nats(self.folder / "nats") as nats, \
                crawls.Web(PROGRAM, self.folder, *world(4000), "--seeds", 40) as web:
            self.init(nats, web, "--lease", "2s", "--nodes", 3, *flags, gap="500ms", **limit)
            nodes = [clusters.Node(PROGRAM, nats, self.folder, name, "--memory", "256M") for name in ("a", "b", "c")]
            for node in nodes:
                self.addCleanup(node.process.kill)
            ends = [node.end(LIMIT) for node in nodes]
            # Who comes later ends, too.
            ends.append(clusters.Node(PROGRAM, nats, self.folder, "a", "--memory", "256M").end())
            status = clusters.status(PROGRAM, nats)
        for code, summary, messages in ends:
            self.assertEqual((code, summary["state"]), (0, "stopped"), messages)
        hits = [line.split("\t") for line in web.log.read_text().splitlines() if line.startswith("H\t")]
        answers = [(int(hit[1]), int(hit[10]), hit[8] if hit[7] != "/robots.txt" else "", int(hit[9])) for hit in hits]
        return [summary["why"] for _, summary, _ in ends], status, answers

    def judge_end(self, answers, reached_ns):
        late = [begin for begin, *_ in answers if begin > reached_ns + self.SLACK * 10**9]
        self.assertEqual(len(late), 0, "all know of the limit soon")

    def test_of_pages(self):
        why, status, answers = self.crawl(max_pages=300)
        self.assertEqual(why, ["a limit is reached: max_pages"] * 4)
        self.assertEqual(status["state"], "a limit is reached: max_pages")
        self.assertGreaterEqual(status["pages"], 300)
        self.assertLess(max(shard["pages"] for shard in status["shards"]), 300, "no shard alone reaches it")
        pages = sorted(end for _, end, code, _ in answers if code == "200")
        self.assertGreaterEqual(len(pages), 300)
        self.judge_end(answers, pages[299])

    def test_of_bytes(self):
        limit = 3_000_000
        why, status, answers = self.crawl("--set", f"crawl.max_bytes={limit}")
        self.assertEqual(why, ["a limit is reached: max_bytes"] * 4)
        self.assertGreaterEqual(status["wire_bytes"], limit)
        total, reached_ns = 0, None
        for _, end, _, size in sorted(answers, key=lambda one: one[1]):
            total += size
            if reached_ns is None and total >= limit:
                reached_ns = end
        self.assertIsNotNone(reached_ns)
        self.judge_end(answers, reached_ns)


class Copies(Base):
    def test_the_end_waits_for_copies_and_comes(self):
        with clusters.Nats(self.folder / "nats") as nats, crawls.Web(PROGRAM, self.folder, *world(600)) as web:
            self.init(nats, web, "--lease", "2s", "--nodes", 2, shards=2)
            nodes = [clusters.Node(PROGRAM, nats, self.folder, name, "--copies", 1, "--memory", "256M")
                     for name in ("alpha", "beta")]
            for node in nodes:
                self.addCleanup(node.process.kill)
            for node in nodes:
                code, summary, messages = node.end(LIMIT)
                self.assertEqual((code, summary["state"]), (0, "done"), messages)
            # Each copy has all that its shard did.
            copies = [mark.parent for mark in self.folder.glob("*/shard-*/copy")]
            self.assertEqual(len(copies), 2)
            for copy in copies:
                (shard,) = [path for path in clusters.shard_dirs(self.folder) if path.name == copy.name and path != copy]
                self.assertTrue((copy / "copy").read_text().startswith("whole"))
                has, did = ({line["url"] for line in crawls.log_lines(path)} for path in (copy, shard))
                self.assertEqual(did - has, set())
                self.assertGreater(len(has), 50)
                shutil.rmtree(copy)
            self.judge(web, self.folder)

    def test_a_node_whose_disk_is_gone_is_taken_over_from_the_copy(self):
        with clusters.Nats(self.folder / "nats") as nats, crawls.Web(PROGRAM, self.folder, *world(4000)) as web:
            self.init(nats, web, "--lease", "2s", "--takeover", "5s", shards=2)
            alpha = clusters.Node(PROGRAM, nats, self.folder, "alpha", "--capacity", 1, "--memory", "512M")
            self.addCleanup(alpha.process.kill)
            crawls.wait_until(lambda: clusters.status(PROGRAM, nats)["shards"], 20, "the cluster answers")
            crawls.wait_until(lambda: any(one["holder"] == "alpha" for one in clusters.status(PROGRAM, nats)["shards"]),
                              20, "alpha has a shard")
            shard = next(one["shard"] for one in clusters.status(PROGRAM, nats)["shards"] if one["holder"] == "alpha")
            beta = clusters.Node(PROGRAM, nats, self.folder, "beta", "--capacity", 2, "--copies", 1, "--memory", "512M")
            self.addCleanup(beta.process.kill)
            mark = self.folder / "beta" / f"shard-{shard:02}" / "copy"
            crawls.wait_until(lambda: mark.exists() and mark.read_text().startswith("whole"), 40, "the copy is whole")
            crawls.wait_until(lambda: clusters.status(PROGRAM, nats)["shards"][shard]["pages"] > 100, 40, "alpha fetches")
            alpha.kill()
            shutil.rmtree(alpha.dir)
            code, summary, messages = beta.end(LIMIT)
            self.assertEqual((code, summary["state"]), (0, "done"), messages)
            self.assertIn("taking the shard over", messages)
            self.assertEqual([one["node"] for one in clusters.status(PROGRAM, nats)["shards"]], ["beta", "beta"])
            self.judge(web, self.folder)


class BadInput(Base):
    def node(self, nats, *flags, name="alpha", timeout=30, cluster="test", url=None):
        given = {**{"--name": name, "--memory": "512M"}, **dict(zip(flags[::2], flags[1::2]))}
        return crawls.run(PROGRAM, "node", "--cluster", cluster, "--nats", url or nats.url, "--dir", self.folder / name,
                          *[word for pair in given.items() for word in pair], timeout=timeout)

    def test_what_is_refused(self):
        with clusters.Nats(self.folder / "nats", "--user", "u", "--pass", "right", user="u:right") as nats, \
                crawls.Web(PROGRAM, self.folder, *world(40)) as web:
            self.init(nats, web, "--lease", "1s", shards=2)
            again = crawls.run(PROGRAM, "cluster", "init", "--nats", nats.url, "--name", "test", "http://example.org/")
            self.assertEqual(again.returncode, 3, again.stderr)
            self.assertIn("there is one with this name", again.stderr)
            unknown = self.node(nats, cluster="other")
            self.assertEqual(unknown.returncode, 3, unknown.stderr)
            self.assertIn("there is none with this name", unknown.stderr)
            wrong = self.node(nats, url=nats.url.replace("right", "wrong"))
            self.assertEqual(wrong.returncode, 2, wrong.stderr)
            self.assertNotIn("u:wrong", wrong.stderr)
            # One name, two nodes.
            first = clusters.Node(PROGRAM, nats, self.folder / "one", "alpha", "--memory", "512M")
            self.addCleanup(first.process.kill)
            crawls.run(PROGRAM, "cluster", "pause", "--cluster", "test", "--nats", nats.url)
            crawls.wait_until(lambda: first.log.exists() and "a shard is ours" in first.log.read_text(), 20, "it works")
            second = self.node(nats)
            self.assertEqual(second.returncode, 4, second.stderr)
            self.assertIn("a node named alpha works already", second.stderr)
            same = crawls.run(PROGRAM, "node", "--cluster", "test", "--nats", nats.url, "--dir", first.dir)
            self.assertEqual(same.returncode, 4, same.stderr)
            self.assertIn("another node works in this directory", same.stderr)
            other = crawls.run(PROGRAM, "cluster", "remove", "--cluster", "test", "--nats", nats.url)
            self.assertEqual(other.returncode, 4, other.stderr)
            first.stop()
            # Its directory belongs to this cluster and this name.
            named = crawls.run(PROGRAM, "node", "--cluster", "test", "--nats", nats.url, "--dir", first.dir, "--name",
                               "beta")
            self.assertEqual(named.returncode, 2, named.stderr)
            self.assertIn("is the directory of node alpha", named.stderr)
            removed = crawls.run(PROGRAM, "cluster", "remove", "--cluster", "test", "--nats", nats.url)
            self.assertEqual(removed.returncode, 0, removed.stderr)
            self.init(nats, web, "--lease", "1s", shards=2)
            old = crawls.run(PROGRAM, "node", "--cluster", "test", "--nats", nats.url, "--dir", first.dir)
            self.assertEqual(old.returncode, 2, old.stderr)
            self.assertIn("was made anew", old.stderr)

    def test_another_version_is_refused_until_the_cluster_is_upgraded(self):
        with clusters.Nats(self.folder / "nats") as nats, crawls.Web(PROGRAM, self.folder, *world(40)) as web:
            self.init(nats, web, "--lease", "1s", shards=2)
            nats.put("version", "0.0.1")
            refused = self.node(nats)
            self.assertEqual(refused.returncode, 3, refused.stderr)
            self.assertRegex(refused.stderr, r"cluster test is worked on by portolan 0\.0\.1, this is \S+: .*upgrade")
            self.assertFalse((self.folder / "alpha").exists())
            self.assertEqual(clusters.status(PROGRAM, nats)["pages"], 0)  # looking is allowed

            def upgrade(*flags):
                return crawls.run(PROGRAM, "cluster", "upgrade", "--cluster", "test", *nats.client, *flags)
            done = upgrade()
            self.assertEqual(done.returncode, 0, done.stderr)
            # Not while nodes work, which would be of the version before.
            crawls.run(PROGRAM, "cluster", "pause", "--cluster", "test", "--nats", nats.url)
            node = clusters.Node(PROGRAM, nats, self.folder, "alpha", "--memory", "512M")
            self.addCleanup(node.process.kill)
            crawls.wait_until(lambda: "a shard is ours" in node.log.read_text(), 20, "it works")
            busy = upgrade()
            self.assertEqual(busy.returncode, 4, busy.stderr)
            self.assertIn("stop the nodes first", busy.stderr)
            crawls.run(PROGRAM, "cluster", "resume", "--cluster", "test", "--nats", nats.url)
            code, summary, messages = node.end()
            self.assertEqual((code, summary["state"]), (0, "done"), messages)
            self.judge(web, self.folder)
            # A format that this version does not know.
            nats.put("settings", "portolan-cluster 99\n\n")
            for done in (self.node(nats), upgrade()):
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn("its format is 99, this program knows 1", done.stderr)

    def test_settings_that_a_node_cannot_share_are_refused(self):
        rules = self.folder / "rules.toml"
        broken = self.folder / "broken.toml"
        broken.write_text('[[rule]]\naction = "forbid"\n')
        rules.write_text('[[rule]]\naction = "exclude"\npattern = "/nothing-like-this/"\n')
        with clusters.Nats(self.folder / "nats") as nats, crawls.Web(PROGRAM, self.folder, *world(40)) as web:
            for code, why, *flags in (
                    (2, "would be shared by several shards", "--set", "archive.directories=['/srv/one']"),
                    (2, "crawl.shards: is of a crawl on one machine", "--set", "crawl.shards=2"),
                    (2, "--lease: ", "--lease", "10ms"), (2, "--takeover: ", "--takeover", "1s"),
                    (3, "none.toml", "--rules", self.folder / "none.toml"),
                    (3, "broken.toml:2: ", "--rules", broken)):
                done = crawls.run(PROGRAM, "cluster", "init", *nats.client, "--name", "test", *flags,
                                  "http://example.org/")
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(why, done.stderr)
            self.init(nats, web, "--lease", "1s", "--rules", rules, shards=2)
            text = rules.read_text()
            rules.write_text(text + "# one line more\n")
            other = self.node(nats)
            self.assertEqual(other.returncode, 2, other.stderr)
            self.assertIn(f"rules.file: {rules} has other contents here", other.stderr)
            self.assertIn("copy the file that 'portolan cluster init' read", other.stderr)
            rules.unlink()
            missing = self.node(nats)
            self.assertEqual(missing.returncode, 2, missing.stderr)
            self.assertIn(f"rules.file: {rules} is not on this machine: copy the file", missing.stderr)
            rules.write_text(text)
            for flags, why in ((["--memory", "200M"], "which need 128M of memory each"),
                               (["--connections", "many"], "fetch.connections"), (["--name", "a b"], "is not a name")):
                done = self.node(nats, *flags)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(why, done.stderr)
            done = self.node(nats)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.judge(web, self.folder)

    def test_a_server_without_jetstream_is_refused(self):
        with clusters.Nats(self.folder / "nats", jetstream=False) as nats:
            off = self.node(nats)
            self.assertEqual(off.returncode, 3, off.stderr)
            self.assertIn("JetStream is off", off.stderr)

    def test_a_server_that_is_away_is_waited_for(self):
        nats = clusters.Nats(self.folder / "nats")
        self.addCleanup(nats.kill)
        with crawls.Web(PROGRAM, self.folder, *world(40)) as web:
            nats.start()
            self.init(nats, web, "--lease", "1s", shards=2)
            nats.kill()
            node = clusters.Node(PROGRAM, nats, self.folder, "alpha", "--memory", "512M")
            self.addCleanup(node.process.kill)
            crawls.wait_until(lambda: "NATS does not answer" in node.log.read_text(), 20, "it says that it waits")
            nats.start()
            code, summary, messages = node.end(100)
            self.assertEqual((code, summary["state"]), (0, "done"), messages)
            self.judge(web, self.folder)

    def test_a_stream_that_somebody_deleted_stops_the_node_and_says_what_is_lost(self):
        with clusters.Nats(self.folder / "nats") as nats, crawls.Web(PROGRAM, self.folder, *world(2000)) as web:
            self.init(nats, web, "--lease", "2s", shards=2)
            node = clusters.Node(PROGRAM, nats, self.folder, "alpha", "--memory", "512M")
            self.addCleanup(node.process.kill)
            crawls.wait_until(lambda: node.dir.exists() and clusters.status(PROGRAM, nats)["pages"] > 50, 30,
                              "it fetches")
            nats.kill()
            shutil.rmtree(next((self.folder / "nats" / "store").glob("**/portolan-test-shard-1")))
            nats.start()
            code, _, messages = node.end(60)
            self.assertEqual(code, 3, messages)
            self.assertRegex(messages.splitlines()[-1], "shard [01].*lost")


class Secrets(Base):
    """How a server may want to know who we are: certificates, a password, a token, credentials of an account."""

    def crawl(self, nats):
        with crawls.Web(PROGRAM, self.folder, *world(40)) as web:
            self.init(nats, web, "--lease", "1s", shards=2)
            node = clusters.Node(PROGRAM, nats, self.folder, "alpha", "--memory", "512M")
            self.addCleanup(node.process.kill)
            code, summary, messages = node.end()
            self.assertEqual((code, summary["state"]), (0, "done"), messages)
            self.judge(web, self.folder)
        self.assertEqual(clusters.status(PROGRAM, nats)["state"], "done")

    def refuse(self, nats, url, *flags, why, all_verbs=False):
        """Exit code 2 and one line that says why, without the secrets."""
        for verb in (["cluster", "status"], ["cluster", "init", "--name", "other", "http://example.org/"],
                     ["node", "--dir", self.folder / "refused", "--memory", "512M"])[:3 if all_verbs else 1]:
            named = ["--cluster", "test"] if "init" not in verb else []
            done = crawls.run(PROGRAM, *verb, *named, "--nats", url.replace("PORT", str(nats.port)), *flags, timeout=20)
            self.assertEqual(done.returncode, 2, (verb, done.stderr))
            told = [line for line in done.stderr.splitlines() if line.startswith("portolan: ")]
            self.assertEqual(len(told), 1, done.stderr)
            self.assertRegex(told[0], why)
            self.assertNotIn(".c:", told[0])
            self.assertNotIn("right", done.stderr)
            self.assertEqual(done.stdout, "")

    def test_tls_with_certificates_of_both_sides_and_a_password(self):
        own, other = (nats_secrets.Authority(self.folder / name) for name in ("own", "other"))
        cert, key = own.sign("server", "IP:127.0.0.1")
        mine, my_key = own.sign("client", "DNS:client")
        theirs, their_key = other.sign("client", "DNS:client")
        with clusters.Nats(self.folder / "nats", "--tlsverify", "--tlscert", cert, "--tlskey", key, "--tlscacert", own.ca,
                           "--user", "u", "--pass", "right", user="u:right", scheme="tls",
                           client=["--nats-ca", own.ca, "--nats-cert", mine, "--nats-key", my_key]) as nats:
            self.crawl(nats)
            url = "tls://u:right@127.0.0.1:PORT"
            mine = ["--nats-cert", mine, "--nats-key", my_key]
            self.refuse(nats, url, "--nats-ca", other.ca, *mine, why="SSL handshake error: .*issuer certificate",
                        all_verbs=True)
            self.refuse(nats, "nats://u:right@127.0.0.1:PORT", why="SSL handshake error: .*issuer certificate")
            self.refuse(nats, "tls://u:right@localhost:PORT", "--nats-ca", own.ca, *mine, why="hostname mismatch")
            self.refuse(nats, url.replace("right", "wrong"), "--nats-ca", own.ca, *mine, why="Authorization Violation",
                        all_verbs=True)
            self.refuse(nats, url, "--nats-ca", own.ca, why="wants a certificate of this program")
            self.refuse(nats, url, "--nats-ca", own.ca, "--nats-cert", theirs, "--nats-key", their_key,
                        why="wants a certificate of this program")
            self.refuse(nats, url, "--nats-ca", self.folder / "none.pem", *mine, why="none.pem")

    def test_a_token(self):
        with clusters.Nats(self.folder / "nats", "--auth", "right", user="right") as nats:
            self.crawl(nats)
            self.refuse(nats, "nats://wrong@127.0.0.1:PORT", why="Authorization Violation")
            self.refuse(nats, "nats://127.0.0.1:PORT", why="Authorization Violation")
            own = nats_secrets.Authority(self.folder / "own")
            self.refuse(nats, "tls://right@127.0.0.1:PORT", "--nats-ca", own.ca, why="Secure Connection not available")

    def test_credentials_of_an_account(self):
        accounts = nats_secrets.Accounts(self.folder / "accounts")
        good = accounts.user("good")
        bad = accounts.user("bad", signed_by=nats_secrets.Key(accounts.folder, "A"))
        with clusters.Nats(self.folder / "nats", "-c", accounts.config, client=["--nats-creds", good]) as nats:
            self.crawl(nats)
            self.refuse(nats, "nats://127.0.0.1:PORT", "--nats-creds", bad, why="Authorization Violation")
            self.refuse(nats, "nats://127.0.0.1:PORT", "--nats-creds", self.folder / "none.creds", why="none.creds")
            self.refuse(nats, "nats://127.0.0.1:PORT", "--nats-creds", accounts.config, why="holds no credentials")
            self.refuse(nats, "nats://127.0.0.1:PORT", why="Authorization Violation")


if __name__ == "__main__":
    if not clusters.installed():
        print("nats-server is not installed: skipped")
        sys.exit(crawls.SKIPPED)
    unittest.main(argv=sys.argv[:1] + sys.argv[1:])
