"""WARC-Record-IDs: unique in a crawl that was killed and resumed twenty times, and in two crawls of the same site; and the
checks find those that are not.

usage: record_ids_test.py PORTOLAN
"""

import http.server
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest
import zlib

import crawls

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None
KILLS = 20
PAGES = 250


class Site(http.server.ThreadingHTTPServer):
    """A page that links to all others. Answers `allowed` requests in all; the others wait until there are more."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self.server_address[1]}"
        self.may = threading.Condition()
        self.answered = 0
        self.allowed = 0
        self.thread = threading.Thread(target=self.serve_forever, daemon=True)
        self.thread.start()

    def allow(self, more):
        with self.may:
            self.allowed = self.answered + more
            self.may.notify_all()

    def close(self):
        self.allow(10 ** 6)
        self.shutdown()
        self.thread.join(10)
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b""
        if self.path != "/robots.txt":
            with self.server.may:
                self.server.may.wait_for(lambda: self.server.answered < self.server.allowed)
                self.server.answered += 1
            body = b"".join(b'<a href="/%d">x</a>' % n for n in range(PAGES)) if self.path == "/" else self.path.encode()
        try:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            pass  # it was killed

    def log_message(self, *_):
        pass


def records(path):
    """Every record of a WARC file, decompressed."""
    data = path.read_bytes()
    while data:
        inflate = zlib.decompressobj(wbits=31)
        yield inflate.decompress(data) + inflate.flush()
        data = inflate.unused_data


def ids(directory):
    return [crawls.header(record, "WARC-Record-ID") for path in sorted(directory.glob("warc/*.warc.gz"))
            for record in records(path)]


class RecordIds(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.first = pathlib.Path(cls.folder.name) / "first"
        cls.killed = pathlib.Path(cls.folder.name) / "killed"
        cls.site = Site()
        flags = ["--allow-private", "--delay", "1ms", "--ip-delay", "1ms", "--set", "politeness.delay_factor=0",
                 "--set", "archive.metadata=true", "--quiet"]
        cls.site.allow(10 ** 6)
        done = crawls.run(PROGRAM, "crawl", *flags, "--dir", cls.first, cls.site.origin + "/")
        assert done.returncode == 0, done.stderr
        # Each life archives a few pages, a checkpoint keeps them, and then it is killed.
        command = [PROGRAM, "crawl", *flags, "--set", "checkpoint.interval=1s", "--dir", str(cls.killed),
                   cls.site.origin + "/"]
        for _ in range(KILLS):
            cls.site.allow(8)
            fetched = []
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            try:
                def kept():
                    assert process.poll() is None, process.stderr.read()
                    with cls.site.may:
                        if cls.site.answered < cls.site.allowed:
                            return False
                    fetched.append(cls.checkpoint())
                    return fetched[-1] > fetched[0]

                crawls.wait_until(kept, 60, "a checkpoint of what was fetched")
            finally:
                process.kill()
                process.communicate(timeout=30)
            command = [PROGRAM, "resume", str(cls.killed), "--quiet"]
        cls.site.allow(10 ** 6)
        done = crawls.run(*command)
        assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.site.close()
        cls.folder.cleanup()

    @classmethod
    def checkpoint(cls):
        """The number of the newest one."""
        return max([int(path.name[9:]) for path in cls.killed.glob("state/MANIFEST-*[0-9]")], default=0)

    def test_none_is_there_twice_after_twenty_kills(self):
        found = ids(self.killed)
        self.assertGreater(len(found), 3 * PAGES)
        self.assertEqual(len(set(found)), len(found))
        done = crawls.run(PROGRAM, "check", self.killed, "--json")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(json.loads(done.stdout)["record_ids_repeated"], 0)

    def test_two_crawls_share_none(self):
        self.assertTrue(set(ids(self.first)).isdisjoint(ids(self.killed)))
        files = [*self.first.glob("warc/*.warc.gz"), *self.killed.glob("warc/*.warc.gz")]
        done = crawls.run(PROGRAM, "warc", "check", *files)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_they_are_random_uuids(self):
        for one in ids(self.first):
            self.assertRegex(one, r"^<urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}>$")

    def test_warc_check_names_repeats_across_files(self):
        path = sorted(self.first.glob("warc/*.warc.gz"))[0]
        copy = pathlib.Path(self.folder.name) / "copy.warc.gz"
        copy.write_bytes(path.read_bytes())
        count = len(list(records(path)))
        done = crawls.run(PROGRAM, "warc", "check", path, copy)
        self.assertEqual(done.returncode, 1)
        lines = done.stdout.splitlines()
        self.assertEqual(sum(": repeated-record-id: " in line for line in lines), count)
        self.assertIn(f"{copy}:0: repeated-record-id: the id of the record at {path}:0", lines)
        self.assertEqual(lines[-2:], [f"{path}: {count} records, 0 faults", f"{copy}: {count} records, {count} faults"])
        done = crawls.run(PROGRAM, "warc", "check", "--json", path, copy)
        faults = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual({(fault["file"], fault["kind"]) for fault in faults}, {(str(copy), "repeated-record-id")})


if __name__ == "__main__":
    unittest.main()
