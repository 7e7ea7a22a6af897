"""The program at a terminal: help, wrong usage, exit codes.

usage: cli_test.py PORTOLAN
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)


def run(*arguments, **options):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60, **options)


class Help(unittest.TestCase):
    def test_help_names_every_verb_and_exit_code(self):
        result = run("--help")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr, "")
        for word in ("usage: portolan VERB", "bench", "config", "version", "Exit codes", "--log-format"):
            self.assertIn(word, result.stdout)
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 110)

    def test_no_verb_is_wrong_usage_but_helps(self):
        result = run()
        self.assertEqual(result.returncode, 2)
        self.assertIn("usage:", result.stdout)

    def test_every_verb_has_help(self):
        for line in run("--help").stdout.splitlines():
            if line.startswith("  ") and line[2].islower() and line[2:12].strip().isalpha() and line[12] == " ":
                verb = line.split()[0]
                result = run(verb, "--help")
                self.assertEqual(result.returncode, 0, verb)
                self.assertIn("--help", result.stdout, verb)
                self.assertEqual(run("help", verb).stdout, result.stdout, verb)

    def test_help_on_what_a_verb_has_below_it(self):
        self.assertEqual(run("help", "warc", "ls").stdout, run("warc", "ls", "--help").stdout)
        self.assertEqual(run("help").stdout, run("--help").stdout)
        self.assertEqual(run("help", "help").stdout, run("--help").stdout)
        self.assertEqual(run("--help", "--help").stdout, run("--help").stdout)
        unknown = run("help", "crwal")
        self.assertEqual((unknown.returncode, unknown.stdout), (2, ""))
        self.assertIn("unknown verb 'crwal': did you mean 'crawl'?", unknown.stderr)

    def test_version_is_one_line(self):
        for flag in ("version", "--version"):
            result = run(flag)
            self.assertEqual(result.returncode, 0)
            self.assertRegex(result.stdout, r"^portolan \d+\.\d+\.\d+ commit \S+ build .+\n$")


class Mistakes(unittest.TestCase):
    def assert_one_line(self, result, code, *fragments):
        self.assertEqual(result.returncode, code, result)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        for fragment in fragments:
            self.assertIn(fragment, result.stderr)

    def test_unknown_verb_suggests_the_nearest(self):
        self.assert_one_line(run("confg"), 2, "unknown verb 'confg': did you mean 'config'?")
        self.assert_one_line(run("xyzzy"), 2, "unknown verb 'xyzzy'")

    def test_unknown_flag_suggests_the_nearest(self):
        self.assert_one_line(run("version", "--log-levl", "info"), 2, "did you mean '--log-level'?")

    def test_wrong_value_of_a_flag(self):
        self.assert_one_line(run("version", "--log-level", "loud"), 2, "'loud' is not a log level")

    def test_missing_configuration(self):
        self.assert_one_line(run("config", "--config", "/nonexistent/p.toml"), 3, "/nonexistent/p.toml")

    def test_half_written_configuration_names_the_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "p.toml")
            path.write_text('[log]\nlevel = "de')
            self.assert_one_line(run("config", "--config", str(path)), 3, f"{path}:2:")

    def test_unknown_key_suggests_the_nearest(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "p.toml")
            path.write_text('[log]\nlevl = "info"\n')
            self.assert_one_line(run("config", "--config", str(path)), 3, "unknown key in [log] 'levl'", "'level'")

    def test_unreadable_configuration(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assert_one_line(run("config", "--config", folder), 3, "it is a directory")

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_full_disk_on_standard_output(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run([PROGRAM, "config"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(result.returncode, 4)
        self.assertIn("cannot write to standard output", result.stderr)


class Configuration(unittest.TestCase):
    def test_printed_configuration_is_read_back(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "p.toml")
            first = run("config", "--log-level", "warn")
            self.assertEqual(first.returncode, 0)
            path.write_text(first.stdout)
            self.assertEqual(run("config", "--config", str(path)).stdout, first.stdout)
            self.assertIn('level = "warn"', first.stdout)

    def test_flags_override_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "p.toml")
            path.write_text('[log]\nlevel = "error"\n')
            self.assertIn('level = "debug"', run("config", "--config", str(path), "--log-level", "debug").stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
