"""The launcher: answers that need no build, and builds that do not disturb each other.

usage: launcher_test.py ROOT
"""

import fcntl
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))


class Bench(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # No sources of the program and no scripts: a launcher that wants to build fails.
        shutil.copy(ROOT / "portolan", self.folder)
        shutil.copytree(ROOT / "bench", self.folder / "bench")

    def ask(self, *words):
        done = subprocess.run([self.folder / "portolan", *words], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        self.assertFalse((self.folder / "build").exists())
        return done.stdout

    def test_list_has_every_benchmark(self):
        lines = self.ask("bench", "list").splitlines()
        names = [line.split()[0] for line in lines]
        self.assertEqual(names, sorted(path.name for path in (ROOT / "bench").iterdir() if path.is_dir()))
        for line in lines:
            self.assertRegex(line, r"^[a-z]+ +\S+ .*\S$")

    def test_help_names_them(self):
        for words in (["bench", "--help"], ["bench", "-h"], ["help", "bench"]):
            page = self.ask(*words)
            self.assertIn("usage: portolan bench", page)
            self.assertIn("\nseen       ", page)


# A project that takes a second to build and notes if it is built twice at the same time.
CMAKE = """
cmake_minimum_required(VERSION 3.25)
project(slow LANGUAGES NONE)
option(PORTOLAN_BENCH "" OFF)
function(program name)
  set(out ${CMAKE_BINARY_DIR}/bin/${name})
  add_custom_command(OUTPUT ${out} COMMAND sh ${CMAKE_SOURCE_DIR}/src/make.sh ${CMAKE_SOURCE_DIR} bin/${name}
                     DEPENDS ${CMAKE_SOURCE_DIR}/src/make.sh)
  add_custom_target(${name} DEPENDS ${out})
endfunction()
program(portolan)
if(PORTOLAN_BENCH)
  program(portolan-bench)
endif()
"""
PRESETS = """{ "version": 6, "configurePresets": [
  { "name": "release", "generator": "Ninja", "binaryDir": "${sourceDir}/build/release" } ] }
"""
MAKE = """
mkdir -p bin
mkdir $2.busy || echo $2 >>$1/overlaps
echo $2 >>$1/made
sleep 1
printf '#!/bin/sh\\necho ran $*\\n' >$2
chmod +x $2
rmdir $2.busy
"""


class Builds(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        shutil.copy(ROOT / "portolan", self.folder)
        shutil.copytree(ROOT / "scripts", self.folder / "scripts")
        for name in ("src", "sim", "cmake", "bench"):
            (self.folder / name).mkdir()
        (self.folder / "packages.txt").write_text("# none\n")
        (self.folder / "CMakeLists.txt").write_text(CMAKE)
        (self.folder / "CMakePresets.json").write_text(PRESETS)
        (self.folder / "src" / "make.sh").write_text(MAKE)

    def start(self, *words):
        return subprocess.Popen([self.folder / "portolan", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)

    def end(self, process):
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        return out, err

    def made(self):
        return (self.folder / "made").read_text().split()

    def test_several_at_once_build_one_after_the_other(self):
        (self.folder / "build").mkdir()
        with open(self.folder / "build" / "release.lock", "w") as lock, \
                open(self.folder / "said", "w+") as said:
            fcntl.flock(lock, fcntl.LOCK_EX)
            launchers = [subprocess.Popen([self.folder / "portolan", *words], stdout=subprocess.PIPE, stderr=said,
                                          text=True) for words in (["a"], ["b"], ["bench", "c"])]
            deadline = time.monotonic() + 60
            waiting = "waiting for another build of 'release' to end"
            while (self.folder / "said").read_text().count(waiting) < len(launchers):
                self.assertLess(time.monotonic(), deadline, (self.folder / "said").read_text())
                time.sleep(0.05)
            self.assertFalse((self.folder / "made").exists())
            fcntl.flock(lock, fcntl.LOCK_UN)
        self.assertEqual([self.end(launcher)[0] for launcher in launchers], ["ran a\n", "ran b\n", "ran bench c\n"])
        self.assertFalse((self.folder / "overlaps").exists())
        # The same objects for all of them, made once.
        self.assertEqual(sorted(self.made()), ["bin/portolan", "bin/portolan-bench"])

    def test_builds_again_only_what_changed(self):
        self.assertIn("building", self.end(self.start("a"))[1])
        self.assertEqual(self.end(self.start("b")), ("ran b\n", ""))
        later = os.stat(self.folder / "src" / "make.sh").st_mtime + 10
        os.utime(self.folder / "src" / "make.sh", (later, later))
        self.assertIn("building", self.end(self.start("c"))[1])
        self.assertEqual(self.made(), ["bin/portolan"] * 2)

    def test_a_failed_build_is_tried_again(self):
        make = self.folder / "src" / "make.sh"
        make.write_text("echo 'make.sh: error: this is broken'; exit 1\n")
        launcher = self.start("a")
        out, err = launcher.communicate(timeout=120)
        self.assertEqual((launcher.returncode, out), (4, ""))
        self.assertIn("error: this is broken", err)
        self.assertIn("what to do:", err)
        make.write_text(MAKE)
        self.assertEqual(self.end(self.start("b"))[0], "ran b\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
