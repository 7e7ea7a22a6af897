"""What a crawl shows in a terminal: one block that is drawn in place, and log lines above it.

usage: terminal_test.py PORTOLAN
"""

import os
import pathlib
import pty
import re
import socket
import subprocess
import sys
import tempfile
import unittest

import little_site

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None


def screen(shown):
    """The lines that a terminal of any height shows after these bytes."""
    lines, row, column = [""], 0, 0
    for part in re.findall(r"\x1b\[\d*[A-Z]|\r|\n|[^\x1b\r\n]+", shown):
        if part == "\r":
            column = 0
        elif part == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif part.startswith("\x1b["):
            count, action = int(part[2:-1] or 0), part[-1]
            if action == "A":
                row = max(0, row - count)
            elif action in "KJ":
                lines[row] = lines[row][:column]
                del lines[row + 1 if action == "J" else len(lines):]
            else:
                raise AssertionError(f"what is {part!r}?")
        else:
            lines[row] = lines[row][:column].ljust(column) + part + lines[row][column + len(part):]
            column += len(part)
    return lines


class Terminal(unittest.TestCase):
    def watch(self, *command):
        primary, secondary = pty.openpty()
        process = subprocess.Popen([str(part) for part in command], stdout=secondary, stderr=secondary)
        os.close(secondary)
        seen = b""
        while True:
            try:
                chunk = os.read(primary, 65536)
            except OSError:  # the last writer is gone
                break
            if not chunk:
                break
            seen += chunk
        os.close(primary)
        return process.wait(timeout=10), seen.decode()

    def test_log_lines_stand_above_the_block(self):
        with socket.socket() as nobody, tempfile.TemporaryDirectory() as folder, \
                little_site.Site(little_site.chain(3), slow=0.3) as site:
            nobody.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
            dead = "http://127.0.0.1:%d/" % nobody.getsockname()[1]
            code, seen = self.watch(PROGRAM, "crawl", "--allow-private", "--delay", "100ms", "--ip-delay", "0s",
                                    "--dir", pathlib.Path(folder) / "crawl", site.url + "/", dead)
        self.assertEqual(code, 0, seen)
        lines = screen(seen)
        text = "\n".join(lines)
        for once in (r"^pages  ", r"^received  ", r"^troubles  "):
            self.assertEqual(len(re.findall(once, text, re.MULTILINE)), 1, text)
        warnings = [i for i, line in enumerate(lines) if " warn " in line and dead in line]
        self.assertGreater(len(warnings), 1, text)
        block = next(i for i, line in enumerate(lines) if line.startswith("done  "))
        self.assertLess(max(warnings), block, text)


if __name__ == "__main__":
    unittest.main()
