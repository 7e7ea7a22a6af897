"""How a crawl is continued: without losing data, with other settings, by `run`.

usage: resume_test.py PORTOLAN
"""

import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import tomllib
import unittest

import crawls
from little_site import QUICK, Site, chain

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None
USAGE, BAD_INPUT, SYSTEM = 2, 3, 4


class Resume(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.dir = self.folder / "crawl"

    def site(self, pages, slow=0.0):
        site = Site(pages, slow)
        self.addCleanup(site.close)
        return site

    def crawl(self, site, *flags):
        return crawls.run(PROGRAM, "crawl", "--dir", self.dir, "--quiet", *QUICK, *flags, site.url + "/")

    def resume(self, *flags):
        return crawls.run(PROGRAM, "resume", self.dir, "--quiet", *flags)

    def files(self):
        return {path: hashlib.sha1(path.read_bytes()).hexdigest() for path in self.dir.rglob("*") if path.is_file()}

    def settings(self):
        return tomllib.loads((self.dir / "crawl.toml").read_text())


class Damage(Resume):
    def broken_off(self, site):
        """A crawl that was killed some time after a checkpoint."""
        command = [PROGRAM, "crawl", "--dir", self.dir, "--quiet", *QUICK, "--set", "checkpoint.interval=1s",
                   site.url + "/"]
        process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL)
        try:
            crawls.wait_until(lambda: any(path.name > "MANIFEST-000000000001" for path in self.dir.glob("state/MANIFEST*")),
                              60, "a checkpoint")
            asked = len(site.asked)
            crawls.wait_until(lambda: len(site.asked) > asked + 3, 60, "pages after it")
        finally:
            process.kill()
            process.wait(timeout=30)

    def test_damaged_state_is_refused_before_anything_is_cut(self):
        # Enough bytes per page that some pages after the checkpoint have left the archive's buffer.
        more = "".join(f"<p>{os.urandom(60).hex()}" for _ in range(4000))
        site = self.site(chain(300, more), slow=0.02)
        self.broken_off(site)
        torn = crawls.run(PROGRAM, "check", self.dir, "--json")
        self.assertEqual(torn.returncode, 0, torn.stdout)
        if '"torn_bytes": 0,' in torn.stdout:
            self.skipTest("nothing lies behind the checkpoint")
        manifest = max(self.dir.glob("state/MANIFEST*")).read_text()
        named = [line.split()[1:3] for line in manifest.splitlines() if line.startswith("file ")]
        self.assertGreater(len(named), 2)
        before = self.files()
        for name, length in named:
            path = self.dir / "state" / name
            whole = path.read_bytes()
            at = int(length) * 2 // 3
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x5a]) + whole[at + 1:])
            with self.subTest(name):
                damaged = self.files()
                done = self.resume()
                self.assertEqual(done.returncode, BAD_INPUT, done.stderr)
                self.assertRegex(done.stderr, r"\Aportolan: [^\n]+\n\Z")
                self.assertIn(name, done.stderr)
                repair = crawls.run(PROGRAM, "check", self.dir, "--repair")
                self.assertEqual(repair.returncode, 1, repair.stdout)
                self.assertEqual(self.files(), damaged)
            path.write_bytes(whole)
        self.assertEqual(self.files(), before)
        site.slow = 0
        done = self.resume()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(crawls.status(PROGRAM, self.dir)["pages"], 300)
        checked = crawls.run(PROGRAM, "check", self.dir)
        self.assertEqual(checked.returncode, 0, checked.stdout)

    def test_finished_warc_files_are_looked_at(self):
        more = "".join(f"<p>{os.urandom(60).hex()}" for _ in range(1000))
        site = self.site(chain(80, more))
        done = self.crawl(site, "--set", "archive.file_size=1M", "--max-pages", "60")
        self.assertEqual(done.returncode, 0, done.stderr)
        warcs = sorted(self.dir.glob("warc/*.warc.gz"))
        self.assertGreater(len(warcs), 2)
        done = self.resume("--max-pages", "61")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("damaged", done.stderr)

        def write(path, contents):
            path.write_bytes(contents)

        damages = {
            "cut short": lambda path, old: write(path, old[:-100]),
            "longer": lambda path, old: write(path, old + b"\0" * 4096),
            "zeros at the end": lambda path, old: write(path, old[:-500] + b"\0" * 500),
            "zeros at the beginning": lambda path, old: write(path, b"\0" * 500 + old[500:]),
            "empty": lambda path, old: write(path, b""),
            "gone": lambda path, old: path.unlink(),
        }
        path, pages = warcs[1], 61
        old = path.read_bytes()
        for name, damage in damages.items():
            with self.subTest(name):
                damage(path, old)
                pages += 1
                done = self.resume("--max-pages", pages)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(crawls.status(PROGRAM, self.dir)["pages"], pages)
                warnings = [line for line in done.stderr.splitlines() if "damaged" in line]
                self.assertEqual(len(warnings), 1, done.stderr)
                self.assertIn(path.name, warnings[0])
                path.write_bytes(old)


