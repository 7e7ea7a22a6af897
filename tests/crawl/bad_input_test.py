"""What cannot be crawled: each case ends with one clear line, its exit code, and no partial files.

usage: bad_input_test.py PORTOLAN
"""

import json
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

import crawls

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None
VERDICT, USAGE, BAD_INPUT, SYSTEM = 1, 2, 3, 4
SEED = "http://127.0.0.1:99/"


class RefusingDns:
    """A name server that answers every question with one return code."""

    def __init__(self, code):
        self.code = code
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.socket.getsockname()[1]
        self.asked = 0
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            question, client = self.socket.recvfrom(2000)
            if not question:
                return
            self.asked += 1
            self.socket.sendto(question[:2] + bytes([0x81, 0x80 | self.code]) + question[4:], client)

    def close(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as me:
            me.sendto(b"", self.socket.getsockname())
        self.thread.join(10)
        self.socket.close()


class BadInput(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.dir = self.folder / "crawl"

    def refuse(self, code, words, *command, made=False):
        """One line that says `words`, nothing on standard output, and no directory."""
        done = crawls.run(PROGRAM, *command, timeout=60)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Aportolan: [^\n]+\n\Z")
        for word in [words] if isinstance(words, str) else words:
            self.assertIn(word, done.stderr)
        self.assertEqual(self.dir.exists(), made)
        return done.stderr

    def crawl(self, *flags):
        return ["crawl", "--dir", self.dir, *flags]

    def test_seeds(self):
        for seed in ("http://", "not a url", "ftp://example.org/", "mailto:a@b.example", "http://[::1", "/etc/passwd",
                     "./a.html", "localhost:", "javascript:alert(1)", "me@example.org"):
            self.refuse(USAGE, seed, *self.crawl(seed))
        self.refuse(USAGE, "'http://h:25/' is not crawlable (bad port)", *self.crawl("http://h:25/"))
        self.refuse(USAGE, "no seeds", *self.crawl())
        self.refuse(BAD_INPUT, "nowhere.txt", *self.crawl("--seeds", self.folder / "nowhere.txt"))
        seeds = self.folder / "seeds.txt"
        seeds.write_text("# ours\nhttp://example.org/  # one\n\nhttp://exa mple/\n")
        self.refuse(BAD_INPUT, [f"{seeds}:4:", "exa mple"], *self.crawl("--strict", "--seeds", seeds))
        seeds.write_text("# nothing\n")
        self.refuse(USAGE, "no seeds", *self.crawl("--seeds", seeds))
        seeds.write_bytes(b"\xff\xfe\x00http\n" * 3)
        self.refuse(BAD_INPUT, [f"{seeds}:1:", "\\xff\\xfe\\x00http"], *self.crawl("--strict", "--seeds", seeds))
        self.refuse(BAD_INPUT, str(self.folder), *self.crawl("--seeds", self.folder))

    def test_settings(self):
        self.refuse(USAGE, "did you mean 'fetch.connections'?", *self.crawl("--set", "fetch.conections=3", SEED))
        self.refuse(USAGE, "SECTION.KEY=VALUE", *self.crawl("--set", "fetch.http2", SEED))
        self.refuse(USAGE, "fetch.connections", *self.crawl("--set", "fetch.connections=many", SEED))
        self.refuse(USAGE, "fetch.connections", *self.crawl("--connections", "0", SEED))
        self.refuse(USAGE, "archive.level", *self.crawl("--set", "archive.level=99", SEED))
        self.refuse(USAGE, "memory.total", *self.crawl("--memory", "1M", SEED))
        self.refuse(USAGE, "politeness.user_agent", *self.crawl("--user-agent", "1 b", SEED))
        self.refuse(USAGE, "--delay", *self.crawl("--delay", "soon", SEED))
        self.refuse(USAGE, "--delay", *self.crawl("--dealy", "1s", SEED))
        self.refuse(USAGE, "--max-pages", *self.crawl("--max-pages", "-1", SEED))
        self.refuse(USAGE, "scope.mode", *self.crawl("--scope", "galaxy", SEED))
        self.refuse(USAGE, "did you mean 'web'?", *self.crawl("--profile", "wed", SEED))
        self.refuse(USAGE, "contact", *self.crawl("--profile", "web", "http://example.org/"))
        self.refuse(USAGE, "contact", *self.crawl("--scope", "any", "http://example.org/"))

    def test_archive_directories(self):
        for names in ('["warc", "./warc"]', '["warc", "warc/"]'):
            self.refuse(USAGE, "one and the same", *self.crawl("--set", f"archive.directories={names}", SEED))
        self.refuse(USAGE, "can hold nothing else", *self.crawl("--set", 'archive.directories=["state"]', SEED))
        self.refuse(USAGE, "archive.directories", *self.crawl("--set", "archive.enabled=false",
                                                              "--set", "archive.directories=[]", SEED))

    def test_settings_file(self):
        config = self.folder / "crawl.toml"
        for text, words in (
            ("[fetch]\nconections = 3\n", [f"{config}:2:", "did you mean 'connections'?"]),
            ("[fetsch]\n", [f"{config}:1:", "did you mean 'fetch'?"]),
            ("[fetch]\nconnections = \"many\"\n", [f"{config}:2:", "fetch.connections"]),
            ("[fetch\n", [f"{config}:1:"]),
        ):
            with self.subTest(text):
                config.write_text(text)
                self.refuse(BAD_INPUT, words, *self.crawl("--config", config, SEED))
        self.refuse(BAD_INPUT, "nowhere.toml", *self.crawl("--config", self.folder / "nowhere.toml", SEED))

    def test_directories(self):
        file = self.folder / "file"
        file.write_text("x")
        self.refuse(BAD_INPUT, "file/below", "crawl", "--dir", file / "below", SEED)
        self.refuse(BAD_INPUT, "is not a directory", "crawl", "--dir", file, SEED)
        self.refuse(BAD_INPUT, "/proc/portolan", "crawl", "--dir", "/proc/portolan", SEED)
        self.assertEqual(file.read_text(), "x")
        self.dir.mkdir()
        (self.dir / "mine").write_text("x")
        self.refuse(BAD_INPUT, "is not empty", *self.crawl(SEED), made=True)
        self.assertEqual([path.name for path in self.dir.iterdir()], ["mine"])

    def test_no_crawl_here(self):
        for verb in ("resume", "status"):
            self.refuse(BAD_INPUT, "no crawl here", verb, self.dir)
            self.refuse(BAD_INPUT, "no crawl here", verb, self.folder)
            self.refuse(USAGE, "dir", verb)

    def test_damaged_crawl(self):
        self.assertEqual(crawls.run(PROGRAM, *self.crawl("--max-time", "1s", "--quiet", SEED)).returncode, VERDICT)
        manifest = max(self.dir.glob("state/MANIFEST*"))
        manifest.write_bytes(manifest.read_bytes()[:-9] + b"!" * 9)
        for other in self.dir.glob("state/MANIFEST*"):
            if other != manifest:
                other.unlink()
        self.refuse(BAD_INPUT, "MANIFEST", "resume", self.dir, made=True)
        (self.dir / "status.json").write_text("{")
        self.refuse(BAD_INPUT, "status.json", "status", self.dir, made=True)

    def test_crawl_of_another_version(self):
        self.assertEqual(crawls.run(PROGRAM, *self.crawl("--max-time", "1s", "--quiet", SEED)).returncode, VERDICT)
        manifest = max(self.dir.glob("state/MANIFEST*"))
        text = manifest.read_text()
        before = sorted(path.name for path in self.dir.rglob("*"))
        for version, advice in (("1", "begin a new crawl in another directory"), ("3", "use the newer program")):
            manifest.write_text(text.replace("portolan-manifest 2", f"portolan-manifest {version}", 1))
            words = [manifest.name, f"of format {version}, this program knows format 2", advice]
            for verb in (["resume", self.dir], ["run", self.dir, SEED], self.crawl(SEED), ["status", self.dir],
                         ["check", self.dir], ["why", self.dir, SEED], ["domains", self.dir]):
                self.refuse(BAD_INPUT, words, *verb, made=True)
        self.assertEqual(sorted(path.name for path in self.dir.rglob("*")), before)  # nothing was touched
        manifest.write_text(text)
        self.assertEqual(crawls.run(PROGRAM, "resume", self.dir, "--max-time", "2s", "--quiet").returncode, VERDICT)

    def test_too_much_memory(self):
        self.refuse(USAGE, ["memory.total", "control group"], *self.crawl("--memory", "900T", SEED))

    def test_demo(self):
        self.refuse(USAGE, "pagse", "demo", "--dir", self.dir, "--world", "pagse=3")
        self.refuse(BAD_INPUT, "demoo", "demo", "--dir", self.dir, "--world-profile", "demoo")
        self.refuse(USAGE, "fetch.connections", "demo", "--dir", self.dir, "--set", "fetch.connections=0")
        self.refuse(BAD_INPUT, "/proc/portolan", "demo", "--dir", "/proc/portolan/demo")
        self.dir.mkdir()
        self.refuse(BAD_INPUT, "exists", "demo", "--dir", self.dir, made=True)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["crawl"])  # no logs, no certificates

    def test_no_such_name(self):
        dns = RefusingDns(3)
        self.addCleanup(dns.close)
        done = crawls.run(PROGRAM, *self.crawl("--dns", dns.address, "--json",
                                               "http://nobody.test/", "http://nobody-else.test/a"))
        self.assertEqual(done.returncode, VERDICT, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual((report["state"], report["pages"]), ("done", 0))
        self.assertEqual(report["robots_unreachable"] + report["done"]["dns"], 2)
        lines = crawls.log_lines(self.dir)
        self.assertEqual({line["outcome"] for line in lines if line["kind"] == "robots"}, {"dns_not_found"})
        self.assertGreater(dns.asked, 0)

    def test_name_server_refuses(self):
        dns = RefusingDns(5)
        self.addCleanup(dns.close)
        done = crawls.run(PROGRAM, *self.crawl("--dns", dns.address, "--json",
                                               "--set", "politeness.max_back_off=1s", "--set", "fetch.dns_timeout=100ms",
                                               "http://example.test/"))
        self.assertEqual(done.returncode, VERDICT, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual((report["state"], report["pages"]), ("done", 0))
        self.assertEqual(report["robots_unreachable"] + report["done"]["dns"], 1)
        self.assertIn("dns_failed", {line["outcome"] for line in crawls.log_lines(self.dir)})

    def test_private_addresses_are_refused(self):
        done = crawls.run(PROGRAM, *self.crawl("--json", SEED))
        self.assertEqual(done.returncode, VERDICT, done.stderr)
        self.assertEqual({line["outcome"] for line in crawls.log_lines(self.dir) if line["kind"] == "robots"},
                         {"address_forbidden"})


class InUse(unittest.TestCase):
    def test_second_process(self):
        with tempfile.TemporaryDirectory() as folder:
            directory = pathlib.Path(folder) / "crawl"
            with crawls.Web(PROGRAM, folder) as web:
                # One page per hour: the crawl runs as long as the test needs it.
                first = subprocess.Popen([PROGRAM, "crawl", "--dir", str(directory), "--quiet", "--delay", "5m",
                                          *map(str, web.flags()), web.ready["seeds"][0]], stdout=subprocess.DEVNULL)
                try:
                    crawls.wait_until((directory / "status.json").exists, 20, "the first process")
                    for verb in (["resume", directory], ["crawl", "--dir", directory, SEED], ["run", directory, SEED]):
                        second = crawls.run(PROGRAM, *verb)
                        self.assertEqual(second.returncode, SYSTEM, second.stderr)
                        self.assertRegex(second.stderr, r"\Aportolan: [^\n]*another portolan works on this crawl\n\Z")
                    self.assertIn("running", crawls.run(PROGRAM, "status", directory).stdout)
                finally:
                    first.send_signal(signal.SIGINT)
                    self.assertEqual(first.wait(timeout=20), 0)
            self.assertIn("stopped", crawls.run(PROGRAM, "status", directory).stdout)


class FullDisk(unittest.TestCase):
    def fill(self, size, *command, stop_after=90):
        """Runs a command with a small file system at FOLDER/full; all of it is gone with the namespace."""
        with tempfile.TemporaryDirectory() as folder:
            full = pathlib.Path(folder) / "full"
            full.mkdir()
            script = f'mount -t tmpfs -o size={size} none "$0" || exit 77; "$@"; code=$?; ls -A "$0" >&2; exit $code'
            done = crawls.run("unshare", "--mount", "sh", "-c", script, full, "timeout", "--foreground", "--preserve-status",
                              "--signal=INT", stop_after, PROGRAM,
                              *[str(part).replace("FULL", str(full)) for part in command], timeout=100)
        if "unshare" in done.stderr or done.returncode == 77:
            self.skipTest("no mount namespaces here: " + done.stderr.strip())
        return done

    def test_crawl_waits_for_room_and_says_so(self):
        # What happens when there is room again: full_disk_test.py. Here it is told to stop while it waits.
        done = self.fill("12M", "demo", "--pages", "5000", "--dir", "FULL/demo", "--quiet", stop_after=12)
        self.assertRegex(done.stderr, "the disk is full: paused until there is room")
        self.assertIn(done.returncode, (0, SYSTEM), done.stderr)  # 0: there was room enough to save everything
        complaint = [line for line in done.stderr.splitlines() if line.startswith("portolan: ")]
        self.assertEqual(len(complaint), 0 if done.returncode == 0 else 1, done.stderr)

    def test_no_room_for_anything(self):
        done = self.fill("4k", "crawl", "--dir", "FULL/crawl", "--quiet", SEED)
        self.assertEqual(done.returncode, SYSTEM, done.stderr)
        self.assertRegex(done.stderr, r"(?i)\Aportolan: [^\n]*no space left[^\n]*\n\Z")  # and nothing is left behind


if __name__ == "__main__":
    unittest.main()
