"""Disks that are full, and disks that may not be written to. Each is a small file system in memory.

usage: full_disk_test.py PORTOLAN

Needs to mount file systems; skipped where that is not allowed.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import crawls

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None
WORLD = ["--profile", "demo", "--seed", "6", "--set", "domains=60", "--set", "pages=1500", "--set", "https=0"]
GAP = "10ms"


class Disk:
    """A file system of `size` bytes and 2,000 names, and a file that takes what is left of it."""

    def __init__(self, folder, size):
        self.path = pathlib.Path(folder)
        self.path.mkdir()
        done = crawls.run("mount", "-t", "tmpfs", "-o", f"size={size},nr_inodes=2000", "tmpfs", self.path)
        if done.returncode != 0:
            self.path.rmdir()
            print("skipped: cannot mount here:", done.stderr.strip())
            sys.exit(crawls.SKIPPED)

    def fill(self):
        with open(self.path / "ballast", "ab", buffering=0) as file:
            for size in (1 << 20, 1 << 12):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError:
                    pass

    def make_room(self):
        (self.path / "ballast").unlink()

    def use_up_names(self):
        """There is room, but for no other file."""
        names = self.path / "names"
        names.mkdir(exist_ok=True)
        try:
            for number in range(1_000_000):
                (names / str(number)).touch()
        except OSError:
            pass

    def give_back_names(self):
        shutil.rmtree(self.path / "names")

    def close(self):
        crawls.run("umount", "-l", self.path)


class FullDisk(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.disk = Disk(pathlib.Path(self.folder.name) / "disk", "96m")
        self.addCleanup(self.disk.close)
        self.web = crawls.Web(PROGRAM, self.folder.name, *WORLD)
        self.addCleanup(self.web.__exit__)

    def start(self, directory, *flags):
        command = [PROGRAM, "crawl", *self.web.flags(), "--scope", "any", "--delay", GAP, "--ip-delay", "2ms",
                   "--max-pages", "0", "--set", "politeness.delay_factor=0", "--set", "checkpoint.interval=1s",
                   "--connections", "32", "--dir", directory, "--json", "--quiet", *flags, *self.web.ready["seeds"]]
        process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        crawls.wait_until(lambda: self.pages(directory) >= 100 or process.poll() is not None, 30, "100 pages")
        self.assertIsNone(process.poll())
        return process

    @staticmethod
    def pages(directory):
        status = crawls.status(PROGRAM, directory)
        return status["pages"] if status else 0

    def wait_for_pause(self, process, directory):
        def paused():
            self.assertIsNone(process.poll(), "it must wait, not end")
            status = crawls.status(PROGRAM, directory)
            return status is not None and status["state"].startswith("paused: disk full")
        crawls.wait_until(paused, 20, "the pause")

    def judge(self, directory, summary):
        self.assertEqual((summary["state"], summary["waiting"], summary["unanswered"]), ("done", 0, 0))
        checked = crawls.run(PROGRAM, "check", directory, "--json")
        self.assertEqual(checked.returncode, 0, checked.stdout)
        found = json.loads(checked.stdout)
        self.assertEqual((found["captures_repeated"], found["cdxj_lines"]), (0, summary["archived"]))
        self.web.__exit__()
        self.web.__exit__ = lambda *_: None
        done = crawls.run(PROGRAM, "sim", "check", "--log", self.web.log, "--json", "--host-gap", GAP, "--ip-gap", "2ms",
                          "--connections", "1", "--crawl-delay", "--complete")
        account = json.loads(done.stdout)
        self.assertEqual((done.returncode, account["violations"]), (0, 0), account["offences"])

    def fill_and_go_on(self, directory, *flags):
        process = self.start(directory, *flags)
        self.disk.fill()
        self.wait_for_pause(process, directory)
        still = self.pages(directory)
        self.disk.make_room()
        out, error = process.communicate(timeout=90)
        self.assertEqual(process.returncode, 0, error)
        self.assertIn("the disk is full", error)
        summary = json.loads(out)
        self.assertGreater(summary["pages"], still)
        self.judge(directory, summary)

    def test_everything_on_the_full_disk(self):
        self.fill_and_go_on(self.disk.path / "crawl")

    def test_only_the_archive_is_on_it(self):
        directory = pathlib.Path(self.folder.name) / "crawl"
        self.fill_and_go_on(directory, "--set", f"archive.directories=[\"{self.disk.path / 'warc'}\"]")

    def test_only_the_state_is_on_it(self):
        archive = pathlib.Path(self.folder.name) / "warc"
        self.fill_and_go_on(self.disk.path / "crawl", "--set", f"archive.directories=[\"{archive}\"]")

    def test_a_merge_finds_no_room_where_there_is_some(self):
        directory = self.disk.path / "crawl"
        archive = pathlib.Path(self.folder.name) / "warc"
        (self.disk.path / "ballast").write_bytes(bytes(40 << 20))
        process = self.start(directory, "--set", f"archive.directories=[\"{archive}\"]")
        errors = []
        reader = threading.Thread(target=lambda: errors.extend(process.stderr), daemon=True)
        reader.start()
        self.disk.use_up_names()
        crawls.wait_until(lambda: any("waiting for more room" in line for line in errors), 40, "the wait")
        self.assertIsNone(process.poll())
        self.assertRegex(crawls.status(PROGRAM, directory)["state"], r"\Apaused: disk full: .* are wanted\Z")
        # It would only fail again, so it sends no requests meanwhile.
        time.sleep(1)
        asked = self.web.log.stat().st_size
        time.sleep(5)
        self.assertEqual(self.web.log.stat().st_size, asked)
        self.assertEqual(sum("waiting for more room" in line for line in errors), 1)
        self.disk.give_back_names()
        self.disk.make_room()
        out = process.stdout.read()
        process.wait(timeout=90)
        reader.join(10)
        self.assertEqual(process.returncode, 0, errors)
        self.judge(directory, json.loads(out))

    def test_filled_again_and_again(self):
        directory = self.disk.path / "crawl"
        process = self.start(directory)
        for _ in range(3):
            self.disk.fill()
            self.wait_for_pause(process, directory)
            self.disk.make_room()
            def goes_on():
                if process.poll() is not None:
                    return True
                status = crawls.status(PROGRAM, directory)
                return status is not None and status["state"] == "running"
            crawls.wait_until(goes_on, 30, "the end of the pause")
            if process.poll() is not None:
                break
        out, error = process.communicate(timeout=90)
        self.assertEqual(process.returncode, 0, error)
        self.judge(directory, json.loads(out))

    def test_interrupted_while_it_waits(self):
        directory = self.disk.path / "crawl"
        process = self.start(directory)
        self.disk.fill()
        self.wait_for_pause(process, directory)
        process.send_signal(signal.SIGINT)
        asked = time.monotonic()
        out, error = process.communicate(timeout=30)
        self.assertLess(time.monotonic() - asked, 15)
        self.assertIn(process.returncode, (0, 4), error)  # 0: there was room enough to save everything
        if process.returncode == 4:
            self.assertIn(f"'portolan resume {directory}' continues", error.splitlines()[-1])
        self.disk.make_room()
        done = crawls.run(PROGRAM, "resume", directory, "--json", "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.judge(directory, json.loads(done.stdout))

    def test_a_full_disk_from_the_start(self):
        self.disk.fill()
        done = crawls.run(PROGRAM, "crawl", *self.web.flags(), "--quiet", "--dir", self.disk.path / "crawl",
                          *self.web.ready["seeds"])
        self.assertEqual(done.returncode, 4)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("No space left", done.stderr)

    def test_read_only(self):
        directory = self.disk.path / "crawl"
        process = self.start(directory)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        mounted = crawls.run("mount", "-o", "remount,ro", self.disk.path)
        self.assertEqual(mounted.returncode, 0, mounted.stderr)
        for verb in (["resume", directory], ["crawl", "--dir", self.disk.path / "new", *self.web.ready["seeds"]]):
            done = crawls.run(PROGRAM, *verb, "--quiet")
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn("Read-only file system", done.stderr)
            self.assertIn(str(self.disk.path), done.stderr)
        # Looking is allowed.
        self.assertEqual(crawls.run(PROGRAM, "check", directory).returncode, 0)


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("skipped: mounting needs root")
        sys.exit(crawls.SKIPPED)
    unittest.main()
