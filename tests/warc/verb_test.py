"""`portolan warc` at a terminal.

usage: verb_test.py PORTOLAN WRITE_SAMPLE
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, WRITE_SAMPLE = sys.argv.pop(1), sys.argv.pop(1)


def run(*arguments, data=None):
    return subprocess.run([PROGRAM, "warc", *map(str, arguments)], capture_output=True, input=data, timeout=60)


class WarcVerb(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name, "sample.warc.gz")
        subprocess.run([WRITE_SAMPLE, cls.path], check=True)
        cls.records = [json.loads(line) for line in run("ls", "--json", cls.path).stdout.splitlines()]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def one_line(self, result, code, fragment):
        self.assertEqual(result.returncode, code, result)
        self.assertEqual(result.stderr.count(b"\n"), 1, result.stderr)
        self.assertIn(fragment, result.stderr.decode())

    def test_ls_has_a_line_a_record(self):
        lines = run("ls", self.path).stdout.decode().splitlines()
        self.assertEqual(len(lines), len(self.records))
        for line, record in zip(lines, self.records):
            offset, length, kind = line.split()[:3]
            self.assertEqual((int(offset), int(length), kind), (record["offset"], record["length"], record["type"]))

    def test_records_follow_each_other_to_the_end_of_the_file(self):
        at = 0
        for record in self.records:
            self.assertEqual(record["offset"], at)
            at += record["length"]
        self.assertEqual(at, self.path.stat().st_size)

    def test_standard_input_gives_the_same(self):
        self.assertEqual(run("ls", "-", data=self.path.read_bytes()).stdout, run("ls", self.path).stdout)

    def test_cat_prints_record_block_headers_and_payload(self):
        record = next(r for r in self.records if r["type"] == "response" and r["uri"].endswith("a=2"))
        whole = run("cat", self.path, record["offset"]).stdout
        block = run("cat", self.path, record["offset"], "--block").stdout
        head = run("cat", self.path, record["offset"], "--headers").stdout
        payload = run("cat", self.path, record["offset"], "--payload").stdout
        self.assertEqual(len(block), record["block"])
        self.assertTrue(whole.startswith(b"WARC/1.1\r\n") and whole.endswith(block))
        self.assertTrue(payload.startswith(b"<title>Page 2</title>") and block.endswith(payload))
        self.assertEqual(head + payload, whole)

    def test_cat_names_what_is_wrong(self):
        self.one_line(run("cat", self.path, 1), 3, "no record begins at offset 1")
        self.one_line(run("cat", self.path, "x"), 2, "'x' is not an offset")
        self.one_line(run("cat", "-", 0), 2, "needs a file")
        self.one_line(run("cat", "/nonexistent", 0), 3, "/nonexistent")

    def test_check_is_silent_on_good_files_and_names_each_fault(self):
        good = run("check", self.path)
        self.assertEqual(good.returncode, 0, good.stdout)
        bytes_ = bytearray(self.path.read_bytes())
        victim = self.records[4]
        bytes_[victim["offset"] + victim["length"] - 8] ^= 1  # its checksum
        broken = pathlib.Path(self.folder.name, "broken.warc.gz")
        broken.write_bytes(bytes_)
        result = run("check", broken)
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"{broken}:{victim['offset']}: gzip-data: ", result.stdout.decode())
        self.assertEqual(run("check", "--quiet", broken).stdout, b"")
        fault = json.loads(run("check", "--json", broken).stdout.splitlines()[0])
        self.assertEqual((fault["offset"], fault["kind"]), (victim["offset"], "gzip-data"))

    def test_index_is_sorted_and_leads_to_the_records(self):
        out = pathlib.Path(self.folder.name, "x.cdxj")
        self.assertEqual(run("index", self.path, "-o", out).returncode, 0)
        lines = out.read_bytes().splitlines()
        self.assertEqual(lines, sorted(lines))
        self.assertEqual(out.read_bytes(), run("index", self.path).stdout)
        for line in lines:
            key, timestamp, fields = line.decode().split(" ", 2)
            fields = json.loads(fields)
            self.assertEqual(len(timestamp), 14)
            self.assertTrue(key.startswith("org,example,site"))
            self.assertIn(fields["url"].encode(), run("cat", self.path, fields["offset"]).stdout)

    def test_mistakes_are_one_line(self):
        self.one_line(run("indx"), 2, "did you mean 'index'?")
        self.one_line(run("index", "--format", "cdz", self.path), 2, "'cdz' is not an index format")
        self.one_line(run("index", "--style", "x", self.path), 2, "'x' is not a style")
        self.one_line(run("ls", "--jsn", self.path), 2, "did you mean '--json'?")
        self.one_line(run("ls", "/dev/null"), 3, "no WARC or ARC record")
        self.one_line(run("ls"), 2, "FILE")

    def test_each_part_has_help_with_examples(self):
        for part in ("ls", "cat", "check", "index"):
            result = run(part, "--help")
            self.assertEqual(result.returncode, 0)
            self.assertIn(b"Examples:", result.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
