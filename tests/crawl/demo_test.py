"""portolan demo, and its results read by independent code.

usage: demo_test.py PORTOLAN SCRATCH

SCRATCH holds the npm package warcio between runs; its part is skipped if node or npm is missing.
"""

import importlib.util
import json
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import crawls

PROGRAM, SCRATCH = (sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))) if __name__ == "__main__" else (None, None)
HERE = pathlib.Path(__file__).resolve().parent
PAGES = 3000


def read_back():
    """tests/warc/read_back_test.py, which knows how warcio is had."""
    spec = importlib.util.spec_from_file_location("read_back_test", HERE.parent / "warc" / "read_back_test.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Demo(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.dir = pathlib.Path(cls.folder.name) / "demo"
        cls.done = crawls.run(PROGRAM, "demo", "--pages", PAGES, "--dir", cls.dir, "--json")
        cls.warcs = sorted(cls.dir.glob("warc/*.warc.gz"))

    def test_verdict(self):
        self.assertEqual(self.done.returncode, 0, self.done.stderr + self.done.stdout)
        report = json.loads(self.done.stdout)  # one object, nothing beside it
        self.assertEqual(report["state"], "done")
        self.assertEqual(report["limit"], "max_pages")
        self.assertGreaterEqual(report["pages"], PAGES)
        self.assertEqual(report["oracle_violations"], 0, report["oracle"].get("offences"))
        self.assertEqual(report["oracle"]["fetches"], report["fetches"])
        self.assertIn("crawling 3000 pages", self.done.stderr)
        self.assertIn("pages_per_s", self.done.stderr)  # no terminal: a line now and then, and one at the end
        self.assertEqual(sorted(path.name for path in self.dir.parent.iterdir()), ["demo"])

    def test_every_end_is_counted_once(self):
        report = json.loads(self.done.stdout)
        self.assertEqual(sum(report["done"].values()), sum(report["outcomes"].values()))
        lines = crawls.log_lines(self.dir)
        ended = [line for line in lines if line["kind"] != "robots" and not line.get("again") and "denied" not in line]
        denied = [line for line in lines if line.get("outcome") == "robots_denied"]
        self.assertEqual(sum(1 for line in lines if line["kind"] == "robots"), report["robots_fetches"])
        self.assertEqual(len(denied), report["robots_denied"])
        pages = [line for line in ended if 200 <= line.get("status", 0) < 300]
        self.assertEqual(len(pages), report["pages"])
        urls = [line["url"] for line in pages]
        self.assertEqual(len(set(urls)), len(urls))

    def test_records_are_valid(self):
        self.assertGreater(len(self.warcs), 0)
        checked = crawls.run(PROGRAM, "warc", "check", *self.warcs)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_other_readers_see_the_same_records(self):
        other = read_back()
        SCRATCH.mkdir(parents=True, exist_ok=True)
        try:
            other.install(SCRATCH)
        except SystemExit:
            self.skipTest("warcio cannot be fetched: no node, no npm or no package")
        shutil.copy(HERE.parent / "warc" / "read_back.mjs", SCRATCH / "read_back.mjs")
        count = 0
        for path in self.warcs:
            ours = [json.loads(line) for line in other.lines(PROGRAM, "warc", "ls", "--json", path)]
            theirs = [json.loads(line) for line in other.lines("node", SCRATCH / "read_back.mjs", path)]
            self.assertEqual(len(ours), len(theirs))
            count += len(ours)
            for mine, their in zip(ours, theirs):
                for key in ("type", "offset", "length"):
                    self.assertEqual(mine[key], their[key], (mine, their))
                for key in ("uri", "id", "date"):
                    self.assertEqual(mine.get(key), their[key], (mine, their))
                if their["declared"] and their["type"] == "response":
                    self.assertEqual(their["declared"], their["payload_sha1"], their)
        self.assertGreater(count, 2 * PAGES)

    def test_index_is_sorted_and_leads_to_its_records(self):
        indexes = sorted(self.dir.glob("warc/*.cdxj"))
        self.assertEqual([path.stem for path in indexes], [path.name[: -len(".warc.gz")] for path in self.warcs])
        self.assertEqual(list(self.dir.glob("warc/*.part")), [])
        for path in indexes:
            lines = path.read_bytes().splitlines()
            self.assertEqual(lines, sorted(lines))
        captures = crawls.captures(self.dir)
        report = json.loads(self.done.stdout)
        self.assertEqual(len(captures), report["archived"])
        for _, timestamp, values in captures[:: max(1, len(captures) // 400)]:
            record = crawls.member(self.dir / "warc" / values["filename"], int(values["offset"]), int(values["length"]))
            self.assertIn(crawls.header(record, "WARC-Type"), ("response", "revisit"))
            self.assertEqual(crawls.header(record, "WARC-Target-URI"), values["url"])
            self.assertEqual(re.sub(r"\D", "", crawls.header(record, "WARC-Date"))[:14], timestamp)
            http = record.partition(b"\r\n\r\n")[2]
            self.assertEqual(http.split(b" ", 2)[1].decode(), values["status"])


class Terminal(unittest.TestCase):
    """What a person sees."""

    def watch(self, *command, seconds=60):
        """All that a program writes to a terminal of 100 columns, and its exit code."""
        primary, secondary = pty.openpty()
        import fcntl, struct, termios
        fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        process = subprocess.Popen([str(part) for part in command], stdout=secondary, stderr=secondary,
                                   stdin=subprocess.DEVNULL)
        os.close(secondary)
        seen = b""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if select.select([primary], [], [], 0.5)[0]:
                try:
                    chunk = os.read(primary, 65536)
                except OSError:  # the last writer is gone
                    break
                seen += chunk
        os.close(primary)
        return process.wait(timeout=10), seen.decode()

    def test_block_is_drawn_in_place(self):
        with tempfile.TemporaryDirectory() as folder:
            directory = pathlib.Path(folder) / "demo"
            code, seen = self.watch(PROGRAM, "demo", "--pages", 1500, "--dir", directory)
        self.assertEqual(code, 0, seen)
        blocks = re.split(r"\x1b\[\d+A", seen)
        self.assertGreater(len(blocks), 3)
        pages = []
        for block in blocks[1:-1]:
            lines = block.split("\r\n")
            self.assertEqual(lines[-1], "\x1b[J\r", block)  # what follows the last one's end
            for line in lines[:-1]:
                self.assertTrue(line.endswith("\x1b[K"), repr(line))
                self.assertLess(len(line[: -len("\x1b[K")]), 100)
            self.assertRegex(lines[0], r"^(running|done) ")
            pages.append(int(re.match(r"pages +(\d+) .*/s.* % of 1500", lines[1]).group(1)))
            self.assertRegex(lines[2], r"^received +\S+ \S+ .*/s")
            self.assertRegex(lines[3], r"^queues +\d+ waiting · \d+ at robots.txt · \d+ unchecked · \d+ in flight")
            self.assertRegex(lines[4], r"^known +\d+ URLs")
            self.assertEqual(len([line for line in lines if re.match(r"troubles  ", line)]), 1, block)
            kinds = r"fetching|slowest|waiting|troubles|left out|        "
            for line in lines[5:-1]:
                self.assertRegex(line, rf"^({kinds})  ")
        self.assertEqual(pages, sorted(pages))
        last = blocks[-1]
        self.assertRegex(last, r"^done ")
        self.assertRegex(last, r"pages +1500 .*100 % of 1500")
        # The report after it stands for itself.
        report = last.split("troubles", 1)[1]
        self.assertNotRegex(report, r"\x1b\[\d+A")
        self.assertRegex(report, r"Fetched 1\d{3} pages")
        self.assertIn("What the oracle saw", report)
        self.assertRegex(report, r"(?i)no rule was broken|violations +0|0 violations")
        for name in ("warc", "log", "hits.tsv"):
            self.assertIn(f"{directory}/{name}", report)

    def test_quiet_is_quiet(self):
        with tempfile.TemporaryDirectory() as folder:
            directory = pathlib.Path(folder) / "demo"
            done = crawls.run(PROGRAM, "demo", "--pages", 100, "--dir", directory, "--quiet", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertGreaterEqual(json.loads(done.stdout)["pages"], 100)


if __name__ == "__main__":
    unittest.main()