class Settings(Resume):
    def test_changes_are_stored(self):
        site = self.site(chain(6))
        self.assertEqual(self.crawl(site, "--max-pages", "2").returncode, 0)
        done = self.resume("--max-pages", "3", "--delay", "20ms", "--ip-delay", "10ms", "--set", "fetch.http2=false",
                           "--exclude", "*/4", "--contact", "https://you.example/bot")
        self.assertEqual(done.returncode, 0, done.stderr)
        settings = self.settings()
        self.assertEqual((settings["crawl"]["max_pages"], settings["politeness"]["host_delay"],
                          settings["politeness"]["contact_url"], settings["fetch"]["http2"],
                          settings["scope"]["exclude"]), (3, "20ms", "https://you.example/bot", False, ["*/4"]))
        self.assertEqual(crawls.status(PROGRAM, self.dir)["pages"], 3)
        # They hold in the next run, too; asking for the same again changes nothing.
        done = self.resume("--max-pages", "0", "--exclude", "*/4")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.settings()["scope"]["exclude"], ["*/4"])
        self.assertEqual(crawls.status(PROGRAM, self.dir)["pages"], 4)
        self.assertNotIn("/4", site.asked)

    def test_what_may_not_change(self):
        site = self.site(chain(4))
        self.assertEqual(self.crawl(site, "--max-pages", "2").returncode, 0)
        before = self.files()
        for flags, name in ((["--set", "scope.canonical=[]"], "scope.canonical"),
                            (["--set", "budget.enabled=true"], "budget.enabled"),
                            (["--set", "budget.queues=64"], "budget.queues"),
                            (["--user-agent", "other"], "politeness.user_agent"),
                            (["--set", "archive.prefix=OTHER"], "archive.prefix"),
                            (["--set", 'archive.directories=["elsewhere"]'], "archive.directories")):
            done = self.resume(*flags)
            self.assertEqual(done.returncode, USAGE, done.stderr)
            self.assertRegex(done.stderr, rf"\Aportolan: {name}: stays [^\n]+ for the life of a crawl: [^\n]+\n\Z")
        self.assertEqual(self.files(), before)
        page = crawls.run(PROGRAM, "resume", "--help").stdout
        self.assertIn("What may not change: crawl.profile, scope.canonical, politeness.user_agent", page)
        # A directory may be added.
        done = self.resume("--set", 'archive.directories=["warc", "more"]', "--max-pages", "0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(crawls.status(PROGRAM, self.dir)["pages"], 4)

    def test_settings_that_cannot_work_are_not_stored(self):
        site = self.site(chain(4))
        self.assertEqual(self.crawl(site, "--max-pages", "2").returncode, 0)
        before = self.files()
        self.assertEqual(self.resume("--set", 'archive.directories=["warc", "state"]').returncode, USAGE)
        self.assertEqual(self.resume("--ca", "/nowhere.pem").returncode, USAGE)
        self.assertEqual(self.files(), before)


class Run(Resume):
    def run_verb(self, *flags):
        return crawls.run(PROGRAM, "run", self.dir, "--quiet", *QUICK, *flags)

    def test_begins_and_goes_on(self):
        site = self.site(chain(6))
        first = self.run_verb("--max-pages", "2", site.url + "/")
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertRegex(first.stdout, r"\Adone: 2 pages, ")
        again = self.run_verb("--max-pages", "2", site.url + "/")  # the very same: nothing to do
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(crawls.status(PROGRAM, self.dir)["pages"], 2)
        on = self.run_verb("--max-pages", "0", site.url + "/")
        self.assertEqual(on.returncode, 0, on.stderr)
        self.assertEqual(crawls.status(PROGRAM, self.dir)["pages"], 6)
        self.assertEqual(len([path for path in site.asked if path != "/robots.txt"]), 6)  # each once

    def test_takes_new_seeds(self):
        site = self.site({**chain(2), "/other": "<p>other"})
        self.assertEqual(self.run_verb(site.url + "/").returncode, 0)
        done = self.run_verb(site.url + "/other")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(crawls.status(PROGRAM, self.dir)["pages"], 3)
        self.assertEqual(self.settings()["crawl"]["seeds"], [site.url + "/", site.url + "/other"])

    def test_begins_anew_what_was_being_begun_anew(self):
        site = self.site(chain(2))
        self.assertEqual(self.run_verb(site.url + "/tpyo").returncode, 1)
        (self.dir / "state/anew").write_text("")  # and then it was killed
        done = self.run_verb(site.url + "/")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.settings()["crawl"]["seeds"], [site.url + "/"])
        self.assertEqual(crawls.status(PROGRAM, self.dir)["pages"], 2)

    def test_refuses_what_may_not_change(self):
        site = self.site(chain(2))
        self.assertEqual(self.run_verb(site.url + "/").returncode, 0)
        done = self.run_verb("--user-agent", "other", site.url + "/")
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertIn("politeness.user_agent: stays", done.stderr)

    def test_needs_a_directory(self):
        self.assertEqual(crawls.run(PROGRAM, "run").returncode, USAGE)


if __name__ == "__main__":
    unittest.main()
