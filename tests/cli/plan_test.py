"""portolan plan at a terminal.

usage: plan_test.py PORTOLAN
"""

import json
import subprocess
import sys
import unittest

PROGRAM = sys.argv.pop(1)


def run(*arguments):
    return subprocess.run([PROGRAM, "plan", *arguments], capture_output=True, text=True, timeout=60)


class Plan(unittest.TestCase):
    def test_json_and_table_say_the_same(self):
        figures = json.loads(run("--pages", "1B", "--json").stdout)
        self.assertEqual([m["name"] for m in figures["methods"]], ["Portolan", "DRUM (2008)", "Mercator-B", "Polybot"])
        table = run("--pages", "1B").stdout
        row = next(line for line in table.splitlines() if line.startswith("alpha "))
        self.assertEqual([float(word) for word in row.split()[1:]],
                         [round(m["alpha"], 3) for m in figures["methods"]])
        self.assertFalse(figures["fits"])
        self.assertIn("DOES NOT FIT", table)
        self.assertLessEqual(max(map(len, table.splitlines())), 100)

    def test_counts_are_said_as_people_say_them(self):
        table = run("--pages", "8B", "--rate", "1000", "--page-bytes", "25KB").stdout
        self.assertTrue(table.startswith("8 billion pages, 472 billion links found, "), table)
        self.assertIn("\nBandwidth at that rate: 200 Mbit/s for pages of 24.4 KiB\n", table)
        figures = json.loads(run("--pages", "8B", "--rate", "1000", "--page-bytes", "25KB", "--json").stdout)
        self.assertEqual(figures["bandwidth_bits_per_s"], 1000 * 25_000 * 8)
        self.assertTrue(run("--pages", "20K").stdout.startswith("20 thousand pages, 1.18 million links found, "))

    def test_units_are_read(self):
        plain = run("--pages", "8000000", "--ram", "1073741824", "--disk-speed", "500000000", "--json").stdout
        units = run("--pages", "8M", "--ram", "1G", "--disk-speed", "500MB/s", "--unique", "1/9", "--json").stdout
        self.assertEqual(json.loads(plain), json.loads(units))

    def test_several_nodes_share_the_crawl(self):
        flags = ("--pages", "1B", "--nodes", "16", "--rate", "16K", "--disk", "20TB")
        figures = json.loads(run(*flags, "--json").stdout)
        cluster, node = figures["cluster"], figures["node"]
        self.assertEqual(node["pages"], 62_500_000)
        self.assertEqual(node["rate"] * 16, cluster["pages_per_s"])
        self.assertAlmostEqual(cluster["exchanged_links_per_s"], 16_000 * 59 / 4 * 15 / 16, places=3)
        self.assertAlmostEqual(cluster["nats_in_bytes_per_s"], cluster["exchanged_links_per_s"] * 33.3, places=3)
        table = run(*flags).stdout
        self.assertTrue(table.startswith("1 billion pages on 16 nodes, each of them:\n\n62.5 million pages, "), table)
        self.assertIn("\nAll 16 nodes\n", table)
        self.assertRegex(table, r"links to another node +23\.4 %\n")
        self.assertLessEqual(max(map(len, table.splitlines())), 100)
        one = json.loads(run("--pages", "1B", "--nodes", "1", "--json").stdout)
        self.assertEqual(one, json.loads(run("--pages", "1B", "--json").stdout))

    def test_impossible_input_is_one_line_that_says_why(self):
        for arguments, fragment in ((("--pages", "0"), "--pages must be more than zero"),
                                    ((), "--pages is required"),
                                    (("--pages", "1M", "--nodes", "0"), "--nodes"),
                                    (("--pages", "1M", "--nodes", "4", "--replicas", "5"), "--replicas"),
                                    (("--pages", "1M", "--nodes", "4", "--external", "3/2"), "--external"),
                                    (("--pages", "1M", "--ram", "100K"), "at least 256 KiB"),
                                    (("--pages", "1M", "--unique", "2"), "--unique"),
                                    (("--pages", "1M", "--unique", "1/0"), "divides by zero"),
                                    (("--pages", "many"), "'many' is not a count"),
                                    (("--pages", "1M", "--rm", "1G"), "did you mean '--ram'?")):
            result = run(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertEqual(result.stdout, "")
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            self.assertIn(fragment, result.stderr)

    def test_a_rate_beyond_the_machine_is_said(self):
        self.assertIn("more than this machine sustains", run("--pages", "1M", "--rate", "1M").stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
