"""How a crawl starts: several at once, killed at any moment, again if it has no page, with tight system limits.

usage: start_test.py PORTOLAN
"""

import os
import pathlib
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

import crawls
from little_site import QUICK, Site, chain

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None
VERDICT, USAGE, BAD_INPUT, SYSTEM = 1, 2, 3, 4
NOBODY = 54321  # a user that has no processes


class Start(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.dir = self.folder / "crawl"

    def site(self, pages, slow=0.0):
        site = Site(pages, slow)
        self.addCleanup(site.close)
        return site

    def command(self, site, *flags):
        return [str(part) for part in (PROGRAM, "crawl", "--dir", self.dir, "--quiet", *QUICK, *flags, site.url + "/")]

    def popen(self, command):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def check_whole(self, pages):
        checked = crawls.run(PROGRAM, "check", self.dir)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        self.assertEqual(crawls.status(PROGRAM, self.dir)["pages"], pages)


class AtOnce(Start):
    def test_one_of_several_crawls(self):
        site = self.site(chain(2), slow=0.4)
        for round_number in range(8):
            self.dir = self.folder / f"crawl-{round_number}"
            processes = [self.popen(self.command(site)) for _ in range(3)]
            ends = [(process.communicate(timeout=60)[1], process.returncode) for process in processes]
            codes = sorted(code for _, code in ends)
            self.assertEqual(codes.count(0), 1, ends)
            for error, code in ends:
                if code == 0:
                    continue
                # The second: it came so late that the first was done.
                self.assertRegex(error, r"\Aportolan: [^\n]*(another portolan works on this crawl|a crawl is here already"
                                        r"[^\n]*)\n\Z")
                self.assertEqual(code, SYSTEM if "another portolan" in error else BAD_INPUT)
            self.check_whole(2)

    def test_one_that_cannot_begin_takes_nothing_away(self):
        site = self.site(chain(2), slow=1.0)
        first = self.popen(self.command(site))
        crawls.wait_until(lambda: "/" in site.asked, 30, "the first crawl's first page")
        for flags in ([], ["--set", 'archive.directories=["state"]'], ["--ca", "/nowhere.pem"]):
            second = crawls.run(*self.command(site, *flags))
            self.assertEqual(second.returncode, SYSTEM, second.stderr)
            self.assertIn("another portolan works on this crawl", second.stderr)
        self.assertEqual(crawls.run(PROGRAM, "resume", self.dir).returncode, SYSTEM)
        first.communicate(timeout=60)
        self.assertEqual(first.returncode, 0)
        self.check_whole(2)

    def test_asking_for_the_status_stops_nobody(self):
        site = self.site(chain(2))
        self.assertEqual(crawls.run(*self.command(site)).returncode, 0)
        asking = self.popen(["sh", "-c", f'while :; do "{PROGRAM}" status "{self.dir}" > /dev/null || exit 1; done'])
        for _ in range(10):
            done = crawls.run(PROGRAM, "resume", self.dir, "--quiet")
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIsNone(asking.poll())
        asking.kill()
        asking.wait(timeout=30)


class Killed(Start):
    def go_on(self, site):
        """`crawl` with the same arguments, or `resume` where it says so."""
        done = crawls.run(*self.command(site))
        if done.returncode == BAD_INPUT:
            self.assertIn("portolan resume", done.stderr)
            done = crawls.run(PROGRAM, "resume", self.dir, "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr + str(sorted(self.dir.rglob("*"))))
        self.check_whole(3)

    def test_at_any_moment(self):
        site = self.site(chain(3))
        moments = {
            "nothing": lambda: True,
            "directory": self.dir.exists,
            "state": (self.dir / "state").exists,
            "lock": (self.dir / "state/lock").exists,
            "settings beside": (self.dir / "crawl.toml.new").exists,
            "settings": (self.dir / "crawl.toml").exists,
            "log": (self.dir / "log").exists,
            "checkpoint": lambda: any(self.dir.glob("state/MANIFEST*")),
            "page": lambda: "/1" in site.asked,
            "archive": lambda: any(self.dir.glob("warc/*")),
            "status": (self.dir / "status.json").exists,
        }
        for name, reached in moments.items():
            for _ in range(2):
                site.asked.clear()
                shutil.rmtree(self.dir, ignore_errors=True)
                with self.subTest(name):
                    process = self.popen(self.command(site))
                    while not reached() and process.poll() is None:  # as fast as can be: these moments are short
                        pass
                    process.kill()
                    process.communicate(timeout=60)
                    self.go_on(site)

    def test_resume_after_the_settings_stand(self):
        site = self.site(chain(3))
        for _ in range(5):
            process = self.popen(self.command(site))
            while not (self.dir / "crawl.toml").exists() and process.poll() is None:
                pass
            process.kill()
            process.communicate(timeout=60)
            done = crawls.run(PROGRAM, "resume", self.dir, "--quiet")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.check_whole(3)
            shutil.rmtree(self.dir)


class Anew(Start):
    def test_without_a_page(self):
        site = self.site({"/robots.txt": "", "/": "<p>here"})
        for seed in (site.url + "/tpyo", "http://127.0.0.1:99/private"):
            flags = [] if "private" in seed else QUICK
            first = crawls.run(PROGRAM, "crawl", "--dir", self.dir, "--quiet", *flags, seed)
            self.assertEqual(first.returncode, VERDICT, first.stderr)
        done = crawls.run(*self.command(site))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_whole(1)
        urls = {line["url"] for line in crawls.log_lines(self.dir)}
        self.assertEqual(urls, {site.url + "/", site.url + "/robots.txt"})  # nothing of those before
        again = crawls.run(*self.command(site))
        self.assertEqual(again.returncode, BAD_INPUT)
        self.assertRegex(again.stderr, rf"\Aportolan: [^\n]*a crawl is here already[^\n]*portolan resume {self.dir}")
        self.check_whole(1)

    def test_pages_after_the_only_checkpoint_are_pages(self):
        more = "".join(f"<p>{os.urandom(60).hex()}" for _ in range(2000))
        site = self.site(chain(60, more), slow=0.02)
        process = self.popen(self.command(site, "--set", "checkpoint.interval=1h"))
        # Some of what was fetched must have left the buffers.
        crawls.wait_until(lambda: any(path.stat().st_size > 0 for path in self.dir.glob("warc/*.warc.gz")), 60, "a page")
        process.kill()
        process.communicate(timeout=60)
        files = {path: path.read_bytes() for path in self.dir.rglob("*") if path.is_file()}
        again = crawls.run(*self.command(site))
        self.assertEqual(again.returncode, BAD_INPUT, again.stderr)
        self.assertEqual(files, {path: path.read_bytes() for path in self.dir.rglob("*") if path.is_file()})
        done = crawls.run(PROGRAM, "resume", self.dir, "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_whole(60)

    def test_beginning_anew_that_was_broken_off(self):
        site = self.site({"/robots.txt": "", "/": "<p>here"})
        lost = crawls.run(PROGRAM, "crawl", "--dir", self.dir, "--quiet", *QUICK, site.url + "/tpyo")
        self.assertEqual(lost.returncode, VERDICT, lost.stderr)
        (self.dir / "state/anew").write_text("")
        for path in self.dir.glob("warc/*.warc.gz"):
            path.unlink()
        resumed = crawls.run(PROGRAM, "resume", self.dir)
        self.assertEqual(resumed.returncode, BAD_INPUT)
        self.assertIn("was being begun anew: 'portolan crawl' does that", resumed.stderr)
        done = crawls.run(*self.command(site))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_whole(1)

    def test_lost_state_is_not_a_beginning(self):
        site = self.site(chain(2))
        self.assertEqual(crawls.run(*self.command(site)).returncode, 0)
        shutil.rmtree(self.dir / "state")
        for command in (self.command(site), [PROGRAM, "resume", self.dir]):
            done = crawls.run(*command)
            self.assertEqual(done.returncode, BAD_INPUT, done.stderr)
            self.assertIn("the state of this crawl is lost", done.stderr)
        self.assertTrue((self.dir / "crawl.toml").exists())
        self.assertEqual(len(crawls.captures(self.dir)), 3)

    def test_other_peoples_directories_are_not_touched(self):
        site = self.site(chain(2))
        for name in ("state", "file"):
            shutil.rmtree(self.dir, ignore_errors=True)
            self.dir.mkdir()
            if name == "state":
                (self.dir / "state").mkdir()
                (self.dir / "state/mine").write_text("x")
            else:
                (self.dir / "file").write_text("x")
            before = sorted(self.dir.rglob("*"))
            done = crawls.run(*self.command(site))
            self.assertEqual(done.returncode, BAD_INPUT)
            self.assertIn("is not empty and holds no crawl", done.stderr)
            self.assertEqual(sorted(self.dir.rglob("*")), before)

    def test_what_cannot_begin_leaves_an_empty_directory_empty(self):
        site = self.site(chain(2))
        self.dir.mkdir()
        done = crawls.run(*self.command(site, "--set", 'archive.directories=["state"]'))
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertEqual(list(self.dir.iterdir()), [])


class System(Start):
    def test_settings_are_the_owners_alone(self):
        site = self.site(chain(2))
        self.assertEqual(crawls.run(*self.command(site)).returncode, 0)
        settings = self.dir / "crawl.toml"
        self.assertEqual(stat.S_IMODE(settings.stat().st_mode), 0o600)
        settings.chmod(0o644)
        self.assertEqual(crawls.run(PROGRAM, "resume", self.dir, "--quiet", "--delay", "3s").returncode, 0)
        self.assertEqual(stat.S_IMODE(settings.stat().st_mode), 0o600)

    def test_links_in_the_place_of_files_are_not_followed(self):
        site = self.site(chain(2))
        self.assertEqual(crawls.run(*self.command(site)).returncode, 0)
        victim = self.folder / "victim"
        victim.write_text("precious")
        for name in ("status.json.new", "crawl.toml.new"):
            (self.dir / name).symlink_to(victim)
        self.assertEqual(crawls.run(PROGRAM, "resume", self.dir, "--quiet", "--delay", "3s").returncode, 0)
        self.assertEqual(victim.read_text(), "precious")
        self.assertFalse((self.dir / "status.json").is_symlink())

    def test_no_threads(self):
        if os.getuid() != 0:
            self.skipTest("needs root, to become a user without processes")
        os.chmod(self.folder, 0o777)
        site = self.site(chain(2))
        program = self.folder / "portolan"
        shutil.copy(PROGRAM, program)
        command = [str(program), *self.command(site)[1:]]

        def become(threads):
            resource.setrlimit(resource.RLIMIT_NPROC, (threads, threads))

        codes = []
        for threads in range(1, 16):
            done = subprocess.run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *command],
                                  capture_output=True, text=True, timeout=60, preexec_fn=lambda: become(threads))
            if "setpriv" in done.stderr:
                self.skipTest(done.stderr)
            codes.append(done.returncode)
            if done.returncode == 0:
                break
            self.assertEqual(done.returncode, SYSTEM, (threads, done.stderr))
            self.assertRegex(done.stderr, r"\Aportolan: the system allows no more threads [^\n]*\n\Z")
            self.assertFalse(self.dir.exists())
        self.assertEqual(codes[-1], 0)
        self.assertGreater(len(codes), 2)

    def test_files_that_may_not_grow(self):
        site = self.site(chain(40, more="".join(f"<p>{os.urandom(40).hex()}" for _ in range(1000))))

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

        done = subprocess.run(self.command(site), capture_output=True, text=True, timeout=60, preexec_fn=limit)
        self.assertEqual(done.returncode, SYSTEM, done.stderr)
        self.assertIn("File too large", done.stderr)
        self.assertNotEqual(done.returncode, -signal.SIGXFSZ)
        again = crawls.run(PROGRAM, "resume", self.dir, "--quiet")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.check_whole(40)


if __name__ == "__main__":
    unittest.main()
