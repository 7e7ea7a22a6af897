"""portolan check: an intact crawl is reported as whole, each kind of damage is named, and nothing is changed.

usage: check_test.py PORTOLAN
"""

import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zlib

import crawls

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None
WORLD = ["--profile", "demo", "--seed", "9", "--set", "domains=100", "--set", "pages=3000", "--set", "https=0"]


def picture(folder):
    """Every file with its bytes and its time."""
    return {str(path.relative_to(folder)): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
            for path in sorted(folder.rglob("*")) if path.is_file()}


def alter(path, field, value):
    """The sixth line of an index with another value."""
    lines = path.read_text().splitlines()
    key, timestamp, values = lines[5].split(" ", 2)
    lines[5] = f"{key} {timestamp} {json.dumps(json.loads(values) | {field: value})}"
    path.write_text("\n".join(lines) + "\n")


class Check(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.whole = pathlib.Path(cls.folder.name) / "whole"
        cls.killed = pathlib.Path(cls.folder.name) / "killed"
        with crawls.Web(PROGRAM, cls.folder.name, *WORLD) as web:
            command = [PROGRAM, "crawl", *web.flags(), "--scope", "any", "--delay", "5ms", "--ip-delay", "1ms",
                       "--set", "politeness.delay_factor=0", "--set", "checkpoint.interval=1s",
                       "--set", "archive.file_size=2M", "--connections", "64", "--quiet", "--json"]
            process = subprocess.Popen([str(part) for part in [*command, "--set", "budget.enabled=true", "--max-pages", "0", "--dir", cls.killed, *web.ready["seeds"]]],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            try:
                def under_way():
                    assert process.poll() is None, process.stderr.read()
                    return any(cls.killed.glob("warc/*-00002-*")) and any(int(path.name[9:]) >= 2 for path in cls.killed.glob("state/MANIFEST-*[0-9]"))

                crawls.wait_until(under_way, 60, "two WARC files")
                cls.while_running = crawls.run(PROGRAM, "check", cls.killed)
            finally:
                process.kill()
                process.communicate(timeout=30)
            done = crawls.run(*command, "--max-pages", "600", "--dir", cls.whole, *web.ready["seeds"])
            assert done.returncode == 0, done.stderr
            cls.summary = json.loads(done.stdout)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check(self, directory, *flags, code=0):
        done = crawls.run(PROGRAM, "check", directory, "--json", *flags)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def damaged(self, change, listed=None):
        """A copy of the whole crawl that something happened to, and what check says of it."""
        copy = pathlib.Path(self.folder.name) / "damaged"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.whole, copy)
        name = change(copy)
        found = self.check(copy, code=1)
        self.assertFalse(found["ok"])
        self.assertEqual(found["error_count"] if listed is None else listed, len(found["errors"]))
        self.assertTrue(any(name in error for error in found["errors"]), (name, found["errors"]))
        return found

    def test_a_running_crawl_is_left_alone(self):
        self.assertEqual((self.while_running.returncode, self.while_running.stdout), (4, ""))
        self.assertIn("a crawl is running here", self.while_running.stderr)
        self.assertEqual(len(self.while_running.stderr.splitlines()), 1)

    def test_disk_check_reads_a_crawls_state_folder(self):
        for directory in (self.whole, self.killed):
            done = crawls.run(PROGRAM, "disk", "check", directory / "state")
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_disk_check_knows_what_a_killed_crawl_left(self):
        copy = pathlib.Path(self.folder.name) / "left"
        shutil.copytree(self.whole, copy)
        left = copy / "state" / "beast-q0001-000000099.q"
        left.write_bytes(b"")
        done = crawls.run(PROGRAM, "disk", "check", copy / "state")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(f"{left}: not part of the checkpoint", done.stdout)
        manifest = max((copy / "state").glob("MANIFEST-*")).read_text()
        named = copy / "state" / re.search(r"^file (\S+) [1-9]", manifest, re.M)[1]
        named.write_bytes(b"")
        done = crawls.run(PROGRAM, "disk", "check", copy / "state")
        self.assertEqual(done.returncode, 1)
        self.assertIn(named.name, done.stderr)

    def test_a_finished_crawl_is_whole(self):
        before = picture(self.whole)
        found = self.check(self.whole)
        self.assertEqual(picture(self.whole), before)
        self.assertEqual((found["ok"], found["errors"], found["torn_bytes"]), (True, [], 0))
        self.assertEqual(found["cdxj_lines"], self.summary["archived"])
        self.assertEqual(found["captures"], found["cdxj_lines"])
        self.assertEqual((found["captures_repeated"], found["record_ids_repeated"]), (0, 0))
        self.assertEqual(found["index_lines"], found["cdxj_lines"])
        self.assertGreater(found["warc_records"], found["cdxj_lines"])
        self.assertGreaterEqual(found["urls_known"], found["urls_done"])
        self.assertEqual(found["log_lines"], len(crawls.log_lines(self.whole)))
        said = crawls.run(PROGRAM, "check", self.whole)
        self.assertIn(f"{self.whole}: whole\n", said.stdout)

    def test_a_killed_crawl_is_whole_up_to_its_checkpoint(self):
        copy = pathlib.Path(self.folder.name) / "cut"
        shutil.copytree(self.killed, copy, ignore=shutil.ignore_patterns("control.sock"))
        # As a torn write leaves it, wherever the kill came.
        growing = sorted(copy.glob("warc/*.warc.gz"))[-1]
        with open(growing, "ab") as file:
            file.write(b"\x1f\x8b" + bytes(998))
        before = picture(copy)
        found = self.check(copy)
        self.assertEqual(picture(copy), before)
        self.assertTrue(found["ok"])
        self.assertGreaterEqual(found["torn_bytes"], 1000)
        self.assertEqual(sum(torn["bytes"] for torn in found["torn"]), found["torn_bytes"])
        self.assertTrue(any(torn["file"] == str(growing) for torn in found["torn"]), found["torn"])

        repaired = self.check(copy, "--repair")
        self.assertEqual((repaired["ok"], repaired["repaired"], repaired["torn_bytes"]),
                         (True, True, found["torn_bytes"]))
        self.assertNotEqual(picture(copy), before)
        again = self.check(copy)
        self.assertEqual((again["ok"], again["torn_bytes"]), (True, 0))
        for key in ("warc_records", "cdxj_lines", "urls_known", "log_lines"):
            self.assertEqual(again[key], found[key], key)

    def test_a_flipped_bit_in_a_record(self):
        def change(copy):
            path = sorted(copy.glob("warc/*.warc.gz"))[0]
            data = bytearray(path.read_bytes())
            data[len(data) // 2] ^= 1
            path.write_bytes(data)
            return path.name
        self.damaged(change)

    def test_an_index_line_that_is_gone(self):
        def change(copy):
            path = sorted(copy.glob("warc/*.cdxj"))[0]
            lines = path.read_text().splitlines(keepends=True)
            path.write_text("".join(lines[:3] + lines[4:]))
            return path.name
        self.assertIn("a capture that", self.damaged(change)["errors"][0])

    def test_an_index_line_that_points_elsewhere(self):
        def change(copy):
            path = sorted(copy.glob("warc/*.cdxj"))[0]
            lines = path.read_text().splitlines()
            key, timestamp, values = lines[5].split(" ", 2)
            values = json.loads(values)
            values["offset"] = str(int(values["offset"]) + 1)
            lines[5] = f"{key} {timestamp} {json.dumps(values)}"
            path.write_text("\n".join(lines) + "\n")
            return path.name
        self.assertTrue(any("no capture begins at" in error for error in self.damaged(change)["errors"]))

    def test_an_index_line_that_says_something_else(self):
        for field, value in (("digest", "A" * 32), ("status", "500"), ("mime", "image/png"), ("url", "http://x.test/")):
            def change(copy):
                path = sorted(copy.glob("warc/*.cdxj"))[0]
                alter(path, field, value)
                return f"{path.name}:6: {field} is \"{value}\", but the record says"
            self.damaged(change)

    def test_the_merged_index(self):
        def emptied(copy):
            (copy / "index.cdxj").write_text("")
            return "index.cdxj: lacks "
        self.assertEqual(self.damaged(emptied, listed=100)["error_count"], self.summary["archived"])

        def missing(copy):
            (copy / "index.cdxj").unlink()
            return "index.cdxj: missing"
        self.damaged(missing)

        def shorter(copy):
            lines = (copy / "index.cdxj").read_text().splitlines(keepends=True)
            (copy / "index.cdxj").write_text("".join(lines[:3] + lines[4:]))
            return "index.cdxj: lacks "
        self.assertEqual(self.damaged(shorter)["error_count"], 1)

        for field, value in (("digest", "A" * 32), ("status", "500"), ("charset", "x")):
            def altered(copy):
                alter(copy / "index.cdxj", field, value)
                return "index.cdxj:6: differs from "
            self.assertEqual(self.damaged(altered)["error_count"], 1)

    def test_a_record_id_that_is_there_twice(self):
        def change(copy):
            path = sorted(copy.glob("warc/*.warc.gz"))[0]
            with open(path, "rb") as file:
                data = file.read()
            info = zlib.decompressobj(wbits=31)
            info.decompress(data)
            path.write_bytes(data + data[:len(data) - len(info.unused_data)])
            return f"{path.name}:{len(data)}: has the WARC-Record-ID of another record, at {path}:0"
        found = self.damaged(change)
        self.assertEqual((found["error_count"], found["record_ids_repeated"]), (1, 1))

    def test_a_file_of_the_archive_that_is_gone(self):
        def change(copy):
            path = sorted(copy.glob("warc/*.warc.gz"))[0]
            path.unlink()
            return path.name
        self.damaged(change)

    def test_a_flipped_bit_in_the_state(self):
        def change(copy):
            path = max(copy.glob("state/*"), key=lambda one: one.stat().st_size)
            data = bytearray(path.read_bytes())
            data[len(data) // 2] ^= 0x10
            path.write_bytes(data)
            return path.name
        self.damaged(change)

    def test_a_file_of_the_state_that_is_too_short(self):
        def change(copy):
            path = max(copy.glob("state/*"), key=lambda one: one.stat().st_size)
            path.write_bytes(path.read_bytes()[:-1])
            return path.name
        self.damaged(change)

    def test_no_checkpoint(self):
        def change(copy):
            for path in copy.glob("state/MANIFEST-*"):
                path.unlink()
            return "warc"  # an archive without one belongs to another crawl
        self.damaged(change)

    def test_a_line_of_the_log_that_is_none(self):
        def change(copy):
            path = sorted(copy.glob("log/*.jsonl"))[0]
            data = path.read_bytes()
            path.write_bytes(b"x" + data[1:])
            return path.name
        self.damaged(change)

    def test_damage_is_not_repaired(self):
        copy = pathlib.Path(self.folder.name) / "damaged_and_torn"
        shutil.copytree(self.whole, copy)
        largest = max(copy.glob("state/*"), key=lambda one: one.stat().st_size)
        largest.write_bytes(largest.read_bytes()[:-1])
        (copy / "state" / "stray").write_text("left over")
        before = picture(copy)
        self.check(copy, "--repair", code=1)
        self.assertEqual(picture(copy), before)

    def test_no_crawl(self):
        done = crawls.run(PROGRAM, "check", self.folder.name)
        self.assertEqual(done.returncode, 3)
        self.assertIn("there is no crawl here", done.stderr)


if __name__ == "__main__":
    unittest.main()
