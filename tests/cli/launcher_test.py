"""The launcher's answers that need no build.

usage: launcher_test.py ROOT
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
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


if __name__ == "__main__":
    unittest.main(verbosity=2)
