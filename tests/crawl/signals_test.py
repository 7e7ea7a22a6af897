"""How a crawl is asked to stop: signals once and twice, a terminal that is closed, pipes that are not read.

usage: signals_test.py PORTOLAN
"""

import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest

import crawls
from little_site import QUICK, Site, chain

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None


def screen(text):
    """The rows of a terminal that has shown `text`; what the crawl uses of its language."""
    rows, row, column = [""], 0, 0
    for part in re.findall(r"\x1b\[\d*[A-Za-z]|.|\n|\r", text, re.S):
        if part == "\n":
            row += 1
            if row == len(rows):
                rows.append("")
        elif part == "\r":
            column = 0
        elif part.endswith("A") and part[0] == "\x1b":
            row = max(0, row - int(part[2:-1] or 1))
        elif part == "\x1b[K":
            rows[row] = rows[row][:column]
        elif part == "\x1b[J":
            rows[row] = rows[row][:column]
            del rows[row + 1:]
        else:
            rows[row] = rows[row].ljust(column)[:column] + part + rows[row][column + 1:]
            column += 1
    return rows


class Crawling(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name) / "crawl"
        self.site = Site(chain(5000), slow=0.05)
        self.addCleanup(self.site.close)

    def command(self, *flags):
        return [str(part) for part in (PROGRAM, "crawl", "--dir", self.dir, *QUICK, *flags, self.site.url + "/")]

    def some_pages(self):
        crawls.wait_until(lambda: len(self.site.asked) > 5, 60, "some pages")

    def check_stopped(self):
        status = crawls.status(PROGRAM, self.dir)
        self.assertEqual((status["state"], status["in_flight"]), ("stopped", 0))
        self.assertGreater(status["pages"], 0)
        checked = crawls.run(PROGRAM, "check", self.dir)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)


class Signals(Crawling):
    def start(self, *before):
        process = subprocess.Popen([*before, *self.command("--quiet")], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        self.some_pages()
        return process

    def end(self, process):
        _, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, error)
        self.check_stopped()

    def test_repeats_within_a_moment_count_once(self):
        process = self.start()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            process.send_signal(number)
            time.sleep(0.03)  # so that none is taken for another that waits
        self.end(process)

    def test_hang_up(self):
        process = self.start()
        process.send_signal(signal.SIGHUP)
        self.end(process)

    def test_hang_up_that_is_ignored_stays_so(self):
        process = self.start("nohup")
        process.send_signal(signal.SIGHUP)
        asked = len(self.site.asked)
        crawls.wait_until(lambda: len(self.site.asked) > asked + 30, 60, "more pages")  # it would have stopped by then
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        self.end(process)

    def test_timeout_signals_child_and_group(self):
        done = subprocess.run(["timeout", "3", *self.command("--quiet")], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 124, done.stderr)
        crawls.wait_until(lambda: not crawls.status(PROGRAM, self.dir)["process_running"], 30, "the crawl's end")
        self.check_stopped()

    def test_second_request_cancels_what_is_in_flight(self):
        self.site.slow = 60
        process = subprocess.Popen(self.command("--quiet"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        crawls.wait_until(lambda: "/" in self.site.asked, 60, "the first page")
        process.send_signal(signal.SIGTERM)
        time.sleep(2.2)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=30), 0)
        self.assertEqual(crawls.status(PROGRAM, self.dir)["state"], "stopped")

    def test_pipes_that_nobody_reads(self):
        self.site.pages = chain(30)
        process = subprocess.Popen(self.command(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.close()
        process.stderr.close()
        # It did all of its work, and could not report it.
        self.assertEqual(process.wait(timeout=60), 4)
        status = crawls.status(PROGRAM, self.dir)
        self.assertEqual((status["state"], status["pages"]), ("done", 30))


class Terminal(Crawling):
    """A crawl on a terminal of its own."""

    def on_terminal(self):
        def take_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        master, slave = pty.openpty()
        process = subprocess.Popen(self.command(), stdin=slave, stdout=slave, stderr=slave, preexec_fn=take_terminal)
        os.close(slave)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process, master

    def read(self, master, seconds, enough=lambda text: False):
        text = b""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not enough(text):
            if not select.select([master], [], [], 0.1)[0]:
                continue
            try:
                piece = os.read(master, 65536)
            except OSError:  # the other end is closed
                break
            text += piece
        return text

    def test_closed(self):
        process, master = self.on_terminal()
        self.read(master, 60, lambda text: b"pages" in text)
        self.some_pages()
        os.close(master)
        process.wait(timeout=60)
        self.assertGreaterEqual(process.returncode, 0)  # no signal ended it
        self.check_stopped()

    def test_interrupt_leaves_no_traces(self):
        process, master = self.on_terminal()
        self.addCleanup(os.close, master)
        shown = self.read(master, 60, lambda text: text.count(b"pages") > 2)
        self.some_pages()
        os.write(master, b"\x03")
        shown += self.read(master, 60)
        self.assertEqual(process.wait(timeout=60), 0)
        rows = screen(shown.decode())
        self.assertIn("^C", shown.decode())  # the terminal did write it
        self.assertEqual([row for row in rows if "^C" in row], [])
        self.assertEqual(len([row for row in rows if re.match(r"stopped: \d+ pages, ", row)]), 1, rows)
        # After each drawing the display has each of its lines once, from its first column on.
        for drawn in re.finditer(r"troubles[^\n]*\n(\x1b\[J)?", shown.decode()):
            rows = screen(shown.decode()[:drawn.end()])
            self.assertEqual(len([row for row in rows if re.search(r"(running|stopping|stopped) +\d", row)]), 1, rows)
            for begin in (r"(running|stopping|stopped) +\d", "pages  ", "received  ", "queues  ", "known  ", "troubles  "):
                self.assertEqual(len([row for row in rows if re.match(begin, row)]), 1, (begin, rows))


if __name__ == "__main__":
    unittest.main()
